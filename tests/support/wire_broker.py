"""A broker on the loopback interface that answers what `audit --bootstrap` asks, over the wire.

Its answers are encoded by the client library's own messages, so it is there only with the extra `live`.
"""

from __future__ import annotations

import importlib
import socket
import ssl
import threading
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from elrcheck.base.errors import EnvironmentFault
from elrcheck.kafka.live.admin_client import _library
from support.live_cluster import FakeCluster

NAMES: Mapping[int, str] = {
    3: "Metadata",
    17: "SaslHandshake",
    18: "ApiVersions",
    32: "DescribeConfigs",
    36: "SaslAuthenticate",
    46: "ListPartitionReassignments",
    55: "DescribeQuorum",
    60: "DescribeCluster",
    75: "DescribeTopicPartitions",
}
MODULES = ("kafka.protocol.admin", "kafka.protocol.metadata", "kafka.protocol.sasl")
NOWHERE = uuid.UUID(int=0)
UNKNOWN = -2147483648


def library_or_skip() -> None:
    try:
        _library()
    except EnvironmentFault as fault:
        pytest.skip(fault.message)


class WireBroker:
    """Answers for a `FakeCluster` as broker 0. lacks: names of requests that it does not offer.

    password: what SASL/PLAIN must tell, as user:password.
    """

    def __init__(self, cluster: FakeCluster, lacks: frozenset[str] = frozenset(), password: str = "") -> None:
        self.cluster, self.lacks, self.password = cluster, lacks, password
        self.heard: list[str] = []
        self.port = 0
        self.others: list[tuple[int, str, int, None]] = []
        """Further brokers in the answer to Metadata. The first is named as the controller at first."""

    def answer(self, frame: bytes) -> bytes | None:
        key, version = int.from_bytes(frame[:2], signed=True), int.from_bytes(frame[2:4], signed=True)
        correlation = int.from_bytes(frame[4:8], signed=True)
        name = NAMES[key]
        self.heard.append(name)
        request = _message(f"{name}Request").decode(frame, version=version, header=True)
        answer_ = getattr(self, f"_{name}")(request, version)
        if answer_ is None:
            return None
        answer = _message(f"{name}Response")(version=version, **answer_)
        answer.with_header(correlation_id=correlation)
        return bytes(answer.encode(header=True, framed=True))

    def _ApiVersions(self, _: Any, version: int) -> dict[str, Any]:
        keys = [
            (key, 0, _message(f"{name}Request").max_version) for key, name in NAMES.items() if name not in self.lacks
        ]
        features = self.cluster.features()
        finalized = [
            (name, each["finalized"][1], each["finalized"][0]) for name, each in features.items() if "finalized" in each
        ]
        supported = [(name, *each["supported"]) for name, each in features.items()]
        more = {"supported_features": supported, "finalized_features_epoch": 5, "finalized_features": finalized}
        return {"error_code": 0, "api_keys": keys, "throttle_time_ms": 0} | (more if version >= 3 else {})

    def _SaslHandshake(self, _: Any, version: int) -> dict[str, Any]:
        return {"error_code": 0, "mechanisms": ["PLAIN"]}

    def _SaslAuthenticate(self, request: Any, version: int) -> dict[str, Any]:
        right = bytes(request.auth_bytes).decode().split("\0")[1:] == self.password.split(":")
        return {"error_code": 0 if right else 58, "error_message": None, "auth_bytes": b"", "session_lifetime_ms": 0}

    def _Metadata(self, request: Any, version: int) -> dict[str, Any]:
        topics = [
            (
                0,
                each["name"],
                each["topic_id"],
                False,
                [
                    (
                        0,
                        p["partition_index"],
                        p["leader_id"],
                        p["leader_epoch"],
                        p["replica_nodes"],
                        p["isr_nodes"],
                        p["offline_replicas"],
                    )
                    for p in each["partitions"]
                ],
                set(),
            )
            for each in self.cluster.topics()
        ]
        all_topics = request.topics is None
        first = self.heard.count("Metadata") <= 2  # the library's own request, then that for the controller
        controller = self.others[0][0] if self.others and first else 0
        return {
            "throttle_time_ms": 0,
            "brokers": [(0, "127.0.0.1", self.port, None), *self.others],
            "cluster_id": "c",
            "controller_id": controller,
            "error_code": 0,
            "topics": topics if all_topics else [],
        }

    def _DescribeCluster(self, _: Any, version: int) -> dict[str, Any]:
        brokers = [(b, "127.0.0.1", self.port, None, fenced) for b, fenced in self.cluster.brokers.items()]
        return {"error_code": 0, "cluster_id": "c", "controller_id": 0, "brokers": brokers}

    def _DescribeTopicPartitions(self, request: Any, version: int) -> dict[str, Any]:
        cursor = request.cursor
        at = None
        if cursor is not None:
            at = {"topic_name": cursor.topic_name, "partition_index": cursor.partition_index}
        names = [each.name for each in request.topics]
        described = self.cluster.partitions(names, request.response_partition_limit, at)
        following = described["next_cursor"]
        topics = [
            (
                0,
                each["name"],
                each["topic_id"],
                False,
                [
                    (
                        0,
                        p["partition_index"],
                        p["leader_id"],
                        p["leader_epoch"],
                        p["replica_nodes"],
                        p["isr_nodes"],
                        p["eligible_leader_replicas"] or [],
                        p["last_known_elr"] or [],
                        p["offline_replicas"],
                    )
                    for p in each["partitions"]
                ],
                UNKNOWN,
            )
            for each in described["topics"]
        ]
        after = None
        if following is not None:
            after = _message("DescribeTopicPartitionsResponse").Cursor(**following)
        return {"throttle_time_ms": 0, "topics": topics, "next_cursor": after}

    def _DescribeConfigs(self, request: Any, version: int) -> dict[str, Any]:
        results = []
        for each in request.resources:
            if "configs" in self.cluster.denied:
                results.append((29, "denied", 2, each.resource_name, []))
                continue
            keys = tuple(each.configuration_keys)
            values = self.cluster.configs([each.resource_name], keys)[each.resource_name]
            described = [
                (
                    key,
                    values[key]["value"],
                    False,
                    1,
                    False,
                    [(key, s["value"], SOURCES[s["source"]]) for s in values[key]["synonyms"]],
                    3,
                    None,
                )
                for key in keys
            ]
            results.append((0, None, 2, each.resource_name, described))
        return {"throttle_time_ms": 0, "results": results}

    def _ListPartitionReassignments(self, _: Any, version: int) -> dict[str, Any]:
        moving = [
            (topic, [(number, reassigned["replicas"], reassigned["adding_replicas"], reassigned["removing_replicas"])])
            for (topic, number), reassigned in self.cluster.moving.items()
        ]
        error = 31 if "reassignments" in self.cluster.denied else 0
        return {"throttle_time_ms": 0, "error_code": error, "error_message": None, "topics": moving}

    def _DescribeQuorum(self, _: Any, version: int) -> dict[str, Any]:
        (topic,) = self.cluster.quorum()["topics"]
        (first,) = topic["partitions"]
        voters, observers = (
            [(each["replica_id"], NOWHERE, 500, 0, each["last_caught_up_timestamp"]) for each in first[kind]]
            for kind in ("current_voters", "observers")
        )
        partition = (0, 0, None, first["leader_id"], 1, first["high_watermark"], voters, observers)
        return {"error_code": 0, "error_message": None, "topics": [("__cluster_metadata", [partition])], "nodes": []}


SOURCES = {"DYNAMIC_TOPIC_CONFIG": 1, "DYNAMIC_DEFAULT_BROKER_CONFIG": 3}


def _message(name: str) -> Any:
    for module in MODULES:
        message_type = getattr(importlib.import_module(module), name, None)
        if message_type is not None:
            return message_type
    raise LookupError(name)


@contextmanager
def listening(broker: WireBroker, context: ssl.SSLContext | None = None) -> Iterator[str]:
    """Answer on a free port; gives HOST:PORT."""
    library_or_skip()
    with socket.create_server(("127.0.0.1", 0)) as server:
        broker.port = server.getsockname()[1]
        threading.Thread(target=_accept, args=(server, broker, context), daemon=True).start()
        try:
            yield f"127.0.0.1:{broker.port}"
        finally:
            server.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts


def _accept(server: socket.socket, broker: WireBroker, context: ssl.SSLContext | None) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:  # the test is over
            return
        threading.Thread(target=_serve, args=(connection, broker, context), daemon=True).start()


def _serve(connection: socket.socket, broker: WireBroker, context: ssl.SSLContext | None) -> None:
    try:
        if context is not None:
            connection = context.wrap_socket(connection, server_side=True)
        with connection, connection.makefile("rb") as frames:
            while size := frames.read(4):
                answer = broker.answer(frames.read(int.from_bytes(size)))
                if answer is not None:
                    connection.sendall(answer)
    except OSError:  # the client has gone, or speaks no TLS
        return
