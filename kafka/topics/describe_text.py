"""The text of `kafka-topics --describe` and `kafka-configs --describe`, read strictly.

    Topic: orders  TopicId: ..  PartitionCount: 2  ReplicationFactor: 3  Configs: min.insync.replicas=2,..
        Topic: orders  Partition: 0  Leader: 1  Replicas: 1,2,3  Isr: 1,2,3  Elr:  LastKnownElr:
    Dynamic configs for topic orders are:
      min.insync.replicas=2 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:min.insync.replicas=2, ..}

Any other line is returned as not understood.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from elrcheck.kafka.topics.described import (
    MIN_ISR,
    UNCLEAN,
    Described,
    NotUnderstood,
    TopicDescription,
    number,
    topic_name,
)

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


def read_description(text: str) -> Described:
    """Read a description; nothing in it raises an error."""
    reader = _Reader()
    unread = []
    for place, line in enumerate(text.splitlines(), 1):
        reader.number = place
        try:
            reader.read(line.strip())
        except NotUnderstood as fault:
            text_of_line = line.strip()
            if len(text_of_line) > 60:
                text_of_line = f"{text_of_line[:57]}..."
            unread.append(f"line {place}: {fault}: {text_of_line}")
    return Described(tuple(reader.topics.values()), reader.cluster, tuple(unread))


class _Reader:
    """Reads the lines in order, and remembers the resource of the settings that follow."""

    def __init__(self) -> None:
        self.topics: dict[str, TopicDescription] = {}
        self.cluster: dict[str, str] = {}
        self._into: dict[str, str] | None = None
        self.number = 0

    def read(self, line: str) -> None:
        """Read a line; raise NotUnderstood for any other."""
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
        name = topic_name(fields["Topic"])
        if "Partition" in fields:
            replicas = [part.strip() for part in fields.get("Replicas", "").split(",")]
            partition = fields["Partition"]
            if not partition.isdecimal() or not all(each.isdecimal() for each in replicas):
                raise NotUnderstood("partition or replicas are not numbers")
            adding = {part.strip() for part in fields.get("AddingReplicas", "").split(",") if part.strip()}
            self._named(name).factors[int(partition)] = len(set(replicas) - adding)
            return
        if "ReplicationFactor" not in fields:
            raise NotUnderstood("neither a topic with ReplicationFactor nor a partition")
        factor = number(fields["ReplicationFactor"], "ReplicationFactor")
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
            raise NotUnderstood("the resource of this setting is not given")
        self._into[name] = value
        for source, key, inherited in SYNONYM.findall(synonyms or ""):
            if source in INHERITED and key in (MIN_ISR, UNCLEAN):
                self.cluster.setdefault(key, inherited)


def _fields(line: str) -> dict[str, str]:
    """Return `Topic: a  Leader: 1` as a dictionary. A value with a colon belongs to the field before it."""
    line = re.sub(r"(Adding|Removing) Replicas:", r"\1Replicas:", line)
    fields: dict[str, str] = {}
    for part in re.split(r"\t|(?<=\S)\s+(?=[A-Z][A-Za-z]*:)", line):
        match = FIELD.match(part.strip())
        if match is None:
            if not part.strip():
                continue
            raise NotUnderstood(f"`{part.strip()[:30]}` is not a field")
        name = match[1]
        if name not in FIELDS:
            raise NotUnderstood(f"unknown field `{name}`")
        if name in fields:
            raise NotUnderstood(f"the field `{name}` appears twice")
        fields[name] = part.strip()[match.end() :].strip()
    return fields
