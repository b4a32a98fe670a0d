"""What the files of a metadata log are read into, whether they are binary or text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeAlias

from elrcheck.kafka.log.batches import StoredRecord
from elrcheck.kafka.log.binary import Malformed
from elrcheck.kafka.log.metadata_records import (
    ControlRecord,
    MetadataRecord,
    Unread,
    read_control,
    read_record,
)
from elrcheck.kafka.log.segments import Batch, CutOff, Damage, read_segment


class Entry(NamedTuple):
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
    """What follows is the state after all records below end_offset, and replaces what was read before."""

    path: str
    end_offset: int


Item: TypeAlias = Entry | SnapshotStart | Damage | CutOff


def read_entries(
    path: Path, first_offset: int | None = None, *, footer: bool = False
) -> Iterator[Entry | Damage | CutOff]:
    """Read all records of a segment or a snapshot, batch by batch. footer: of `read_segment`."""
    for piece in read_segment(path, first_offset, footer=footer):
        if isinstance(piece, Batch):
            yield from _decoded(str(path), piece)
        else:
            yield piece


def _decoded(path: str, batch: Batch) -> list[Entry | Damage]:
    found = [decoded(path, batch.position, stored, batch.control) for stored in batch.records]
    for number in range(len(found) - 1, -1, -1):
        entry = found[number]
        if isinstance(entry, Entry):
            found[number] = entry._replace(ends_batch=True)
            break
    return found


def decoded(path: str, position: int, stored: StoredRecord, control: bool = False) -> Entry | Damage:
    """A stored record of the batch at this position, as one that does not end it."""
    try:
        record = read_control(stored.key, stored.value) if control else read_record(stored.value)
    except Malformed as fault:
        return Damage(path, position, stored.offset, str(fault), is_record=True)
    return Entry(path, stored.offset, stored.time, record, False, position)
