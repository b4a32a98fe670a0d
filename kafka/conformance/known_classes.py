"""The comparison of an answer of Kafka's controller with the model's, and the known differences.

Every field of an answer is compared, except the projections of `differences.toml`. A class explains a difference only
if its predicate says so; any other difference is unexplained. A predicate is narrow: it computes Kafka's answer as if
the class were the whole reason, and compares.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import TypeAlias

from elrcheck.base.typed.configuration import setting_text
from elrcheck.kafka.conformance.kafka_part import KnownClass, known_class
from elrcheck.kafka.conformance.model_side import NotRepresentable, Situation, partition_of
from elrcheck.kafka.controller_steps import KafkaBroker, Register, Setup, Step, StepAnswer, Unregister
from elrcheck.kafka.partition_questions import NO_LEADER, UNASSIGNED, BuilderAnswer, BuilderQuestion, KafkaPartition
from elrcheck.model.min_isr import effective_min_isr
from elrcheck.model.replication_control import Controller
from elrcheck.model.state import Directory, Partition, Registration
from elrcheck.results.conform_report import FieldPair


def text_of(value: object) -> str:
    """Return a value for a reader: sets ascending, `none` for no broker."""
    if isinstance(value, frozenset):
        return "{" + ", ".join(str(member) for member in sorted(value)) + "}"
    if isinstance(value, tuple):
        return "[" + ", ".join(str(member) for member in value) + "]"
    return "none" if value is None else setting_text(value)


_NOT_LISTED = ("last_known_leader", "last_known_none")
_PARTITION = tuple(field.name for field in fields(Partition) if field.name not in _NOT_LISTED)


def partition_differences(kafka: KafkaPartition | None, model: Partition | None) -> tuple[FieldPair, ...]:
    """Compare field by field; a partition that one side lacks differs as a whole."""
    if kafka is None or model is None:
        return _difference("partition", kafka and "a partition", model and "a partition")
    try:
        held = partition_of(kafka)
    except NotRepresentable:
        held = None
    if held is not None and held == model:
        return ()
    pairs = (_difference(name, _text_of_kafka(kafka, name), _text_of_model(model, name)) for name in _PARTITION)
    return tuple(difference for pair in pairs for difference in pair)


def _text_of_kafka(partition: KafkaPartition, name: str) -> str:
    value = getattr(partition, name)
    if name == "leader":
        return "none" if value == -1 else str(value)
    return text_of(frozenset(value) if isinstance(value, tuple) and name != "replicas" else value)


def _text_of_model(partition: Partition, name: str) -> str:
    if name == "last_known_elr" and partition.last_known_none:
        return "{-1}"
    return text_of(getattr(partition, name))


def builder_differences(before: KafkaPartition, answer: BuilderAnswer, after: Partition) -> tuple[FieldPair, ...]:
    """Compare an answer of PartitionChangeBuilder with the model; without a record the partition stays as it is."""
    if answer.failure is not None:
        return (FieldPair("failure", answer.failure, "none"),)
    return partition_differences(answer.partition or before, after)


def step_differences(
    registered: tuple[KafkaBroker, ...], answer: StepAnswer, before: Situation, error: str, after: Situation
) -> tuple[FieldPair, ...]:
    """Compare an answer of the controller's managers with the model. registered: Kafka's brokers before the step."""
    s = after.controller
    old, new = before.controller.registration, s.registration
    differences = [*_difference("error", answer.error, error), *partition_differences(answer.partition, s.partition)]
    for b, broker in enumerate(answer.brokers):
        differences += _difference(f"broker {b}", _condition(broker), _condition(new[b]))
        kafka_restarts, model_restarts = broker.epoch != registered[b].epoch, new[b].epoch != old[b].epoch
        differences += _difference(f"broker {b} epoch", _change(kafka_restarts), _change(model_restarts))
    differences += _difference("elr", answer.elr, s.settings.elr_enabled)
    differences += _directory_differences(answer, s)
    if answer.min_isr:
        differences += _difference("min ISR in effect", answer.min_isr, min_isr_in_effect(after))
    return tuple(differences)


def _difference(name: str, kafka: object, model: object) -> tuple[FieldPair, ...]:
    return () if kafka == model else (FieldPair(name, text_of(kafka), text_of(model)),)


def min_isr_in_effect(now: Situation) -> int:
    """Return getTopicEffectiveMinIsr, which counts the replicas of the topic's partition 0."""
    s, zero = now.controller, now.config.partition_zero_replicas
    return effective_min_isr(s.settings, s.partition.replicas if zero == 0 else tuple(range(zero)))


def directory_of(recorded: int, broker: KafkaBroker) -> Directory:
    """Return the recorded directory of a replica as the model holds it; an unassigned one counts as online."""
    there = recorded in broker.directories or recorded == UNASSIGNED
    return Directory.ONLINE if there else Directory.OFFLINE


def _directory_differences(answer: StepAnswer, s: Controller) -> tuple[FieldPair, ...]:
    """Compare which replicas of registered brokers are in a log directory that has failed."""
    p = answer.partition
    if p is None or p.directories is None:
        return ()
    directories = [
        (b, directory_of(recorded, answer.brokers[b]), s.registration[b].directory)
        for b, recorded in zip(p.replicas, p.directories, strict=True)
        if answer.brokers[b].registered
    ]
    kafka = frozenset(b for b, directory, _ in directories if directory == Directory.OFFLINE)
    model = frozenset(b for b, _, directory in directories if directory == Directory.OFFLINE)
    return _difference("offline directories of", kafka, model)


def _condition(broker: KafkaBroker | Registration) -> str:
    if not broker.registered:
        return "unregistered"
    leaving = ", in controlled shutdown" if broker.in_controlled_shutdown else ""
    return f"{'fenced' if broker.fenced else 'unfenced'}{leaving}"


def _change(changed: bool) -> str:
    return "a new one" if changed else "the same"


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
