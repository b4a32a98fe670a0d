"""The steps of a recipe that wait: for answers, states, lines of a node, the end of a log; and values they have."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

from elrcheck.base.strict import Node
from elrcheck.base.typed.records import From, Natural, NodeReader, SameTable, matching, read_record

NO_LEADER = -1
CONTROLLER = "controller"
LONGEST_SLEEP = 600


def _leaders(node: Node) -> tuple[int, ...]:
    several = node.items() if isinstance(node.value, list) else [node]
    return tuple(one.integer(least=NO_LEADER) for one in several)


def _setting(node: Node) -> str:
    match node.value:
        case bool():
            return "true" if node.value else "false"
        case int() | str():
            return str(node.value)
    return node.text()


def _pattern(node: Node) -> str:
    pattern = node.text()
    try:
        re.compile(pattern)
    except re.error as fault:
        node.bad(f"no regular expression: {fault}")
    return pattern


def _acks(node: Node) -> str:
    acks = str(node.value)
    if acks not in ("1", "all"):
        node.expected("1 or all")
    return acks


def _configurable(node: Node) -> str:
    kind, _, name = node.text().partition(" ")
    if kind not in ("topic", "broker") or (kind == "topic" and not name) or (name and not name.isalnum()):
        node.expected("`topic NAME`, `broker ID` or `broker`")
    return node.text()


def _asleep(node: Node) -> float:
    seconds = node.value
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds <= LONGEST_SLEEP:
        node.expected(f"seconds, at most {LONGEST_SLEEP}")
    return float(seconds)


Partition: TypeAlias = Annotated[str, matching(r"[a-z0-9_]+-\d+", "a partition such as orders-1")]
Topic: TypeAlias = Annotated[str, matching(r"[a-z0-9_]+", "a name of small letters, digits and _")]
Brokers: TypeAlias = Annotated[tuple[int, ...], NodeReader(lambda node: tuple(one.natural() for one in node.items()))]
Leaders: TypeAlias = Annotated[tuple[int, ...], NodeReader(_leaders)]
"""One broker or one of several; -1 for none."""
Process: TypeAlias = Annotated[
    int | None, NodeReader(lambda node: None if node.value == CONTROLLER else node.natural())
]
"""A broker, or None for the controller."""
KafkaSettings: TypeAlias = Annotated[Mapping[str, str], NodeReader(lambda node: node.map(_setting))]
"""Settings of Kafka; numbers and booleans need no quotation marks."""
Pattern: TypeAlias = Annotated[str, NodeReader(_pattern)]
Seconds: TypeAlias = Annotated[float, NodeReader(lambda node: float(node.positive()))]
Sleeping: TypeAlias = Annotated[float, NodeReader(_asleep)]
Acks: TypeAlias = Annotated[str, NodeReader(_acks)]
Configurable: TypeAlias = Annotated[str, NodeReader(_configurable)]
"""What has settings: `topic NAME`, `broker ID` or `broker`."""


PATIENCE = 60.0
INSTEAD_PATIENCE = 10.0


class Action:
    """What a step does; each kind is a record below."""


@dataclass(frozen=True)
class Answered(Action):
    """Wait until every sent record has an answer; with `instead`, until it is acknowledged."""

    partition: Annotated[Partition, From.TAG]
    seconds: Seconds = PATIENCE
    instead: Annotated[Sign | None, NodeReader(_read_sign)] = None


@dataclass(frozen=True)
class ExpectedPartition:
    """The expected answer of DescribeTopicPartitions; None for a field that may have any value.

    leader: the possible leaders, -1 for none. isr_size: the number of members of the ISR. Only `replicas` is ordered.
    """

    leader: Leaders | None = None
    replicas: Brokers | None = None
    isr: Brokers | None = None
    elr: Brokers | None = None
    last_known_elr: Brokers | None = None
    isr_size: Natural | None = None


@dataclass(frozen=True)
class WaitStep(Action):
    """Wait for a predicted state. decides: whether the finding is not reproduced if the state does not come."""

    partition: Annotated[Partition, From.TAG]
    seen: Annotated[ExpectedPartition, SameTable(ExpectedPartition)]
    seconds: Seconds = PATIENCE
    decides: bool = False

    def checked(self, node: Node) -> WaitStep:
        if self.seen == ExpectedPartition():
            node.fail("a `wait` says what it waits for", "such as leader = 2")
        return self


@dataclass(frozen=True)
class Leaderless(Action):
    """Watch whether the partition has no leader for this long, which makes it unavailable; then continue.

    DescribeTopicPartitions does not name a fenced leader, so the step counts it as no leader.
    """

    partition: Annotated[Partition, From.TAG]
    seconds: Seconds


@dataclass(frozen=True)
class Unserved(Action):
    """Send one record with acks=all: if it is not acknowledged in time, the partition is unavailable; then continue."""

    partition: Annotated[Partition, From.TAG]
    seconds: Seconds


@dataclass(frozen=True)
class PrintedLine(Action):
    """Wait until a node (100: the controller) has printed a matching line since its last start or such step."""

    node: Annotated[Natural, From.TAG]
    pattern: Pattern
    seconds: Seconds = PATIENCE
    instead: Annotated[Sign | None, NodeReader(_read_sign)] = None


@dataclass(frozen=True)
class LogEnd(Action):
    """Wait until the log of a replica ends at an offset, or, with `gone`, until the broker has no replica any more."""

    partition: Annotated[Partition, From.TAG]
    broker: Natural
    end: Natural | None = None
    seconds: Seconds = PATIENCE
    instead: Annotated[Sign | None, NodeReader(_read_sign)] = None
    gone: bool = False

    def checked(self, node: Node) -> LogEnd:
        if self.gone == (self.end is not None):
            node.fail("a `log` waits for an `end`, or until it is `gone`")
        return self


Sign: TypeAlias = WaitStep | PrintedLine | LogEnd
"""The alternative outcome of a step with `instead`. If the awaited outcome does not come in time but this one does,
the finding is not reproduced; if neither does, the run is inconclusive."""
SIGNS: Mapping[str, tuple[type[Sign], Mapping[str, Any]]] = {
    "wait": (WaitStep, {"decides": False}),
    "said": (PrintedLine, {"instead": None}),
    "log": (LogEnd, {"instead": None}),
}
"""The kinds that `instead` may name, and the fields that it cannot set."""


def _read_sign(node: Node) -> Sign:
    """Read the value of `instead`: a waiting step, as a table."""
    if not isinstance(node.value, dict):
        node.expected('a table such as { log = "orders-0", broker = 1, end = 3 }')
    kind = next(iter(node.value), "")
    if kind not in SIGNS:
        node.fail(f"`{kind}` shows nothing", "what is seen instead is a `wait`, `said` or `log`")
    record, fixed = SIGNS[kind]
    patience = {} if "seconds" in node else {"seconds": INSTEAD_PATIENCE}
    return read_record(node, record, {**fixed, **patience}, tag=kind)
