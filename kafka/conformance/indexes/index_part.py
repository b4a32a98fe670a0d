"""Compares the indexes of a controller after every event with its partitions and registrations.

Both sides are Kafka's: the running controller, and a controller that loads a snapshot of everything committed. A
difference is reported at the first event after which it exists.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from elrcheck.kafka.conformance.controller_part import Walk, shorter_walks
from elrcheck.kafka.conformance.indexes.stale_entries import (
    IndexChange,
    class_of_entries,
    class_of_failure,
    class_of_loaded,
    class_of_unloaded,
)
from elrcheck.kafka.conformance.kafka_part import Agreement, KafkaPart, KnownClass, Outcome
from elrcheck.kafka.controller_steps import (
    CreatePartition,
    CreateTopic,
    IndexAnswer,
    IndexEntry,
    Setup,
    Step,
    StepAnswer,
)
from elrcheck.kafka.kafka_oracle import ControllerOracle
from elrcheck.model.config import Config

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
