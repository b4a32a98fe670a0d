"""ElectLeaders, version 1, sent to one broker.

An Admin client sends it to the broker that its metadata names as the controller. With paused brokers that may be one
that does not answer before the recipe ends.
"""

from __future__ import annotations

import socket
import struct

from elrcheck.kafka.cluster.cluster_clients import RefusedByKafka
from elrcheck.kafka.cluster.free_ports import HOST

API, VERSION, CORRELATION = 43, 1, 7
KINDS = {"preferred": 0, "unclean": 1}
TIMEOUT_MS = 10_000
PATIENCE = 15.0
NAMES = {
    0: "NONE",
    41: "NOT_CONTROLLER",
    80: "PREFERRED_LEADER_NOT_AVAILABLE",
    84: "ELECTION_NOT_NEEDED",
    83: "ELIGIBLE_LEADERS_NOT_AVAILABLE",
    7: "REQUEST_TIMED_OUT",
}
HEADER = struct.Struct(">hhi")


def elect_by_request(port: int, topic: str, partition: int, kind: str) -> None:
    """Ask the broker at a port of this machine; raise `RefusedByKafka` for an error or if it does not answer."""
    try:
        with socket.create_connection((HOST, port), PATIENCE) as connection:
            connection.settimeout(PATIENCE)
            request = encoded(topic, partition, kind)
            connection.sendall(struct.pack(">i", len(request)) + request)
            (length,) = struct.unpack(">i", _received(connection, 4))
            error = error_of(_received(connection, length))
    except OSError as fault:
        raise RefusedByKafka("ElectLeaders", str(fault)) from fault
    if error:
        raise RefusedByKafka("ElectLeaders", NAMES.get(error, f"error {error}"))


def encoded(topic: str, partition: int, kind: str) -> bytes:
    """Return the request with its header, without its length."""
    body = struct.pack(">bi", KINDS[kind], 1) + _text(topic) + struct.pack(">iii", 1, partition, TIMEOUT_MS)
    return HEADER.pack(API, VERSION, CORRELATION) + _text("elrcheck") + body


def error_of(answer: bytes) -> int:
    """Return the error code of the request, or else that of its one partition; 0 for none."""
    at = 4 + 4  # correlation id, throttle time
    (whole,) = struct.unpack_from(">h", answer, at)
    if whole:
        return int(whole)
    at += 2
    (topics,) = struct.unpack_from(">i", answer, at)
    if topics == 0:
        return 0
    (name,) = struct.unpack_from(">h", answer, at + 4)
    (error,) = struct.unpack_from(">h", answer, at + 4 + 2 + name + 4 + 4)
    return int(error)


def _text(value: str) -> bytes:
    return struct.pack(">h", len(value)) + value.encode("ascii")


def _received(connection: socket.socket, length: int) -> bytes:
    data = b""
    while len(data) < length:
        part = connection.recv(length - len(data))
        if not part:
            raise ConnectionError("the broker closed the connection")
        data += part
    return data
