"""The metadata log of a cluster whose brokers restart one after the other, of any size.

Each record is one that the controller writes: a broker that stops leaves every ISR, and another member leads;
fenced, registered again and unfenced it comes back into the ISR of one partition after the other, and the
preferred leaders are elected. Lists of replicas are at random, so that there are about as many different
ones as brokers allow.
"""

from __future__ import annotations

import base64
import random
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from support.log_stories import broker, registered
from support.log_writer import RecordFields, batch, record_value

TOPIC_SIZE = 50
MOST_IN_BATCH = 1000
"""Preferred elections (ReplicationControlManager.MAX_ELECTIONS_PER_IMBALANCE)."""
ONLINE = "AAAAAAAAAAAAAAAAAAAAAA"
CHANGE = bytes([1, 5, 2])


@dataclass
class Cluster:
    """Partitions with three replicas, and their records as they come."""

    partitions: int
    brokers: int = 9
    seed: int = 1
    alter: int = 20
    """Partitions of an AlterPartition request at most."""
    decoded: int = 0
    replicas: list[tuple[int, ...]] = field(init=False)
    isr: list[tuple[int, ...]] = field(init=False)
    leader: list[int] = field(init=False)
    names: list[bytes] = field(init=False)

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)
        self.replicas = [tuple(self.chance.sample(range(self.brokers), 3)) for _ in range(self.partitions)]
        self.isr = list(self.replicas)
        self.leader = [each[0] for each in self.replicas]
        self.names = [struct.pack(">i", n % TOPIC_SIZE) + _topic(n) for n in range(self.partitions)]
        self._rest: dict[tuple[tuple[int, ...] | None, int | None], bytes] = {}

    def batches(self, records: int) -> Iterator[list[bytes]]:
        """Batches of at least so many records."""
        for values in self._every():
            self.decoded += len(values)
            yield values
            if self.decoded >= records:
                return

    def _every(self) -> Iterator[list[bytes]]:
        yield from self._created()
        while True:
            for number in range(self.brokers):
                yield from self._restarted(number)

    def _created(self) -> Iterator[list[bytes]]:
        elr = {"name": "eligible.leader.replicas.version", "featureLevel": 1}
        cluster = {"resourceType": 4, "resourceName": "", "name": "min.insync.replicas", "value": "2"}
        yield _values(("FEATURE_LEVEL_RECORD", 0, elr), ("CONFIG_RECORD", 0, cluster))
        yield _values(*(broker(3, b, fenced=False) for b in range(self.brokers)))
        for start in range(0, self.partitions, TOPIC_SIZE):
            name = {"name": f"t{start // TOPIC_SIZE}", "topicId": _id(_topic(start))}
            created: list[RecordFields] = [("TOPIC_RECORD", 0, name)]
            for p in range(start, min(start + TOPIC_SIZE, self.partitions)):
                place = {"partitionId": p % TOPIC_SIZE, "topicId": _id(_topic(p))}
                place |= {"directories": [ONLINE] * 3}
                state = {"leader": self.leader[p], "leaderEpoch": 0, "partitionEpoch": 0}
                lists = {"replicas": self.replicas[p], "isr": self.isr[p]}
                created.append(("PARTITION_RECORD", 2, place | state | lists))
            yield _values(*created)

    def _restarted(self, b: int) -> Iterator[list[bytes]]:
        mine = [p for p in range(self.partitions) if b in self.isr[p]]
        stops = _values(registered(2, brokerId=b, inControlledShutdown=1))
        yield stops + [self._left(p, b) for p in mine]
        yield _values(registered(2, brokerId=b, fenced=1))
        yield _values(broker(3, b, fenced=True))
        yield _values(registered(2, brokerId=b, fenced=-1))
        self.chance.shuffle(mine)
        while mine:
            some = [mine.pop() for _ in range(min(self.chance.randrange(1, self.alter + 1), len(mine)))]
            yield [self._joined(p, b) for p in some]
        preferred = [p for p in range(self.partitions) if self.replicas[p][0] == b != self.leader[p]]
        yield from self._in_batches([self._led(p, b) for p in preferred], MOST_IN_BATCH)

    def _left(self, p: int, b: int) -> bytes:
        self.isr[p] = tuple(each for each in self.isr[p] if each != b)
        if self.leader[p] != b:
            return self.change(p, self.isr[p], None)
        self.leader[p] = next(each for each in self.replicas[p] if each in self.isr[p])
        return self.change(p, self.isr[p], self.leader[p])

    def _joined(self, p: int, b: int) -> bytes:
        self.isr[p] = (*self.isr[p], b)
        return self.change(p, self.isr[p], None)

    def _led(self, p: int, b: int) -> bytes:
        self.leader[p] = b
        return self.change(p, None, b)

    def change(self, p: int, isr: tuple[int, ...] | None, leader: int | None) -> bytes:
        rest = self._rest.get((isr, leader))
        if rest is None:
            values = {name: value for name, value in (("isr", isr), ("leader", leader)) if value is not None}
            whole = record_value(("PARTITION_CHANGE_RECORD", 2, {"topicId": ONLINE} | values))
            rest = self._rest[isr, leader] = whole[len(CHANGE) + len(self.names[p]) :]
        return CHANGE + self.names[p] + rest

    def _in_batches(self, values: list[bytes], most: int) -> Iterator[list[bytes]]:
        for start in range(0, len(values), most):
            yield values[start : start + most]


def written_restarts(folder: Path, cluster: Cluster, records: int) -> Path:
    """A log with one segment."""
    path = folder / f"{0:020}.log"
    offset = 0
    with path.open("wb") as file:
        for values in cluster.batches(records):
            file.write(batch(offset, values, time=1_700_000_000_000 + offset))
            offset += len(values)
    return path


def _values(*steps: RecordFields) -> list[bytes]:
    return [record_value(each) for each in steps]


def _topic(partition: int) -> bytes:
    return (partition // TOPIC_SIZE + 1).to_bytes(16)


def topic_id(partition: int) -> str:
    """The id of its topic as Kafka prints it."""
    return _id(_topic(partition))


def _id(topic: bytes) -> str:
    return base64.urlsafe_b64encode(topic)[:22].decode()
