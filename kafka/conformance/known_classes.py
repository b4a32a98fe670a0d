"""Differences between Kafka's classes and the model that are known, each with the reason why it stays.

A class explains a difference only if its predicate says so; what no class explains is unexplained. A
predicate is narrow: it works out what Kafka must have answered if the class were the whole reason, and
compares.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from elrcheck.kafka.conformance.compare import BuilderDisagreement, Disagreement, StepDisagreement
from elrcheck.kafka.conformance.projections import partition_differences
from elrcheck.kafka.controller_steps import Register, Unregister
from elrcheck.kafka.partition_questions import NO_LEADER, KafkaPartition


@dataclass(frozen=True)
class KnownClass:
    """A difference that is explained.

    what: the difference; versions: the versions of Kafka that show it, as text; why: why the model stays
    as it is; source: where Kafka does it.
    """

    id: str
    what: str
    versions: str
    why: str
    source: str
    explains: Callable[[Disagreement], bool]


def _reordered(d: Disagreement) -> bool:
    """The sets are the same and only the order of the ISR differs from before, for one partition epoch."""
    if isinstance(d, BuilderDisagreement):
        before, after, model = d.question.partition, d.answer.partition, d.model
    else:
        before, after, model = d.before, d.answer.partition, d.model.controller.partition
        if d.answer.error != d.error or {found.field for found in d.differences} != {"partition_epoch"}:
            return False
    if after is None or before.isr == after.isr or frozenset(before.isr) != frozenset(after.isr):
        return False
    once = _bumped(after, -1)
    return not partition_differences(once, model) and model.partition_epoch == before.partition_epoch


def _isr_is_minus_one(d: Disagreement) -> bool:
    """LastKnownELR [-1] was stored beside a leader, and -1 wins an unclean election: the ISR becomes [-1]."""
    if isinstance(d, BuilderDisagreement):
        before, after, model = d.question.partition, d.answer.partition, d.model
    else:
        before, after, model = d.before, d.answer.partition, d.model.controller.partition
    if after is None or after.isr != (NO_LEADER,) or before.last_known_elr != (NO_LEADER,):
        return False
    expected = replace(after, isr=(), last_known_elr=tuple(sorted(model.last_known_elr)))
    left = partition_differences(expected, model)
    others = {found.field for found in d.differences} - {"isr", "last_known_elr", "recovery"}
    return before.leader != NO_LEADER and not others and {found.field for found in left} <= {"recovery"}


def _entry_of_partition_zero(d: Disagreement) -> bool:
    """The model repeats the record for an entry that Kafka has turned into one of partition 0."""
    if not isinstance(d, StepDisagreement) or not isinstance(d.step, Register | Unregister):
        return False
    after, model = d.answer.partition, d.model.controller.partition
    stale = d.now.controller.registration[d.step.broker].stale_entries
    if d.setup.sibling is None or stale == 0 or after is None or d.answer.error != d.error:
        return False
    again = replace(after, partition_epoch=model.partition_epoch, leader_epoch=model.leader_epoch)
    fewer = model.partition_epoch - after.partition_epoch
    return (
        {found.field for found in d.differences} <= {"partition_epoch", "leader_epoch"}
        and 0 < fewer <= stale
        and not partition_differences(again, model)
    )


def _bumped(partition: KafkaPartition, by: int) -> KafkaPartition:
    return replace(partition, partition_epoch=partition.partition_epoch + by)


CLASSES: tuple[KnownClass, ...] = (
    KnownClass(
        "C",
        "a record is written for a mere reordering of the ISR, and the partition epoch moves",
        "all",
        "the model's ISR is a set; no decision asks for its order, which every run checks on Kafka's classes",
        "PartitionChangeBuilder.build compares the lists",
        _reordered,
    ),
    KnownClass(
        "A2",
        "the ISR becomes [-1]: LastKnownELR [-1], stored before the feature was switched off, is elected",
        "4.0",
        "a set of brokers cannot hold -1; the partition is leaderless on both sides, and stays so",
        "PartitionChangeBuilder.canElectLastKnownLeader, tryElection",
        _isr_is_minus_one,
    ),
    KnownClass(
        "S0",
        "a record of another partition than number 0 is written once, where the model repeats it",
        "4.0 and later",
        "an entry that is left in the index for nothing becomes one of partition 0 when an equal one is"
        " removed; the modelled partition is number 0, and there it stays",
        "BrokersToElrs.remove",
        _entry_of_partition_zero,
    ),
)


def class_of(d: Disagreement) -> KnownClass | None:
    """The first class that explains it."""
    return next((known for known in CLASSES if known.explains(d)), None)


def signature(d: Disagreement) -> str:
    """What an unexplained difference is grouped by: the event and the fields that differ."""
    fields = ", ".join(found.field for found in d.differences)
    if isinstance(d, StepDisagreement):
        return f"{type(d.step).__name__}: {fields}"
    return f"builder, {d.question.election}: {fields}"
