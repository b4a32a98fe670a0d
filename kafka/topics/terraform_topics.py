"""Topics of a Terraform file: `kafka_topic` of Mongey/kafka and `aiven_kafka_topic`, as far as they are literal.

    resource "kafka_topic" "orders" {
      name               = "orders"
      partitions         = 12
      replication_factor = 3
      config = {
        "min.insync.replicas" = "2"
      }
    }

A topic whose relevant settings are not literals is left out, and the line of the setting is listed; so are topics of
other providers. A resource whose name is an expression, or that defines several topics, is named by its address.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from elrcheck.kafka.topics.described import (
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
from elrcheck.kafka.topics.hcl import Attribute, Expression, HclBlock, HclFault, Value, read_blocks


class TopicResource(NamedTuple):
    """The names of a provider for the parts of a topic. Settings are in a block if `blocks`, else in a map.

    others: arguments and blocks without effect here.
    """

    name: str
    factor: str
    blocks: bool
    others: frozenset[str]

    @property
    def arguments(self) -> frozenset[str]:
        return self.others | {self.name, "partitions", self.factor, *([] if self.blocks else ["config"])}

    @property
    def inner(self) -> frozenset[str]:
        return frozenset({"config", "tag"} if self.blocks else ())


RESOURCES = {
    "kafka_topic": TopicResource("name", "replication_factor", False, frozenset({"managed_replication_factor"})),
    "aiven_kafka_topic": TopicResource(
        "topic_name",
        "replication",
        True,
        frozenset({"project", "service_name", "termination_protection", "owner_user_group_id", "topic_description"}),
    ),
}
OF_TERRAFORM = frozenset({"count", "for_each", "depends_on", "provider", "lifecycle", "timeouts", "provisioner"})
"""Arguments and blocks that every resource may have."""


def read_terraform(text: str) -> Described:
    """Read the topics of a file; nothing in it raises an error."""
    topics: list[TopicDescription] = []
    unread: list[str] = []
    try:
        for block in read_blocks(text):
            if block.kind != "resource" or not block.labels or not block.labels[0].endswith("kafka_topic"):
                continue
            if (resource := RESOURCES.get(block.labels[0])) is not None:
                _read(block, resource, topics, unread)
            else:
                supported = " and ".join(RESOURCES)
                unread.append(f"line {block.line}: {'.'.join(block.labels)}: only {supported} are read")
    except HclFault as fault:
        unread.append(f"line {fault.line}: {fault}; the rest of the file is not read")
    except RecursionError:
        unread.append("line 1: it nests too deep; the rest of the file is not read")
    return Described(tuple(topics), {}, tuple(unread))


def _read(block: HclBlock, resource: TopicResource, topics: list[TopicDescription], unread: list[str]) -> None:
    address = ".".join(block.labels)
    for name, attribute in block.attributes.items():
        if name not in resource.arguments | OF_TERRAFORM:
            unread.append(f"line {attribute.line}: {address}: unknown argument `{name}`")
    unread += [
        f"line {inner.line}: {address}: unknown block `{inner.kind}`"
        for inner in block.blocks
        if inner.kind not in resource.inner | OF_TERRAFORM and not _is_dynamic_config(inner)
    ]
    try:
        topics.append(_topic(block, resource, address))
    except NotUnderstood as fault:
        unread.append(f"line {fault.line}: {address}: {fault}")


def _topic(block: HclBlock, resource: TopicResource, address: str) -> TopicDescription:
    if len(block.labels) != 2:
        raise NotUnderstood("a resource has a type and a name", block.line)
    topic = TopicDescription(_name(block, resource, address), line=block.line)
    if (factor := block.attributes.get(resource.factor)) is not None:
        topic.replication_factor = _count(factor, resource.factor)
        topic.lines[OWN_FACTOR] = factor.line
    partitions = block.attributes.get("partitions")
    topic.single = partitions is not None and partitions.value == "1"
    for name, value, line in _settings(block, resource):
        if value is not None:
            topic.configs[name] = _text(value, name, line)
            topic.lines[name] = line
    return topic


def _is_dynamic_config(inner: HclBlock) -> bool:
    return (inner.kind, inner.labels) == ("dynamic", ("config",))


def _settings(block: HclBlock, resource: TopicResource) -> Iterator[tuple[str, Value, int]]:
    """Yield the relevant settings, each with its value and its line."""
    if resource.blocks:
        for inner in block.blocks:
            if _is_dynamic_config(inner):
                raise NotUnderstood("config is a dynamic block; only literals are read", inner.line)
            for written, attribute in inner.attributes.items():
                demand_spelt(written.replace("_", "."), attribute.line)
            for name in (MIN_ISR, UNCLEAN) if inner.kind == "config" else ():
                if (entry := inner.attributes.get(name.replace(".", "_"))) is not None:
                    yield name, *entry
        return
    config = block.attributes.get("config")
    if config is not None and config.value is not None:
        if not isinstance(config.value, dict):
            raise NotUnderstood(_no_literal("config", config.value), config.line)
        for name in config.value:
            demand_spelt(name, config.line)
        for name in (MIN_ISR, UNCLEAN):
            yield name, config.value.get(name), config.line


def _name(block: HclBlock, resource: TopicResource, address: str) -> str:
    if "count" in block.attributes or "for_each" in block.attributes:
        return f"{address}[*]"
    name = block.attributes.get(resource.name)
    if name is None or isinstance(name.value, Expression):
        return address
    return topic_name(_text(name.value, "name", name.line), name.line)


def _count(attribute: Attribute, what: str) -> int:
    return number(_text(attribute.value, what, attribute.line), what, attribute.line)


def _text(value: Value, what: str, line: int) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        raise NotUnderstood(_no_literal(what, value), line)
    return value


def _no_literal(what: str, value: Value) -> str:
    if not isinstance(value, Expression):
        return f"{what} has a value of another type"
    return f"{what} is the expression `{value.text.splitlines()[0][:40]}`; only literals are read"
