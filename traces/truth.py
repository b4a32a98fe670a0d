"""Evaluate the properties along a trace in plain Python: at every step, or up to the first hit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.lang.plain import PlainModel
from elrcheck.lang.runtime import ModelConfig
from elrcheck.results.trace_reports import Hit
from elrcheck.results.trace_view import Truth
from elrcheck.traces.replay import Replayed
from elrcheck.traces.violation import explain


def with_truths(found: Replayed) -> Replayed:
    """Return the replayed trace with the positions where each property is hit."""
    return replace(found, truths=truths(found.model, found.config, found.states))


def truths(model: Model, config: ModelConfig, states: Sequence[Any]) -> tuple[Truth, ...]:
    """Evaluate all `always` and `sometimes` properties on the states of a trace, or the steps into them."""
    plain = PlainModel(model, config)
    found = []
    for fn in (*model.always, *model.sometimes):
        kind: Literal["always", "sometimes"] = "always" if fn.kind == "always" else "sometimes"
        hits = tuple(
            number
            for number in range(1 if fn.is_step else 0, len(states))
            if plain.holds(fn, *(states[number - 1 : number + 1] if fn.is_step else (states[number],)))
            == (kind == "sometimes")
        )
        found.append(Truth(fn.ident, fn.name, kind, fn.is_step, hits))
    return tuple(found)


def violations(plain: PlainModel, states: Sequence[Any], chosen: Sequence[Fn] = ()) -> tuple[Hit, ...]:
    """Find the first violation of each property along a trace, ordered by property id."""
    found = []
    for fn in chosen or plain.model.always:
        step = first_hit(plain, fn, states)
        if step is not None:
            at = states[step - 1 : step + 1] if fn.is_step else states[step : step + 1]
            before = states[step - 1] if step else None
            broken = explain(plain.model, plain.config, fn, at, before)
            found.append(Hit(fn.ident, fn.name, step, broken.conjunct, broken.witness))
    return tuple(found)


def first_violated(plain: PlainModel, states: Sequence[Any]) -> str:
    """Return the id of the first `always` property that the end of a trace violates, or an empty string."""
    for fn in plain.model.always:
        at = states[-2:] if fn.is_step else states[-1:]
        if len(at) == 1 + fn.is_step and not plain.holds(fn, *at):
            return fn.ident
    return ""


def reached(plain: PlainModel, states: Sequence[Any]) -> tuple[Hit, ...]:
    """Return the witnesses that a trace reaches, and where each is first reached."""
    pairs = ((fn, first_hit(plain, fn, states)) for fn in plain.model.sometimes)
    return tuple(Hit(fn.ident, fn.name, step) for fn, step in pairs if step is not None)


def first_hit(plain: PlainModel, fn: Fn, states: Sequence[Any]) -> int | None:
    """Return the number of steps before a property is first violated, or a witness first reached."""
    wanted = fn.kind == "sometimes"
    for number in range(1 if fn.is_step else 0, len(states)):
        at = states[number - 1 : number + 1] if fn.is_step else states[number : number + 1]
        if plain.holds(fn, *at) == wanted:
            return number
    return None
