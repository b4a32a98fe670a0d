"""The searches behind one group of settings: their compiled kernel, stored answers, and the time that they may take.

The digest of an answer covers every source file of the package, so that no answer outlives a change of the model or the
engine. A trace is stored as the numbers of its steps; the plain model follows it again when it is read.

A share of the time is for the report. The work after the searches takes processor time, and on a busy machine a
multiple of it in wall time. The load of the model, which runs in one thread, measures this multiple.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from msgspec import field

from elrcheck.base.interrupts import Interrupts
from elrcheck.base.kafka_requests import RiskRequest
from elrcheck.base.kept import named_digests as digests
from elrcheck.base.kept.age import KeptOrigin
from elrcheck.base.kept.store import Store
from elrcheck.base.progress import PointsDone, Progress
from elrcheck.base.requests import Limits
from elrcheck.base.roundtrip import Record
from elrcheck.base.runner.processors import processors
from elrcheck.base.typed.configuration import config_values
from elrcheck.explorer.kernel.native_code import KernelCache
from elrcheck.explorer.search.compiled import SearchSettings
from elrcheck.explorer.search.family import KernelFamily
from elrcheck.explorer.search.retrace import Retrace
from elrcheck.kafka.risk.event_sets import BY_NAME, Events, EventSets, SetAnswer, budgets_of
from elrcheck.kafka.risk.settings_group import SettingsGroup
from elrcheck.lang.load import Model
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.lang.runtime import NotEnabled
from elrcheck.model.config import Config
from elrcheck.traces.replay import ReplayError, replay_finding

# ---------------------------------------------------------------------------- time

REPORT = 0.5
"""Processor seconds for what follows the searches: evidence, stored traces, the report (measured)."""
EXPLAINED = 0.1
"""Processor seconds for the explanation of each answer."""
MOST = 0.3
"""The share of the time that is left for that at most."""
SHORTEST = 0.05
"""Processor seconds of loading below which they say nothing about the machine."""


class OutOfTime(Exception):
    """The time for searches is over."""


class Stopwatch:
    """Measures elapsed time, also per second of processor time."""

    def __init__(self) -> None:
        self.started, self._worked = time.monotonic(), time.thread_time()

    def seconds(self) -> float:
        """Return the seconds since the start."""
        return time.monotonic() - self.started

    def slowness(self) -> float:
        """Return the elapsed seconds for each second of this thread's processor time, 1 or more."""
        worked = time.thread_time() - self._worked
        return max(1.0, self.seconds() / worked) if worked >= SHORTEST else 1.0


class TimeBudget:
    """A number of seconds from a moment on. slowness: see `Stopwatch`."""

    def __init__(self, seconds: float, started: float, slowness: float) -> None:
        self.seconds, self._started, self._slowness = seconds, started, slowness
        self.answers = 0
        """The number of sets of events to explain."""

    def left(self, share: float = 1.0) -> float:
        """Return the seconds that are left for searches, of this share of the time."""
        afterwards = self._slowness * (REPORT + EXPLAINED * self.answers)
        end = self.seconds * share - max(0.0, min(afterwards, MOST * self.seconds) - (1 - share) * self.seconds)
        return end - self.passed()

    def passed(self) -> float:
        """Return the seconds that have passed."""
        return time.monotonic() - self._started

    def demand(self) -> None:
        """Raise OutOfTime if nothing is left."""
        if self.left() <= 0:
            raise OutOfTime


@dataclass(frozen=True)
class EventResult:
    """The result of one search. traces: property -> states of a shortest trace.

    complete: every state was searched, so that a property without a trace holds.
    """

    complete: bool
    distinct: int
    traces: Mapping[str, tuple[Any, ...]]


class EventSearch:
    """One compiled model whose searches each allow other events.

    most: how often each may happen at most. between: see `lower`.
    """

    def __init__(
        self,
        model: Model,
        config: Config,
        budgets: Sequence[str],
        most: int,
        workers: int,
        cache: KernelCache | None,
        between: Callable[[], object] = bool,
    ) -> None:
        self.budgets, self.workers = tuple(budgets), workers
        widest: dict[str, Any] = dict.fromkeys(budgets, most)
        self.family = KernelFamily(
            model,
            replace(config, **widest),
            model.always,
            least=dict.fromkeys(budgets, 0),
            cache=cache,
            between=between,
        )

    def search(self, allowed: Mapping[str, int], properties: Sequence[str], limits: Limits) -> EventResult:
        """Search with up to this many of each event, until one of these properties is violated."""
        bounds = {budget: allowed.get(budget, 0) for budget in self.budgets}
        checks = self.family.program.checks

        def violated() -> bool:
            return any(checks[number].name in properties for number in search.first)

        search = self.family.search(bounds, SearchSettings(limits, self.workers, interrupted=violated))
        result = search.run(None, "complete")
        broken = [number for number in result.first if checks[number].name in properties]
        traces = {
            checks[number].name: tuple(self.family.decode(row) for row in rows)
            for number, rows in Retrace(search).traces(broken).items()
        }
        return EventResult(result.complete, result.distinct, traces)


# ---------------------------------------------------------------------------- stored answers


class KeptRisk(Record, frozen=True):
    """The answers about one configuration. sets: by the names of their events.

    prevented: by repair, events and property. tried: the seconds after which a search gave up, by the largest sets
    that it was for.
    """

    sets: Mapping[str, SetAnswer] = field(default_factory=dict)
    prevented: Mapping[str, bool | None] = field(default_factory=dict)
    tried: Mapping[str, float] = field(default_factory=dict)


def risk_store(fresh: bool = False) -> Store[KeptRisk]:
    """Return the store of these answers. fresh: ignore existing entries, still write new ones."""
    return Store("risk", KeptRisk, fresh=fresh)


def risk_key(config: Config) -> str:
    """Return the key of the answers about a configuration."""
    return digests.key(package=digests.package(), config=config_values(config))


# ---------------------------------------------------------------------------- the searches of a group

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
