"""The parts of a user's model, as `list --model` and `show --model` print them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import Any

from elrcheck.base.common_options import ModelSource
from elrcheck.base.errors import UsageFault
from elrcheck.catalogue.model_entries import Entry, action_entries
from elrcheck.declared.declared_model import declared
from elrcheck.model.knobs import plain

KINDS = ("variants", "scopes", "properties", "witnesses", "lemmas", "actions", "knobs")
"""Kinds that every model has; the others are about Kafka's partition."""


def file_entries(file: ModelSource, kind: str, predicates: Callable[[Any], list[Entry]]) -> list[Entry]:
    """Return the entries of one kind. predicates: makes the entries of properties.

    Raises UsageFault for a kind that only Kafka's partition has.
    """
    if kind not in KINDS:
        message = f"{kind} are about Kafka's partition"
        raise UsageFault("unknown-kind", message, help=f"of a model in a file there are {', '.join(KINDS)}")
    model = declared(file)
    whole = model.whole()
    match kind:
        case "variants":
            return [_settings(name, model.variant(name).values) for name in model.variant_names]
        case "scopes":
            return [_settings(name, model.scope(name).values) for name in model.scope_names]
        case "knobs":
            defaults = {part.name: part.default for part in fields(model.config)}
            return [
                {"name": name, "summary": "" if value is MISSING else f"by default {plain(value)}"}
                for name, value in defaults.items()
            ]
        case "actions":
            return action_entries(whole.actions)
        case "lemmas":
            return predicates(whole.lemmas)
        case "witnesses":
            return predicates(whole.sometimes)
    return predicates((*whole.always, *whole.leads_to))


def _settings(name: str, values: Any) -> Entry:
    text = ", ".join(f"{key}={plain(value)}" for key, value in values.items())
    return {"name": name, "summary": text or "the defaults", "values": {k: plain(v) for k, v in values.items()}}
