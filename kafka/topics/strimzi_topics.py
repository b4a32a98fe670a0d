"""Topics of a YAML file: resources `KafkaTopic` of Strimzi, and the settings of brokers of a resource `Kafka`.

    apiVersion: kafka.strimzi.io/v1beta2
    kind: KafkaTopic
    metadata:
      name: orders
    spec:
      partitions: 12
      replicas: 3
      config:
        min.insync.replicas: 2

Other documents of the file are skipped. Lines that are not understood are listed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import yaml

from elrcheck.kafka.topics.described import (
    FACTOR,
    MIN_ISR,
    OWN_FACTOR,
    UNCLEAN,
    Described,
    NotUnderstood,
    TopicDescription,
    demand_spelt,
    number,
    topic_name,
)

GROUP = "kafka.strimzi.io/"
MERGE = "tag:yaml.org,2002:merge"
SPEC = frozenset({"partitions", "replicas", "topicName", "config"})
Fields: TypeAlias = dict[str, yaml.Node]


def read_strimzi(text: str) -> Described:
    """Read the topics of a file; nothing in it raises an error."""
    reader = _Resources()
    try:
        for node in yaml.compose_all(text, yaml.SafeLoader):
            reader.document(node)
    except yaml.MarkedYAMLError as fault:
        line = fault.problem_mark.line + 1 if fault.problem_mark is not None else 1
        reader.unread.append(f"line {line}: not YAML: {fault.problem}; the rest of the file is not read")
    except (yaml.YAMLError, RecursionError) as fault:
        why = "it nests too deep" if isinstance(fault, RecursionError) else " ".join(str(fault).split())
        reader.unread.append(f"line 1: not YAML: {why}; the rest of the file is not read")
    cluster = {name: value for each in reader.clusters for name, value in each.items()}
    return Described(tuple(reader.topics), cluster, tuple(reader.unread), tuple(reader.clusters))


class _Resources:
    def __init__(self) -> None:
        self.topics: list[TopicDescription] = []
        self.clusters: list[dict[str, str]] = []
        self.unread: list[str] = []

    def document(self, node: yaml.Node | None) -> None:
        """Read a document, or each item of a list of resources."""
        for resource in _resources(node):
            try:
                self._resource(resource)
            except NotUnderstood as fault:
                self.unread.append(f"line {fault.line}: {fault}")

    def _resource(self, node: yaml.Node) -> None:
        if _value(node, "kind") not in ("KafkaTopic", "Kafka") or not _value(node, "apiVersion").startswith(GROUP):
            return
        fields = _fields(node, "the resource")
        if _value(node, "kind") == "KafkaTopic":
            self.topics.append(self._topic(node, fields))
            return
        kafka = _inside(_inside(fields, "spec"), "kafka")
        config = _inside(kafka, "config")
        self.clusters.append({name: _text(config[name], name) for name in (MIN_ISR, UNCLEAN, FACTOR) if name in config})

    def _topic(self, node: yaml.Node, fields: Fields) -> TopicDescription:
        spec = _inside(fields, "spec")
        named = spec.get("topicName") or _inside(fields, "metadata").get("name")
        if named is None:
            raise NotUnderstood("a KafkaTopic without a name", _line(node))
        topic = TopicDescription(_text(named, "name"), line=_line(node))
        try:
            topic_name(topic.name)
        except NotUnderstood as fault:
            raise NotUnderstood(f"`{topic.name[:40]}`: {fault}", _line(named)) from fault
        for name in spec.keys() - SPEC:
            self.unread.append(f"line {_line(spec[name])}: {topic.name}: unknown field `{name}` of the spec")
        if "replicas" in spec:
            topic.replication_factor = _count(spec["replicas"], "replicas")
            topic.lines[OWN_FACTOR] = _line(spec["replicas"])
        topic.single = "partitions" in spec and _count(spec["partitions"], "partitions") == 1
        config = _inside(spec, "config")
        for name in config:
            demand_spelt(name, _line(config[name]), f"{topic.name}: ")
        topic.configs |= {name: _text(config[name], name) for name in (MIN_ISR, UNCLEAN) if name in config}
        topic.lines |= {name: _line(config[name]) for name in topic.configs}
        return topic


def _resources(node: yaml.Node | None) -> Iterator[yaml.Node]:
    """Yield a document, or the items of a `List`."""
    if not isinstance(node, yaml.MappingNode):
        return
    items = [value for key, value in node.value if key.value == "items" and isinstance(value, yaml.SequenceNode)]
    if _value(node, "kind").endswith("List") and items:
        yield from (item for item in items[0].value if isinstance(item, yaml.MappingNode))
    else:
        yield node


def _value(node: yaml.Node, name: str) -> str:
    """Return a text among the fields of a mapping; "" without such a field."""
    texts = [value.value for key, value in node.value if key.value == name and isinstance(value, yaml.ScalarNode)]
    return str(texts[0]) if texts else ""


def _fields(node: yaml.Node, what: str) -> Fields:
    if isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:null":
        return {}
    if not isinstance(node, yaml.MappingNode):
        raise NotUnderstood(f"{what} is not a mapping", _line(node))
    fields: Fields = {}
    for key, value in node.value:
        if key.tag == MERGE:
            raise NotUnderstood("`<<`, which merges another mapping into this one, is not read", _line(key))
        name = _text(key, "a key")
        if name in fields:
            raise NotUnderstood(f"`{name}` appears twice", _line(key))
        fields[name] = value
    return fields


def _inside(fields: Fields, name: str) -> Fields:
    return _fields(fields[name], name) if name in fields else {}


def _text(node: yaml.Node, what: str) -> str:
    if not isinstance(node, yaml.ScalarNode):
        raise NotUnderstood(f"{what} is not a single value", _line(node))
    return str(node.value)


def _count(node: yaml.Node, what: str) -> int:
    return number(_text(node, what), what, _line(node))


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1
