"""The abstractions of the model, and the comparison of an answer of the controller's classes with the model's.

Every field of an answer is compared, except the projections below.
"""

from __future__ import annotations

from dataclasses import fields

from elrcheck.kafka.conformance.model_side import NotRepresentable, Situation, partition_of
from elrcheck.kafka.controller_steps import KafkaBroker, StepAnswer
from elrcheck.kafka.partition_questions import UNASSIGNED, BuilderAnswer, KafkaPartition
from elrcheck.model.min_isr import effective_min_isr
from elrcheck.model.replication_control import Controller
from elrcheck.model.state import Directory, Partition, Registration
from elrcheck.results.conform_report import FieldPair, ProjectionReport

PROJECTIONS = (
    ProjectionReport(
        "members are sets",
        "ISR, ELR, lastKnownElr, adding and removing replicas are compared as sets",
        "elections scan the replica list, whose order is compared; of every other list only the members matter."
        " The run also asks Kafka's classes the same questions with the ISR permuted",
    ),
    ProjectionReport(
        "incarnations for broker epochs",
        "a broker epoch is compared by whether the event changed it",
        "Kafka takes the offset of the record, the model counts; both are only compared for equality",
    ),
    ProjectionReport(
        "no directories",
        "of the log directory of a replica, whether it is online is compared, not which one it is",
        "the model holds no more; whether a report changes the directory decides if there is a record",
    ),
    ProjectionReport(
        "no side records",
        "the registrations after the records of an event are compared, not the records",
        "the records of one event are one batch: no broker and no controller sees a state in between",
    ),
    ProjectionReport(
        "no exception text",
        "an exception that is not an error of the protocol is compared as UNKNOWN_SERVER_ERROR",
        "callers get the error; the text of the exception is in the log of the controller only",
    ),
)
"""The parts of an answer of the controller that are not compared, and why that is not a difference in behaviour."""
BROKER_PROJECTIONS = (
    ProjectionReport(
        "fetch errors", "that a fetch is refused, not with which error", "the model has no names for them"
    ),
    ProjectionReport(
        "time",
        "the members that lag by replica.lag.time.max.ms have to be ones whom the model lets leave; which of those"
        " lag now is Kafka's rule, by the clock of a walk",
        "the model has no time: whoever is behind may leave. With -1, in every second walk, all of them leave",
    ),
    ProjectionReport(
        "fetch sessions",
        "a fetch names all of its partitions, and its answer does not wait in purgatory",
        "a session only leaves out what has not changed; an answer that waited does not update the follower again",
    ),
)
"""The same for a broker."""
FOLLOWER_PROJECTIONS = (
    ProjectionReport(
        "one response",
        "a follower is asked for one truncation, after which it sends another request",
        "the next request is that of a shorter log, and the questions have every shorter log",
    ),
)
"""The same for a follower."""


def text_of(value: object) -> str:
    """Return a value for a reader: sets ascending, `none` for no broker."""
    if isinstance(value, frozenset):
        return "{" + ", ".join(str(member) for member in sorted(value)) + "}"
    if isinstance(value, tuple):
        return "[" + ", ".join(str(member) for member in value) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    return "none" if value is None else getattr(value, "name", str(value))


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
