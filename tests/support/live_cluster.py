"""A cluster for tests of `audit --bootstrap`: answers in the form in which the client library gives them."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from elrcheck.base.progress import Silent
from elrcheck.kafka.audit.live_audit import audit_by
from elrcheck.kafka.audit.rules import Repairs
from elrcheck.kafka.live.admin_client import Answer, Unanswered
from elrcheck.results.audit_report import AuditReport

TOPIC_ID = uuid.UUID(int=7)


def topic(name: str, *partitions: Answer, error: int = 0) -> dict[str, Any]:
    return {"error_code": error, "name": name, "topic_id": uuid.uuid5(TOPIC_ID, name), "partitions": partitions}


def partition(number: int = 0, replicas: Sequence[int] = (0, 1, 2), leader: int = 0, **more: Any) -> dict[str, Any]:
    values: dict[str, Any] = {"isr_nodes": list(replicas), "eligible_leader_replicas": None, "last_known_elr": None}
    values |= {"leader_epoch": 3, "offline_replicas": [], "error_code": 0}
    return {"partition_index": number, "leader_id": leader, "replica_nodes": list(replicas), **values, **more}


def shrunk(isr: Sequence[int], elr: Sequence[int], **more: Any) -> dict[str, Any]:
    """A partition with an ISR and an ELR; none of its replicas counts as offline."""
    return partition(isr_nodes=list(isr), eligible_leader_replicas=list(elr), **more)


@dataclass
class FakeCluster:
    """A `ClusterClient`. level: metadata.version, of 4.1 by default. missing: what is not offered."""

    topics_now: list[dict[str, Any]] = field(default_factory=lambda: [topic("orders", partition())])
    level: int = 27
    elr: int | None = 1
    brokers: dict[int, bool] = field(default_factory=lambda: dict.fromkeys(range(4), False))
    """Whether each is fenced."""
    moving: dict[tuple[str, int], Answer] = field(default_factory=dict)
    min_isr: str = "2"
    min_isr_source: str = "DYNAMIC_TOPIC_CONFIG"
    min_isr_below: str = "DYNAMIC_DEFAULT_BROKER_CONFIG"
    """Where another value comes from, which is 1 and of no account."""
    unclean: str = "false"
    lag: dict[int, int] = field(default_factory=dict)
    """Milliseconds by which brokers are behind."""
    page: int = 2000
    missing: frozenset[str] = frozenset()
    denied: frozenset[str] = frozenset()
    requests: list[str] = field(default_factory=list)
    """Names of requests, in order."""

    def _note(self, name: str) -> None:
        self.requests.append(name)
        if name in self.missing:
            raise Unanswered("the brokers do not offer this request")
        if name in self.denied:
            raise Unanswered("the user is not authorized")

    def features(self) -> Answer:
        self._note("features")
        levels = {"metadata.version": {"supported": (1, self.level), "finalized": (self.level, self.level)}}
        if self.elr is not None:
            levels["eligible.leader.replicas.version"] = {"supported": (0, 1)}
            if self.elr:
                levels["eligible.leader.replicas.version"]["finalized"] = (self.elr, self.elr)
        return levels

    def cluster(self) -> Answer:
        self._note("cluster")
        described = [{"broker_id": broker, "is_fenced": fenced} for broker, fenced in self.brokers.items()]
        if self.elr is None:  # older than 4.0
            described = [{"broker_id": each["broker_id"]} for each in described if not each["is_fenced"]]
        return {"cluster_id": "MkU3OEVBNTcwNTJENDM2Qk", "brokers": described}

    def quorum(self) -> Answer:
        self._note("quorum")
        now = 1_790_000_000_000
        observers = [{"replica_id": b, "last_caught_up_timestamp": now - self.lag.get(b, 200)} for b in self.brokers]
        voters = [{"replica_id": 100, "last_caught_up_timestamp": now}]
        described = {"leader_id": 100, "high_watermark": 512, "current_voters": voters, "observers": observers}
        return {"topics": [{"partitions": [described]}]}

    def partitions(self, topics: Sequence[str], limit: int, cursor: Answer | None) -> Answer:
        self._note("partitions")
        every = [(t, p) for t in self.topics_now if not topics or t["name"] in topics for p in t["partitions"]]
        places = [(t["name"], p["partition_index"]) for t, p in every]
        start = 0 if cursor is None else places.index((cursor["topic_name"], cursor["partition_index"]))
        end = start + min(limit, self.page)
        described = [{**t, "partitions": [p]} for t, p in every[start:end]]
        after = None
        if end < len(every):
            after = {"topic_name": places[end][0], "partition_index": places[end][1]}
        return {"topics": described, "next_cursor": after}

    def topics(self) -> Sequence[Answer]:
        self._note("topics")
        hidden = ("eligible_leader_replicas", "last_known_elr")
        return [
            {**t, "partitions": [{k: v for k, v in p.items() if k not in hidden} for p in t["partitions"]]}
            for t in self.topics_now
        ]

    def reassignments(self) -> Mapping[tuple[str, int], Answer]:
        self._note("reassignments")
        return self.moving

    def configs(self, topics: Sequence[str], names: Sequence[str]) -> Mapping[str, Answer]:
        self._note("configs")
        own = {"source": self.min_isr_source, "value": self.min_isr}
        rest = {"source": self.min_isr_below, "value": "1"}
        min_isr = {"value": self.min_isr, "config_source": self.min_isr_source, "synonyms": [own, rest]}
        unclean = {"value": self.unclean, "config_source": "DYNAMIC_TOPIC_CONFIG", "synonyms": []}
        return {name: dict(zip(names, (min_isr, unclean), strict=True)) for name in topics}

    def audited(self, *repaired: str) -> AuditReport:
        return audit_by(self, "localhost:9092", Silent(), pause=0.0, repairs=Repairs.of(repaired))

    def flagged(self) -> list[tuple[str, str | None]]:
        return [(flag.rule, flag.hazard) for flag in self.audited().flags]
