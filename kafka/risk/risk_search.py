"""The searches behind one group of settings, and their stored answers."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from elrcheck.base.interrupts import Interrupts
from elrcheck.base.kafka_requests import RiskRequest
from elrcheck.base.kept.age import KeptOrigin
from elrcheck.base.progress import PointsDone, Progress
from elrcheck.base.requests import Limits
from elrcheck.base.runner.processors import processors
from elrcheck.base.typed.configuration import config_values
from elrcheck.explorer.kernel.native_code import KernelCache
from elrcheck.kafka.risk.event_kinds import BY_NAME, Events, budgets_of
from elrcheck.kafka.risk.event_search import EventSearch
from elrcheck.kafka.risk.event_sets import EventSets, SetAnswer
from elrcheck.kafka.risk.kept_risks import KeptRisk, risk_key, risk_store
from elrcheck.kafka.risk.settings_group import SettingsGroup
from elrcheck.kafka.risk.time_budget import OutOfTime, TimeBudget
from elrcheck.lang.load import Model
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.lang.runtime import NotEnabled
from elrcheck.model.config import Config
from elrcheck.traces.replay import ReplayError, replay_finding

SHARE = 0.7
"""Share of the time for the sets themselves; the rest is for their causes."""
BRIEFLY = 0.1
"""Share of the time for a set that is only suspected to break."""
UNCONFIRMED = (
    ReplayError,
    NotEnabled,
    ArithmeticError,
    LookupError,
    TypeError,
    ValueError,
    AttributeError,
    StopIteration,
)
"""Errors of the plain model for a trace that it does not follow: a different end, a disabled or an unknown step."""
MEMORY = 1 << 30
"""Bytes that the states of one search may take."""


class RiskSearch:
    """Answers sets of events, from stored answers or by searching; traces as labels of the plain model."""

    def __init__(
        self,
        model: Model,
        group: SettingsGroup,
        sets: EventSets,
        request: RiskRequest,
        clock: TimeBudget,
        progress: Progress,
        stop: Interrupts,
    ) -> None:
        self.model, self.group, self.sets = model, group, sets
        self.request, self.clock, self.progress, self.stop = request, clock, progress, stop
        self.workers = request.workers or processors()
        self.cache = KernelCache()
        self.prevented: dict[str, bool | None] = {}
        self.searched, self.states = 0, 0
        self._kernels: dict[str, EventSearch] = {}
        self._plain: dict[str, PlainModel] = {}
        self._followed: dict[tuple[Events, str], tuple[tuple[Label, ...], tuple[Any, ...]]] = {}
        self.compiling, self.compiled = 0.0, True
        """Seconds spent on compiling the model of all events, and whether that ended in time."""
        self._whole = f"{request.most} {' '.join(kind.name for kind in group.kinds)}"
        self._store, self._key = risk_store(request.fresh), risk_key(group.config)
        self.answered, self.origin = self._read_stored()

    def _read_stored(self) -> tuple[KeptRisk, KeptOrigin | None]:
        """Return the stored answers and their origin; empty if the model does not confirm a part of them.

        Every answer depends on the smallest sets that break, so their traces are followed here.
        """
        entry = self._store.get(self._key)
        if entry is None:
            return KeptRisk(), None
        properties = frozenset(fn.ident for fn in self.model.always)
        for text, part in entry.value.sets.items():
            events = tuple(text.split())
            if not part.sound or not set(events) <= BY_NAME.keys() or not properties >= part.traces.keys():
                return self._refused()
            self.sets.answers[events] = part
        try:
            for ident in self.sets.properties:
                for events in self.sets.smallest(ident):
                    self.trace(events, ident)
        except UNCONFIRMED:
            return self._refused()
        self.prevented |= entry.value.prevented
        return entry.value, entry.origin if entry.value.sets else None

    def _refused(self) -> tuple[KeptRisk, None]:
        self._store.refuse(self._key, "has a part that the model does not confirm")
        self.sets.answers.clear()
        return KeptRisk(), None

    # -- the sets

    def run(self) -> None:
        """Search every set that is open, until the time is over."""
        properties = self.sets.properties
        if all(not self.sets.undecided(ident) for ident in properties) or self._gave_up():
            return
        self.progress.stage("compiling the model")
        started = time.monotonic()
        try:
            kernel = self._kernel(self.group.config, tuple(kind.name for kind in self.group.kinds))
        except OutOfTime:
            self.compiled = False
            return
        finally:
            self.compiling = time.monotonic() - started
        started = time.monotonic()
        total = len(self.sets.undecided(properties[0]))
        self.progress.stage("searching")

        def search(events: Events, properties: Sequence[str], briefly: bool) -> SetAnswer | None:
            left = self.clock.left(SHARE)
            left = min(left, BRIEFLY * self.request.seconds) if briefly else left
            if left <= 0 or self.stop.requested:
                return None
            self.progress.tell(
                PointsDone(self.searched, total, (" ".join(events),), self.states, time.monotonic() - started, None)
            )
            result = kernel.search(budgets_of(events), properties, Limits(time_budget=left, memory=MEMORY))
            self.searched += 1
            self.states += result.distinct
            broken = frozenset(result.traces)
            self.clock.answers += len(broken)
            held = frozenset(properties) - broken if result.complete else frozenset()
            traces = {ident: self._steps(events, ident, states) for ident, states in result.traces.items()}
            return SetAnswer(broken, held, result.distinct, traces)

        self.sets.run(search)

    def _gave_up(self) -> bool:
        """Return whether an earlier run gave up on the same sets after as much time."""
        return self.answered.tried.get(self._whole, 0.0) >= self.request.seconds

    def _steps(self, events: Events, ident: str, states: Sequence[Any]) -> tuple[int, ...]:
        """Have the plain model follow the engine's trace; return the numbers of its steps with only these events."""
        fn = self.model.properties_by_id[ident]
        labels = replay_finding(self.model, self.config(events), fn, states).labels
        numbers = {label: number for number, (label, _) in enumerate(self.plain(self.config(events)).steps)}
        return tuple(numbers[label] for label in labels)

    # -- traces

    def config(self, events: Events) -> Config:
        return self.group.with_events(events)

    def plain(self, config: Config) -> PlainModel:
        """Return the plain model of a configuration, built once."""
        key = json.dumps(config_values(config), sort_keys=True)
        if key not in self._plain:
            self._plain[key] = PlainModel(self.model, config)
        return self._plain[key]

    def trace(self, events: Events, ident: str) -> tuple[tuple[Label, ...], tuple[Any, ...]]:
        """Return labels and states of a trace by the plain model; raise one of UNCONFIRMED if it does not follow."""
        if (events, ident) in self._followed:
            return self._followed[events, ident]
        plain = self.plain(self.config(events))
        states = [plain.initial()]
        labels = []
        for number in self.sets.answers[events].traces[ident]:
            label, _ = plain.steps[number]
            labels.append(label)
            states.append(plain.step(states[-1], label))
        fn = self.model.properties_by_id[ident]
        if plain.holds(fn, states[-1]) or not plain.within(states[-1]):
            raise ReplayError(f"{ident} holds at the end of the trace of {' '.join(events)}")
        self._followed[events, ident] = tuple(labels), tuple(states)
        return self._followed[events, ident]

    # -- repaired rules

    def prevents(self, knobs: Mapping[str, Any], events: Events, ident: str, kinds: Sequence[str]) -> bool | None:
        """Return whether the outcome never happens with these rules repaired; None if a limit was hit."""
        repaired = replace(self.group.config, **knobs)
        key = f"{sorted((name, str(value)) for name, value in knobs.items())} {' '.join(events)} {ident}"
        if self.prevented.get(key) is not None or (key in self.prevented and self._gave_up()):
            return self.prevented[key]
        self.prevented[key] = None
        if self.stop.requested:
            return None
        self.progress.stage("searching for causes")
        try:
            self.clock.demand()
            kernel = self._kernel(repaired, tuple(kinds))
        except OutOfTime:
            return None
        limits = Limits(time_budget=max(self.clock.left(), 0.0), memory=MEMORY)
        result = kernel.search(budgets_of(events), (ident,), limits)
        self.prevented[key] = False if ident in result.traces else True if result.complete else None
        return self.prevented[key]

    def _kernel(self, config: Config, kinds: tuple[str, ...]) -> EventSearch:
        """Return the compiled model with these events; raise OutOfTime if the time is over before."""
        key = json.dumps([config_values(config), kinds], sort_keys=True)
        if key not in self._kernels:
            budgets = [BY_NAME[name].budget for name in kinds]
            options = (self.request.most, self.workers, self.cache, self.clock.demand)
            self._kernels[key] = EventSearch(self.model, config, budgets, *options)
        return self._kernels[key]

    def keep(self) -> None:
        """Store all answers so far."""
        sets = {" ".join(events): answer for events, answer in self.sets.answers.items()}
        tried = dict(self.answered.tried)
        if not self.stop.requested and self.compiled:
            tried[self._whole] = max(tried.get(self._whole, 0.0), self.request.seconds)
        when = None if self.origin is None else self.origin.moment
        self._store.put(self._key, KeptRisk(sets, self.prevented, tried), when)
