"""The rules of the model that a comparison with Kafka covers, function by function.

They are the functions of the model that the comparison calls, directly or not. A recorded comparison lists them: a
change of one makes it stale, and a change anywhere else does not.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from functools import lru_cache
from importlib import import_module
from types import FunctionType
from typing import Any

from elrcheck.base.roundtrip import Record
from elrcheck.lang.changed.rule_digest import attributes, below, digest_of
from elrcheck.model.config import Config
from elrcheck.model.knobs import Plain, plain
from elrcheck.model.variants import VARIANTS

PACKAGE = __name__.partition(".")[0]
MODEL = f"{PACKAGE}.model."


class Rules(Record, frozen=True):
    """A set of rules. digest: of the whole set. functions: module and name, below the package -> digest."""

    digest: str
    functions: dict[str, str]


def rules_below(roots: Iterable[Callable[..., Any]]) -> Rules:
    """Return the rules that these functions call, directly or not, with their present digests."""
    functions = {
        name.removeprefix(f"{PACKAGE}."): digest_of(function)
        for name, function in sorted(below(roots, PACKAGE, Config).items())
        if name.startswith(MODEL)
    }
    whole = hashlib.sha256("\n".join(f"{name} {one}" for name, one in functions.items()).encode())
    return Rules(whole.hexdigest()[:16], functions)


def changed_rules(rules: Rules) -> tuple[str, ...]:
    """Return the functions of the set that have changed or no longer exist."""
    return tuple(name for name, digest in rules.functions.items() if _digest_now(name) != digest)


def knobs_read(rules: Rules, variant: str) -> dict[str, Plain]:
    """Return the variant's value of every knob that these rules read; empty if there is no such variant."""
    own = _knobs_of(variant)
    names = {name for function in map(_function, rules.functions) if function for name in attributes(function)}
    return {} if own is None else {name: value for name, value in own.items() if name in names}


def changed_knobs(recorded: Mapping[str, Plain], variant: str) -> tuple[str, ...]:
    """Return the knobs whose value in the variant has changed, or that no longer exist."""
    own = _knobs_of(variant) or {}
    return tuple(name for name, value in recorded.items() if own.get(name) != value)


def _knobs_of(variant: str) -> dict[str, Plain] | None:
    """Return every field of `Config` in a variant, in source order."""
    knobs = next((one.knobs for one in VARIANTS if variant in (one.name, *one.aliases)), None)
    if knobs is None:
        return None
    return {part.name: plain(knobs.get(part.name, part.default)) for part in fields(Config)}


@lru_cache(maxsize=1024)
def _digest_now(name: str) -> str | None:
    function = _function(name)
    return None if function is None else digest_of(function)


def _function(name: str) -> FunctionType | None:
    """Return the function of a name such as `model.elr.needed`; None if it does not exist."""
    value: Any = None
    module, *rest = f"{PACKAGE}.{name}".split(".")
    value = import_module(module)
    for part in rest:
        module = f"{module}.{part}"
        try:
            value = getattr(value, part) if not hasattr(value, "__path__") else import_module(module)
        except (AttributeError, ModuleNotFoundError):
            return None
    value = value.fget if isinstance(value, property) else value
    return value if isinstance(value, FunctionType) else None
