"""Follows recorded states through the plain model, and says what refuses the first step that it is not.

The states up to there have all been made by the model's own functions, so nothing foreign is ever
given to them: only compared with what they make.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from elrcheck.lang.ir import Fn
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.lang.runtime import NotEnabled
from elrcheck.results.trace_reports import Candidate, Hit, Rejection
from elrcheck.traces.describe import arguments, changes
from elrcheck.traces.labels import Named
from elrcheck.traces.violation import explain


@dataclass(frozen=True)
class Followed:
    """The accepted part: states, labels of the steps between them, the action-index path.

    beyond: the first step that leaves the budgets of the scope.
    """

    states: tuple[Any, ...]
    labels: tuple[Label, ...]
    repro: str
    rejection: Rejection | None = None
    beyond: int | None = None


def follow(plain: PlainModel, states: Sequence[Any], names: Sequence[Named | None]) -> Followed:
    """As far as the model goes along with these states and, where known, the names of the steps."""
    first = plain.initial()
    if states[0] != first:
        differs = changes(first, states[0], plain.model.state_ty)
        rejection = Rejection(0, "the first state is not the initial one", changed=differs)
        return Followed((), (), "", rejection)
    labels: list[Label] = []
    indices: list[str] = []
    beyond = None
    for number, (before, after) in enumerate(itertools.pairwise(states), start=1):
        name = names[number - 1] if number <= len(names) else None
        fitting = [(i, label) for i, (label, made) in enumerate(plain.successors(before)) if made == after]
        chosen = next((one for one in fitting if name is None or name.allows(one[1])), None)
        if chosen is None:
            others = [label for _, label in fitting]
            rejection = _rejected(plain, number, before, after, name, others)
            return Followed(tuple(states[:number]), tuple(labels), "/".join(indices), rejection, beyond)
        indices.append(str(chosen[0]))
        labels.append(chosen[1])
        if beyond is None and not plain.within(after):
            beyond = number
    return Followed(tuple(states), tuple(labels), "/".join(indices), beyond=beyond)


# ---------------------------------------------------------------------------- rejection


def _rejected(
    plain: PlainModel, number: int, before: Any, after: Any, name: Named | None, others: Sequence[Label]
) -> Rejection:
    actions = {fn.name: fn for fn in plain.model.actions}
    if others:
        made = spelled(actions[others[0].action], others[0].args)
        reason = f"the trace calls this step {_said(actions, name)}, but it is {made}"
    elif before == after:
        reason = "nothing changes in this step, and no action does nothing here"
    else:
        reason = "no action makes this state"
    candidates = sorted(_candidates(plain, before, after, name), key=_closeness)
    changed = changes(before, after, plain.model.state_ty)
    return Rejection(number, reason, _said(actions, name) if name else None, changed, tuple(candidates))


def _candidates(plain: PlainModel, before: Any, after: Any, name: Named | None) -> Iterator[Candidate]:
    """Every action instance; those that make the recorded state have no difference."""
    fns = {fn.name: fn for fn in plain.model.actions}
    for label, source in plain.steps:
        given = arguments(fns[label.action], label.args)
        is_named = name is not None and name.allows(label)
        try:
            made = source(plain.config, before, *label.args)
        except NotEnabled as refusal:
            yield Candidate(label.action, given, refusal.guard, named=is_named)
            continue
        differs = changes(made, after, plain.model.state_ty)
        yield Candidate(label.action, given, None, differs, is_named)


def _closeness(candidate: Candidate) -> tuple[bool, bool, int]:
    return not candidate.named, candidate.guard is not None, len(candidate.differs)


def _said(actions: dict[str, Fn], name: Named | None) -> str:
    if name is None:
        return "nothing"
    return name.action if name.args is None else spelled(actions[name.action], name.args)


def spelled(fn: Fn, args: Sequence[Any]) -> str:
    """The action as reports write it."""
    return f"{fn.name}({', '.join(f'{a.name}={a.value}' for a in arguments(fn, args))})"


# ---------------------------------------------------------------------------- properties


def violations(plain: PlainModel, states: Sequence[Any], chosen: Sequence[Fn] = ()) -> tuple[Hit, ...]:
    """The first violation of each property along a trace, in the order of their ids."""
    found = []
    for fn in chosen or plain.model.always:
        step = first_hit(plain, fn, states)
        if step is not None:
            at = states[step - 1 : step + 1] if fn.is_step else states[step : step + 1]
            before = states[step - 1] if step else None
            broken = explain(plain.model, plain.config, fn, at, before)
            found.append(Hit(fn.ident, fn.name, step, broken.conjunct, broken.witness))
    return tuple(found)


def reached(plain: PlainModel, states: Sequence[Any]) -> tuple[Hit, ...]:
    """The witnesses that a trace reaches, and when first."""
    pairs = ((fn, first_hit(plain, fn, states)) for fn in plain.model.sometimes)
    return tuple(Hit(fn.ident, fn.name, step) for fn, step in pairs if step is not None)


def first_hit(plain: PlainModel, fn: Fn, states: Sequence[Any]) -> int | None:
    """After how many steps a property is violated, or a witness reached."""
    wanted = fn.kind == "sometimes"
    for number in range(1 if fn.is_step else 0, len(states)):
        at = states[number - 1 : number + 1] if fn.is_step else states[number : number + 1]
        if plain.holds(fn, *at) == wanted:
            return number
    return None
