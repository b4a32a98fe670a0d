"""Evaluation of the properties along a trace in plain Python: at every step, or up to the first hit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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


def with_truths(replayed: Replayed) -> Replayed:
    """Return the replayed trace with the positions where each property is hit."""
    return replace(replayed, truths=truths(replayed.model, replayed.config, replayed.states))


def truths(model: Model, config: ModelConfig, states: Sequence[Any]) -> tuple[Truth, ...]:
    """Evaluate all `always` and `sometimes` properties on the states of a trace, or the steps into them."""
    plain = PlainModel(model, config)
    checked = model.checks
    return tuple(Truth(fn.ident, fn.name, _kind(fn), fn.is_step, tuple(hits(plain, fn, states))) for fn in checked)


def _kind(fn: Fn) -> Literal["always", "sometimes"]:
    return "always" if fn.kind == "always" else "sometimes"


def hits(plain: PlainModel, fn: Fn, states: Sequence[Any]) -> Iterator[int]:
    """Yield the numbers of states at which a property is violated or a witness reached.

    A property of steps is evaluated on the step into a state.
    """
    for number in range(fn.is_step, len(states)):
        if plain.holds(fn, *states[number - fn.is_step : number + 1]) == (fn.kind == "sometimes"):
            yield number


def violations(plain: PlainModel, states: Sequence[Any]) -> tuple[Hit, ...]:
    """Return the first violation of each property along a trace."""
    violated = []
    for fn in plain.model.always:
        step = first_hit(plain, fn, states)
        if step is not None:
            at = states[step - fn.is_step : step + 1]
            broken = explain(plain.model, plain.config, fn, at, states[step - 1] if step else None)
            violated.append(Hit(fn.ident, fn.name, step, broken.conjunct, broken.witness))
    return tuple(violated)


def first_violated(plain: PlainModel, states: Sequence[Any]) -> str:
    """Return the id of the first `always` property that the end of a trace violates, or an empty string."""
    for fn in plain.model.always:
        at = states[-1 - fn.is_step :]
        if len(at) == 1 + fn.is_step and not plain.holds(fn, *at):
            return fn.ident
    return ""


def reached(plain: PlainModel, states: Sequence[Any]) -> tuple[Hit, ...]:
    """Return the witnesses that a trace reaches, and where each is first reached."""
    pairs = ((fn, first_hit(plain, fn, states)) for fn in plain.model.sometimes)
    return tuple(Hit(fn.ident, fn.name, step) for fn, step in pairs if step is not None)


def first_hit(plain: PlainModel, fn: Fn, states: Sequence[Any]) -> int | None:
    """Return the number of steps before a property is first violated, or a witness first reached."""
    return next(hits(plain, fn, states), None)
