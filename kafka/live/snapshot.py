"""What a cluster that runs says of itself, as the state that the records of its metadata log add up to.

The answers become records, which a `ClusterState` applies like those of a log. Brokers do not tell everything
that the log has: not the epoch of a partition, nor that a broker is shutting down.
"""

from __future__ import annotations

import base64
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from elrcheck.base.errors import EnvironmentFault, UsageFault
from elrcheck.kafka.live.admin_client import Answer, ClusterClient, NotSeen
from elrcheck.kafka.log.cluster_state import (
    BROKER,
    ELR_FEATURE,
    EVERY_BROKER,
    LOST,
    MIN_ISR,
    TOPIC,
    UNASSIGNED,
    ClusterState,
)
from elrcheck.kafka.log.metadata_records import MetadataRecord
from elrcheck.kafka.partition_questions import NO_LEADER

METADATA = "metadata.version"
UNCLEAN = "unclean.leader.election.enable"
BEHIND = 5.0
"""Seconds. A broker reads new metadata at least twice a second, because the controller writes that often."""
PAGE = 2000
"""Partitions in an answer: the most that a broker gives (max.request.partition.size.limit)."""
TOPICS_AT_ONCE = 500
"""Of which settings are asked in one request."""
OWN, OF_ALL, IN_FILE = "DYNAMIC_TOPIC_CONFIG", "DYNAMIC_DEFAULT_BROKER_CONFIG", "STATIC_BROKER_CONFIG"
"""Where a value comes from: ConfigEntry.ConfigSource."""
Found = TypeVar("Found")


@dataclass
class Snapshot:
    """A cluster as its brokers see it, not all at one moment.

    state: without epochs of partitions. level: metadata.version; supports: the highest that the brokers know.
    elr_supported: they know eligible.leader.replicas.version. unclean: topics that allow unclean elections.
    lag: seconds since a broker had read all metadata. offset: the high watermark of the metadata log, -1 if
    not known. unseen: what the brokers did not tell, and why.
    """

    state: ClusterState = field(default_factory=ClusterState)
    cluster_id: str = ""
    level: int = 0
    supports: int = 0
    elr_supported: bool = False
    unclean: set[str] = field(default_factory=set)
    reassignments: int = 0
    lag: dict[int, float] = field(default_factory=dict)
    offset: int = -1
    milliseconds: int = 0
    unseen: list[str] = field(default_factory=list)

    def asked(self, request: Callable[[], Found], what: str, otherwise: Found) -> Found:
        """The answer, or that it was not given."""
        try:
            return request()
        except NotSeen as fault:
            self.unseen.append(f"{what}: {fault}")
            return otherwise

    def apply(self, record: str, /, **fields: Any) -> None:
        self.state.apply(MetadataRecord(record, 0, fields))


def take_snapshot(
    client: ClusterClient, seen: Callable[[int], None] = lambda _: None, topics: Sequence[str] = ()
) -> Snapshot:
    """Ask for everything, of all topics if none is named. seen: told how many partitions were read so far.

    Raises EnvironmentFault without an answer about features, partitions or brokers.
    """
    try:
        return _taken(client, seen, topics)
    except NotSeen as fault:
        message = f"the brokers do not say which features, partitions and brokers there are: {fault}"
        raise EnvironmentFault("cluster-unreachable", message) from fault


def _taken(client: ClusterClient, seen: Callable[[int], None], topics: Sequence[str]) -> Snapshot:
    found = Snapshot()
    _features(client, found)
    _quorum(client, found)
    none: Mapping[tuple[str, int], Answer] = {}
    moving = found.asked(client.reassignments, "reassignments", none)
    found.reassignments = len(moving)
    answers: list[Answer] = []
    count = 0
    for topic in _topics(client, found, topics):
        answers.append(topic)
        count += len(topic["partitions"])
        seen(count)
    fenced = _brokers(client, found, answers)
    for broker, behind in sorted(found.lag.items()):
        if fenced.get(broker) is False and behind > BEHIND:
            found.unseen.append(f"the present, if broker {broker} answered: its metadata is old")
    _settings(client, found, sorted({topic["name"] for topic in answers}))
    for topic in answers:
        for each in topic["partitions"]:
            _partition(found, topic, each, moving.get((topic["name"], each["partition_index"]), {}), fenced)
    found.milliseconds = round(time.time() * 1000)
    return found


def _features(client: ClusterClient, found: Snapshot) -> None:
    features = client.features()
    if METADATA not in features or "finalized" not in features[METADATA]:
        help = "clusters that run with ZooKeeper have no such controller"
        raise UsageFault("not-kraft", "the cluster has no metadata.version: it does not run with KRaft", help=help)
    for name, told in features.items():
        if "finalized" in told:
            found.apply("FEATURE_LEVEL_RECORD", name=name, featureLevel=told["finalized"][1])
    found.level = features[METADATA]["finalized"][1]
    found.supports = max(found.level, features[METADATA].get("supported", (0, 0))[1])
    found.elr_supported = features.get(ELR_FEATURE, {}).get("supported", (0, 0))[1] > 0


def _quorum(client: ClusterClient, found: Snapshot) -> None:
    nothing: Answer = {}
    answer = found.asked(client.quorum, "how far brokers have read the metadata", nothing)
    for topic in answer.get("topics", ()):
        for partition in topic["partitions"]:
            found.offset = partition["high_watermark"]
            nodes = {each["replica_id"]: each for each in (*partition["current_voters"], *partition["observers"])}
            now = nodes.get(partition["leader_id"], {}).get("last_caught_up_timestamp", -1)
            for node, told in nodes.items():
                caught_up = told.get("last_caught_up_timestamp", -1)
                if now > 0 and caught_up > 0:
                    found.lag[node] = max(0, now - caught_up) / 1000


def _topics(client: ClusterClient, found: Snapshot, wanted: Sequence[str]) -> Iterator[Answer]:
    """Topics with their partitions, page by page; a topic may come in several parts."""
    cursor: Answer | None = None
    while True:
        try:
            page = client.partitions(wanted, PAGE, cursor)
        except NotSeen as fault:
            if found.elr_supported:
                found.unseen.append(f"ELR and LastKnownELR: {fault}")
            yield from _without_elr(client, wanted)
            return
        for topic in page["topics"]:
            if topic["error_code"] == 0:
                yield topic
        following = page["next_cursor"]
        if following is None or following == cursor:
            return
        cursor = following


def _without_elr(client: ClusterClient, wanted: Sequence[str]) -> Iterator[Answer]:
    for topic in client.topics():
        if topic["error_code"] == 0 and (not wanted or topic["name"] in wanted):
            yield topic


def _brokers(client: ClusterClient, found: Snapshot, answers: Iterable[Answer]) -> Mapping[int, bool]:
    """Tell the state which brokers are registered; return whether each is fenced.

    Before 4.0 brokers do not name those that are fenced. One that is offline for all of its replicas then
    counts as registered and fenced.
    """
    cluster = client.cluster()
    found.cluster_id = cluster.get("cluster_id") or ""
    brokers = {each["broker_id"]: bool(each.get("is_fenced")) for each in cluster["brokers"]}
    if not any("is_fenced" in each for each in cluster["brokers"]):
        for topic in answers:
            for each in topic["partitions"]:
                for broker in (*each["replica_nodes"], *each["isr_nodes"]):
                    brokers.setdefault(broker, True)
    for broker, fenced in sorted(brokers.items()):
        level = {"name": METADATA, "maxSupportedVersion": found.supports}
        found.apply(
            "REGISTER_BROKER_RECORD",
            brokerId=broker,
            brokerEpoch=0,
            fenced=fenced,
            inControlledShutdown=False,
            logDirs=(),
            features=(level,),
        )
    return brokers


def _settings(client: ClusterClient, found: Snapshot, topics: Sequence[str]) -> None:
    missing = 0
    for start in range(0, len(topics), TOPICS_AT_ONCE):
        some = topics[start : start + TOPICS_AT_ONCE]
        nothing: Mapping[str, Answer] = {}
        told = found.asked(partial(client.configs, some, (MIN_ISR, UNCLEAN)), "settings of topics", nothing)
        for topic in some:
            values = told.get(topic, {})
            if MIN_ISR not in values:
                missing += 1
                continue
            _min_isr(found, topic, values[MIN_ISR])
            if str(values.get(UNCLEAN, {}).get("value")).lower() == "true":
                found.unclean.add(topic)
    if missing:
        found.unseen.append(f"min.insync.replicas of {missing:,} topics: the user may not ask this")


def _min_isr(found: Snapshot, topic: str, told: Answer) -> None:
    """The topic's own value and that of all brokers. The controller asks for no value of one broker.

    Without a value of all brokers the controller takes the one in its own file, which cannot be asked for;
    the one in a broker's file stands for it.
    """
    values = {each["source"]: each["value"] for each in told.get("synonyms", ())}
    values.setdefault(told.get("config_source", ""), told["value"])
    of_all = values.get(OF_ALL, values.get(IN_FILE))
    for value, resource in ((values.get(OWN), (TOPIC, topic)), (of_all, (BROKER, EVERY_BROKER))):
        if value is not None:
            kind, name = resource
            found.apply("CONFIG_RECORD", resourceType=kind, resourceName=name, name=MIN_ISR, value=value)


def _partition(found: Snapshot, topic: Answer, told: Answer, moving: Answer, fenced: Mapping[int, bool]) -> None:
    if told["error_code"] not in (0, LEADER_NOT_AVAILABLE, LISTENER_NOT_FOUND):
        return
    identity = topic["topic_id"]
    if isinstance(identity, uuid.UUID):
        identity = base64.urlsafe_b64encode(identity.bytes).decode("ascii").rstrip("=")
    found.apply("TOPIC_RECORD", name=topic["name"], topicId=identity)
    replicas = tuple(told["replica_nodes"])
    offline = frozenset(told.get("offline_replicas") or ())
    found.apply(
        "PARTITION_RECORD",
        partitionId=told["partition_index"],
        topicId=identity,
        replicas=replicas,
        isr=tuple(told["isr_nodes"]),
        eligibleLeaderReplicas=tuple(told.get("eligible_leader_replicas") or ()),
        lastKnownElr=tuple(told.get("last_known_elr") or ()),
        addingReplicas=tuple(moving.get("adding_replicas") or ()),
        removingReplicas=tuple(moving.get("removing_replicas") or ()),
        leader=told["leader_id"] if told["leader_id"] is not None else NO_LEADER,
        leaderEpoch=told["leader_epoch"],
        partitionEpoch=0,
        leaderRecoveryState=0,
        directories=tuple(LOST if b in offline and fenced.get(b) is False else UNASSIGNED for b in replicas),
    )


LEADER_NOT_AVAILABLE, LISTENER_NOT_FOUND = 5, 72
"""Error codes of a partition that has no leader, by the older request."""
