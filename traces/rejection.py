"""Explain why the plain model rejects a recorded step: each action's refusing guard or actual result."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from elrcheck.lang.ir import Fn
from elrcheck.lang.plain import PlainModel
from elrcheck.lang.runtime import NotEnabled
from elrcheck.results.trace_reports import Candidate, Rejection
from elrcheck.traces.behaviour import Said, allows
from elrcheck.traces.describe import arguments, changes, spelled


def rejected_start(plain: PlainModel, state: Any) -> Rejection:
    """Reject a behaviour whose first state is not the initial state."""
    differs = changes(plain.initial(), state, plain.model.state_ty)
    return Rejection(0, "the first state is not the initial one", changed=differs)


def rejected_step(plain: PlainModel, number: int, before: Any, after: Any, said: Said) -> Rejection:
    """Reject a step that no action makes, or that a different action makes than the one recorded."""
    actions = {fn.name: fn for fn in plain.model.actions}
    other = next((label for label, made in plain.successors(before) if made == after), None)
    if other is not None:
        made = spelled(actions[other.action], other.args)
        reason = f"the trace calls this step {_words(actions, said)}, but it is {made}"
    elif before == after:
        reason = "this step changes nothing, and no enabled action leaves the state unchanged"
    else:
        reason = "no action makes this state"
    candidates = sorted(_candidates(plain, before, after, said), key=_closeness)
    changed = changes(before, after, plain.model.state_ty)
    recorded = None if said is None else _words(actions, said)
    return Rejection(number, reason, recorded, changed, tuple(candidates))


def _candidates(plain: PlainModel, before: Any, after: Any, said: Said) -> Iterator[Candidate]:
    """Yield every action instance; one that makes the recorded state has no differences."""
    fns = {fn.name: fn for fn in plain.model.actions}
    for label, source in plain.steps:
        given = arguments(fns[label.action], label.args)
        is_named = said is not None and allows(said, label)
        try:
            made = source(plain.config, before, *label.args)
        except NotEnabled as refusal:
            yield Candidate(label.action, given, refusal.guard, named=is_named)
            continue
        differs = changes(made, after, plain.model.state_ty)
        yield Candidate(label.action, given, None, differs, is_named)


def _closeness(candidate: Candidate) -> tuple[bool, bool, int]:
    return not candidate.named, candidate.guard is not None, len(candidate.differs)


def _words(actions: dict[str, Fn], said: Said) -> str:
    if said is None:
        return "nothing"
    return said if isinstance(said, str) else spelled(actions[said.action], said.args)
