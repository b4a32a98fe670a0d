"""Replay of a lasso in plain Python, as a check before it is reported.

The model's own functions repeat the steps, the cycle must close, the wait must begin and never end, and
fairness is re-evaluated on the states of the cycle by trying every fair step.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from elrcheck.explorer.graph.graph import Graph
from elrcheck.explorer.graph.lassos import FairStep, Waiting
from elrcheck.lang.ir import Fn
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.lang.runtime import NotEnabled
from elrcheck.traces.describe import ReplayError, arguments, trace_view
from elrcheck.traces.replay import Replayed
from elrcheck.traces.tracefile import Step


def replay_lasso(
    plain: PlainModel, graph: Graph, fn: Fn, found: Waiting, fair: Sequence[FairStep]
) -> Replayed:
    """Return the replayed lasso; raise ReplayError if plain Python disagrees in any respect."""
    lasso = found.lasso
    assert lasso is not None
    states = tuple(graph.state(number) for number in lasso.states)
    labels = tuple(graph.names[number] for number in lasso.labels)
    closed = follow(plain, states, labels, lasso.loop)
    _check_wait(plain, fn, found.args, states, lasso.waits)
    for step in fair:
        _check_fair(plain, graph.names[step.label], step, closed[lasso.loop :], labels[lasso.loop :])
    view = trace_view(plain.model, closed, labels, _repro(plain, closed, labels), lasso.loop)
    named = ", ".join(f"{a.name}={a.value}" for a in arguments(fn, found.args))
    steps = tuple(Step(label.action, label.args) for label in labels)
    return Replayed(states, steps, view, named or None, lasso.waits, lasso.loop)


def follow(
    plain: PlainModel, states: Sequence[Any], labels: Sequence[Label], loop: int
) -> tuple[Any, ...]:
    """Return all states in the order of the steps; the state that closes the cycle is repeated at the end."""
    if states[0] != plain.initial():
        raise ReplayError("the lasso does not start in the initial state")
    closed = (*states, *([states[loop]] if len(labels) == len(states) else []))
    for number, label in enumerate(labels):
        if _after(plain, closed[number], label) != closed[number + 1]:
            raise ReplayError(f"step {number + 1} of the lasso is not a step of the model")
    return closed


def _check_wait(plain: PlainModel, fn: Fn, args: tuple[Any, ...], states: Sequence[Any], waits: int) -> None:
    if not plain.says(fn, states[waits], args, "premise"):
        raise ReplayError(f"{fn.ident} does not wait where its lasso claims")
    if any(plain.says(fn, state, args, "conclusion") for state in states[waits:]):
        raise ReplayError(f"the wait of {fn.ident} ends on its lasso")


def _check_fair(
    plain: PlainModel, label: Label, step: FairStep, cycle: Sequence[Any], taken: Sequence[Label]
) -> None:
    """Raise ReplayError if the cycle is unfair to a step.

    cycle: the states of the cycle; the first is repeated at the end unless the behaviour stops.
    """
    if step.when is None:
        claimed = [True for _ in cycle]
    else:
        claimed = [plain.says(step.when.fn, state, step.when.args) for state in cycle]
    if any(label == other and here for other, here in zip(taken, claimed, strict=False)):
        return
    possible = [
        here and _after(plain, state, label) not in (None, state)
        for state, here in zip(cycle, claimed, strict=True)
    ]
    if any(possible) if step.strong else all(possible):
        raise ReplayError(f"the cycle is not fair to {label.action}{label.args}")


def _after(plain: PlainModel, state: Any, label: Label) -> Any:
    """Return the next state, None if the step is disabled or leaves the bound."""
    try:
        after = plain.step(state, label)
    except NotEnabled:
        return None
    return after if plain.within(after) else None


def _repro(plain: PlainModel, closed: Sequence[Any], labels: Sequence[Label]) -> str:
    """Return the steps as a path of action indices, for --repro."""
    choices = [[known for known, _ in plain.successors(state)] for state in closed[: len(labels)]]
    return "/".join(str(known.index(label)) for known, label in zip(choices, labels, strict=True))
