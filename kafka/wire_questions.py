"""Questions read back from the lines that `wire.py`, `wire_steps.py` and `broker_oracle.py` write.

Answers that were kept in a file are told apart by their questions, so what is read here is exactly what was
written there: `builder(read_builder_question(line)) == line`, and so on. Anything else is a `WireError`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar, cast, get_args

from elrcheck.kafka.asked import BuilderQuestion, Election, Ids, KafkaPartition, Recovery
from elrcheck.kafka.broker_oracle import STATES
from elrcheck.kafka.broker_steps import (
    Append,
    Beginning,
    BrokerEvent,
    BrokerState,
    FollowerFetch,
    Granted,
    LookForLag,
    Metadata,
    Refused,
    Registered,
    Wait,
)
from elrcheck.kafka.controller_steps import (
    AlterPartition,
    AssignDirectory,
    Balance,
    ConfigKey,
    Configure,
    CreateTopic,
    Elect,
    ElectUncleanly,
    Expire,
    Fence,
    Heartbeat,
    Member,
    Reassign,
    Register,
    Setup,
    ShutDown,
    Step,
    SwitchElr,
    Unfence,
    Unregister,
)
from elrcheck.kafka.wire import (
    ABSENT,
    PARTITION_WORDS,
    RECOVERIES,
    REMEMBERED,
    WireError,
    read_ids,
    read_optional_ids,
    read_partition,
)
from elrcheck.kafka.wire_steps import numbers_in, read_brokers

T = TypeVar("T")
MEMBER_NUMBERS = 3
_RECOVERY = cast("dict[str, Recovery]", {number: name for name, number in RECOVERIES.items()})
_STATE = cast("dict[str, BrokerState]", {letter: name for name, letter in STATES.items()})


@lru_cache(REMEMBERED)
def read_builder_question(line: bytes) -> BuilderQuestion:
    """Read a question to PartitionChangeBuilder."""
    return _parsed(line, _builder)


@lru_cache(REMEMBERED)
def read_setup(line: bytes) -> Setup:
    """Read a setup."""
    return _parsed(line, _setup)


@lru_cache(REMEMBERED)
def read_step_question(line: bytes) -> Step:
    """Read a step of the controller."""
    return _parsed(line, _step)


@lru_cache(REMEMBERED)
def read_broker_event(line: bytes) -> BrokerEvent:
    """Read an event of one broker."""
    return _parsed(line, _broker_event)


def _parsed(line: bytes, read: Callable[[list[str]], T]) -> T:
    try:
        return read(line.decode("ascii").split(" "))
    except (ValueError, IndexError, KeyError, TypeError):
        raise WireError(f"not a question: {line!r}") from None


def _builder(words: list[str]) -> BuilderQuestion:
    at = 1 + PARTITION_WORDS
    (acceptable, min_isr, elr, election, isr, replicas, adding, removing, unclean, recovery, version) = words[
        at:
    ]
    return BuilderQuestion(
        question_partition(words[1:at]), read_ids(acceptable), int(min_isr), elr == "1",
        cast(Election, _one_of(election, get_args(Election))), read_optional_ids(isr),
        read_optional_ids(replicas), read_optional_ids(adding), read_optional_ids(removing),
        read_optional_ids(unclean), None if recovery == ABSENT else _RECOVERY[recovery],
        None if version == ABSENT else version,
    )  # fmt: skip


def question_partition(words: list[str]) -> KafkaPartition:
    """Read a partition of a question, which need not name directories."""
    if words[-1] != ABSENT:
        return read_partition(words)
    named = read_partition([*words[:-1], "-"])
    return KafkaPartition(
        named.replicas, named.isr, named.elr, named.last_known_elr, named.adding, named.removing,
        named.leader, named.leader_epoch, named.partition_epoch, named.recovery,
    )  # fmt: skip


def _setup(words: list[str]) -> Setup:
    kind, elr, version, topic, cluster, own, topic_unclean, cluster_unclean, brokers, *rest = words
    if kind != "s":
        raise ValueError(kind)
    partition = sibling = None
    if rest[0] != ABSENT:
        partition, rest = question_partition(rest[:PARTITION_WORDS]), rest[PARTITION_WORDS:]
        if rest[0] != ABSENT:
            sibling = question_partition(rest)
    numbers = read_ids(own)
    return Setup(
        read_brokers(brokers), partition, elr == "1", _number(topic), _number(cluster),
        tuple(zip(numbers[::2], numbers[1::2], strict=True)), _flag(topic_unclean), _flag(cluster_unclean),
        sibling, None if version == ABSENT else version,
    )  # fmt: skip


def _step(words: list[str]) -> Step:
    kind, name, *rest = words
    if kind != "t":
        raise ValueError(kind)
    match name, *rest:
        case "fence", b:
            return Fence(int(b))
        case "expire", b:
            return Expire(int(b))
        case "unfence", b:
            return Unfence(int(b))
        case "shutdown", b:
            return ShutDown(int(b))
        case "beat", b, fence, shut_down, caught_up, offline:
            wants = fence == "1", shut_down == "1", caught_up == "1"
            return Heartbeat(int(b), *wants, numbers_in(int(offline)))
        case "register", b, ("last" | "none" | "other") as previous, directories:
            return Register(int(b), previous, None if directories == ABSENT else numbers_in(int(directories)))
        case "unregister", b:
            return Unregister(int(b))
        case "alter", sender, sender_epoch, leader_epoch, partition_epoch, recovery, members:
            return AlterPartition(
                int(sender), _members(read_ids(members)), int(sender_epoch), int(leader_epoch),
                int(partition_epoch), _RECOVERY[recovery],
            )  # fmt: skip
        case "elect", ("PREFERRED" | "UNCLEAN") as election:
            return Elect(election)
        case ("balance",):
            return Balance()
        case ("unclean",):
            return ElectUncleanly()
        case "reassign", replicas, may_change:
            return Reassign(read_optional_ids(replicas), may_change == "1")
        case "configure", ("topic" | "cluster" | "broker") as level, key, value, broker, legacy:
            return Configure(
                level, None if value == ABSENT else value, cast(ConfigKey, _one_of(key, get_args(ConfigKey))),
                _number(broker), legacy == "1",
            )  # fmt: skip
        case "elr", on:
            return SwitchElr(on == "1")
        case "directory", b, directory:
            return AssignDirectory(int(b), int(directory))
        case "create", replicas:
            return CreateTopic(read_ids(replicas))
    raise ValueError(name)


def _members(numbers: Ids) -> tuple[Member, ...]:
    triples = zip(*(numbers[at::MEMBER_NUMBERS] for at in range(MEMBER_NUMBERS)), strict=True)
    return tuple(Member(b, epoch if known else None) for b, known, epoch in triples)


def _broker_event(words: list[str]) -> BrokerEvent:
    match words:
        case "s", b, epoch, min_isr, lag:
            return Beginning(int(b), int(epoch), int(min_isr), int(lag))
        case "c", brokers:
            split = (one.split(":") for one in brokers.split(","))
            return Registered(tuple((int(b), int(epoch), _STATE[state]) for b, epoch, state in split))
        case "m", leader, leader_epoch, partition_epoch, replicas, isr:
            return Metadata(
                int(leader), int(leader_epoch), int(partition_epoch), read_ids(replicas), read_ids(isr)
            )
        case "a", acks:
            return Append(int(acks))
        case "r", follower, broker_epoch, offset, leader_epoch, last_epoch:
            return FollowerFetch(
                int(follower), int(broker_epoch), int(offset), int(leader_epoch), int(last_epoch)
            )
        case ("h",):
            return LookForLag()
        case "w", milliseconds:
            return Wait(int(milliseconds))
        case "g", leader_epoch, partition_epoch, isr:
            return Granted(int(leader_epoch), int(partition_epoch), read_ids(isr))
        case "e", error:
            return Refused(error)
    raise ValueError(words[0])


def _number(word: str) -> int | None:
    return None if word == ABSENT else int(word)


def _flag(word: str) -> bool | None:
    return None if word == ABSENT else word == "1"


def _one_of(word: str, known: tuple[str, ...]) -> str:
    if word not in known:
        raise ValueError(word)
    return word
