"""Reads a file of record batches from its first byte to its last, even if it is damaged.

The metadata log has no holes: every batch starts where the previous one ended. So a missing, duplicate or misplaced
batch shows, and so does one whose checksum fails. All of that is damage, reported with its place, and reading
continues with the next batch. An incomplete batch at the end of the newest segment is not damage: a running controller
is writing it, or was when it crashed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, TypeAlias

import numpy as np

from elrcheck.base.errors import UsageFault
from elrcheck.kafka.log.batches import (
    CHECKED_FROM,
    FULL,
    HEADER,
    BatchHeader,
    StoredRecord,
    checksum_holds,
    head_of,
    plain_values,
    records_of,
)
from elrcheck.kafka.log.next_batch import CHUNK, RangeSums, next_sound
from elrcheck.kafka.log.record_table import SNAPSHOT_FOOTER


def never() -> bool:
    """Return False: do not stop reading."""
    return False


@dataclass(frozen=True, slots=True)
class StoredBatch:
    """A batch that was read. position: of its first byte in the file.

    values: of a batch as controllers write it, whose records have nothing else but the batch's time and an
    offset each; stored: the records of any other.
    """

    position: int
    base_offset: int
    next_offset: int
    leader_epoch: int
    control: bool
    time: int
    values: list[bytes] | None
    stored: tuple[StoredRecord, ...] = ()

    @property
    def is_full(self) -> bool:
        """Whether the rest of its last event may be in the next batch."""
        return not self.control and self.next_offset - self.base_offset >= FULL

    @property
    def records(self) -> tuple[StoredRecord, ...]:
        if self.values is None:
            return self.stored
        return tuple(
            StoredRecord(offset, self.time, None, value) for offset, value in enumerate(self.values, self.base_offset)
        )


@dataclass(frozen=True, slots=True)
class Damage:
    """A part of a file that cannot be read or trusted.

    position: byte at which it starts. offset: of the log, the one at which it starts. is_record: it is the
    record at that offset, and nothing else is missing.
    """

    path: str
    position: int
    offset: int
    message: str
    is_record: bool = False


@dataclass(frozen=True, slots=True)
class CutOff:
    """The end of a file in the middle of a batch."""

    path: str
    position: int
    offset: int
    bytes_left: int


SegmentPiece: TypeAlias = StoredBatch | Damage | CutOff


def read_segment(
    path: Path, first_offset: int | None = None, *, footer: bool = False, stop: Callable[[], bool] = never
) -> Iterator[SegmentPiece]:
    """Read all batches of a segment or a snapshot.

    first_offset: the one expected first, if it is known. footer: the last record has to be SnapshotFooter.
    stop: polled during a long search for the next batch; once true, nothing more is read.
    """
    try:
        demand_regular(path)
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            yield from read_pieces(str(path), file, size, first_offset, footer=footer, stop=stop)
    except OSError as fault:
        raise unreadable(path, fault) from fault


def unreadable(path: Path | str, why: OSError | str, help: str | None = None) -> UsageFault:
    """Return the error of a file or a folder that cannot be read."""
    message = why if isinstance(why, str) else why.strerror or str(why)
    return UsageFault("log-unreadable", message, where=str(path), help=help)


def demand_regular(path: Path, help: str | None = None) -> None:
    """Raise UsageFault unless this is a regular file: opening a pipe would wait."""
    if not path.is_file():
        what = "this is not a regular file" if path.exists() else "there is no such file or folder"
        raise unreadable(path, what, help)


def read_pieces(
    path: str,
    file: BinaryIO,
    size: int,
    first_offset: int | None = None,
    *,
    footer: bool = False,
    stop: Callable[[], bool] = never,
) -> Iterator[SegmentPiece]:
    """Read all batches of an open file; path is its name in messages."""
    segment = Segment(path, file, size, first_offset, stop)
    ended = False
    for piece in segment.pieces():
        ended = isinstance(piece, CutOff) or (isinstance(piece, StoredBatch) and _has_footer(piece))
        yield piece
    if footer and not ended and not stop():
        message = "the snapshot ends without its footer: what came last is missing"
        yield Damage(path, size, segment.expected or 0, message)


def _has_footer(batch: StoredBatch) -> bool:
    """Return whether it is a control batch that ends a snapshot."""
    key = batch.records[-1].key if batch.control and batch.records else None
    return key is not None and key[2:4] == SNAPSHOT_FOOTER.key.to_bytes(2)


class Segment:
    """One pass over a file. However it is damaged, it checks a small multiple of the file's size in bytes.

    bytes_in_vain: total size of batches that were read whole and had a wrong checksum. Once it exceeds the size of
    the file, checksums come from `RangeSums`, which need not read each batch.
    """

    def __init__(
        self, path: str, file: BinaryIO, size: int, first_offset: int | None, stop: Callable[[], bool] = never
    ) -> None:
        self.path = path
        self.file = file
        self.size = size
        self.expected = first_offset
        self.stop = stop
        self.epoch = -1
        self.bytes_in_vain = 0
        self.sums: RangeSums | None = None
        """From the first place on that needed them."""

    def pieces(self) -> Iterator[SegmentPiece]:
        position = 0
        while position < self.size:
            head = self._head_at(position)
            data = None if head is None else self._sound(head, position)
            if head is None or data is None:
                following = self._next_sound(position + 1)
                if self.stop():
                    return
                if following is None:
                    yield self._end(position, head)
                    return
                yield self._damaged(position, head, following)
                position = following
                continue
            position += head.size
            at = position - head.size
            expected = self.expected
            if expected is not None and head.base_offset != expected:
                if at == 0 and head.base_offset < expected and self._is_followed(head, position):
                    message = f"the file is named for offset {expected}; it starts at {head.base_offset}"
                    yield self._damage(at, head.base_offset, message)
                elif self._is_misnumbered(head, position):
                    message = f"the batch says offset {head.base_offset}; it is {expected}"
                    yield self._damage(at, expected, message)
                    head = replace(head, base_offset=expected)
                elif head.base_offset < expected:
                    message = f"offsets {head.base_offset} to {head.next_offset - 1} again; not read"
                    yield self._damage(at, head.base_offset, message)
                    continue
                else:
                    message = f"offsets {expected} to {head.base_offset - 1} are missing"
                    yield self._damage(at, expected, message)
            if head.leader_epoch < self.epoch:
                message = f"leader epoch {head.leader_epoch} after {self.epoch}"
                yield self._damage(at, head.base_offset, message)
            self.epoch = max(self.epoch, head.leader_epoch)
            self.expected = head.next_offset
            values = plain_values(head, data)
            stored, faults = ((), ()) if values is not None else records_of(head, data)
            yield StoredBatch(
                at, head.base_offset, head.next_offset, head.leader_epoch, head.control, head.first_time, values, stored
            )
            for fault in faults:
                yield self._damage(at, fault.offset, fault.message)

    def _head_at(self, position: int) -> BatchHeader | None:
        self.file.seek(position)
        return head_of(self.file.read(HEADER.size))

    def _is_whole(self, head: BatchHeader, position: int) -> bool:
        """Return whether the header is consistent, and the file has all the bytes that it claims."""
        return head.is_possible() and position + head.size <= self.size

    def _sound(self, head: BatchHeader, position: int) -> bytes | None:
        """Return the batch with this header if its checksum is valid, else None."""
        if not self._is_whole(head, position) or self._is_false(head, position):
            return None
        self.file.seek(position)
        data = self.file.read(head.size)
        if checksum_holds(head, data):
            return data
        self.bytes_in_vain += head.size
        return None

    def _is_false(self, head: BatchHeader, position: int) -> bool:
        """Return whether the checksum is wrong; checks only after many wrong ones (`bytes_in_vain`)."""
        if self.bytes_in_vain <= self.size:
            return False
        starts, stops = (np.array([position + at], np.int64) for at in (CHECKED_FROM, head.size))
        return int(self._sums_from(position).of_each(starts, stops)[0]) != head.checksum

    def _next_sound(self, position: int) -> int | None:
        sums = self._sums_from(position)
        return next_sound(self.file, position, self.size, self.expected or 0, sums, self.stop)

    def _sums_from(self, position: int) -> RangeSums:
        if self.sums is None:
            self.sums = RangeSums(self.file, position, self.size)
        return self.sums

    def _is_misnumbered(self, head: BatchHeader, behind: int) -> bool:
        """Return whether the next batch continues from the expected offset; the checksum does not cover the offset."""
        following = self._head_at(behind)
        count = head.last_delta + 1
        return following is not None and following.base_offset == (self.expected or 0) + count

    def _is_followed(self, head: BatchHeader, behind: int) -> bool:
        """Return whether the next batch, if there is one, continues where this one ends."""
        following = self._head_at(behind)
        return behind == self.size or (following is not None and following.base_offset == head.next_offset)

    def _damaged(self, position: int, head: BatchHeader | None, following: int) -> Damage:
        message = "the batch has an impossible header"
        if head is not None and self._is_whole(head, position):
            message = f"the checksum of the batch is wrong (base offset {head.base_offset})"
        elif head is not None and head.is_possible():
            message = f"the batch claims {head.size} bytes (base offset {head.base_offset})"
        return self._damage(position, self.expected or 0, f"{message}; {following - position} bytes not read")

    def _end(self, position: int, head: BatchHeader | None) -> SegmentPiece:
        """Return what the last bytes of the file are, after its last whole batch."""
        left = self.size - position
        cut = head is None or (head.is_possible() and position + head.size > self.size)
        if cut or self._is_blank(position):
            return CutOff(self.path, position, self.expected or 0, left)
        assert head is not None
        what = "the checksum of the last batch is wrong" if head.is_possible() else "no batch starts here"
        return self._damage(position, self.expected or 0, f"{what}; {left} bytes not read")

    def _is_blank(self, position: int) -> bool:
        self.file.seek(position)
        while chunk := self.file.read(CHUNK):
            if chunk.strip(b"\0"):
                return False
        return True

    def _damage(self, position: int, offset: int, message: str) -> Damage:
        return Damage(self.path, position, offset, message)
