"""Values that the tables of a recipe have in common: partitions, brokers, settings of Kafka, seconds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, TypeAlias

from elrcheck.base.strict import Node
from elrcheck.base.typed.records import NodeReader, matching

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
