"""The sets of events to search: the smallest first, and no superset of a set that breaks the property.

Each event is a budget of the model, with a name and words for operators. A model in which more events may happen has
every behaviour of one with fewer. So a property that breaks with some events also breaks with more. Of the sets of one
size, those of the findings come first, since a search that finds a violation ends soon; only the order depends on it,
not the answer of any set.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta

from elrcheck.base.roundtrip import Record
from elrcheck.catalogue.events import event_words
from elrcheck.catalogue.evidence.attributed import repair_in
from elrcheck.catalogue.evidence.searched import BUDGETS
from elrcheck.catalogue.finding_file import Finding, FindingRun
from elrcheck.model.config import Config
from elrcheck.model.variants import variant_named

Events: TypeAlias = tuple[str, ...]
"""Names of events, in the order of `KINDS`; one that happens twice is listed twice."""


@dataclass(frozen=True)
class RiskEvent:
    """An event. budget: of `Config`, which bounds it, and by which `event_words` names it; words: what happens."""

    name: str
    budget: str
    words: str


KINDS: tuple[RiskEvent, ...] = (
    RiskEvent("stop", "clean_stops", "a broker stops in an orderly way, and starts again"),
    RiskEvent("kill", "kills", "a broker process is killed; its log is intact, since the system lives on"),
    RiskEvent("crash", "crashes", "a machine crashes, and any part of the log that was not flushed is gone"),
    RiskEvent("fence", "fences", "a broker is paused or cut off for longer than its session, and fenced"),
    RiskEvent("shrink", "shrinks", "followers fall behind, and the leader shrinks the ISR"),
    RiskEvent("reassign", "reassignments", "an operator reassigns the partition, and may cancel that"),
    RiskEvent("elect", "elections", "an operator, or balancing, elects the preferred leader"),
    RiskEvent("elect_unclean", "unclean_elections", "an operator asks for an unclean election"),
    RiskEvent("set_min_isr", "min_isr_changes", "an operator changes min.insync.replicas"),
    RiskEvent("switch_elr", "feature_changes", "an operator switches eligible.leader.replicas.version"),
    RiskEvent("unregister", "unregistrations", "an operator unregisters a broker that is down"),
    RiskEvent("move_directory", "directory_changes", "a replica is assigned to another log directory"),
    RiskEvent("fail_directory", "directory_failures", "a log directory fails while its broker runs"),
    RiskEvent("lose_directory", "directory_losses", "a log directory is lost while its broker is down"),
)
"""The order is that of reports."""

BY_NAME: Mapping[str, RiskEvent] = {kind.name: kind for kind in KINDS}
UNCLEAN = ("kill", "crash")
"""Events after which a broker registers without a clean-shutdown file."""
LOSING = ("crash", "fail_directory", "lose_directory")
"""Events after which a log has lost records: min.insync.replicas of them may lose what was acknowledged."""


def budgets_of(events: Events) -> dict[str, int]:
    """Return how far each budget of these events may be used."""
    return {BY_NAME[name].budget: events.count(name) for name in dict.fromkeys(events)}


def counted(events: Events) -> dict[str, int]:
    """Return event -> how often it happens."""
    return {name: events.count(name) for name in dict.fromkeys(events)}


def in_words(counts: Mapping[str, int]) -> str:
    """Return events in words: 2 reassignments and an orderly stop."""
    wordings = event_words()
    phrases = [wordings[BY_NAME[name].budget].in_prose(count) for name, count in counts.items()]
    return " and ".join([", ".join(phrases[:-1]), phrases[-1]] if len(phrases) > 1 else phrases)


DOWN = ("stop", "kill", "crash", "fence")
"""Ways to take a broker down, which can often replace each other."""
LOSSES = ("P-6", "P-8")
"""An acknowledged record is lost."""
LEADERLESS = ("V-8",)
"""The partition stays without a leader."""
SIZES = ("broker_count", "partition_zero_replicas")
"""Sizes that `risk` sets by the replication factor, so that a search of a finding may differ in them."""
OTHER = {*BUDGETS, *SIZES}
PLACES = {kind.name: place for place, kind in enumerate(KINDS)}


def suspects(findings: Sequence[Finding], most: int) -> dict[Events, Events]:
    """Return the events of each search of a finding -> themselves, and variants with other stops -> those events."""
    suspected: dict[Events, Events] = {}
    for finding in findings:
        for run in finding.runs:
            if not run.breaks:
                continue
            events = _events_of(run)
            if 1 <= len(events) <= most:
                suspected |= {other: events for other in _variations(events) if other not in suspected}
                suspected[events] = events
    return suspected


def fitting(findings: Sequence[Finding], config: Config) -> frozenset[Events]:
    """Return the events of recorded searches that lose a record, or have no leader, under these rules and settings.

    The release of such a search has the finding, and differs in no other rule.
    """
    return frozenset(
        _events_of(run)
        for finding in findings
        if repair_in(config, finding)
        for run in finding.runs
        if any(ident in run.breaks for ident in (*LOSSES, *LEADERLESS))
        and all(getattr(config, name) == value for name, value in run.knobs.items() if name not in OTHER)
        and _with_elr(run) == config.elr_enabled
    )


def _with_elr(run: FindingRun) -> bool:
    """Return whether ELR was on in this search: as it says, else as its variant has it."""
    variant = variant_named(run.variant)
    knobs = {**({} if variant is None else variant.knobs), **run.knobs}
    return bool(knobs.get("elr_enabled", Config().elr_enabled))


def _events_of(run: FindingRun) -> Events:
    return tuple(kind.name for kind in KINDS for _ in range(int(run.knobs.get(kind.budget, 0))))


def _variations(events: Sequence[str]) -> Iterator[Events]:
    for chosen in itertools.product(*(DOWN if name in DOWN else (name,) for name in events)):
        yield tuple(sorted(chosen, key=PLACES.__getitem__))


# ---------------------------------------------------------------------------- all sets

Count = Annotated[int, Meta(ge=0)]


class SetAnswer(Record, frozen=True):
    """The answer for one set of events: the properties that break, those that hold; the rest is undecided.

    states: the number searched, from which larger sets are estimated. traces: for each property that breaks the
    numbers of the steps of a shortest trace.
    """

    broken: frozenset[str] = frozenset()
    held: frozenset[str] = frozenset()
    states: Count = 0
    traces: Mapping[str, tuple[Count, ...]] = msgspec.field(default_factory=dict)

    @property
    def sound(self) -> bool:
        """Return whether no property both broke and held, and each that broke has a trace."""
        return not self.broken & self.held and self.broken <= self.traces.keys()

    def merged(self, new: SetAnswer) -> SetAnswer:
        """Return both answers combined."""
        return SetAnswer(
            self.broken | new.broken, self.held | new.held, max(self.states, new.states), {**self.traces, **new.traces}
        )


Search: TypeAlias = Callable[[Events, Sequence[str], bool], SetAnswer | None]
"""Searches for violations of properties with these events; third argument: search briefly. None: no answer in time."""


@dataclass
class EventSets:
    """The monotone search. names: of the events, in order; properties: ids of those to search for."""

    names: Sequence[str]
    properties: Sequence[str]
    most: int
    suspected: Mapping[Events, Events] = field(default_factory=dict)
    """Sets that findings name, and variants of them -> the set that a variant replaces."""
    fitting: frozenset[Events] = frozenset()
    """Suspected sets from findings under the same rules and settings; they come first."""
    answers: dict[Events, SetAnswer] = field(default_factory=dict)
    _tried_briefly: set[Events] = field(default_factory=set, init=False)
    """Sets without a violation in a brief search; a longer one follows in their turn."""

    def of_size(self, size: int) -> list[Events]:
        """Return every set of this many events, those that take the least time first."""
        return sorted(itertools.combinations_with_replacement(self.names, size), key=self.estimate)

    def suspects(self, size: int) -> Iterator[Events]:
        """Return the sets of this many events that findings name; then variants of those that break."""
        own = [events for events in self.suspected if len(events) == size and set(events) <= set(self.names)]
        own.sort(key=self.estimate)
        yield from (events for events in own if self.suspected[events] == events)
        yield from (events for events in own if self._replaces_broken(events))

    def likely(self) -> Iterator[Events]:
        """Return the fitting sets, variants of those that break, and the subsets of all of these."""
        fitting = [e for e in self.fitting if len(e) <= self.most and set(e) <= set(self.names)]
        for fits in sorted(fitting, key=lambda events: (len(events), self.estimate(events), events)):
            same = [e for e, of in self.suspected.items() if of == fits and set(e) <= set(self.names)]
            for events in (fits, *same):
                if events == fits or self._replaces_broken(events):
                    yield from (*parts(events), events)

    def _replaces_broken(self, events: Events) -> bool:
        """Return whether it is a variant of a set that breaks a property."""
        of = self.suspected[events]
        return of != events and bool(self.answers.get(of, SetAnswer()).broken)

    def open(self, events: Events) -> list[str]:
        """Return the properties that no smaller set breaks, and that are not answered for this one."""
        answer = self.answers.get(events, SetAnswer())
        answered = answer.broken | answer.held
        return [p for p in self.properties if p not in answered and not self.implied(events, p)]

    def implied(self, events: Events, ident: str) -> bool:
        """Return whether a smaller set breaks the property already."""
        return any(ident in self.answers[part].broken for part in parts(events) if part in self.answers)

    def estimate(self, events: Events) -> float:
        """Estimate the states of a search from those of its pairs of events, as if events interacted only in pairs."""
        if len(events) < 3:
            return float(len(events))
        ones = [max(1, self._states((name,))) for name in events]
        twos = [max(1, self._states(pair)) for pair in itertools.combinations(events, 2)]
        return float(prod(twos)) / float(prod(ones)) ** (len(events) - 2)

    def _states(self, events: Events) -> int:
        return self.answers[events].states if events in self.answers else 1000

    def run(self, search: Search) -> None:
        """Search set by set; one without an answer stays open.

        Sets that findings name are searched first and briefly: a search that finds a violation ends soon. It ends
        with the first property that breaks; another one is searched afterwards. After the single events come the
        fitting sets, whose subsets show that they are minimal.
        """
        for size in range(1, self.most + 1):
            if size == 2:
                for events in self.likely():
                    while self._ask(search, events, briefly=True):
                        pass
            for number in range(1 + len(self.properties)):
                for events in self.of_size(size) if number else self.suspects(size):
                    self._ask(search, events, briefly=number == 0)

    def _ask(self, search: Search, events: Events, briefly: bool) -> bool:
        """Search a set; return whether a property broke, so that another one may be open still."""
        properties = [] if briefly and events in self._tried_briefly else self.open(events)
        answer = search(events, properties, briefly) if properties else None
        if answer is None:
            return False
        self.answers[events] = self.answers.get(events, SetAnswer()).merged(answer)
        if briefly and not answer.broken:
            self._tried_briefly.add(events)
        return bool(answer.broken)

    def smallest(self, ident: str) -> list[Events]:
        """Return the minimal sets of events that break the property, the smallest first.

        Ignores stored answers about other events.
        """
        own = [events for events in self.answers if len(events) <= self.most and set(events) <= set(self.names)]
        broken = [e for e in own if ident in self.answers[e].broken and not self.implied(e, ident)]
        return sorted(broken, key=lambda events: (len(events), [self.names.index(name) for name in events]))

    def undecided(self, ident: str) -> list[Events]:
        """Return the sets without an answer, no subset of which breaks the property."""
        return [
            events
            for size in range(1, self.most + 1)
            for events in itertools.combinations_with_replacement(self.names, size)
            if ident in self.open(events)
        ]

    def safe_up_to(self, ident: str) -> int:
        """Return the number of events of any kinds up to which the property never breaks."""
        for size in range(1, self.most + 1):
            for events in itertools.combinations_with_replacement(self.names, size):
                if ident not in self.answers.get(events, SetAnswer()).held:
                    return size - 1
        return self.most


def parts(events: Events) -> Iterable[Events]:
    """Return every proper subset of the events, except the empty one."""
    return dict.fromkeys(part for size in range(1, len(events)) for part in itertools.combinations(events, size))


def contains(events: Mapping[str, int], part: Mapping[str, int]) -> bool:
    """Return whether the events contain every event of `part`, at least as often."""
    return Counter(part) <= Counter(events)
