"""A cluster that no process stands behind, for tests of what follows recipes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from elrcheck.kafka.cluster.cluster_clients import PartitionState, RefusedByKafka
from elrcheck.kafka.cluster.node_settings import ClusterShape
from elrcheck.kafka.jars import ClassPath
from elrcheck.kafka.reproduce.reproduce import OpenCluster

WHOLE = PartitionState(0, (0, 1), (0, 1), (), ())


class FakeCluster:
    """Does what it is told and keeps a list of it. loses: how many acknowledged records cannot be read.

    state: of every partition; fails: calls that Kafka refuses, by the error of refusal. says: what nodes have
    printed, None for every line; unanswered: numbers of records whose sender still waits.
    """

    def __init__(
        self,
        *,
        loses: int = 0,
        state: PartitionState = WHOLE,
        fails: Sequence[str] = (),
        refusal: str = "InvalidRequestException",
        says: Sequence[str] | None = None,
        unanswered: Sequence[int] = (),
    ) -> None:
        self.loses, self.state, self.fails, self.refusal = loses, state, fails, refusal
        self.says, self.unanswered = says, list(unanswered)
        self.done: list[tuple[Any, ...]] = []
        self.records: dict[str, int] = {}
        self.version = "4.1.1"
        self.broker_count = 3
        self.ended = False
        self.jars: tuple[Path, ...] = ()

    @property
    def clients(self) -> FakeCluster:
        return self

    def _do(self, *call: Any) -> None:
        self.done.append(call)
        if call[0] in self.fails:
            raise RefusedByKafka(self.refusal, f"{call[0]} is refused")

    def create(self, topic: str, partitions: Sequence[Sequence[int]], config: Mapping[str, str]) -> None:
        self._do("create", topic, partitions, config)

    def delete(self, topic: str) -> None:
        self._do("delete topic", topic)

    def describe(self, partition: str) -> PartitionState:
        self._do("describe", partition)
        return self.state

    def reassign(self, partition: str, replicas: Sequence[int] | None) -> None:
        self._do("reassign", partition, replicas)
        if replicas is not None:
            self.state = replace(self.state, replicas=tuple(replicas))

    def elect(self, partition: str, kind: str) -> None:
        self._do("elect", partition, kind)

    def configure(self, kind: str, name: str, values: Mapping[str, str]) -> None:
        self._do("configure", kind, name, values)

    def elect_by(self, broker: int, partition: str, kind: str) -> None:
        self._do("elect by", broker, partition, kind)

    def feature(self, name: str, level: int, kind: str) -> None:
        self._do("feature", name, level, kind)

    def unregister(self, broker: int) -> None:
        self._do("unregister", broker)

    def move(self, partition: str, broker: int, folder: str) -> None:
        self._do("move", partition, broker, folder)

    def produce(
        self, partition: str, first: int, count: int, size: int, acks: str = "all", via: int | None = None
    ) -> tuple[frozenset[int], str]:
        self._do("produce", partition, first, count, *(() if acks == "all" else (acks, via)))
        self.records[partition] = first + count
        return frozenset(range(first, first + count)), ""

    def send(self, partition: str, number: int) -> None:
        self._do("send", partition, number)
        self.records[partition] = number + 1

    def sent(self, partition: str, number: int) -> str:
        return "waiting" if number in self.unanswered else "acknowledged"

    def begin(self, producer: str, partition: str, number: int) -> None:
        self._do("begin", producer, partition, number)
        self.records[partition] = number + 1

    def commit(self, producer: str) -> None:
        self._do("commit", producer)

    def stream(self, partition: str, first: int, rate: int) -> None:
        self._do("stream", partition, first, rate)

    def end_stream(self, partition: str) -> tuple[int, frozenset[int]]:
        first = self.records.get(partition, 0)
        self.records[partition] = first + 100
        return first + 100, frozenset(range(first, first + 99))

    def consume(self, partition: str) -> frozenset[int]:
        self._do("consume", partition)
        return frozenset(range(self.records.get(partition, 0) - self.loses))

    def start(self, broker: int, *, wait: bool = True, seconds: float = 1) -> None:
        self._do("start", broker)

    def stop(self, broker: int, *, wait: bool = True, seconds: float = 1) -> None:
        self._do("stop", broker)

    def await_exit(self, broker: int, seconds: float = 1) -> None:
        self._do("exited", broker)

    def kill(self, broker: int, *, seconds: float = 1) -> None:
        self._do("kill", broker)

    def pause(self, node: int) -> None:
        self._do("pause", node)

    def resume(self, node: int) -> None:
        self._do("resume", node)
        self.unanswered.clear()

    def has_printed(self, node: int, pattern: str, start: int = 0) -> bool:
        return self.says is None or pattern in self.says

    def output_size(self, node: int) -> int:
        return 0

    def log_end(self, broker: int, partition: str) -> int:
        return self.records.get(partition, 0)

    def directory_of(self, broker: int, partition: str) -> int | None:
        return None

    def directory_path(self, broker: int, number: int) -> Path:
        return Path(f"{broker}-{number}")

    def lose_directory(self, broker: int, number: int) -> None:
        self._do("lose", broker, number)

    def replace_directory(self, broker: int, number: int) -> None:
        self._do("replace", broker, number)

    def drop_directory(self, broker: int, number: int) -> None:
        self._do("drop", broker, number)

    def delete_clean_stop_files(self, broker: int) -> None:
        self._do("delete", broker)

    def lose_log(self, broker: int, partition: str, first: int | None = None) -> None:
        self._do("lose log", broker, partition, *(() if first is None else (first,)))

    def keep(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        (folder / "kept").touch()


def opening(*clusters: FakeCluster) -> tuple[OpenCluster, list[ClusterShape]]:
    """What opens these clusters one after the other, and the shapes they were asked for."""
    left, shapes = list(clusters), list[ClusterShape]()

    @contextmanager
    def one(kafka: ClassPath, shape: ClusterShape, _: float, keep: Path | None) -> Iterator[Any]:
        shapes.append(shape)
        cluster = left.pop(0)
        cluster.jars = kafka.jars
        try:
            yield cluster
        finally:
            cluster.ended = True
            if keep is not None:
                cluster.keep(keep)

    return one, shapes
