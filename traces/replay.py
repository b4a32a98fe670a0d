"""Replay of a behaviour, step by step, in the plain model.

Every trace that is shown, stored or explained has been replayed here, whether an engine or a file supplied it. The
model's functions only receive states that they produced themselves; recorded states are compared with those. So
neither an engine's claim about a property nor the contents of a file are taken on trust.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from msgspec import structs

from elrcheck.base.typed.configuration import config_values
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.lang.runtime import NotEnabled
from elrcheck.results.trace_reports import Candidate, Origin, Rejection
from elrcheck.results.trace_view import TraceView, Truth
from elrcheck.traces.behaviour import Behaviour, RecordedStep, TraceOrigin, allows, of_states
from elrcheck.traces.describe import arguments, changes, spelled
from elrcheck.traces.scenes import drawn_view
from elrcheck.traces.violation import BrokenPart, explain


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


class ReplayError(Exception):
    """An engine produced a trace that the plain model rejects: a bug in elrcheck, not a user error."""


@dataclass(frozen=True)
class Replayed:
    """A behaviour as far as the plain model follows it: to its end, or up to the step in `rejection`.

    labels: the replayed steps. broken: for an engine's finding, the part of its property that broke at the end.
    truths: the truth of every property along the trace, if it was evaluated.
    """

    model: Model
    config: Any
    behaviour: Behaviour[RecordedStep]
    labels: tuple[Label, ...]
    rejection: Rejection | None = None
    broken: BrokenPart = field(default_factory=BrokenPart)
    truths: tuple[Truth, ...] = ()

    @property
    def states(self) -> tuple[Any, ...]:
        """The replayed states; a lasso repeats at the end the state that it returns to."""
        if self.rejection is not None and self.rejection.step == 0:
            return ()
        return self.behaviour.visited[: len(self.labels) + 1]

    @property
    def loop(self) -> int | None:
        return None if self.rejection is not None else self.behaviour.loop

    @property
    def followed(self) -> Behaviour[Label]:
        """The behaviour with the label of every step; raise ReplayError if the replay failed."""
        if self.rejection is not None and self.rejection.step == 0:
            raise ReplayError("the trace does not start in the initial state")
        if self.rejection is not None:
            raise ReplayError(f"step {self.rejection.step} of the trace is not a step of the model")
        recorded = self.behaviour
        return Behaviour(recorded.origin, recorded.states, self.labels, recorded.loop)

    @cached_property
    def plain(self) -> PlainModel:
        return PlainModel(self.model, self.config)

    @cached_property
    def indices(self) -> tuple[int, ...]:
        """The steps as indices into the enabled actions of each state."""
        choices = ([enabled for enabled, _ in self.plain.successors(state)] for state in self.states)
        return tuple(enabled.index(label) for label, enabled in zip(self.labels, choices, strict=False))

    @property
    def repro(self) -> str:
        """The indices as `--repro` takes them, such as 0/3/1; empty if the trace starts elsewhere than `--repro`."""
        starts_there = self.states[:1] == (self.plain.initial(),)
        return "/".join(map(str, self.indices)) if starts_there else ""

    @property
    def beyond(self) -> int | None:
        """The number of the first step that exceeds the budgets of the scope, None if all are within them."""
        within = (self.plain.within(state) for state in self.states[1:])
        return next((number for number, inside in enumerate(within, start=1) if not inside), None)

    @property
    def origin(self) -> Origin:
        """The source of the trace, for a report."""
        of = self.behaviour.origin
        values = config_values(self.config)
        return Origin(
            of.source, of.variant, of.scope, values, of.form, of.property or None, of.model, of.patch, of.missing
        )

    @property
    def view(self) -> TraceView:
        """The replayed part, for a report."""
        if not self.states:
            return TraceView()
        view = drawn_view(self.model, self.config, self.states, self.labels, self.repro, self.loop)
        return structs.replace(view, truths=self.truths)


def replay(model: Model, config: Any, behaviour: Behaviour[RecordedStep], anywhere: bool = False) -> Replayed:
    """Replay a behaviour as long as the model agrees with its states and the recorded actions.

    anywhere: the first state need not be initial, as in a counterexample to induction.
    """
    plain, states = PlainModel(model, config), behaviour.visited
    if not anywhere and states[0] not in plain.starts:
        return Replayed(model, config, behaviour, (), rejected_start(plain, states[0]))
    labels: list[Label] = []
    rejection = None
    pairs = zip(itertools.pairwise(states), behaviour.labels, strict=True)
    for number, ((before, after), recorded) in enumerate(pairs, start=1):
        label = next((one for one, after_step in _possible(plain, before, recorded) if after_step == after), None)
        if label is None:
            rejection = rejected_step(plain, number, before, after, recorded)
            break
        labels.append(label)
    return Replayed(model, config, behaviour, tuple(labels), rejection)


def _possible(plain: PlainModel, state: Any, recorded: RecordedStep) -> Iterator[tuple[Label, Any]]:
    """Yield the enabled steps that are consistent with the recorded one."""
    for label, source in plain.steps:
        if allows(recorded, label):
            try:
                yield label, source(plain.config, state, *label.args)
            except NotEnabled:
                continue


def replay_finding(model: Model, config: Any, fn: Fn, states: Sequence[Any]) -> Replayed:
    """Replay an engine's trace that hits a property in its last state or step, and explain the part that broke.

    Raise ReplayError if plain Python disagrees.
    """
    replayed = replay(model, config, of_states(states, TraceOrigin(property=fn.ident)))
    states_on_trace = replayed.followed.states
    last = states_on_trace[-2:] if fn.is_step else states_on_trace[-1:]
    if replayed.plain.holds(fn, *last) != (fn.kind == "sometimes"):
        raise ReplayError(f"{fn.ident} is not hit at the end of its trace in the plain model")
    if fn.kind != "always":
        return replayed
    before = states_on_trace[-2] if len(states_on_trace) > 1 else None
    return replace(replayed, broken=explain(model, config, fn, last, before))
