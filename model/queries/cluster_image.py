"""A small immutable image of a cluster, which admin queries and metrics read.

The model's state is one partition; a query needs topics of several. An image has partitions of the model and maps the
broker numbers in them (0..n-1) to broker ids. Images are immutable: rules return a new `Partition`, and the caller
builds a new image. Source: MetadataImage, TopicImage, BrokerRegistration (Kafka metadata).
"""

from __future__ import annotations

from dataclasses import dataclass

from elrcheck.lang.runtime import EMPTY
from elrcheck.model.config import Config
from elrcheck.model.state import Partition, Settings

INTERNAL_TOPICS = ("__consumer_offsets", "__share_group_state", "__transaction_state")
MAX_TOPIC_NAME = 249


@dataclass(frozen=True)
class TopicPartition:
    """A partition by name; index counts from 0."""

    topic: str
    index: int


@dataclass(frozen=True)
class BrokerImage:
    """A registered broker. has_listener: it has the listener on which the query arrived."""

    id: int
    fenced: bool
    has_listener: bool = True

    def __post_init__(self) -> None:
        if self.id < 0:
            raise ValueError(f"broker id {self.id} is negative")


@dataclass(frozen=True)
class PartitionImage:
    """A model partition; brokers[b] is the broker id of the model's number b.

    offline_dirs: model numbers of replicas whose log directory is offline (KIP-858).
    """

    partition: Partition
    brokers: tuple[int, ...]
    offline_dirs: frozenset[int] = EMPTY

    def __post_init__(self) -> None:
        if len(set(self.brokers)) != len(self.brokers) or min(self.brokers, default=0) < 0:
            raise ValueError(f"not distinct broker ids: {list(self.brokers)}")
        p = self.partition
        if not p.replicas or len(set(p.replicas)) != len(p.replicas):
            raise ValueError(f"not a replica list: {list(p.replicas)}")
        named = frozenset(p.replicas) | p.isr | p.elr | p.last_known_elr | self.offline_dirs
        named |= p.adding | p.removing
        named |= frozenset(b for b in (p.leader, p.last_known_leader) if b is not None)
        strangers = sorted(b for b in named if not 0 <= b < len(self.brokers))
        if strangers:
            raise ValueError(f"the partition names {strangers}, brokers has {len(self.brokers)} entries")

    def id_of(self, b: int) -> int:
        """Return the broker id of the model's number b."""
        return self.brokers[b]

    def ids(self, members: frozenset[int]) -> tuple[int, ...]:
        """Return the broker ids of a set in ascending order; sets of the model have no order."""
        return tuple(sorted(self.brokers[b] for b in members))


@dataclass(frozen=True)
class TopicImage:
    """A topic: partition i is partitions[i]. config, settings: those that apply to this topic."""

    name: str
    topic_id: str
    config: Config
    settings: Settings
    partitions: tuple[PartitionImage, ...]

    def __post_init__(self) -> None:
        if not legal_topic_name(self.name):
            raise ValueError(f"`{self.name}` is not a topic name")
        if not self.topic_id:
            raise ValueError(f"topic `{self.name}` has no id")
        if not self.partitions:
            raise ValueError(f"topic `{self.name}` has no partition")
        most = max(len(partition.brokers) for partition in self.partitions)
        if most > self.config.broker_count:
            raise ValueError(
                f"topic `{self.name}` has {most} brokers, its configuration counts {self.config.broker_count}"
            )


@dataclass(frozen=True)
class ClusterImage:
    """Registered brokers and topics, in any order; ids and names are distinct."""

    brokers: tuple[BrokerImage, ...]
    topics: tuple[TopicImage, ...]

    def __post_init__(self) -> None:
        for what, values in (
            ("broker id", [str(b.id) for b in self.brokers]),
            ("topic name", [t.name for t in self.topics]),
            ("topic id", [t.topic_id for t in self.topics]),
        ):
            twice = next((v for v in values if values.count(v) > 1), None)
            if twice is not None:
                raise ValueError(f"{what} {twice} is given twice")

    def broker(self, broker: int) -> BrokerImage | None:
        """Return the broker with this id; None if it is not registered."""
        return next((b for b in self.brokers if b.id == broker), None)

    def topic(self, name: str) -> TopicImage | None:
        """Return the topic with this name; None if it does not exist."""
        return next((t for t in self.topics if t.name == name), None)


def legal_topic_name(name: str) -> bool:
    """Topic.validate: 1 to 249 characters of a-z A-Z 0-9 . _ -, but neither `.` nor `..`."""
    return (
        0 < len(name) <= MAX_TOPIC_NAME
        and name not in (".", "..")
        and all(x.isascii() and (x.isalnum() or x in "._-") for x in name)
    )


def is_internal(name: str) -> bool:
    """Topic.isInternal, which depends on the name only; the topic need not exist."""
    return name in INTERNAL_TOPICS
