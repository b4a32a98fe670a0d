"""What the model abstracts from, and how an answer of Kafka's classes is compared with the model's.

Everything that an answer holds is compared but for the projections below: each is a class that says what is
left out and why that is no difference in behaviour.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import ClassVar

from elrcheck.kafka.conformance.model_side import Situation, Unheld, partition_of
from elrcheck.kafka.controller_steps import KafkaBroker, StepAnswer
from elrcheck.kafka.partition_questions import BuilderAnswer, KafkaPartition
from elrcheck.model.min_isr import effective_min_isr
from elrcheck.model.replication_control import Controller
from elrcheck.model.state import Directory, Partition, Registration

UNASSIGNED = -1
"""The number of DirectoryId.UNASSIGNED."""


class Projection:
    """Something of Kafka's answer that is compared in part. what: which part is; why: the reason."""

    name: ClassVar[str]
    what: ClassVar[str]
    why: ClassVar[str]


class MembersAreSets(Projection):
    """Lists of members as sets."""

    name = "members are sets"
    what = "ISR, ELR, lastKnownElr, adding and removing replicas are compared as sets"
    why = (
        "elections scan the replica list, whose order is compared; every other list is only asked for its"
        " members. The run asks Kafka's classes the same questions with the ISR permuted, and counts that"
    )


class IncarnationsForEpochs(Projection):
    """Broker epochs by their change."""

    name = "incarnations for broker epochs"
    what = "a broker epoch is compared by whether the event changed it"
    why = "Kafka takes the offset of the record, the model counts; both are only compared for equality"


class NoDirectories(Projection):
    """Directories by whether they are online."""

    name = "no directories"
    what = "of the log directory of a replica, whether it is online is compared, not which one it is"
    why = "the model holds no more; whether a report changes the directory decides if there is a record"


class NoSideRecords(Projection):
    """What is registered after the records, not the records."""

    name = "no side records"
    what = "the registrations after the records of an event are compared, not the records"
    why = "the records of one event are one batch: no broker and no controller sees a state in between"


class NoExceptionText(Projection):
    """The error, not the exception."""

    name = "no exception text"
    what = "an exception that is no error of the protocol is compared as UNKNOWN_SERVER_ERROR"
    why = "callers are told the error; the text of the exception is in the log of the controller only"


PROJECTIONS: tuple[type[Projection], ...] = (
    MembersAreSets,
    IncarnationsForEpochs,
    NoDirectories,
    NoSideRecords,
    NoExceptionText,
)


@dataclass(frozen=True, slots=True)
class Difference:
    """A field in which the two answers differ, with both values as text."""

    field: str
    kafka: str
    model: str


def text_of(value: object) -> str:
    """A value as a person reads it: sets ascending, no broker as none."""
    if isinstance(value, frozenset):
        return "{" + ", ".join(str(member) for member in sorted(value)) + "}"
    if isinstance(value, tuple):
        return "[" + ", ".join(str(member) for member in value) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    return "none" if value is None else getattr(value, "name", str(value))


_APART = ("last_known_leader", "last_known_none")
_PARTITION = tuple(field.name for field in fields(Partition) if field.name not in _APART)


def partition_differences(kafka: KafkaPartition | None, model: Partition | None) -> tuple[Difference, ...]:
    """Field by field; a partition that one side does not have differs as a whole."""
    if kafka is None or model is None:
        return () if kafka is None and model is None else (Difference("partition", _whole(kafka), _whole(model)),)
    try:
        held = partition_of(kafka)
    except Unheld:
        held = None
    if held is not None and held == model:
        return ()
    return tuple(
        Difference(name, _of_kafka(kafka, name), _of_model(model, name))
        for name in _PARTITION
        if _of_kafka(kafka, name) != _of_model(model, name)
    )


def _whole(side: object) -> str:
    return "none" if side is None else "a partition"


def _of_kafka(partition: KafkaPartition, name: str) -> str:
    value = getattr(partition, name)
    if name == "leader":
        return "none" if value == -1 else str(value)
    return text_of(frozenset(value) if isinstance(value, tuple) and name != "replicas" else value)


def _of_model(partition: Partition, name: str) -> str:
    if name == "last_known_elr" and partition.last_known_none:
        return "{-1}"
    return text_of(getattr(partition, name))


def builder_differences(before: KafkaPartition, answer: BuilderAnswer, after: Partition) -> tuple[Difference, ...]:
    """An answer of PartitionChangeBuilder and the partition of the model; no record leaves it as it is."""
    if answer.failure is not None:
        return (Difference("failure", answer.failure, "none"),)
    return partition_differences(answer.partition or before, after)


def step_differences(
    known: tuple[KafkaBroker, ...], answer: StepAnswer, before: Situation, error: str, after: Situation
) -> tuple[Difference, ...]:
    """An answer of the controller's managers and what the model's controller knows then."""
    s = after.controller
    found: list[Difference] = []
    if answer.error != error:
        found.append(Difference("error", answer.error, error))
    found.extend(partition_differences(answer.partition, s.partition))
    old, new = before.controller.registration, s.registration
    for b, broker in enumerate(answer.brokers):
        kafka, model = _registered(broker), _registration(new[b])
        if kafka != model:
            found.append(Difference(f"broker {b}", kafka, model))
        restarted, counted = broker.epoch != known[b].epoch, new[b].epoch != old[b].epoch
        if restarted != counted:
            found.append(Difference(f"broker {b} epoch", _moved(restarted), _moved(counted)))
    if answer.elr is not None and answer.elr != s.settings.elr_enabled:
        found.append(Difference("elr", text_of(answer.elr), text_of(s.settings.elr_enabled)))
    found.extend(_directory_differences(answer, s))
    least = min_isr_in_effect(after)
    if answer.min_isr and answer.min_isr != least:
        found.append(Difference("min ISR in effect", str(answer.min_isr), str(least)))
    return tuple(found)


def min_isr_in_effect(now: Situation) -> int:
    """getTopicEffectiveMinIsr, which counts the replicas of the topic's partition 0."""
    s, zero = now.controller, now.config.partition_zero_replicas
    return effective_min_isr(s.settings, s.partition.replicas if zero == 0 else tuple(range(zero)))


def directory_of(recorded: int, broker: KafkaBroker) -> Directory:
    """The recorded directory of a replica as the model holds it; an unassigned one counts as online."""
    there = recorded in broker.directories or recorded == UNASSIGNED
    return Directory.ONLINE if there else Directory.OFFLINE


def _directory_differences(answer: StepAnswer, s: Controller) -> list[Difference]:
    """Which replicas are in a log directory that has failed; an unregistered broker has none."""
    p = answer.partition
    if p is None or p.directories is None:
        return []
    kafka = {
        b
        for b, place in zip(p.replicas, p.directories, strict=True)
        if directory_of(place, answer.brokers[b]) == Directory.OFFLINE and answer.brokers[b].registered
    }
    model = {b for b in p.replicas if s.registration[b].directory == Directory.OFFLINE}
    model = {b for b in model if answer.brokers[b].registered}
    if kafka == model:
        return []
    return [Difference("offline directories of", text_of(frozenset(kafka)), text_of(frozenset(model)))]


def _registered(broker: KafkaBroker) -> str:
    return _words(broker.registered, broker.fenced, broker.in_controlled_shutdown)


def _registration(r: Registration) -> str:
    return _words(r.registered, r.fenced, r.in_controlled_shutdown)


def _words(registered: bool, fenced: bool, leaving: bool) -> str:
    if not registered:
        return "unregistered"
    return ("fenced" if fenced else "unfenced") + (", in controlled shutdown" if leaving else "")


def _moved(moved: bool) -> str:
    return "a new one" if moved else "the same"
