"""A running cluster as its brokers describe it, in the form of the state after its metadata log.

The answers become records, which a `ClusterState` applies like those of a log. Brokers do not report everything in
the log: they omit the epoch of a partition, and that a broker is shutting down.
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
from elrcheck.kafka.live.admin_client import Answer, ClusterClient, Unanswered
from elrcheck.kafka.log.cluster_state import (
    BROKER,
    ELR_FEATURE,
    EVERY_BROKER,
    LOST,
    METADATA,
    MIN_ISR,
    TOPIC,
    UNASSIGNED,
    UNCLEAN,
    ClusterState,
)
from elrcheck.kafka.log.metadata_records import MetadataRecord
from elrcheck.kafka.partition_questions import NO_LEADER
from elrcheck.report.plain_words import several

BEHIND = 5.0
"""Seconds of lag to report. A broker reads new metadata twice a second or more, as the controller writes it."""
PAGE = 2000
"""Partitions in an answer: the most that a broker gives (max.request.partition.size.limit)."""
TOPICS_AT_ONCE = 500
"""Topics whose settings are requested together."""
OWN, OF_ALL, IN_FILE = "DYNAMIC_TOPIC_CONFIG", "DYNAMIC_DEFAULT_BROKER_CONFIG", "STATIC_BROKER_CONFIG"
"""The source of a value: ConfigEntry.ConfigSource."""
AnswerT = TypeVar("AnswerT")


@dataclass
class ClusterSnapshot:
    """A cluster as its brokers describe it, not all at one moment.

    state: without epochs of partitions. level: metadata.version; supports: the highest that the brokers know.
    elr_supported: they know eligible.leader.replicas.version. unclean: topics that allow unclean elections.
    min_isr_unknown: topics whose min.insync.replicas the brokers did not report.
    lag: seconds since a broker had read all metadata. offset: the high watermark of the metadata log, -1 if
    unknown. unseen: what the brokers did not report, and why.
    """

    state: ClusterState = field(default_factory=ClusterState)
    cluster_id: str = ""
    level: int = 0
    supports: int = 0
    elr_supported: bool = False
    unclean: set[str] = field(default_factory=set)
    min_isr_unknown: set[str] = field(default_factory=set)
    reassignments: int = 0
    lag: dict[int, float] = field(default_factory=dict)
    offset: int = -1
    milliseconds: int = 0
    unseen: list[str] = field(default_factory=list)

    def answer_to(self, request: Callable[[], AnswerT], what: str, otherwise: AnswerT) -> AnswerT:
        """Return the answer; without one, note what is unseen and return `otherwise`."""
        try:
            return request()
        except Unanswered as fault:
            if (text := f"{what}: {fault}") not in self.unseen:
                self.unseen.append(text)
            return otherwise

    def apply(self, record: str, /, **fields: Any) -> None:
        self.state.apply(MetadataRecord(record, 0, fields))


def take_snapshot(
    client: ClusterClient, on_read: Callable[[int], None] = lambda _: None, topics: Sequence[str] = ()
) -> ClusterSnapshot:
    """Request everything, of all topics if none is named; call `on_read` with the number of partitions read so far.

    Raise EnvironmentFault without an answer about features, partitions or brokers.
    """
    try:
        return _take(client, on_read, topics)
    except Unanswered as fault:
        message = f"the brokers do not list their features, partitions and brokers: {fault}"
        raise EnvironmentFault("cluster-unreachable", message) from fault


def _take(client: ClusterClient, on_read: Callable[[int], None], topics: Sequence[str]) -> ClusterSnapshot:
    snapshot = ClusterSnapshot()
    _features(client, snapshot)
    _quorum(client, snapshot)
    none: Mapping[tuple[str, int], Answer] = {}
    moving = snapshot.answer_to(client.reassignments, "reassignments", none)
    snapshot.reassignments = len(moving)
    answers: list[Answer] = []
    count = 0
    for topic in _topics(client, snapshot, topics):
        answers.append(topic)
        count += len(topic["partitions"])
        on_read(count)
    fenced = _brokers(client, snapshot, answers)
    for broker, behind in sorted(snapshot.lag.items()):
        if fenced.get(broker) is False and behind > BEHIND:
            snapshot.unseen.append(f"current data, if broker {broker} answered: its metadata is stale")
    _settings(client, snapshot, sorted({topic["name"] for topic in answers}))
    for topic in answers:
        for each in topic["partitions"]:
            _partition(snapshot, topic, each, moving.get((topic["name"], each["partition_index"]), {}), fenced)
    snapshot.milliseconds = round(time.time() * 1000)
    return snapshot


def _features(client: ClusterClient, snapshot: ClusterSnapshot) -> None:
    features = client.features()
    if METADATA not in features or "finalized" not in features[METADATA]:
        help = "clusters that run with ZooKeeper have no such controller"
        raise UsageFault("not-kraft", "the cluster has no metadata.version: it does not run with KRaft", help=help)
    for name, levels in features.items():
        if "finalized" in levels:
            snapshot.apply("FEATURE_LEVEL_RECORD", name=name, featureLevel=levels["finalized"][1])
    snapshot.level = features[METADATA]["finalized"][1]
    snapshot.supports = max(snapshot.level, features[METADATA].get("supported", (0, 0))[1])
    snapshot.elr_supported = features.get(ELR_FEATURE, {}).get("supported", (0, 0))[1] > 0


def _quorum(client: ClusterClient, snapshot: ClusterSnapshot) -> None:
    nothing: Answer = {}
    answer = snapshot.answer_to(client.quorum, "how far brokers have read the metadata", nothing)
    for topic in answer.get("topics", ()):
        for partition in topic["partitions"]:
            snapshot.offset = partition["high_watermark"]
            nodes = {each["replica_id"]: each for each in (*partition["current_voters"], *partition["observers"])}
            now = nodes.get(partition["leader_id"], {}).get("last_caught_up_timestamp", -1)
            for node, state in nodes.items():
                caught_up = state.get("last_caught_up_timestamp", -1)
                if now > 0 and caught_up > 0:
                    snapshot.lag[node] = max(0, now - caught_up) / 1000


def _topics(client: ClusterClient, snapshot: ClusterSnapshot, names: Sequence[str]) -> Iterator[Answer]:
    """Yield topics with their partitions, page by page; a topic may come in several parts."""
    cursor: Answer | None = None
    while True:
        try:
            page = client.partitions(names, PAGE, cursor)
        except Unanswered as fault:
            if snapshot.elr_supported:
                snapshot.unseen.append(f"ELR and LastKnownELR: {fault}")
            yield from _without_elr(client, names)
            return
        for topic in page["topics"]:
            if topic["error_code"] == 0:
                yield topic
        following = page["next_cursor"]
        if following is None or following == cursor:
            return
        cursor = following


def _without_elr(client: ClusterClient, names: Sequence[str]) -> Iterator[Answer]:
    for topic in client.topics():
        if topic["error_code"] == 0 and (not names or topic["name"] in names):
            yield topic


def _brokers(client: ClusterClient, snapshot: ClusterSnapshot, answers: Iterable[Answer]) -> Mapping[int, bool]:
    """Register the brokers in the state; return for each whether it is fenced.

    Before 4.0 brokers do not name those that are fenced. One that is offline for all of its replicas then
    counts as registered and fenced.
    """
    cluster = client.cluster()
    snapshot.cluster_id = cluster.get("cluster_id") or ""
    brokers = {each["broker_id"]: bool(each.get("is_fenced")) for each in cluster["brokers"]}
    if not any("is_fenced" in each for each in cluster["brokers"]):
        for topic in answers:
            for each in topic["partitions"]:
                for broker in (*each["replica_nodes"], *each["isr_nodes"]):
                    brokers.setdefault(broker, True)
    for broker, fenced in sorted(brokers.items()):
        level = {"name": METADATA, "maxSupportedVersion": snapshot.supports}
        snapshot.apply(
            "REGISTER_BROKER_RECORD",
            brokerId=broker,
            brokerEpoch=0,
            fenced=fenced,
            inControlledShutdown=False,
            logDirs=(),
            features=(level,),
        )
    return brokers


def _settings(client: ClusterClient, snapshot: ClusterSnapshot, topics: Sequence[str]) -> None:
    for start in range(0, len(topics), TOPICS_AT_ONCE):
        some = topics[start : start + TOPICS_AT_ONCE]
        nothing: Mapping[str, Answer] = {}
        configs = snapshot.answer_to(partial(client.configs, some, (MIN_ISR, UNCLEAN)), "settings of topics", nothing)
        for topic in some:
            values = configs.get(topic, {})
            if MIN_ISR not in values:
                snapshot.min_isr_unknown.add(topic)
                continue
            _min_isr(snapshot, topic, values[MIN_ISR])
            if str(values.get(UNCLEAN, {}).get("value")).lower() == "true":
                snapshot.unclean.add(topic)
    if missing := len(snapshot.min_isr_unknown):
        topics_unseen = several(missing, "topic", written=f"{missing:,}")
        snapshot.unseen.append(f"min.insync.replicas of {topics_unseen}: the user is not authorized")


def _min_isr(snapshot: ClusterSnapshot, topic: str, setting: Answer) -> None:
    """Apply the topic's own value and that of all brokers. The controller ignores the value of a single broker.

    Without a value of all brokers the controller uses the one in its own file, which no request returns; the one in
    a broker's file stands for it.
    """
    values = {each["source"]: each["value"] for each in setting.get("synonyms", ())}
    values.setdefault(setting.get("config_source", ""), setting["value"])
    of_all = values.get(OF_ALL, values.get(IN_FILE))
    for value, resource in ((values.get(OWN), (TOPIC, topic)), (of_all, (BROKER, EVERY_BROKER))):
        if value is not None:
            kind, name = resource
            snapshot.apply("CONFIG_RECORD", resourceType=kind, resourceName=name, name=MIN_ISR, value=value)


def _partition(
    snapshot: ClusterSnapshot, topic: Answer, answer: Answer, reassignment: Answer, fenced: Mapping[int, bool]
) -> None:
    if answer["error_code"] not in (0, LEADER_NOT_AVAILABLE, LISTENER_NOT_FOUND):
        return
    identity = topic["topic_id"]
    if isinstance(identity, uuid.UUID):
        identity = base64.urlsafe_b64encode(identity.bytes).decode("ascii").rstrip("=")
    snapshot.apply("TOPIC_RECORD", name=topic["name"], topicId=identity)
    replicas = tuple(answer["replica_nodes"])
    offline = frozenset(answer.get("offline_replicas") or ())
    snapshot.apply(
        "PARTITION_RECORD",
        partitionId=answer["partition_index"],
        topicId=identity,
        replicas=replicas,
        isr=tuple(answer["isr_nodes"]),
        eligibleLeaderReplicas=tuple(answer.get("eligible_leader_replicas") or ()),
        lastKnownElr=tuple(answer.get("last_known_elr") or ()),
        addingReplicas=tuple(reassignment.get("adding_replicas") or ()),
        removingReplicas=tuple(reassignment.get("removing_replicas") or ()),
        leader=answer["leader_id"] if answer["leader_id"] is not None else NO_LEADER,
        leaderEpoch=answer["leader_epoch"],
        partitionEpoch=0,
        leaderRecoveryState=0,
        directories=tuple(LOST if b in offline and fenced.get(b) is False else UNASSIGNED for b in replicas),
    )


LEADER_NOT_AVAILABLE, LISTENER_NOT_FOUND = 5, 72
"""Error codes of a partition that has no leader, by the older request."""
