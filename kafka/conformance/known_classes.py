"""The known differences between Kafka's controller and the model, with the reason why each stays.

A class explains a difference only if its predicate says so; any other difference is unexplained. A predicate is
narrow: it computes Kafka's answer as if the class were the whole reason, and compares.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from elrcheck.kafka.conformance.difference_table import known_class
from elrcheck.kafka.conformance.kafka_part import KnownClass
from elrcheck.kafka.conformance.model_side import Situation
from elrcheck.kafka.conformance.projections import partition_differences
from elrcheck.kafka.controller_steps import KafkaBroker, Register, Setup, Step, StepAnswer, Unregister
from elrcheck.kafka.partition_questions import NO_LEADER, BuilderAnswer, BuilderQuestion, KafkaPartition
from elrcheck.model.state import Partition
from elrcheck.results.conform_report import FieldPair


@dataclass(frozen=True, slots=True)
class BuilderDisagreement:
    """The change builder and the model's `change` differ. partition: the model's, after the change."""

    question: BuilderQuestion
    answer: BuilderAnswer
    partition: Partition
    differences: tuple[FieldPair, ...]

    @property
    def before(self) -> KafkaPartition:
        return self.question.partition

    @property
    def known_class(self) -> KnownClass | None:
        return class_of(self)

    @property
    def signature(self) -> str:
        return f"builder, {self.question.election}: {', '.join(field.name for field in self.differences)}"

    @property
    def rank(self) -> tuple[int, ...]:
        return (2, 1, len(self.question.partition.replicas))


@dataclass(frozen=True, slots=True)
class StepDisagreement:
    """The answers to the last of `steps` differ.

    before, brokers: the state of Kafka; now: that of the model; error, model: its answer.
    """

    setup: Setup
    steps: tuple[Step, ...]
    before: KafkaPartition
    brokers: tuple[KafkaBroker, ...]
    answer: StepAnswer
    now: Situation
    error: str
    model: Situation
    differences: tuple[FieldPair, ...]

    @property
    def step(self) -> Step:
        return self.steps[-1]

    @property
    def partition(self) -> Partition:
        return self.model.controller.partition

    @property
    def from_new_topic(self) -> bool:
        return self.setup.partition is not None and self.setup.partition.partition_epoch == 0

    @property
    def known_class(self) -> KnownClass | None:
        return class_of(self)

    @property
    def signature(self) -> str:
        return f"{type(self.step).__name__}: {', '.join(field.name for field in self.differences)}"

    @property
    def rank(self) -> tuple[int, ...]:
        return (0 if self.from_new_topic else 1, len(self.steps), len(self.setup.brokers))


ControllerDisagreement: TypeAlias = BuilderDisagreement | StepDisagreement
Explains: TypeAlias = Callable[[ControllerDisagreement], bool]


def class_of(d: ControllerDisagreement) -> KnownClass | None:
    """Return the first class that explains a difference."""
    return next((known_class(ident) for ident, explains in CLASSES.items() if explains(d)), None)


def _is_reordered(d: ControllerDisagreement) -> bool:
    """Return whether only the order of the ISR has changed, in a record of its own."""
    before, after = d.before, d.answer.partition
    if isinstance(d, StepDisagreement) and (d.answer.error != d.error or _fields(d) != {"partition_epoch"}):
        return False
    if after is None or before.isr == after.isr or frozenset(before.isr) != frozenset(after.isr):
        return False
    without_record = replace(after, partition_epoch=after.partition_epoch - 1)
    same = not partition_differences(without_record, d.partition)
    return same and d.partition.partition_epoch == before.partition_epoch


def _has_isr_of_minus_one(d: ControllerDisagreement) -> bool:
    """Return whether -1, stored in LastKnownELR beside a leader, wins an unclean election: the ISR becomes [-1]."""
    before, after = d.before, d.answer.partition
    if after is None or after.isr != (NO_LEADER,) or before.last_known_elr != (NO_LEADER,):
        return False
    expected = replace(after, isr=(), last_known_elr=tuple(sorted(d.partition.last_known_elr)))
    left = {field.name for field in partition_differences(expected, d.partition)}
    others = _fields(d) - {"isr", "last_known_elr", "recovery"}
    return before.leader != NO_LEADER and not others and left <= {"recovery"}


def _moved_to_partition_zero(d: ControllerDisagreement) -> bool:
    """Return whether the model repeats the record for an entry that Kafka has turned into one of partition 0."""
    if not isinstance(d, StepDisagreement) or not isinstance(d.step, Register | Unregister):
        return False
    after, model = d.answer.partition, d.partition
    stale = d.now.controller.registration[d.step.broker].stale_entries
    if d.setup.sibling is None or stale == 0 or after is None or d.answer.error != d.error:
        return False
    again = replace(after, partition_epoch=model.partition_epoch, leader_epoch=model.leader_epoch)
    fewer = model.partition_epoch - after.partition_epoch
    epochs_only = _fields(d) <= {"partition_epoch", "leader_epoch"}
    return epochs_only and 0 < fewer <= stale and not partition_differences(again, model)


def _fields(d: ControllerDisagreement) -> set[str]:
    return {field.name for field in d.differences}


CLASSES: Mapping[str, Explains] = {"C": _is_reordered, "A2": _has_isr_of_minus_one, "S0": _moved_to_partition_zero}
"""The id of each class -> the predicate that decides whether it is the whole reason for a difference."""
