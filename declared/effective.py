"""The effective configuration of a selection: the value of every field and the layer that set it."""

from __future__ import annotations

from elrcheck.base.requests import Selection
from elrcheck.base.roundtrip import Record
from elrcheck.base.typed.configuration import config_values
from elrcheck.declared.declared_model import declared
from elrcheck.declared.select import resolve
from elrcheck.results.trace_view import Scalar


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
