"""Explains why the plain model rejects a recorded step: the refusing guard or actual result of each action."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from elrcheck.lang.ir import Fn
from elrcheck.lang.plain import PlainModel
from elrcheck.lang.runtime import NotEnabled
from elrcheck.results.trace_reports import Candidate, Rejection
from elrcheck.traces.behaviour import RecordedStep, allows
from elrcheck.traces.describe import arguments, changes, spelled


def rejected_start(plain: PlainModel, state: Any) -> Rejection:
    """Return the rejection of a first state that is not initial; `changed` compares it with the closest initial one."""
    differs = min((changes(start, state, plain.model.state_ty) for start in plain.starts), key=len)
    which = "an initial state" if len(plain.starts) > 1 else "the initial one"
    return Rejection(0, f"the first state is not {which}", changed=differs)


def rejected_step(plain: PlainModel, number: int, before: Any, after: Any, recorded: RecordedStep) -> Rejection:
    """Return the rejection of a step that no action takes, or that another action takes than the recorded one."""
    actions = plain.model.actions_by_name
    other = next((label for label, result in plain.successors(before) if result == after), None)
    if other is not None:
        result = spelled(actions[other.action], other.args)
        reason = f"the trace calls this step {_words(actions, recorded)}, but it is {result}"
    elif before == after:
        reason = "this step changes nothing, and no enabled action leaves the state unchanged"
    else:
        reason = "no action makes this state"
    candidates = _candidates(plain, before, after, recorded)
    closest_first = sorted(candidates, key=lambda one: (not one.named, one.guard is not None, len(one.differs)))
    changed = changes(before, after, plain.model.state_ty)
    words = None if recorded is None else _words(actions, recorded)
    return Rejection(number, reason, words, changed, tuple(closest_first))


def _candidates(plain: PlainModel, before: Any, after: Any, recorded: RecordedStep) -> Iterator[Candidate]:
    """Yield every action instance; one that leads to the recorded state has no differences."""
    fns = plain.model.actions_by_name
    for label, source in plain.steps:
        args = arguments(fns[label.action], label.args)
        is_named = recorded is not None and allows(recorded, label)
        try:
            result = source(plain.config, before, *label.args)
        except NotEnabled as refusal:
            yield Candidate(label.action, args, refusal.guard, named=is_named)
            continue
        differs = changes(result, after, plain.model.state_ty)
        yield Candidate(label.action, args, None, differs, is_named)


def _words(actions: dict[str, Fn], recorded: RecordedStep) -> str:
    if recorded is None:
        return "nothing"
    return recorded if isinstance(recorded, str) else spelled(actions[recorded.action], recorded.args)
