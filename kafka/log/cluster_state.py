"""The state that results from the records of a metadata log: topics, partitions, brokers, features, settings.

Each record changes it as Kafka's own image does (PartitionRegistration.merge, BrokerRegistration.cloneWith,
ReplicationControlManager.replay); no rule decides anything. Of the settings, min.insync.replicas and
unclean.leader.election.enable are stored.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from elrcheck.kafka.log.metadata_records import Fields, MetadataRecord
from elrcheck.kafka.log.partition_shapes import UNASSIGNED as UNASSIGNED
from elrcheck.kafka.log.partition_shapes import PartitionKey as PartitionKey
from elrcheck.kafka.log.partition_shapes import Shape, Shapes
from elrcheck.kafka.log.partition_shapes import StoredPartition as StoredPartition
from elrcheck.kafka.log.record_table import NO_UUID
from elrcheck.kafka.partition_questions import Ids, KafkaPartition, Recovery
from elrcheck.model.state import Directory, Registration

METADATA = "metadata.version"
ELR_FEATURE = "eligible.leader.replicas.version"
MIN_ISR = "min.insync.replicas"
UNCLEAN = "unclean.leader.election.enable"
TOPIC, BROKER = 2, 4
"""ConfigResource.Type."""
EVERY_BROKER = ""
NO_CHANGE = -2
"""PartitionChangeRecord.leader."""
RECOVERY: Mapping[int, Recovery] = {0: "RECOVERED", 1: "RECOVERING"}
MIGRATING, LOST = NO_UUID, "AAAAAAAAAAAAAAAAAAAAAg"
"""DirectoryId, with UNASSIGNED."""


@dataclass(frozen=True, slots=True)
class StoredBroker:
    """A registered broker. directories: the log directories that it has online, sorted or not.

    level: the highest metadata.version that it supports, 0 if it does not say.
    """

    epoch: int
    fenced: bool
    in_controlled_shutdown: bool
    directories: tuple[str, ...]
    level: int = 0

    def has_online(self, directory: str) -> bool:
        """DirectoryId.isOnline."""
        if directory == LOST:
            return False
        return directory in (UNASSIGNED, MIGRATING) or not self.directories or directory in self.directories


class PartitionChanged(NamedTuple):
    """A partition before and after a record; None if it did not exist, or no longer does."""

    key: PartitionKey
    before: StoredPartition | None
    after: StoredPartition | None


class EarlierRecordsMissing(Exception):
    """Raised for a record about something that does not exist, so earlier records are missing."""


class ClusterState:
    """The state after the records so far. `apply` changes it."""

    def __init__(self) -> None:
        self.topics: dict[str, str] = {}
        """Names by id."""
        self.partitions: dict[PartitionKey, StoredPartition] = {}
        self.shapes = Shapes()
        self.brokers: dict[int, StoredBroker] = {}
        self.features: dict[str, int] = {}
        self.min_isr: dict[tuple[int, str], str] = {}
        """min.insync.replicas by type and name of a resource."""
        self.unclean: dict[tuple[int, str], str] = {}
        """unclean.leader.election.enable, in the same way."""
        self._removed: dict[str, str] = {}
        """Names of topics that do not exist any more, by id."""
        self._id_of: dict[str, str] = {}
        self._of_topic: dict[str, set[PartitionKey]] = {}
        self._apply: Mapping[str, Callable[[Fields], list[PartitionChanged]]] = {
            "TOPIC_RECORD": self._topic,
            "REMOVE_TOPIC_RECORD": self._no_topic,
            "PARTITION_RECORD": self._partition,
            "PARTITION_CHANGE_RECORD": self._change,
            "CLEAR_ELR_RECORD": self._clear_elr,
            "REGISTER_BROKER_RECORD": self._broker,
            "UNREGISTER_BROKER_RECORD": self._no_broker,
            "FENCE_BROKER_RECORD": lambda r: self._fence(r["id"], True),
            "UNFENCE_BROKER_RECORD": lambda r: self._fence(r["id"], False),
            "BROKER_REGISTRATION_CHANGE_RECORD": self._broker_change,
            "FEATURE_LEVEL_RECORD": self._feature,
            "CONFIG_RECORD": self._config,
        }

    @property
    def elr_enabled(self) -> bool:
        return self.features.get(ELR_FEATURE, 0) > 0

    @property
    def elr_is_off(self) -> bool:
        """Whether ELR is off for certain; a log that lacks its first records may not say."""
        return bool(self.features) and not self.elr_enabled

    def fenced_brokers(self) -> tuple[int, ...]:
        """Return the ids of the registered brokers that are fenced, in order."""
        return tuple(sorted(broker for broker, stored in self.brokers.items() if stored.fenced))

    def name_of(self, key: PartitionKey) -> str:
        """Return the name of its topic, or the id if no record names it."""
        name = self.topics.get(key.topic_id)
        return self._removed.get(key.topic_id, key.topic_id) if name is None else name

    def has_removed(self, topic_id: str) -> bool:
        """Return whether a record removed this topic."""
        return topic_id in self._removed and topic_id not in self.topics

    def keys_of(self, topic: str) -> Iterator[PartitionKey]:
        """Yield the partitions of the topic with that name, in order."""
        yield from sorted(self.keys_in(self._id_of.get(topic, "")))

    def keys_in(self, topic_id: str) -> Collection[PartitionKey]:
        """Return the partitions of a topic."""
        return self._of_topic.get(topic_id, ())

    def apply(self, record: MetadataRecord) -> list[PartitionChanged]:
        """Apply a record and return the changes of partitions; raise EarlierRecordsMissing."""
        change = self._apply.get(record.name)
        return [] if change is None else change(record.fields)

    # ------------------------------------------------------------------------ topics and partitions

    def _topic(self, r: Fields) -> list[PartitionChanged]:
        self.topics[r["topicId"]] = r["name"]
        self._id_of[r["name"]] = r["topicId"]
        return []

    def _no_topic(self, r: Fields) -> list[PartitionChanged]:
        topic_id = r["topicId"]
        if topic_id not in self.topics:
            raise EarlierRecordsMissing(f"a topic that does not exist is removed ({topic_id})")
        name = self._removed[topic_id] = self.topics.pop(topic_id)
        if self._id_of.get(name) == topic_id:
            del self._id_of[name]
        for settings in (self.min_isr, self.unclean):
            settings.pop((TOPIC, name), None)
        keys = self._of_topic.pop(topic_id, set())
        for key in keys:
            self.partitions[key].shape.home.keys.discard(key)
        return [PartitionChanged(key, self.partitions.pop(key), None) for key in sorted(keys)]

    def _partition(self, r: Fields) -> list[PartitionChanged]:
        key = PartitionKey(r["topicId"], r["partitionId"])
        if key.partition < 0:
            raise EarlierRecordsMissing(f"a partition of {self.name_of(key)} has number {key.partition}")
        return [self.put(key, self.created(r))]

    def created(self, r: Fields) -> StoredPartition:
        """Return the partition that a record creates."""
        lists = KafkaPartition(
            replicas=r["replicas"],
            isr=r["isr"],
            elr=r["eligibleLeaderReplicas"] or (),
            last_known_elr=r["lastKnownElr"] or (),
            adding=r["addingReplicas"],
            removing=r["removingReplicas"],
            leader=r["leader"],
            recovery=RECOVERY.get(r["leaderRecoveryState"], "RECOVERED"),
        )
        return StoredPartition(self._shape(lists, r["directories"]), r["leaderEpoch"], r["partitionEpoch"])

    def _change(self, r: Fields) -> list[PartitionChanged]:
        key = PartitionKey(r["topicId"], r["partitionId"])
        before = self.partitions.get(key)
        if before is None:
            raise EarlierRecordsMissing(f"partition {self.name_of(key)}-{key.partition} changes, but was never created")
        return [self.put(key, self.changed(before, r))]

    def changed(self, before: StoredPartition, r: Fields) -> StoredPartition:
        """Return the partition after a record."""
        shape, leader_epoch, partition_epoch = before
        p = shape.lists
        changed = r["leader"] != NO_CHANGE
        lists = KafkaPartition(
            replicas=_or_else(r["replicas"], p.replicas),
            isr=_or_else(r["isr"], p.isr),
            elr=_or_else(r["eligibleLeaderReplicas"], p.elr),
            last_known_elr=_or_else(r["lastKnownElr"], p.last_known_elr),
            adding=_or_else(r["addingReplicas"], p.adding),
            removing=_or_else(r["removingReplicas"], p.removing),
            leader=r["leader"] if changed else p.leader,
            recovery=RECOVERY.get(r["leaderRecoveryState"], p.recovery),
        )
        directories = shape.directories if r["directories"] is None else r["directories"]
        return StoredPartition(self._shape(lists, directories), leader_epoch + changed, partition_epoch + 1)

    def _clear_elr(self, r: Fields) -> list[PartitionChanged]:
        keys = self.keys_of(r["topicName"]) if r["topicName"] else sorted(self.partitions)
        changed = []
        for key in list(keys):
            before = self.partitions[key]
            p = before.shape.lists
            if p.elr or p.last_known_elr:
                shape = self._shape(replace(p, elr=(), last_known_elr=()), before.shape.directories)
                after = StoredPartition(shape, before.leader_epoch, before.partition_epoch + 1)
                changed.append(self.put(key, after))
        return changed

    def _shape(self, lists: KafkaPartition, directories: tuple[str, ...]) -> Shape:
        return self.shapes.shape_of(lists, _for_each(lists.replicas, directories))

    def put(self, key: PartitionKey, after: StoredPartition) -> PartitionChanged:
        """Register a partition, in place of an earlier one if it exists."""
        before = self.partitions.get(key)
        self.partitions[key] = after
        if before is not None:
            before.shape.home.keys.discard(key)
        after.shape.home.keys.add(key)
        self._of_topic.setdefault(key.topic_id, set()).add(key)
        return PartitionChanged(key, before, after)

    # ------------------------------------------------------------------------ brokers

    def _broker(self, r: Fields) -> list[PartitionChanged]:
        self.brokers[r["brokerId"]] = StoredBroker(
            r["brokerEpoch"], r["fenced"], r["inControlledShutdown"], r["logDirs"], _level(r["features"])
        )
        return []

    def _no_broker(self, r: Fields) -> list[PartitionChanged]:
        if self.brokers.pop(r["brokerId"], None) is None:
            raise EarlierRecordsMissing(f"broker {r['brokerId']} is unregistered, but was never registered")
        return []

    def _fence(self, broker: int, fenced: bool) -> list[PartitionChanged]:
        self.brokers[broker] = replace(self._registered(broker), fenced=fenced)
        return []

    def _broker_change(self, r: Fields) -> list[PartitionChanged]:
        now = self._registered(r["brokerId"])
        if r["fenced"]:
            now = replace(now, fenced=r["fenced"] > 0)
        if r["inControlledShutdown"]:
            now = replace(now, in_controlled_shutdown=True)
        if r["logDirs"]:
            now = replace(now, directories=r["logDirs"])
        self.brokers[r["brokerId"]] = now
        return []

    def _registered(self, broker: int) -> StoredBroker:
        if broker not in self.brokers:
            raise EarlierRecordsMissing(f"broker {broker} changes, but was never registered")
        return self.brokers[broker]

    # ------------------------------------------------------------------------ features and settings

    def _feature(self, r: Fields) -> list[PartitionChanged]:
        self.features[r["name"]] = r["featureLevel"]
        return []

    def _config(self, r: Fields) -> list[PartitionChanged]:
        if r["name"] in (MIN_ISR, UNCLEAN):
            settings = self.min_isr if r["name"] == MIN_ISR else self.unclean
            resource = (r["resourceType"], r["resourceName"])
            settings.pop(resource, None)
            if r["value"] is not None:
                settings[resource] = r["value"]
        return []


def min_isr_in(settings: Mapping[tuple[int, str], str], topic: str) -> tuple[int | None, int]:
    """Return min.insync.replicas of a topic, None without its own; and of the cluster, 1 by default."""
    cluster = _number(settings.get((BROKER, EVERY_BROKER)))
    return _number(settings.get((TOPIC, topic))), 1 if cluster is None else cluster


def _number(text: str | None) -> int | None:
    text = (text or "").strip()
    return int(text) if text.isdecimal() and len(text) < 10 and int(text) > 0 else None


def _level(features: tuple[Fields, ...]) -> int:
    return max((f["maxSupportedVersion"] for f in features if f["name"] == METADATA), default=0)


def _or_else(value: Ids | None, otherwise: Ids) -> Ids:
    return otherwise if value is None else value


def _for_each(replicas: tuple[int, ...], directories: tuple[str, ...]) -> tuple[str, ...]:
    """PartitionRegistration.defaultToMigrating: records of older versions name no directories."""
    return directories if len(directories) == len(replicas) else (MIGRATING,) * len(replicas)


class KnownBroker(NamedTuple):
    """A broker that a partition names, as the controller knows it."""

    registered: bool = False
    fenced: bool = True
    in_controlled_shutdown: bool = False
    online: bool = True

    @property
    def registration(self) -> Registration:
        return Registration(
            registered=self.registered,
            fenced=self.fenced,
            in_controlled_shutdown=self.in_controlled_shutdown,
            shutdown_offset=0,
            epoch=1,
            directory=Directory.ONLINE if self.online else Directory.OFFLINE,
        )


def known_brokers(
    ids: Iterable[int], brokers: Mapping[int, StoredBroker], stored: StoredPartition
) -> tuple[KnownBroker, ...]:
    """Return these brokers, each with the log directory of its replica of the partition."""
    directories = dict(stored.shape.home.pairs)
    return tuple([known_broker(brokers.get(broker), directories.get(broker, UNASSIGNED)) for broker in ids])


def known_broker(broker: StoredBroker | None, directory: str) -> KnownBroker:
    """Return a broker whose replica is in this directory; broker: None if it is not registered."""
    if broker is None:
        return KnownBroker()
    return KnownBroker(True, broker.fenced, broker.in_controlled_shutdown, broker.has_online(directory))
