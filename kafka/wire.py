"""Questions and answers as lines of words, as the Java side reads and writes them.

"~" is a value that is absent, "-" an empty list; numbers of a list have commas between them. Partitions and
lists repeat a lot, so what was read or written before is remembered.
"""

from __future__ import annotations

import re
from functools import lru_cache

from elrcheck.kafka.asked import (
    BuilderAnswer,
    BuilderQuestion,
    Ids,
    KafkaPartition,
    ReassignmentAnswer,
    ReassignmentQuestion,
)

ABSENT = "~"
EMPTY = "-"
REMEMBERED = 1 << 16
PARTITION_WORDS = 11
RECOVERIES = {"RECOVERED": "0", "RECOVERING": "1"}
VERSION_NAME = re.compile(r"[0-9A-Za-z.\-]+")


class WireError(Exception):
    """An answer that is not of the agreed shape: a bug of one of the two sides."""


@lru_cache(REMEMBERED)
def ids(numbers: Ids) -> str:
    """Write a list."""
    return ",".join(map(str, numbers)) if numbers else EMPTY


def optional_ids(numbers: Ids | None) -> str:
    return ABSENT if numbers is None else ids(numbers)


@lru_cache(REMEMBERED)
def read_ids(word: str) -> Ids:
    """Read a list."""
    if word == EMPTY:
        return ()
    try:
        return tuple(map(int, word.split(",")))
    except ValueError:
        raise WireError(f"not a list of numbers: {word!r}") from None


def read_optional_ids(word: str) -> Ids | None:
    return None if word == ABSENT else read_ids(word)


@lru_cache(REMEMBERED)
def partition(of: KafkaPartition) -> str:
    """Write a partition in eleven words."""
    return (
        f"{ids(of.replicas)} {ids(of.isr)} {ids(of.elr)} {ids(of.last_known_elr)} {ids(of.adding)} "
        f"{ids(of.removing)} {of.leader} {of.leader_epoch} {of.partition_epoch} {RECOVERIES[of.recovery]} "
        f"{optional_ids(of.directories)}"
    )


def read_partition(words: list[str]) -> KafkaPartition:
    """Read a partition of eleven words."""
    if len(words) != PARTITION_WORDS or words[9] not in ("0", "1"):
        raise WireError(f"not a partition: {' '.join(words)!r}")
    try:
        leader, leader_epoch, partition_epoch = int(words[6]), int(words[7]), int(words[8])
    except ValueError:
        raise WireError(f"not a partition: {' '.join(words)!r}") from None
    return KafkaPartition(
        read_ids(words[0]),
        read_ids(words[1]),
        read_ids(words[2]),
        read_ids(words[3]),
        read_ids(words[4]),
        read_ids(words[5]),
        leader,
        leader_epoch,
        partition_epoch,
        "RECOVERING" if words[9] == "1" else "RECOVERED",
        read_ids(words[10]),
    )


def metadata_version(name: str | None) -> str:
    if name is None:
        return ABSENT
    if VERSION_NAME.fullmatch(name) is None:
        raise ValueError(f"not the name of a metadata version: {name!r}")
    return name


def builder(question: BuilderQuestion) -> bytes:
    """Write a question to PartitionChangeBuilder as one line."""
    recovery = ABSENT if question.target_recovery is None else RECOVERIES[question.target_recovery]
    return (
        f"b {partition(question.partition)} {ids(question.acceptable)} {question.min_isr} "
        f"{'1' if question.elr else '0'} {question.election} {optional_ids(question.target_isr)} "
        f"{optional_ids(question.target_replicas)} {optional_ids(question.target_adding)} "
        f"{optional_ids(question.target_removing)} {optional_ids(question.unclean_shutdown)} "
        f"{recovery} {metadata_version(question.metadata_version)}"
    ).encode("ascii")


@lru_cache(REMEMBERED)
def read_builder(line: bytes) -> BuilderAnswer:
    """Read the answer of PartitionChangeBuilder."""
    text = line.decode("ascii")
    if text == EMPTY:
        return BuilderAnswer(None)
    kind, _, rest = text.partition(" ")
    if kind == "!":
        return BuilderAnswer(None, rest)
    if kind != "=":
        raise WireError(f"not an answer of the builder: {text!r}")
    return BuilderAnswer(read_partition(rest.split(" ")))


def reassignment(question: ReassignmentQuestion) -> bytes:
    """Write a question to PartitionReassignmentReplicas as one line."""
    return (
        f"r {partition(question.partition)} {optional_ids(question.target)} "
        f"{optional_ids(question.completes_with)}"
    ).encode("ascii")


def read_reassignment(line: bytes) -> ReassignmentAnswer:
    """Read the answer of PartitionReassignmentReplicas."""
    text = line.decode("ascii")
    kind, _, rest = text.partition(" ")
    if kind == "!":
        return ReassignmentAnswer((), (), (), failure=rest)
    words = rest.split(" ")
    if kind != "=" or len(words) != 7:
        raise WireError(f"not an answer about a reassignment: {text!r}")
    return ReassignmentAnswer(
        read_ids(words[0]),
        read_ids(words[1]),
        read_ids(words[2]),
        _pair(words[3], words[4]),
        _pair(words[5], words[6]),
    )


def _pair(replicas: str, isr: str) -> tuple[Ids, Ids] | None:
    return None if replicas == ABSENT else (read_ids(replicas), read_ids(isr))
