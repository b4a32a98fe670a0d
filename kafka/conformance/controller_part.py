"""The controller's managers, compared with `decide` event by event.

After a difference the model continues from Kafka's state, so that each difference concerns a single step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from elrcheck.kafka.conformance.builder_part import plainer_partitions
from elrcheck.kafka.conformance.kafka_part import Agreement, KafkaPart, Outcome
from elrcheck.kafka.conformance.known_classes import StepDisagreement
from elrcheck.kafka.conformance.model_side import NotRepresentable, Situation, decide_step, partition_of, situation_of
from elrcheck.kafka.conformance.projections import directory_of, step_differences
from elrcheck.kafka.controller_steps import KafkaBroker, Setup, Step, StepAnswer
from elrcheck.kafka.kafka_oracle import ControllerOracle
from elrcheck.kafka.partition_questions import UNASSIGNED, KafkaPartition
from elrcheck.model.config import Config
from elrcheck.model.replication_control import Controller

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
