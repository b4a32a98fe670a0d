"""The text of `kafka-topics --describe` and `kafka-configs --describe`, read strictly.

    Topic: orders  TopicId: ..  PartitionCount: 2  ReplicationFactor: 3  Configs: min.insync.replicas=2,..
        Topic: orders  Partition: 0  Leader: 1  Replicas: 1,2,3  Isr: 1,2,3  Elr:  LastKnownElr:
    Dynamic configs for topic orders are:
      min.insync.replicas=2 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:min.insync.replicas=2, ..}

A line of another kind is not guessed at: it is handed back.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

MIN_ISR = "min.insync.replicas"
UNCLEAN = "unclean.leader.election.enable"
FIELD = re.compile(r"([A-Za-z]+):")
FIELDS = frozenset(
    (
        "Topic",
        "TopicId",
        "PartitionCount",
        "ReplicationFactor",
        "Configs",
        "Partition",
        "Leader",
        "Replicas",
        "Isr",
        "AddingReplicas",
        "RemovingReplicas",
        "Elr",
        "LastKnownElr",
        "MarkedForDeletion",
    )
)
INHERITED = ("DYNAMIC_DEFAULT_BROKER_CONFIG", "STATIC_BROKER_CONFIG")
CONFIGS = re.compile(
    r"(?:Dynamic|All|Default) configs for (topic|broker|brokers)(?: (\S+))?(?: in the entire cluster)? are:$"
)
SETTING = re.compile(r"([\w.]+)=(.*?) sensitive=(?:true|false)(?: synonyms=\{(.*)\})?$")
SYNONYM = re.compile(r"(?:^|, )([A-Z_]+):([\w.]+)=([^,}]*)")


@dataclass
class TopicDescription:
    """A topic as it is described. factors: partition -> number of its replicas. line: the first about it."""

    name: str
    replication_factor: int | None = None
    configs: dict[str, str] = field(default_factory=dict)
    factors: dict[int, int] = field(default_factory=dict)
    line: int = 0


@dataclass(frozen=True)
class Described:
    """A whole description. cluster: settings of brokers, which apply to topics without their own.

    unread: lines that were not understood, each with its number and why.
    """

    topics: tuple[TopicDescription, ...]
    cluster: Mapping[str, str]
    unread: tuple[str, ...]


@dataclass(frozen=True)
class TopicSettings:
    """The settings of one or more partitions of equal settings. names: of topics, or of their partitions.

    single: these topics have one partition, which is number 0.
    """

    replication_factor: int
    min_insync_replicas: int
    unclean: bool
    single: bool
    names: tuple[str, ...]
    line: int = 0
    """The first line about the first of them."""


class NotUnderstood(ValueError):
    """A line that does not belong to a description; the text says why."""


def read_description(text: str) -> Described:
    """Read a description; nothing in it raises an error."""
    reader = _Reader()
    unread = []
    for number, line in enumerate(text.splitlines(), 1):
        reader.number = number
        try:
            reader.read(line.strip())
        except NotUnderstood as fault:
            text_of_line = line.strip()
            if len(text_of_line) > 60:
                text_of_line = f"{text_of_line[:57]}..."
            unread.append(f"line {number}: {fault}: {text_of_line}")
    return Described(tuple(reader.topics.values()), reader.cluster, tuple(unread))


def settings_of(described: Described, unclean: bool) -> tuple[tuple[TopicSettings, ...], tuple[str, ...]]:
    """Return topics with the same settings together, and what could not be settled.

    unclean: what applies to topics about which the description says nothing else.
    """
    groups: dict[tuple[int, int, bool, bool], list[str]] = {}
    lines: dict[tuple[int, int, bool, bool], int] = {}
    problems = []
    for topic in described.topics:
        try:
            min_isr = _number(_setting(topic, described.cluster, MIN_ISR, "1"), MIN_ISR)
            allowed = _flag(_setting(topic, described.cluster, UNCLEAN, str(unclean).lower()))
        except NotUnderstood as fault:
            problems.append(f"topic {topic.name}: {fault}")
            continue
        every = set(topic.factors.values()) or {topic.replication_factor or 0}
        for factor in sorted(every):
            if factor == 0:
                problems.append(f"topic {topic.name}: its replication factor is not said")
                continue
            parts = [str(number) for number, size in sorted(topic.factors.items()) if size == factor]
            name = topic.name if len(every) == 1 else f"{topic.name} ({', '.join(parts)})"
            single = set(topic.factors) == {0}
            groups.setdefault((factor, min_isr, allowed, single), []).append(name)
            lines.setdefault((factor, min_isr, allowed, single), topic.line)
    return tuple(TopicSettings(*key, tuple(names), lines[key]) for key, names in groups.items()), tuple(problems)


def _setting(topic: TopicDescription, cluster: Mapping[str, str], name: str, default: str) -> str:
    return topic.configs.get(name, cluster.get(name, default))


def _number(text: str, what: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text) or int(text) < 1:
        raise NotUnderstood(f"{what} is no positive number but `{text}`")
    return int(text)


def _flag(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise NotUnderstood(f"{UNCLEAN} is neither true nor false but `{text}`")
    return text.lower() == "true"


class _Reader:
    """Reads line after line, and remembers whose settings follow."""

    def __init__(self) -> None:
        self.topics: dict[str, TopicDescription] = {}
        self.cluster: dict[str, str] = {}
        self._into: dict[str, str] | None = None
        self.number = 0

    def read(self, line: str) -> None:
        """Take in a line, or raise NotUnderstood."""
        if not line:
            return
        if line.startswith("Topic:"):
            self._into = None
            self._topic(_fields(line))
        elif (heading := CONFIGS.match(line)) is not None:
            kind, name = heading[1], heading[2]
            if kind == "topic" and name is None:
                raise NotUnderstood("no topic is named")
            default = name is None or name == "default" or kind == "brokers"
            if kind == "topic":
                self._into = self._named(name).configs
            else:
                self._into = self.cluster if default else {}
        elif (setting := SETTING.match(line)) is not None:
            self._setting(*setting.groups())
        else:
            raise NotUnderstood("not a line of kafka-topics or kafka-configs --describe")

    def _named(self, name: str) -> TopicDescription:
        return self.topics.setdefault(name, TopicDescription(name, line=self.number))

    def _topic(self, fields: Mapping[str, str]) -> None:
        name = fields["Topic"]
        if not re.fullmatch(r"[\w.-]{1,249}", name):
            raise NotUnderstood("no name of a topic")
        if "Partition" in fields:
            numbers = [part.strip() for part in fields.get("Replicas", "").split(",")]
            partition = fields["Partition"]
            if not partition.isdecimal() or not all(number.isdecimal() for number in numbers):
                raise NotUnderstood("partition or replicas are no numbers")
            gone = {part.strip() for part in fields.get("AddingReplicas", "").split(",") if part.strip()}
            self._named(name).factors[int(partition)] = len(set(numbers) - gone)
            return
        if "ReplicationFactor" not in fields:
            raise NotUnderstood("neither a topic with ReplicationFactor nor a partition")
        factor = _number(fields["ReplicationFactor"], "ReplicationFactor")
        configs = {}
        for pair in fields.get("Configs", "").split(","):
            key, equals, value = pair.strip().partition("=")
            if equals:
                configs[key] = value
        topic = self._named(name)
        topic.replication_factor = factor
        topic.configs.update(configs)

    def _setting(self, name: str, value: str, synonyms: str | None) -> None:
        if self._into is None:
            raise NotUnderstood("nothing says whose setting this is")
        self._into[name] = value
        for source, key, inherited in SYNONYM.findall(synonyms or ""):
            if source in INHERITED and key in (MIN_ISR, UNCLEAN):
                self.cluster.setdefault(key, inherited)


def _fields(line: str) -> dict[str, str]:
    """`Topic: a  Leader: 1` as a dictionary. A value that has a colon is part of the field before it."""
    line = re.sub(r"(Adding|Removing) Replicas:", r"\1Replicas:", line)
    fields: dict[str, str] = {}
    for part in re.split(r"\t|(?<=\S)\s+(?=[A-Z][A-Za-z]*:)", line):
        match = FIELD.match(part.strip())
        if match is None:
            if not part.strip():
                continue
            raise NotUnderstood(f"`{part.strip()[:30]}` is no field")
        name = match[1]
        if name not in FIELDS:
            raise NotUnderstood(f"unknown field `{name}`")
        if name in fields:
            raise NotUnderstood(f"the field `{name}` is there twice")
        fields[name] = part.strip()[match.end() :].strip()
    return fields
