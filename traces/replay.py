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
from elrcheck.results.trace_reports import Origin, Rejection
from elrcheck.results.trace_view import TraceView, Truth
from elrcheck.traces.behaviour import Behaviour, RecordedStep, TraceOrigin, allows, of_states
from elrcheck.traces.rejection import rejected_start, rejected_step
from elrcheck.traces.scenes import drawn_view
from elrcheck.traces.violation import BrokenPart, explain


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
