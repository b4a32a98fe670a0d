"""The items into which the files of a metadata log are read, binary or text, and the shares of several judges.

A judge follows the partitions of some topics, and every record that is not about one partition. A rule may depend on
partition 0 of a topic, so the partitions of a topic are in one share.
"""

from __future__ import annotations

import base64
import zlib
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeVar

from elrcheck.kafka.log.batches import StoredRecord
from elrcheck.kafka.log.binary import Malformed, unsigned_varint
from elrcheck.kafka.log.metadata_records import (
    CHANGES,
    CREATIONS,
    FRAME_VERSION,
    NAMES_A_PARTITION,
    REST,
    START,
    ControlRecord,
    MetadataRecord,
    Unread,
    read_control,
    read_record,
)
from elrcheck.kafka.log.record_table import BY_NAME
from elrcheck.kafka.log.segments import CutOff, Damage, StoredBatch, never, read_segment


class LogEntry(NamedTuple):
    """A record at its offset. ends_batch: no record of the same batch follows, nor of an event that filled it.

    position: byte of the file where its batch starts, or its line.
    """

    path: str
    offset: int
    time: int
    record: MetadataRecord | Unread | ControlRecord
    ends_batch: bool = True
    position: int = 0


@dataclass(frozen=True, slots=True)
class SnapshotStart:
    """The items behind it are the state after all records below end_offset, which replaces the state so far."""

    path: str
    end_offset: int


class RecordRun(NamedTuple):
    """Records of one batch, not decoded yet, for a reader that recognises most of them.

    offsets: one for each value, ascending. ends_batch, position: as of an entry.
    """

    path: str
    position: int
    time: int
    offsets: Sequence[int]
    values: Sequence[bytes]
    ends_batch: bool = True

    def item(self, number: int) -> LogEntry | Damage:
        """Return the record with that number, as one that does not end its batch."""
        stored = StoredRecord(self.offsets[number], self.time, None, self.values[number])
        return decoded(self.path, self.position, stored)

    def since(self, offset: int) -> RecordRun:
        """Return the records from that offset on."""
        first = bisect_left(self.offsets, offset)
        return self._replace(offsets=self.offsets[first:], values=self.values[first:])

    def chosen(self, numbers: Sequence[int]) -> RecordRun:
        """Return the records with these numbers, which ascend."""
        offsets, values = self.offsets, self.values
        return self._replace(offsets=[offsets[n] for n in numbers], values=[values[n] for n in numbers])


EntryT = TypeVar("EntryT")
Item: TypeAlias = LogEntry | RecordRun | SnapshotStart | Damage | CutOff


def read_entries(
    path: Path, first_offset: int | None = None, *, footer: bool = False, stop: Callable[[], bool] = never
) -> Iterator[LogEntry | RecordRun | Damage | CutOff]:
    """Read all records of a segment or a snapshot, batch by batch. footer, stop: as for `read_segment`."""
    for piece in read_segment(path, first_offset, footer=footer, stop=stop):
        if not isinstance(piece, StoredBatch):
            yield piece
        elif piece.values:
            offsets = range(piece.base_offset, piece.next_offset)
            yield RecordRun(str(path), piece.position, piece.time, offsets, piece.values, not piece.is_full)
        else:
            items = [decoded(str(path), piece.position, s, piece.control) for s in piece.records]
            yield from items if piece.is_full else ended(items)


def ended(batch: list[EntryT]) -> list[EntryT]:
    """Return the items of a batch, with its last record marked as such."""
    for number in range(len(batch) - 1, -1, -1):
        item = batch[number]
        if isinstance(item, LogEntry | RecordRun):
            last: Any = item._replace(ends_batch=True)
            batch[number] = last
            break
    return batch


def decoded(path: str, position: int, stored: StoredRecord, control: bool = False) -> LogEntry | Damage:
    """Decode a record of the batch at this position, as one that does not end it."""
    try:
        record = read_control(stored.key, stored.value) if control else read_record(stored.value)
    except Malformed as fault:
        return Damage(path, position, stored.offset, str(fault), is_record=True)
    return LogEntry(path, stored.offset, stored.time, record, False, position)


EVERY = -1
"""The share of the records that every judge gets."""
ABOUT_A_PARTITION = CHANGES | CREATIONS
NAMES = ("PARTITION_RECORD", "PARTITION_CHANGE_RECORD")
NEWEST = {BY_NAME[name].key: BY_NAME[name].newest for name in NAMES}


@lru_cache(maxsize=1 << 16)
def share_of(topic: bytes, count: int) -> int:
    """Return the share of a topic, by the bytes of its id."""
    return zlib.crc32(topic) % count


def shares_of(values: Sequence[bytes], count: int) -> list[int]:
    """Return the share of each record."""
    names = [name_in(value) for value in values]
    return [EVERY if name is None else share_of(name[4:], count) for name in names]


def name_in(value: bytes) -> bytes | None:
    """Return the partition that a record is about, as the record names it; None if it is unclear or not named."""
    if value[:START] in ABOUT_A_PARTITION:
        return value[START:REST] if len(value) >= REST else None
    if max(value[:START], default=0) <= 0x7F:
        return None
    try:  # numbers of several bytes
        frame, at = unsigned_varint(value, 0)
        key, at = unsigned_varint(value, at)
        version, at = unsigned_varint(value, at)
    except Malformed:
        return None
    if frame != FRAME_VERSION or version > NEWEST.get(key, -1) or len(value) < at + NAMES_A_PARTITION:
        return None
    return value[at : at + NAMES_A_PARTITION]


class Share:
    """One of `count` shares, by number. Share EVERY has no partition."""

    def __init__(self, number: int, count: int) -> None:
        self.number = number
        self.count = count

    def of(self, items: Iterable[Item]) -> Iterator[Item]:
        """Return the items of the share, batch by batch."""
        last: LogEntry | None = None  # of its batch, so far
        for item in items:
            if isinstance(item, LogEntry):
                if self._has(item):
                    if last is not None:
                        yield last
                    last = item
                elif last is not None:
                    last = last._replace(ends_batch=item.ends_batch)
                if last is not None and last.ends_batch:
                    yield last
                    last = None
                continue
            if isinstance(item, RecordRun):
                shares = enumerate(shares_of(item.values, self.count))
                numbers = [n for n, share in shares if share in (self.number, EVERY)]
                if numbers:
                    yield item if len(numbers) == len(item.values) else item.chosen(numbers)
                continue
            if last is not None:
                yield last
                last = None
            yield item
        if last is not None:
            yield last

    def _has(self, entry: LogEntry) -> bool:
        record = entry.record
        if not isinstance(record, MetadataRecord) or record.name not in NAMES:
            return True
        topic = base64.urlsafe_b64decode(f"{record.fields['topicId']}==")
        return self.number == share_of(topic, self.count)
