"""The one replay: a behaviour followed step by step through the plain model.

Files and engines are treated alike. An engine only says where a property is hit, a file may say anything:
what is shown to a person, stored or explained has passed here. The states that the model is asked about
have all been made by its own functions, so nothing foreign is ever given to them: only compared with what
they make.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from elrcheck.catalogue.configuration import config_values
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.lang.runtime import NotEnabled
from elrcheck.results.trace_reports import Origin as ReportedOrigin
from elrcheck.results.trace_reports import Rejection
from elrcheck.results.trace_view import TraceView, Truth
from elrcheck.traces.behaviour import Behaviour, Origin, Said, allows, of_states
from elrcheck.traces.describe import trace_view
from elrcheck.traces.rejection import rejected_start, rejected_step
from elrcheck.traces.violation import Broken, explain


class ReplayError(Exception):
    """An engine produced a trace that the plain model does not follow. Never the user's fault."""


@dataclass(frozen=True)
class Replayed:
    """A behaviour as far as the plain model follows it: to its end, or up to the step of `rejection`.

    labels: of the steps that the model makes. broken: of an engine's finding, the part of its property that
    broke at the end. truths: what every property says along it, if somebody asked.
    """

    model: Model
    config: Any
    behaviour: Behaviour[Said]
    labels: tuple[Label, ...]
    rejection: Rejection | None = None
    broken: Broken = field(default_factory=Broken)
    truths: tuple[Truth, ...] = ()

    @property
    def states(self) -> tuple[Any, ...]:
        """The states that the model makes; of a lasso the one it returns to stands at the end once more."""
        if self.rejection is not None and self.rejection.step == 0:
            return ()
        return self.behaviour.visited[: len(self.labels) + 1]

    @property
    def loop(self) -> int | None:
        return None if self.rejection is not None else self.behaviour.loop

    @property
    def followed(self) -> Behaviour[Label]:
        """The behaviour with the label of every step; ReplayError if the model does not follow it."""
        if self.rejection is not None and self.rejection.step == 0:
            raise ReplayError("the trace does not start in the initial state")
        if self.rejection is not None:
            raise ReplayError(f"step {self.rejection.step} of the trace is no step of the model")
        recorded = self.behaviour
        return Behaviour(recorded.origin, recorded.states, self.labels, recorded.loop)

    @cached_property
    def plain(self) -> PlainModel:
        return PlainModel(self.model, self.config)

    @cached_property
    def repro(self) -> str:
        """The steps as indices into the enabled actions of each state."""
        choices = ([known for known, _ in self.plain.successors(state)] for state in self.states)
        return "/".join(str(known.index(label)) for label, known in zip(self.labels, choices, strict=False))

    @property
    def beyond(self) -> int | None:
        """The first step that leaves the budgets of the scope."""
        within = (self.plain.within(state) for state in self.states[1:])
        return next((number for number, inside in enumerate(within, start=1) if not inside), None)

    @property
    def origin(self) -> ReportedOrigin:
        """Where it comes from, for a report."""
        of = self.behaviour.origin
        values = config_values(self.config)
        return ReportedOrigin(of.source, of.variant, of.scope, values, of.form, of.property or None)

    @property
    def view(self) -> TraceView:
        """What the model follows, as a report shows it."""
        if not self.states:
            return TraceView()
        view = trace_view(self.model, self.states, self.labels, self.repro, self.loop)
        return replace(view, truths=self.truths)


def replay(model: Model, config: Any, behaviour: Behaviour[Said], anywhere: bool = False) -> Replayed:
    """As far as the model goes along with the states and, where it is known, the action of each step.

    anywhere: it need not start in the initial state, as the step that a proof fails at.
    """
    plain, states = PlainModel(model, config), behaviour.visited
    if not anywhere and states[0] != plain.initial():
        return Replayed(model, config, behaviour, (), rejected_start(plain, states[0]))
    labels: list[Label] = []
    rejection = None
    pairs = zip(itertools.pairwise(states), behaviour.labels, strict=True)
    for number, ((before, after), said) in enumerate(pairs, start=1):
        label = next((one for one, made in _possible(plain, before, said) if made == after), None)
        if label is None:
            rejection = rejected_step(plain, number, before, after, said)
            break
        labels.append(label)
    return Replayed(model, config, behaviour, tuple(labels), rejection)


def _possible(plain: PlainModel, state: Any, said: Said) -> Iterator[tuple[Label, Any]]:
    """The enabled steps that a notation allows."""
    for label, source in plain.steps:
        if allows(said, label):
            try:
                yield label, source(plain.config, state, *label.args)
            except NotEnabled:
                continue


def replay_finding(model: Model, config: Any, fn: Fn, states: Sequence[Any]) -> Replayed:
    """The states of an engine that says it has hit a property at their end, and which part of it broke.

    ReplayError if plain Python disagrees.
    """
    found = replay(model, config, of_states(states, Origin(property=fn.ident)))
    made = found.followed.states
    last = made[-2:] if fn.is_step else made[-1:]
    if found.plain.holds(fn, *last) != (fn.kind == "sometimes"):
        raise ReplayError(f"{fn.ident} is not hit at the end of its trace in the plain model")
    if fn.kind != "always":
        return found
    before = made[-2] if len(made) > 1 else None
    return replace(found, broken=explain(model, config, fn, last, before))
