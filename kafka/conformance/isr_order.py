"""Compares Kafka's classes with themselves: the same event with the ISR in the opposite order.

The model's ISR is a set. That is sound only if the answers of Kafka's classes do not depend on the order, except in
the order itself and the record that writes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from elrcheck.kafka.conformance.controller_part import Walk, partition_in
from elrcheck.kafka.conformance.kafka_part import Agreement, KafkaPart, KnownClass, Outcome
from elrcheck.kafka.conformance.known_classes import StepDisagreement
from elrcheck.kafka.conformance.model_side import NotRepresentable, decide_step, partition_of, situation_of
from elrcheck.kafka.conformance.projections import partition_differences
from elrcheck.kafka.controller_steps import StepAnswer
from elrcheck.kafka.kafka_oracle import ControllerOracle
from elrcheck.kafka.partition_questions import KafkaPartition
from elrcheck.model.config import Config
from elrcheck.results.conform_report import FieldPair

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
