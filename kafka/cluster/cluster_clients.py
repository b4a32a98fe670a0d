"""Clients of a running cluster in one Java process: operators, a producer and a consumer."""

from __future__ import annotations

import socket
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from elrcheck.kafka.cluster.node_settings import HOST
from elrcheck.kafka.java_program import LineProcess
from elrcheck.kafka.partition_questions import NO_LEADER

PROTOCOL = "1"


class RefusedByKafka(Exception):
    """Kafka answered with an error. kind: the class of the error."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(f"{kind}: {message}")
        self.kind = kind


@dataclass(frozen=True)
class PartitionState:
    """A partition as DescribeTopicPartitions returns it. leader: -1 for none."""

    leader: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    elr: tuple[int, ...]
    last_known_elr: tuple[int, ...]

    def __str__(self) -> str:
        leader = "none" if self.leader == NO_LEADER else str(self.leader)
        return (
            f"leader={leader} replicas={list(self.replicas)} isr={list(self.isr)}"
            f" elr={list(self.elr)} lastKnownElr={list(self.last_known_elr)}"
        )


class ClusterClients:
    """Asks the Java process; each method raises `RefusedByKafka` for an error of Kafka."""

    def __init__(self, process: LineProcess, patience: float) -> None:
        """patience: seconds for the process to start."""
        self._process, self.version = process, process.kafka_version(PROTOCOL, patience)

    def brokers(self) -> frozenset[int]:
        """Return the brokers that are registered and not fenced."""
        return frozenset(_ids(self._ask("brokers")[0]))

    def create(self, topic: str, partitions: Sequence[Sequence[int]], config: Mapping[str, str]) -> None:
        self._ask("create", topic, ";".join(_text(one) for one in partitions), *_flat(config))

    def delete(self, topic: str) -> None:
        self._ask("delete", topic)

    def describe(self, partition: str) -> PartitionState:
        topic, _, number = partition.rpartition("-")
        for word in self._ask("describe", topic):
            index, leader, *sets = word.split(";")
            if index == number:
                replicas, isr, elr, last_known = map(_ids, sets)
                return PartitionState(int(leader), replicas, isr, elr, last_known)
        raise RefusedByKafka("UnknownTopicOrPartitionException", partition)

    def reassign(self, partition: str, replicas: Sequence[int] | None) -> None:
        """Replace the replicas; None cancels."""
        self._ask("reassign", partition, "cancel" if replicas is None else _text(replicas))

    def elect(self, partition: str, kind: str) -> None:
        self._ask("elect", partition, kind)

    def configure(self, kind: str, name: str, values: Mapping[str, str]) -> None:
        """kind: topic or broker; name: empty for the default of all brokers; an empty value deletes."""
        self._ask("configure", kind, name, *_flat(values))

    def feature(self, name: str, level: int, kind: str) -> None:
        self._ask("feature", name, str(level), kind)

    def unregister(self, broker: int) -> None:
        self._ask("unregister", str(broker))

    def move(self, partition: str, broker: int, folder: str) -> None:
        self._ask("move", partition, str(broker), folder)

    def produce(
        self, partition: str, first: int, count: int, size: int, acks: str = "all", via: int | None = None
    ) -> tuple[frozenset[int], str]:
        """Produce numbered records; return those acknowledged, and the last error. via: the broker to ask."""
        words = (str(first), str(count), str(size), acks, "" if via is None else str(via))
        numbers, error = self._ask("produce", partition, *words)
        return _numbers(numbers), error

    def send(self, partition: str, number: int) -> None:
        """Send one record without waiting."""
        self._ask("send", partition, str(number))

    def sent(self, partition: str, number: int) -> str:
        """Return `waiting`, `acknowledged`, or an error."""
        return self._ask("sent", partition, str(number))[0]

    def begin(self, producer: str, partition: str, number: int) -> None:
        """Write one record in a new transaction, and wait for its answer. producer: the transactional id."""
        self._ask("begin", producer, partition, str(number))

    def commit(self, producer: str) -> None:
        """Commit the open transaction of a producer."""
        self._ask("commit", producer)

    def stream(self, partition: str, first: int, rate: int) -> None:
        """Send `rate` numbered records a second until `end_stream`."""
        self._ask("stream", partition, str(first), str(rate))

    def end_stream(self, partition: str) -> tuple[int, frozenset[int]]:
        """Wait for the last answers; return the number after the last record sent, and those acknowledged."""
        following, numbers = self._ask("endStream", partition)
        return int(following), _numbers(numbers)

    def consume(self, partition: str) -> frozenset[int]:
        """Read the committed records from the first offset to the last stable one, and return their numbers."""
        return _numbers(self._ask("consume", partition)[2])

    def _ask(self, *words: str) -> list[str]:
        (line,) = self._process.ask(["\t".join(words).encode("utf-8")])
        word, *answer = line.decode("utf-8").split("\t")
        if word == "error":
            raise RefusedByKafka(answer[0], answer[1])
        return answer


def _flat(values: Mapping[str, str]) -> list[str]:
    return [word for pair in values.items() for word in pair]


def _text(ids: Sequence[int]) -> str:
    return ",".join(map(str, ids))


def _ids(text: str) -> tuple[int, ...]:
    return tuple(int(word) for word in text.split(",") if word)


def _numbers(text: str) -> frozenset[int]:
    """Return 0-99,200-299 as a set."""
    pairs = (word.split("-") for word in text.split(",") if word)
    return frozenset(number for first, last in pairs for number in range(int(first), int(last) + 1))


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
    """Ask the broker at a port of this machine; raise `RefusedByKafka` for an error or if it does not answer.

    An Admin client asks the broker that its metadata names as the controller. With paused brokers that may be one that
    does not answer before the recipe ends.
    """
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
    body = struct.pack(">bi", KINDS[kind], 1) + _encoded_text(topic) + struct.pack(">iii", 1, partition, TIMEOUT_MS)
    return HEADER.pack(API, VERSION, CORRELATION) + _encoded_text("elrcheck") + body


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


def _encoded_text(value: str) -> bytes:
    return struct.pack(">h", len(value)) + value.encode("ascii")


def _received(connection: socket.socket, length: int) -> bytes:
    data = b""
    while len(data) < length:
        part = connection.recv(length - len(data))
        if not part:
            raise ConnectionError("the broker closed the connection")
        data += part
    return data
