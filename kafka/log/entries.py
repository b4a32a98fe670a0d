"""The items into which the files of a metadata log are read, binary or text."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeVar

from elrcheck.kafka.log.batches import StoredRecord
from elrcheck.kafka.log.binary import Malformed
from elrcheck.kafka.log.metadata_records import ControlRecord, MetadataRecord, Unread, read_control, read_record
from elrcheck.kafka.log.segments import CutOff, Damage, StoredBatch, never, read_segment


class LogEntry(NamedTuple):
    """A record at its offset. ends_batch: no record of the same batch follows.

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
            yield RecordRun(str(path), piece.position, piece.time, offsets, piece.values)
        else:
            yield from ended([decoded(str(path), piece.position, s, piece.control) for s in piece.records])


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
