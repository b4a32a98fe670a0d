"""The text of `kafka-topics --describe` and `kafka-configs --describe`, read strictly.

    Topic: orders  TopicId: ..  PartitionCount: 2  ReplicationFactor: 3  Configs: min.insync.replicas=2,..
        Topic: orders  Partition: 0  Leader: 1  Replicas: 1,2,3  Isr: 1,2,3  Elr:  LastKnownElr:
    Dynamic configs for topic orders are:
      min.insync.replicas=2 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:min.insync.replicas=2, ..}

Any other line is returned as not understood, and a topic with such a line is left out: its settings are unknown.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping

from elrcheck.base.printable import shortened
from elrcheck.kafka.topics.described import (
    MIN_ISR,
    UNCLEAN,
    Described,
    NotUnderstood,
    TopicDescription,
    and_others,
    demand_spelt,
    number,
    topic_name,
)

TOPIC = re.compile(r"Topic:\s*(\S+)")
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
ID = re.compile(r"[0-9]{1,10}")
"""The number of a partition or a broker."""
INHERITED = ("DYNAMIC_DEFAULT_BROKER_CONFIG", "STATIC_BROKER_CONFIG")
CONFIGS = re.compile(
    r"(?:Dynamic|All|Default) configs for (topic|broker|brokers)(?: (\S+))?(?: in the entire cluster)? are:$"
)
SETTING = re.compile(r"([\w.-]+)=(.*?) sensitive=(?:true|false)(?: synonyms=\{(.*)\})?$")
SYNONYM = re.compile(r"(?:^|, )([A-Z_]+):([\w.-]+)=([^,}]*)")


def read_description(text: str) -> Described:
    """Read a description; nothing in it raises an error."""
    reader = _Reader()
    lines = text.splitlines()
    places: dict[str, list[int]] = {}
    for place, line in enumerate(lines, 1):
        reader.number = place
        try:
            reader.read(line.strip())
        except NotUnderstood as fault:
            places.setdefault(str(fault), []).append(place)
            reader.leave_out(line.strip())
    unread = [
        f"line {first}: {why}: {shortened(' '.join(lines[first - 1].split()))}{and_others(others, 'line')}"
        for why, (first, *others) in places.items()
    ]
    unclear = [name for name in reader.topics if name in reader.unclear]
    bare = [name for name in reader.topics if name not in reader.unclear | reader.headed]
    for names, why in ((unclear, "a line of it is not understood"), (bare, "no line has its settings")):
        if names:
            unread.append(f"topic {names[0]} is left out, since {why}{and_others(names[1:], 'topic')}")
    topics = tuple(topic for name, topic in reader.topics.items() if name not in (*unclear, *bare))
    return Described(topics, reader.cluster, tuple(unread))


class _Reader:
    """Reads the lines in order, and remembers the resource of the settings that follow."""

    def __init__(self) -> None:
        self.topics: dict[str, TopicDescription] = {}
        self.cluster: dict[str, str] = {}
        self.headed: set[str] = set()
        """Topics with a line that has their settings."""
        self.unclear: set[str] = set()
        """Topics with a line that is not understood."""
        self._into: dict[str, str] | None = None
        self._about = ""
        self.number = 0

    def read(self, line: str) -> None:
        """Read a line; raise NotUnderstood for any other."""
        if not line:
            return
        if line.startswith("Topic:"):
            self._into, self._about = None, ""
            self._topic(_fields(line))
        elif (heading := CONFIGS.match(line)) is not None:
            kind, name = heading[1], heading[2]
            if kind == "topic" and name is None:
                raise NotUnderstood("no topic is named")
            default = name is None or name == "default" or kind == "brokers"
            self._about = name if kind == "topic" else ""
            if kind == "topic":
                self.headed.add(name)
                self._into = self._named(name).configs
            else:
                self._into = self.cluster if default else {}
        elif (setting := SETTING.match(line)) is not None:
            self._setting(*setting.groups())
        else:
            raise NotUnderstood("not a line of kafka-topics or kafka-configs --describe")

    def leave_out(self, line: str) -> None:
        """Take note of a line that is not understood: the topic that it is about has unknown settings."""
        topic = TOPIC.match(line)
        self.unclear.add(topic[1] if topic else self._about)

    def _named(self, name: str) -> TopicDescription:
        return self.topics.setdefault(name, TopicDescription(name, line=self.number))

    def _topic(self, fields: Mapping[str, str]) -> None:
        name = topic_name(fields["Topic"])
        if "Partition" in fields:
            replicas = [part.strip() for part in fields.get("Replicas", "").split(",")]
            partition = fields["Partition"]
            if not all(ID.fullmatch(each) for each in (partition, *replicas)):
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
                demand_spelt(key)
                configs[key] = value
        self.headed.add(name)
        topic = self._named(name)
        topic.replication_factor = factor
        topic.configs.update(configs)

    def _setting(self, name: str, value: str, synonyms: str | None) -> None:
        if self._into is None:
            raise NotUnderstood("the resource of this setting is not given")
        demand_spelt(name)
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
            near = difflib.get_close_matches(name, FIELDS, n=1, cutoff=0.85)
            raise NotUnderstood(f"unknown field `{name}`" + (f"; did you mean `{near[0]}`?" if near else ""))
        if name in fields:
            raise NotUnderstood(f"the field `{name}` appears twice")
        fields[name] = part.strip()[match.end() :].strip()
    return fields
