"""The comparison of an answer of the controller's classes with the model's.

Every field of an answer is compared, except the projections of `differences.toml`.
"""

from __future__ import annotations

from dataclasses import fields

from elrcheck.base.typed.configuration import setting_text
from elrcheck.kafka.conformance.model_side import NotRepresentable, Situation, partition_of
from elrcheck.kafka.controller_steps import KafkaBroker, StepAnswer
from elrcheck.kafka.partition_questions import UNASSIGNED, BuilderAnswer, KafkaPartition
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
