"""Compares the indexes of a controller after every event with its partitions and registrations.

Both sides are Kafka's: the running controller, and a controller that loads a snapshot of everything committed. A
difference is reported at the first event after which it exists. A finding explains it if what Kafka must have left in
the index by that finding is what it has.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any, TypeAlias

from elrcheck.kafka.conformance.controller_part import Walk, shorter_walks
from elrcheck.kafka.conformance.kafka_part import Agreement, KafkaPart, KnownClass, Outcome, known_class
from elrcheck.kafka.controller_steps import (
    Configure,
    CreatePartition,
    CreateTopic,
    DeleteTopic,
    Heartbeat,
    IndexAnswer,
    IndexEntry,
    Register,
    Setup,
    Step,
    StepAnswer,
    SwitchElr,
    Unregister,
)
from elrcheck.kafka.kafka_oracle import ControllerOracle
from elrcheck.model.config import Config

ELRS, DIRECTORIES, ISRS, PARTITION = "brokersToElrs", "directoriesToPartitions", "brokersToIsrs", "partition"
GONE = "existed in isrMembers, but not in the topics map"
NO_IMAGE = 'NullPointerException: Cannot invoke "org.apache.kafka.image.TopicImage'
NO_ELR: Mapping[str, Any] = {"elr": [], "last_known_elr": []}
NO_LEADER_KEY = "-1 as leader"
"""The key of brokersToIsrs for partitions without a leader."""


@dataclass(frozen=True, slots=True)
class IndexChange:
    """An event with the indexes before and after it, in full, and the entries of one that differ newly."""

    step: Step
    before: Sequence[IndexEntry]
    now: Sequence[IndexEntry]
    entries: Sequence[IndexEntry]

    def counts(self, index: str, of: str, topic: str) -> Iterator[tuple[Counter[int], Counter[int]]]:
        """Yield how often an index has each partition of a topic, and how often it should: before, then now."""
        for entries in (self.before, self.now):
            held, due = Counter[int](), Counter[int]()
            for entry in entries:
                name, number = place_of(entry)
                if (entry.index, entry.of, name) == (index, of, topic):
                    held[number] += entry.held
                    due[number] += entry.due
            yield +held, +due


def place_of(entry: IndexEntry) -> tuple[str, int]:
    """Return the topic and the number of an entry's partition; -1 where an index has no partitions."""
    topic, _, number = entry.partition.rpartition("-")
    return (topic, int(number)) if topic else (entry.partition, -1)


def class_of_entries(change: IndexChange) -> KnownClass | None:
    """Return the finding that explains entries of the running controller."""
    index = change.entries[0].index
    if index == ELRS and all(_as_elrs_go_stale(change, entry) for entry in change.entries):
        return known_class("F-64")
    if index == DIRECTORIES and all(_left_by_deletion(change, entry) for entry in change.entries):
        return known_class("F-67")
    return None


def class_of_loaded(
    steps: Sequence[Step], differ: Sequence[IndexEntry], now: Sequence[IndexEntry], elr: bool
) -> KnownClass | None:
    """Return the finding that explains entries of a controller that loaded a snapshot.

    differ: the entries that differ newly; now: all that differ; elr: the feature is on. While it is off, F-28 takes the
    ELR out of what KAFKA-19383 has left.
    """
    if any(entry.index != PARTITION for entry in differ):
        return None
    names = {entry.partition for entry in differ}
    entries = [entry for entry in now if entry.index == PARTITION and entry.partition in names]
    running = {entry.partition: json.loads(entry.of) for entry in entries if entry.due}
    loaded = {entry.partition: json.loads(entry.of) for entry in entries if entry.held}
    if running.keys() != loaded.keys():
        return None
    without_elr = {name for name, one in loaded.items() if not elr and one == {**running[name], **NO_ELR}}
    if without_elr == names:
        return known_class("F-28")
    rest = names - without_elr
    return (
        known_class("KAFKA-19383")
        if _cleared(steps) and all(_as_before(running[name], loaded[name]) for name in rest)
        else None
    )


def class_of_unloaded(steps: Sequence[Step], failure: str) -> KnownClass | None:
    """Return the finding that explains an exception while writing a snapshot after these events."""
    deleted = next((at for at, step in enumerate(steps) if isinstance(step, DeleteTopic)), len(steps))
    return known_class("KAFKA-19497") if _cleared(steps[deleted:]) and NO_IMAGE in failure else None


def _cleared(steps: Sequence[Step]) -> bool:
    """Return whether one of the events clears the ELR of every topic."""
    return any(
        isinstance(step, SwitchElr) or (isinstance(step, Configure) and step.level == "cluster") for step in steps
    )


def class_of_failure(step: Step, before: Sequence[IndexEntry], failure: str) -> KnownClass | None:
    """Return the finding that explains an exception. before: the indexes before the event."""
    if GONE not in failure:
        return None
    stale = {(entry.index, entry.of) for entry in before if entry.held > entry.due}
    if isinstance(step, Register | Unregister) and (ELRS, str(step.broker)) in stale:
        return known_class("F-64")
    if isinstance(step, Heartbeat) and any((DIRECTORIES, f"{step.broker}/{d}") in stale for d in step.offline):
        return known_class("F-67")
    return None


def _as_elrs_go_stale(change: IndexChange, entry: IndexEntry) -> bool:
    topic, _ = place_of(entry)
    (held, due), (held_now, due_now) = change.counts(ELRS, entry.of, topic)
    if isinstance(change.step, Configure | SwitchElr) and not due_now - due:
        return held_now == held
    was_stale = held != due
    return was_stale and held_now in list(_updated(held, due - due_now, due_now - due))


def _updated(held: Counter[int], gone: Collection[int], come: Collection[int]) -> Iterator[Counter[int]]:
    """Yield the results of BrokersToElrs.update for a broker's partitions of a topic, in each order of changes."""
    for order in permutations([*((number, False) for number in gone), *((number, True) for number in come)]):
        left = Counter(held)
        for number, added in order:
            if added:
                left[number] += 1
            else:  # the array becomes shorter by one: places of further copies are filled with zeros
                copies = left.pop(number, 0)
                left[0] += copies - 1
        yield +left


def _left_by_deletion(change: IndexChange, entry: IndexEntry) -> bool:
    """Return whether the topic was deleted with an empty ISR, while its directories were known until then."""
    if not isinstance(change.step, DeleteTopic):
        return False
    due_before = [e for e in change.before if e.due]
    members = [e for e in due_before if e.index == ISRS and e.partition == entry.partition and e.of != NO_LEADER_KEY]
    here = (entry.index, entry.of, entry.partition)
    return not members and entry.due == 0 and any((e.index, e.of, e.partition) == here for e in due_before)


def _as_before(running: Mapping[str, Any], loaded: Mapping[str, Any]) -> bool:
    """Return whether a loaded partition is the running one but for its ELR and epoch, and of an earlier epoch."""
    epoch = running["partition_epoch"]
    same = {**loaded, **NO_ELR, "partition_epoch": epoch} == {**running, **NO_ELR}
    return bool(same and loaded["partition_epoch"] < epoch)


# ---------------------------------------------------------------------------- the comparison

IndexAnswers: TypeAlias = Sequence[tuple[StepAnswer, IndexAnswer]]
NOTHING = IndexAnswer((), ())


@dataclass(frozen=True, slots=True)
class IndexDisagreement:
    """After the last of `steps` an index is wrong, or that event failed with an exception.

    where: the running controller, or one that loads a snapshot; before, now: what the indexes held before the event
    and after it; elr: the feature is on; entries: of one index, those that differ; failure: the exception's text.
    """

    setup: Setup
    steps: tuple[Step, ...]
    where: str
    before: IndexAnswer
    now: IndexAnswer
    elr: bool
    entries: tuple[IndexEntry, ...] = ()
    failure: str | None = None

    @property
    def step(self) -> Step:
        return self.steps[-1]

    @property
    def known_class(self) -> KnownClass | None:
        if self.where != "running":
            if self.failure is not None:
                return class_of_unloaded(self.steps, self.failure)
            return class_of_loaded(self.steps, self.entries, self.now.loaded, self.elr)
        if self.failure is not None:
            return class_of_failure(self.step, self.before.running, self.failure)
        return class_of_entries(IndexChange(self.step, self.before.running, self.now.running, self.entries))

    @property
    def signature(self) -> str:
        what = self.entries[0].index if self.entries else "an exception"
        after = type(self.step).__name__
        return f"{after}: {what}" if self.where == "running" else f"a snapshot after {after}: {what}"

    @property
    def rank(self) -> tuple[int, ...]:
        return (0, len(self.steps), len(self.setup.brokers))


class IndexPart(KafkaPart[Walk, IndexAnswers]):
    """Walks over several topics."""

    name = "indexes"
    kafka = "an index of the controller"
    other = "its partitions"
    in_files = False

    def ask(self, oracle: ControllerOracle, questions: Sequence[Walk]) -> Sequence[IndexAnswers]:
        return oracle.index_walks(questions)

    def compare(self, config: Config, question: Walk, answer: IndexAnswers, expected: None) -> Iterator[Outcome]:
        """Yield the new differences after each event; an event counts as one comparison."""
        setup, steps = question
        before = NOTHING
        for number, (kafka, now) in enumerate(answer, 1):
            here = IndexDisagreement(setup, steps[:number], "running", before, now, kafka.elr)
            differences = [*_differing(here), *_differing(replace(here, where="loaded"))]
            if kafka.failure is not None:
                differences.append(replace(here, failure=kafka.failure))
            if now.failure is not None and now.failure != before.failure:
                differences.append(replace(here, where="loaded", failure=now.failure))
            yield from differences
            if not differences:
                yield Agreement.SAME
            before = now

    def smaller(self, disagreement: IndexDisagreement) -> Iterator[Walk]:
        """Yield walks of fewer steps, large pieces first; then fewer replicas and plainer setups."""
        setup, steps = disagreement.setup, disagreement.steps
        yield from shorter_walks(setup, steps)
        for at, step in enumerate(steps):
            if isinstance(step, CreateTopic | CreatePartition) and len(step.replicas) > 1:
                for b in step.replicas:
                    fewer = type(step)(tuple(r for r in step.replicas if r != b))
                    yield setup, (*steps[:at], fewer, *steps[at + 1 :])
        if len(setup.brokers) > 1:
            yield replace(setup, brokers=setup.brokers[:-1]), steps
        if setup.cluster_unclean:
            yield replace(setup, cluster_unclean=False), steps
        for least in range(1, setup.cluster_min_isr or 1):
            yield replace(setup, cluster_min_isr=least), steps


INDEXES = IndexPart()


def _differing(here: IndexDisagreement) -> Iterator[IndexDisagreement]:
    """Yield a difference for each index with entries that differ now and did not before."""
    loaded = here.where == "loaded"
    old = set(here.before.loaded if loaded else here.before.running)
    entries = here.now.loaded if loaded else here.now.running
    new = [entry for entry in entries if entry.held != entry.due and entry not in old]
    for index in dict.fromkeys(entry.index for entry in new):
        yield replace(here, entries=tuple(entry for entry in new if entry.index == index))
