"""The controller's classes: its managers, compared with `decide` event by event, and PartitionChangeBuilder.

The builder is compared with the model's `change`, and the managers also with themselves in another order of the ISR.

After a difference the model continues from Kafka's state, so that each difference concerns a single step.

The model's ISR is a set. That is sound only if the answers of Kafka's classes to the same event do not depend on the
order, except in the order itself and the record that writes it (`OrderPart`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from elrcheck.kafka.conformance.kafka_part import Agreement, KafkaPart, KnownClass, Outcome
from elrcheck.kafka.conformance.known_classes import (
    BuilderDisagreement,
    StepDisagreement,
    builder_differences,
    directory_of,
    partition_differences,
    step_differences,
)
from elrcheck.kafka.conformance.model_side import (
    NotRepresentable,
    Situation,
    built,
    decide_step,
    partition_of,
    situation_of,
)
from elrcheck.kafka.controller_steps import KafkaBroker, Setup, Step, StepAnswer
from elrcheck.kafka.kafka_oracle import ControllerOracle
from elrcheck.kafka.partition_questions import NO_LEADER, UNASSIGNED, BuilderAnswer, BuilderQuestion, KafkaPartition
from elrcheck.model.config import Config
from elrcheck.model.replication_control import Controller
from elrcheck.model.state import Partition
from elrcheck.results.conform_report import FieldPair


class BuilderPart(KafkaPart[BuilderQuestion, BuilderAnswer]):
    """Questions to the change builder."""

    name = "builder"

    def expect(self, config: Config, question: BuilderQuestion) -> Partition | None:
        """Return the model's partition; None if it cannot represent the question."""
        try:
            return built(config, question)
        except NotRepresentable:
            return None

    def ask(self, oracle: ControllerOracle, questions: Sequence[BuilderQuestion]) -> Sequence[BuilderAnswer]:
        return oracle.builder(questions)

    def compare(
        self, config: Config, question: BuilderQuestion, answer: BuilderAnswer, expected: Partition | None
    ) -> Iterator[Outcome]:
        if expected is None:
            yield Agreement.UNHELD
            return
        differences = builder_differences(question.partition, answer, expected)
        yield BuilderDisagreement(question, answer, expected, differences) if differences else Agreement.SAME

    def smaller(self, disagreement: BuilderDisagreement) -> Iterator[BuilderQuestion]:
        q = disagreement.question
        for held in plainer_partitions(q.partition):
            if q.target_replicas is None or held.replicas == q.partition.replicas:
                yield replace(q, partition=held, min_isr=min(q.min_isr, len(held.replicas)))
        for plainer in (
            replace(q, target_recovery=None),
            replace(q, unclean_shutdown=None),
            replace(q, target_adding=None),
            replace(q, target_removing=None),
            replace(q, target_isr=None),
        ):
            if plainer != q:
                yield plainer
        for member in q.acceptable:
            yield replace(q, acceptable=tuple(b for b in q.acceptable if b != member))
        if q.min_isr > 1:
            yield replace(q, min_isr=q.min_isr - 1)
        if q.partition.leader_epoch or q.partition.partition_epoch:
            yield replace(q, partition=replace(q.partition, leader_epoch=0, partition_epoch=0))
        if q.partition.leader == NO_LEADER and len(q.partition.isr) == 1:
            yield replace(q, partition=replace(q.partition, leader=q.partition.isr[0]))


BUILDER = BuilderPart()


def plainer_partitions(p: KafkaPartition) -> Iterator[KafkaPartition]:
    """Return every partition with one element less."""
    if p.last_known_elr:
        yield replace(p, last_known_elr=())
    if p.adding or p.removing:
        yield replace(p, adding=(), removing=())
    if p.recovery != "RECOVERED":
        yield replace(p, recovery="RECOVERED")
    for member in p.elr:
        yield replace(p, elr=tuple(b for b in p.elr if b != member))
    for member in p.isr:
        if member != p.leader:
            yield replace(p, isr=tuple(b for b in p.isr if b != member))
    for replica in p.replicas:
        if replica not in {*p.isr, *p.elr, *p.last_known_elr, p.leader} and len(p.replicas) > 1:
            yield _without_replica(p, replica)


def _without_replica(p: KafkaPartition, replica: int) -> KafkaPartition:
    at = p.replicas.index(replica)
    return replace(
        p,
        replicas=(*p.replicas[:at], *p.replicas[at + 1 :]),
        adding=tuple(b for b in p.adding if b != replica),
        removing=tuple(b for b in p.removing if b != replica),
        directories=None if p.directories is None else (*p.directories[:at], *p.directories[at + 1 :]),
    )


Walk: TypeAlias = tuple[Setup, tuple[Step, ...]]
ModelWalk: TypeAlias = tuple[tuple[str, Situation], ...]
"""For each step the model's error and its state afterwards."""


class ControllerPart(KafkaPart[Walk, Sequence[StepAnswer]]):
    """Walks of events from a setup."""

    name = "controller"

    def expect(self, config: Config, question: Walk) -> ModelWalk:
        """Return the model's answers, up to the first step that it cannot represent."""
        setup, steps = question
        answers: list[tuple[str, Situation]] = []
        try:
            now = situation_of(config, setup)
            for step in steps:
                error, now = decide_step(now, step)
                answers.append((error, now))
        except NotRepresentable:
            pass
        return tuple(answers)

    def ask(self, oracle: ControllerOracle, questions: Sequence[Walk]) -> Sequence[Sequence[StepAnswer]]:
        return oracle.walks(questions)

    def compare(
        self, config: Config, question: Walk, answer: Sequence[StepAnswer], expected: ModelWalk
    ) -> Iterator[Outcome]:
        setup, steps = question
        partition, brokers = partition_in(setup), setup.brokers
        together = True
        try:
            now = situation_of(config, setup)
            for number, (step, kafka) in enumerate(zip(steps, answer, strict=True), 1):
                ahead = together and number <= len(expected)
                try:
                    error, after = expected[number - 1] if ahead else decide_step(now, step)
                except NotRepresentable:
                    yield Agreement.UNHELD
                    together, after = False, _as_kafka(now, kafka)
                else:
                    differences = step_differences(brokers, kafka, now, error, after)
                    if differences:
                        yield StepDisagreement(
                            setup, steps[:number], partition, brokers, kafka, now, error, after, differences
                        )
                        together, after = False, _as_kafka(after, kafka)
                    else:
                        yield Agreement.SAME
                partition, brokers = partition_in(kafka), kafka.brokers
                # The model does not work out the directories of new replicas.
                now = after if after.directories else replace(after, directories=partition.directories)
        except NotRepresentable:
            yield Agreement.UNHELD

    def smaller(self, disagreement: StepDisagreement) -> Iterator[Walk]:
        """Return walks of fewer steps, large pieces first; then plainer setups."""
        setup, steps = disagreement.setup, disagreement.steps
        yield from shorter_walks(setup, steps)
        for plainer in _plainer_setups(setup, steps):
            yield plainer, steps


def shorter_walks(setup: Setup, steps: tuple[Step, ...]) -> Iterator[Walk]:
    """Yield walks of fewer steps, large pieces left out first; the last step stays."""
    before, last = steps[:-1], steps[-1]
    size = len(before)
    while size >= 1:
        for at in range(0, len(before), size):
            yield setup, (*before[:at], *before[at + size :], last)
        size //= 2


CONTROLLER = ControllerPart()


def partition_in(registered: Setup | StepAnswer) -> KafkaPartition:
    """Return the partition that a walk has from its setup to its end."""
    assert registered.partition is not None, "a walk has a partition, and keeps it"
    return registered.partition


def _as_kafka(after: Situation, answer: StepAnswer) -> Situation:
    """Return the model in the state that Kafka's classes are in."""
    p = partition_in(answer)
    places = p.directories or (0,) * len(p.replicas)
    recorded = dict(zip(p.replicas, places, strict=True))
    registrations = tuple(
        replace(
            registration,
            registered=broker.registered,
            fenced=broker.fenced or not broker.registered,
            in_controlled_shutdown=broker.in_controlled_shutdown,
            directory=directory_of(recorded.get(broker.id, UNASSIGNED), broker),
        )
        for broker, registration in zip(answer.brokers, after.controller.registration, strict=True)
    )
    settings = replace(after.controller.settings, elr_enabled=answer.elr)
    held = Controller(settings, partition_of(p), registrations)
    online = tuple(broker.directories for broker in answer.brokers)
    return replace(after, controller=held, directories=p.directories, online=online)


def _plainer_setups(setup: Setup, steps: Sequence[Step]) -> Iterator[Setup]:
    partition = partition_in(setup)
    last = len(setup.brokers) - 1
    of_sibling = () if setup.sibling is None else setup.sibling.replicas
    if setup.sibling is not None:
        yield replace(setup, sibling=None)
    if last > 0 and last not in {*_named_brokers(partition, steps), *of_sibling}:
        yield replace(setup, brokers=setup.brokers[:-1])
    if setup.topic_unclean:
        yield replace(setup, topic_unclean=False)
    for least in range(1, setup.topic_min_isr or 1):
        yield replace(setup, topic_min_isr=least)
    if setup.topic_min_isr is not None and (setup.cluster_min_isr or 1) != 1:
        yield replace(setup, cluster_min_isr=1)
    for b, broker in enumerate(setup.brokers):
        plain = KafkaBroker(broker.id, broker.epoch)
        if broker != plain:
            yield replace(setup, brokers=(*setup.brokers[:b], plain, *setup.brokers[b + 1 :]))
    for plainer in plainer_partitions(partition):
        yield replace(setup, partition=plainer)


def _named_brokers(partition: KafkaPartition, steps: Sequence[Step]) -> frozenset[int]:
    """Return the brokers that a partition or an event names."""
    named = {*partition.replicas, *partition.elr, *partition.last_known_elr}
    for step in steps:
        named |= {b for name in ("broker", "sender") if (b := getattr(step, name, None)) is not None}
        named |= set(getattr(step, "replicas", None) or ())
        named |= {member.broker for member in getattr(step, "isr", ())}
    return frozenset(named)


# ---------------------------------------------------------------------------- the order of the ISR

BothAnswers: TypeAlias = tuple[StepAnswer, StepAnswer]


@dataclass(frozen=True, slots=True)
class OrderDisagreement(StepDisagreement):
    """The answers differ when the ISR is reversed."""

    @property
    def known_class(self) -> KnownClass | None:
        return None

    @property
    def signature(self) -> str:
        return "the order of the ISR matters"


class OrderPart(KafkaPart[Walk, BothAnswers]):
    """Walks of one event."""

    name = "ISR order"
    in_files = False

    def ask(self, oracle: ControllerOracle, questions: Sequence[Walk]) -> Sequence[BothAnswers]:
        plain, turned = oracle.walks(questions), oracle.walks([permuted(walk) for walk in questions])
        return [(one, other) for (one,), (other,) in zip(plain, turned, strict=True)]

    def compare(self, config: Config, question: Walk, answer: BothAnswers, expected: None) -> Iterator[Outcome]:
        """Compare the two answers, apart from a record for the order alone."""
        plain, turned = answer
        other = permuted(question)
        differences: list[FieldPair] = []
        if plain.error != turned.error:
            differences.append(FieldPair("error", plain.error, turned.error))
        in_order, reversed_order = _without_order(question, plain), _without_order(other, turned)
        try:
            differences.extend(partition_differences(in_order, partition_of(reversed_order)))
            now = situation_of(config, other[0])
            error, after = decide_step(now, other[1][-1])
        except NotRepresentable:
            yield Agreement.SAME
            return
        if plain.brokers != turned.brokers:
            differences.append(FieldPair("brokers", str(plain.brokers), str(turned.brokers)))
        if not differences:
            yield Agreement.SAME
            return
        setup, steps = other
        before = partition_in(setup)
        yield OrderDisagreement(setup, steps, before, setup.brokers, turned, now, error, after, tuple(differences))


ORDER = OrderPart()


def permuted(walk: Walk) -> Walk:
    """Return the walk with the ISR of its partition in the opposite order."""
    setup, steps = walk
    partition = partition_in(setup)
    return replace(setup, partition=replace(partition, isr=partition.isr[::-1])), steps


def _without_order(walk: Walk, answer: StepAnswer) -> KafkaPartition:
    """Return the partition after the event; if only the order of the ISR changed, without the epoch of that record."""
    before, after = partition_in(walk[0]), partition_in(answer)
    same = replace(after, isr=before.isr, partition_epoch=before.partition_epoch, directories=None)
    reordered = before.isr != after.isr and frozenset(before.isr) == frozenset(after.isr)
    only_order = reordered and same == replace(before, directories=None)
    return replace(after, partition_epoch=after.partition_epoch - 1) if only_order else after
