"""The effective configuration of a selection: the value of every field and the layer that set it."""

from __future__ import annotations

from importlib.resources import files

from elrcheck.base.requests import Selection
from elrcheck.base.roundtrip import Record
from elrcheck.base.typed.configuration import config_fields, config_values, find_scope
from elrcheck.catalogue.select import find_variant, resolve
from elrcheck.model.config import Config
from elrcheck.results.trace_view import Scalar


class Effective(Record, frozen=True):
    """One value. source: `--set`, `scope NAME`, `variant NAME` or `default`."""

    name: str
    value: Scalar
    source: str


def effective(selection: Selection) -> tuple[Effective, ...]:
    """Return the fields in the model's order; raise UsageFault for selections that `check` refuses."""
    selected = resolve(selection)
    scope = find_scope(selection.scope, files("elrcheck.catalogue") / "scopes", config_fields(Config))
    layers = (
        ("--set", selected.overrides),
        (f"scope {selection.scope}", scope.values),
        (f"variant {selection.variant}", find_variant(selection.variant).knobs),
    )
    return tuple(
        Effective(name, value, next((source for source, layer in layers if name in layer), "default"))
        for name, value in config_values(selected.config).items()
    )
