"""Replay of a lasso in plain Python, before it is reported.

`traces.replay` repeats the steps with the model's own functions, and the cycle has to close. Here the wait has to
begin and must not end, and fairness is checked on the states of the cycle by trying every fair step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from elrcheck.explorer.graph.graph import Graph
from elrcheck.explorer.graph.lassos import FairInstance, Waiting
from elrcheck.lang.ir import Fn
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.traces.describe import arguments
from elrcheck.traces.replay import Replayed, ReplayError, replay
from elrcheck.traces.violation import BrokenPart


def replay_lasso(plain: PlainModel, graph: Graph, fn: Fn, waiting: Waiting, fair: Sequence[FairInstance]) -> Replayed:
    """Return the replayed lasso; raise ReplayError if plain Python disagrees in any point."""
    assert waiting.lasso is not None
    replayed = replay(plain.model, plain.config, waiting.lasso.behaviour)
    lasso = replayed.followed
    assert lasso.loop is not None
    if replayed.beyond is not None:
        raise ReplayError(f"step {replayed.beyond} of the lasso is not a step of the model within its bound")
    _check_wait(plain, fn, waiting.args, lasso.states, waiting.lasso.waits)
    cycle, taken = lasso.visited[lasso.loop :], lasso.labels[lasso.loop :]
    for step in fair:
        _check_fair(plain, graph.names[step.label], step, cycle, taken)
    named = ", ".join(f"{a.name}={a.value}" for a in arguments(fn, waiting.args))
    return replace(replayed, broken=BrokenPart(None, named or None))


def _check_wait(plain: PlainModel, fn: Fn, args: tuple[object, ...], states: Sequence[object], waits: int) -> None:
    if not plain.says(fn, states[waits], args, "premise"):
        raise ReplayError(f"{fn.ident} does not wait where its lasso claims")
    if any(plain.says(fn, state, args, "conclusion") for state in states[waits:]):
        raise ReplayError(f"the wait of {fn.ident} ends on its lasso")


def _check_fair(
    plain: PlainModel, label: Label, step: FairInstance, cycle: Sequence[object], taken: Sequence[Label]
) -> None:
    """Raise ReplayError if the cycle is unfair to a step.

    cycle: the states of the cycle; the first is repeated at the end unless the behaviour stops.
    """
    claimed = [step.when is None or plain.says(step.when.fn, state, step.when.args) for state in cycle]
    if step.stops and any(label == other and not here for other, here in zip(taken, claimed, strict=False)):
        raise ReplayError(f"the cycle takes {label.action}{label.args}, which stops")
    if any(label == other and here for other, here in zip(taken, claimed, strict=False)):
        return
    possible = [
        here and _after(plain, state, label) not in (None, state) for state, here in zip(cycle, claimed, strict=True)
    ]
    if any(possible) if step.strong else all(possible):
        raise ReplayError(f"the cycle is not fair to {label.action}{label.args}")


def _after(plain: PlainModel, state: object, label: Label) -> object:
    """Return the next state, None if the step is disabled or leaves the bound."""
    after = plain.attempt(state, label)
    return after if after is not None and plain.within(after) else None
