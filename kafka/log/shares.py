"""The share of a log that one of several judges follows: the partitions of some topics, and all that is not
about one partition.

A rule asks for the partition 0 of a topic, so the partitions of a topic are in one share. Records of batches
are not decoded for this: numpy looks at the ids of topics in a whole block.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from elrcheck.kafka.log.binary import Malformed, unsigned_varint
from elrcheck.kafka.log.blocks import Block, Values
from elrcheck.kafka.log.entries import Entry, Item, Run
from elrcheck.kafka.log.metadata_records import (
    CHANGES,
    CREATIONS,
    FRAME_VERSION,
    NAMES_A_PARTITION,
    REST,
    START,
    MetadataRecord,
)
from elrcheck.kafka.log.record_table import BY_NAME

EVERY = -1
"""The share of what every judge gets."""
TOPIC_AT = START + 4
ABOUT = sorted(int.from_bytes(start) for start in CHANGES | CREATIONS)
NAMES = ("PARTITION_RECORD", "PARTITION_CHANGE_RECORD")
NEWEST = {BY_NAME[name].key: BY_NAME[name].newest for name in NAMES}
FACTORS = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F)
WORD = (1 << 64) - 1


def share_of(topic: bytes, count: int) -> int:
    """The share of a topic, by the bytes of its id."""
    high, low = int.from_bytes(topic[:8]), int.from_bytes(topic[8:])
    return (((high * FACTORS[0] ^ low * FACTORS[1]) & WORD) >> 40) % count


def shares_in(block: Block, count: int) -> NDArray[np.int64]:
    """The share of each record."""
    octets = np.frombuffer(block.data, dtype=np.uint8)
    shares = np.full(len(block.starts), EVERY, np.int64)
    long = np.flatnonzero(block.stops - block.starts >= REST)
    first = block.starts[long]
    one, two, three = octets[first], octets[first + 1], octets[first + 2]
    kinds = one.astype(np.int64) << 16 | two.astype(np.int64) << 8 | three
    about = long[np.isin(kinds, ABOUT)]
    if len(about):
        ids = octets[(block.starts[about] + TOPIC_AT)[:, None] + np.arange(REST - TOPIC_AT)]
        halves = np.ascontiguousarray(ids).view(">u8").astype(np.uint64)
        mixed = halves[:, 0] * np.uint64(FACTORS[0]) ^ halves[:, 1] * np.uint64(FACTORS[1])
        shares[about] = (mixed >> np.uint64(40)).astype(np.int64) % count
    for at in long[(one | two | three) > 0x7F].tolist():  # numbers of several bytes
        name = name_in(block.data[slice(*block.places[at])])
        if name is not None:
            shares[at] = share_of(name[4:], count)
    return shares


def name_in(value: bytes) -> bytes | None:
    """The partition that a record is about, as it names it; None if it is about none, or unclear."""
    try:
        frame, at = unsigned_varint(value, 0)
        key, at = unsigned_varint(value, at)
        version, at = unsigned_varint(value, at)
    except Malformed:
        return None
    if frame != FRAME_VERSION or version > NEWEST.get(key, -1) or len(value) < at + NAMES_A_PARTITION:
        return None
    return value[at : at + NAMES_A_PARTITION]


class Share:
    """One of `count` shares, by number. That of number EVERY has no partition at all."""

    def __init__(self, number: int, count: int) -> None:
        self.number = number
        self.count = count
        self._block: Block | None = None
        self._own: Block | None = None
        self._before: Sequence[int] = ()
        """For each record of the block, and for its end, how many of those before it are in the share."""
        self._places: Sequence[int] = ()
        """Where the records of the share stand in the block."""

    def of(self, items: Iterable[Item]) -> Iterator[Item]:
        """What is in the share, batch by batch."""
        held: Entry | None = None  # the last of its batch so far
        for item in items:
            if isinstance(item, Entry):
                if self._has(item):
                    if held is not None:
                        yield held
                    held = item
                elif held is not None:
                    held = held._replace(ends_batch=item.ends_batch)
                if held is not None and held.ends_batch:
                    yield held
                    held = None
                continue
            if isinstance(item, Run):
                run = self._of_run(item)
                if run is not None:
                    yield run
                continue
            if held is not None:
                yield held
                held = None
            yield item
        if held is not None:
            yield held

    def _has(self, entry: Entry) -> bool:
        record = entry.record
        if not isinstance(record, MetadataRecord) or record.name not in NAMES:
            return True
        topic = base64.urlsafe_b64decode(f"{record.fields['topicId']}==")
        return self.number == share_of(topic, self.count)

    def _of_run(self, run: Run) -> Run | None:
        block, values = run.values.block, run.values
        if block is not self._block:
            self._block = block
            shares = shares_in(block, self.count)
            own = (shares == self.number) | (shares == EVERY)
            self._own = Block(block.data, block.starts[own], block.stops[own], block.batches[own])
            self._before = np.concatenate([[0], np.cumsum(own)]).tolist()
            self._places = np.flatnonzero(own).tolist()
        first, stop = self._before[values.first], self._before[values.stop]
        if stop - first == len(values):
            offsets = run.offsets
        elif first == stop:
            return None
        else:
            offsets = [run.offsets[place - values.first] for place in self._places[first:stop]]
        assert self._own is not None
        return run._replace(offsets=offsets, values=Values(self._own, first, stop))
