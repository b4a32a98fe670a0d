"""The recorded comparisons with releases of Kafka: a file that `elrcheck conform --record` writes.

`list variants`, `show VARIANT` and a table of the README print the packaged file, and mark comparisons of rules that
have changed since as stale. Nothing in it is typed by hand. The rules of a comparison are the functions of the model
that it calls, directly or not: a change of one makes it stale, and a change anywhere else does not.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from functools import lru_cache
from importlib import import_module
from importlib.resources import files
from types import FunctionType
from typing import Any, Literal, TypeAlias, get_args

from elrcheck.base.kept.named_digests import statements
from elrcheck.base.roundtrip import Record, from_text
from elrcheck.catalogue.configured import release_numbers
from elrcheck.lang.changed.rule_digest import attributes, below, digest_of
from elrcheck.model.config import Config
from elrcheck.model.knobs import Plain, plain
from elrcheck.model.variants import VARIANTS
from elrcheck.report.plain_words import some_of

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


# ---------------------------------------------------------------------------- the record

NAME = "conformance.json"
SCHEMA: Literal["elrcheck.conformance/2"] = "elrcheck.conformance/2"
MOST_NAMED = 4
"""Changes that a line names; it counts the others."""
Level: TypeAlias = Literal["builder", "controller"]
Side: TypeAlias = Literal["controller", "broker", "follower"]
SIDES: tuple[Side, ...] = get_args(Side)


class ExplainedClass(Record, frozen=True):
    """A class of differences that is known, and how often it occurred."""

    id: str
    count: int
    what: str


class Compared(Record, frozen=True):
    """One release of Kafka, compared with a variant on a day.

    asked, level, seed: the options with which `--refresh` repeats the run. rules: digest of the compared rules, which
    the file lists; knobs: the values that those rules read. side: whether the controller's classes were compared, or
    kafka.cluster.Partition of a broker, or ReplicaFetcherThread of a follower.
    """

    kafka: str
    variant: str
    day: str
    asked: int
    compared: int
    builder: int
    controller: int
    isr_order: int
    not_held: int
    unexplained: int
    explained: tuple[ExplainedClass, ...]
    seed: int
    rules: str
    knobs: dict[str, Plain]
    side: Side = "controller"
    level: Level | None = None
    indexes: int = 0

    @property
    def place(self) -> tuple[int, tuple[int, ...], str]:
        """Return the sort key of the file: controllers first, by release, then by variant."""
        return SIDES.index(self.side), release_numbers(self.kafka), self.variant

    @property
    def name(self) -> str:
        """Return the release, with the side unless it is the controller."""
        return self.kafka if self.side == "controller" else f"{self.kafka}, {self.side}"

    def __str__(self) -> str:
        classes = ", ".join(f"{explained.id} {explained.count}" for explained in self.explained)
        return (
            f"{self.compared:,} answers on {self.day}, {self.unexplained:,} differ without an explanation"
            f" (explained: {classes or 'none'})"
        )


class Conformance(Record, frozen=True):
    """The whole file. rules: the sets of rules that were compared."""

    schema: Literal["elrcheck.conformance/2"] = SCHEMA
    rules: tuple[Rules, ...] = ()
    comparisons: tuple[Compared, ...] = ()

    def plus(self, rules: Rules, more: Iterable[Compared]) -> Conformance:
        """Return the file with these comparisons in place of earlier ones of the same release, variant and side."""
        entries = {entry.place: entry for entry in self.comparisons}
        entries.update({entry.place: entry for entry in more})
        comparisons = tuple(entries[place] for place in sorted(entries))
        sets = {one.digest: one for one in (*self.rules, rules)}
        used = sorted({entry.rules for entry in comparisons} & set(sets))
        return Conformance(SCHEMA, tuple(sets[digest] for digest in used), comparisons)

    def changes(self, compared: Compared) -> tuple[str, ...]:
        """Return the rules and knobs that have changed since the comparison, which is stale if there are any."""
        rules = next((one for one in self.rules if one.digest == compared.rules), None)
        if rules is None:
            return ("the rules, which were not recorded then",)
        return (*changed_rules(rules), *changed_knobs(compared.knobs, compared.variant))

    def text(self, compared: Compared) -> str:
        """Return a comparison in a sentence, with what has changed since."""
        changes = self.changes(compared)
        return f"{compared}; STALE, changed since: {some_of(changes, MOST_NAMED)}" if changes else str(compared)


@lru_cache(maxsize=1)
def packaged() -> Conformance:
    """Return the comparisons that this version of elrcheck was released with."""
    return from_text((files("elrcheck.catalogue") / NAME).read_bytes(), Conformance)


def newest_recorded() -> str:
    """Return the newest release whose controller classes the packaged comparisons cover."""
    return [entry.kafka for entry in packaged().comparisons if entry.side == SIDES[0]][-1]


def compared_with(variant: str) -> tuple[Compared, ...]:
    """Return the packaged comparisons of a variant."""
    return tuple(entry for entry in packaged().comparisons if entry.variant == variant)


def model_digest() -> str:
    """Return a digest of the statements of the model of one partition, without docstrings and comments.

    The model of several partitions reads it, and no search of one partition reads that model.
    """
    return statements("model", without="model/partitions")[:16]
