"""Setups, steps and their answers as lines of words; `wire.py` has the words themselves."""

from __future__ import annotations

import re
from functools import lru_cache

from elrcheck.kafka.asked import Ids
from elrcheck.kafka.controller_steps import (
    AlterPartition,
    AssignDirectory,
    Balance,
    Configure,
    CreateTopic,
    Elect,
    ElectUncleanly,
    Expire,
    Fence,
    Heartbeat,
    KafkaBroker,
    Reassign,
    Register,
    Reply,
    Setup,
    ShutDown,
    Step,
    StepAnswer,
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
    ids,
    metadata_version,
    optional_ids,
    partition,
    read_ids,
    read_partition,
)

REGISTERED, FENCED, SHUTTING_DOWN = 1, 2, 4
BROKER_NUMBERS = 4
REPLIES: tuple[tuple[int, Reply], ...] = (
    (1, "CAUGHT_UP"),
    (2, "FENCED"),
    (4, "IN_CONTROLLED_SHUTDOWN"),
    (8, "SHUT_DOWN"),
    (16, "RESIGNED"),
)
WORD = re.compile(r"[0-9A-Za-z.\-]+")


def flag(value: bool) -> str:
    return "1" if value else "0"


def optional(value: bool | int | str | None) -> str:
    if value is None:
        return ABSENT
    if isinstance(value, bool):
        return flag(value)
    if isinstance(value, str) and WORD.fullmatch(value) is None:
        raise ValueError(f"cannot be sent: {value!r}")
    return str(value)


def bits(numbers: Ids) -> int:
    """Write a set of small numbers as one."""
    total = 0
    for number in numbers:
        if not 0 <= number < 30:
            raise ValueError(f"not the number of a directory: {number}")
        total |= 1 << number
    return total


@lru_cache(REMEMBERED)
def numbers_in(total: int) -> Ids:
    """Read what `bits` wrote."""
    return tuple(number for number in range(total.bit_length()) if total >> number & 1)


@lru_cache(REMEMBERED)
def setup(of: Setup) -> bytes:
    """Write a setup as one line."""
    brokers: list[int] = []
    for broker in of.brokers:
        flags = (
            REGISTERED * broker.registered
            | FENCED * broker.fenced
            | SHUTTING_DOWN * broker.in_controlled_shutdown
        )
        brokers += (broker.id, broker.epoch, flags, bits(broker.directories))
    if of.sibling is not None and of.partition is None:
        raise ValueError("a sibling of no partition")
    words = [
        "s",
        flag(of.elr),
        metadata_version(of.metadata_version),
        optional(of.topic_min_isr),
        optional(of.cluster_min_isr),
        ids(tuple(number for pair in of.broker_min_isr for number in pair)),
        optional(of.topic_unclean),
        optional(of.cluster_unclean),
        ids(tuple(brokers)),
        ABSENT if of.partition is None else partition(of.partition),
    ]
    if of.partition is not None:
        words.append(ABSENT if of.sibling is None else partition(of.sibling))
    return " ".join(words).encode("ascii")


@lru_cache(REMEMBERED)
def step(of: Step) -> bytes:
    """Write a step as one line."""
    return f"t {_words(of)}".encode("ascii")


def _words(of: Step) -> str:
    match of:
        case Fence(broker):
            return f"fence {broker}"
        case Expire(broker):
            return f"expire {broker}"
        case Unfence(broker):
            return f"unfence {broker}"
        case ShutDown(broker):
            return f"shutdown {broker}"
        case Heartbeat(broker, want_fence, want_shut_down, caught_up, offline):
            wants = f"{flag(want_fence)} {flag(want_shut_down)} {flag(caught_up)}"
            return f"beat {broker} {wants} {bits(offline)}"
        case Register(broker, previous, directories):
            return f"register {broker} {previous} {ABSENT if directories is None else bits(directories)}"
        case Unregister(broker):
            return f"unregister {broker}"
        case AlterPartition():
            return _alter_partition(of)
        case Elect(kind):
            return f"elect {kind}"
        case Balance():
            return "balance"
        case ElectUncleanly():
            return "unclean"
        case Reassign(replicas, may_change_replication_factor):
            return f"reassign {optional_ids(replicas)} {flag(may_change_replication_factor)}"
        case Configure(level, value, key, broker, legacy):
            if (level == "broker") != (broker is not None):
                raise ValueError("exactly the level `broker` takes a broker")
            return f"configure {level} {key} {optional(value)} {optional(broker)} {flag(legacy)}"
        case SwitchElr(on):
            return f"elr {flag(on)}"
        case AssignDirectory(broker, directory):
            return f"directory {broker} {directory}"
        case CreateTopic(replicas):
            return f"create {ids(replicas)}"


def _alter_partition(of: AlterPartition) -> str:
    members: list[int] = []
    for member in of.isr:
        members += (member.broker, int(member.epoch is not None), member.epoch or 0)
    return (
        f"alter {of.sender} {of.sender_epoch} {of.leader_epoch} {of.partition_epoch} "
        f"{RECOVERIES[of.recovery]} {ids(tuple(members))}"
    )


@lru_cache(REMEMBERED)
def read_step(line: bytes) -> StepAnswer:
    """Read the answer to a step."""
    text = line.decode("ascii")
    words = text.split(" ")
    try:
        at = 4
        partition_here = words[at] != ABSENT
        found = read_partition(words[at : at + PARTITION_WORDS]) if partition_here else None
        at += PARTITION_WORDS if partition_here else 1
        sibling_here = words[at] != ABSENT
        sibling = read_partition(words[at : at + PARTITION_WORDS]) if sibling_here else None
        at += PARTITION_WORDS if sibling_here else 1
        reply = int(words[at])
        last = words[at + 1]
        if last == ABSENT and len(words) == at + 2:
            failure = None
        elif last == "!":
            failure = " ".join(words[at + 2 :])
        else:
            raise WireError(f"not an answer to a step: {text!r}")
        return StepAnswer(
            words[0],
            found,
            read_brokers(words[3]),
            int(words[1]),
            words[2] == "1",
            sibling,
            failure,
            tuple(name for bit, name in REPLIES if reply & bit),
        )
    except (IndexError, ValueError):
        raise WireError(f"not an answer to a step: {text!r}") from None


@lru_cache(REMEMBERED)
def read_brokers(word: str) -> tuple[KafkaBroker, ...]:
    """Read registrations, four numbers each."""
    numbers = read_ids(word)
    if len(numbers) % BROKER_NUMBERS:
        raise WireError(f"not brokers: {word!r}")
    found = []
    for at in range(0, len(numbers), BROKER_NUMBERS):
        id, epoch, flags, directories = numbers[at : at + BROKER_NUMBERS]
        broker = KafkaBroker(
            id,
            epoch,
            bool(flags & REGISTERED),
            bool(flags & FENCED),
            bool(flags & SHUTTING_DOWN),
            numbers_in(directories),
        )
        found.append(broker)
    return tuple(found)
