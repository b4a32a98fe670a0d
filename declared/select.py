"""Resolves the variant, scope and overrides of a request to a configuration, and words to properties.

`effective` says of every value of a configuration which of these layers set it.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from elrcheck.base.common_options import ModelSource, PatchedModel
from elrcheck.base.errors import NothingChecked, UsageFault, did_you_mean
from elrcheck.base.requests import Selection
from elrcheck.base.roundtrip import Record
from elrcheck.base.typed.configuration import build_config, config_values, parse_overrides
from elrcheck.declared.declared_model import BeforeSearch, DeclaredModel, declared
from elrcheck.declared.patched import patch_applied
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.results.any_report import PatchApplied
from elrcheck.results.trace_view import Scalar


@dataclass(frozen=True)
class Selected:
    """A resolved selection. overrides: the typed values of `--set`.

    config: an object of the model's configuration. file, model: the model, and its file in reports; None for the
    default model. patch: the diff that is applied to it.
    """

    variant: str
    scope: str
    config: Any
    overrides: dict[str, object]
    file: ModelSource
    model: str | None
    patch: PatchApplied | None
    declared: DeclaredModel = field(compare=False, repr=False)
    before: BeforeSearch = field(compare=False, repr=False)

    @classmethod
    def of(
        cls, model: DeclaredModel, file: ModelSource, variant: str, scope: str, config: Any, overrides: dict[str, Any]
    ) -> Selected:
        """Return the selection of a configuration; raise UsageFault if the model refuses it."""
        base = file.base if isinstance(file, PatchedModel) else file
        name = None if base is None else str(base)
        before = model.before_search(config)
        return cls(variant, scope, config, overrides, file, name, patch_applied(file), model, before)


def resolve(selection: Selection) -> Selected:
    """Return a resolved selection: the variant's settings, overridden by the scope's, then by `--set`."""
    source = selection.source
    model = declared(source)
    variant, scope = model.variant(selection.variant), model.scope(selection.scope)
    overrides = parse_overrides(model.config, selection.overrides)
    config: Any = build_config(model.config, variant.values, scope.values, overrides)
    return Selected.of(model, source, variant.name, scope.name, config, overrides)


def select_properties(model: Model, words: Sequence[str], liveness: bool = False) -> tuple[Fn, ...]:
    """Return properties by id, name or glob; by default all safety properties and witnesses.

    Liveness properties need a search of their own: they are selected by `liveness`, or by words that match no other
    property. Raise UsageFault for an unknown word or a mixture, NothingChecked for a glob without a match, or if the
    model has no such property.
    """
    safety = () if liveness else model.checks
    if not words:
        return safety or model.leads_to or _reject_nothing(model, liveness)
    for word in words:
        if liveness and not any(_matches(word, fn) for fn in model.leads_to):
            _reject_safety(model, word)
    chosen: list[Fn] = []
    for word in words:
        meant = safety if any(_matches(word, fn) for fn in safety) else (*safety, *model.leads_to)
        chosen += [fn for fn in choose(meant, (word,), "property") if fn not in chosen]
    if len({fn.kind == "leads_to" for fn in chosen}) > 1:
        raise UsageFault("mixed-properties", "liveness properties (V-*) need a run of their own")
    return tuple(chosen)


def _reject_nothing(model: Model, liveness: bool) -> NoReturn:
    if liveness and model.checks:
        help = "leave out --liveness, or declare a property with `@leads_to`"
        raise NothingChecked("no-property", "the model has no liveness property", help=help)
    help = "declare one with `@always` or `@leads_to`; `elrcheck explore` counts the states of a model without any"
    raise NothingChecked("no-property", "the model has no property, so there is nothing to check", help=help)


def _reject_safety(model: Model, word: str) -> None:
    if any(_matches(word, fn) for fn in model.checks):
        raise UsageFault("mixed-properties", f"{word} is not a liveness property", help="leave out --liveness")


def choose(every: Sequence[Fn], words: Sequence[str], what: str) -> tuple[Fn, ...]:
    """Return functions by id, name or glob, in the order of the words; all if there are no words.

    Raise UsageFault for an unknown word, NothingChecked for a glob without a match.
    """
    if not words:
        return tuple(every)
    chosen: list[Fn] = []
    for word in words:
        matches = [fn for fn in every if _matches(word, fn)]
        if not matches and any(ch in word for ch in "*?["):
            raise NothingChecked(f"no-{what}", f"no {what} matches `{word}`")
        if not matches:
            names = [name for fn in every for name in (fn.ident, fn.name)]
            raise UsageFault(f"unknown-{what}", f"unknown {what} `{word}`", help=did_you_mean(word, names))
        chosen += [fn for fn in matches if fn not in chosen]
    return tuple(chosen)


def _matches(word: str, fn: Fn) -> bool:
    return any(fnmatch.fnmatchcase(name.lower(), word.lower()) for name in (fn.ident, fn.name))


class Effective(Record, frozen=True):
    """The value of a field. source: `--set`, `scope NAME`, `variant NAME` or `default`."""

    name: str
    value: Scalar
    source: str


def effective(selection: Selection) -> tuple[Effective, ...]:
    """Return the fields in the model's order; raise UsageFault for selections that `check` refuses."""
    selected = resolve(selection)
    model = declared(selection.source)
    scope, variant = model.scope(selection.scope), model.variant(selection.variant)
    layers = (
        ("--set", selected.overrides),
        (f"scope {scope.name}", scope.values),
        (f"variant {selection.variant if selection.source is None else variant.name}", variant.values),
    )
    return tuple(
        Effective(name, value, next((source for source, layer in layers if name in layer), "default"))
        for name, value in config_values(selected.config).items()
    )
