"""Finds the next batch with a valid checksum after a damaged place.

Any byte may be its start. numpy discards inconsistent headers, and `RangeSums` computes the checksums (CRC-32C) of the
rest, reading every byte about once. The checksum of a part follows from those of two beginnings of the file: the one
that ends where the part starts, carried over as many zeros as the part has bytes, and the one that ends where the part
ends. They are computed for every `STEP` bytes. So a file that claims a long batch at each of many places, all of them
false, costs no more than its length.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, BinaryIO, TypeAlias

import google_crc32c
import numpy as np
from numpy.typing import NDArray

from elrcheck.kafka.log.batches import BEFORE_LENGTH, CHECKED_FROM, HEADER, MAGIC

CHUNK = 1 << 20
STEP = 64
Sums: TypeAlias = NDArray[np.uint32]
Places: TypeAlias = NDArray[np.int64]


class RangeSums:
    """The checksums of parts of a file from `origin` on, as far as they have been requested."""

    def __init__(self, file: BinaryIO, origin: int, size: int) -> None:
        self.file = file
        self.origin = origin
        self.size = size
        self._sums = [0]
        """Of the bytes from the origin to each multiple of STEP behind it, as far as the file was read."""

    def of_each(self, starts: Places, stops: Places) -> Sums:
        """Return the checksums of the parts between these places of the file, none before the origin."""
        self._extend(int(stops.max()))
        beginnings = np.array([self._sum_until(place) for place in starts.tolist()], np.uint32)
        wholes = np.array([self._sum_until(place) for place in stops.tolist()], np.uint32)
        sums: Sums = wholes ^ _over_zeros(beginnings, stops - starts)
        return sums

    def _sum_until(self, place: int) -> int:
        """Return the checksum of what is between the origin and that place."""
        steps, rest = divmod(place - self.origin, STEP)
        self.file.seek(place - rest)
        return int(google_crc32c.extend(self._sums[steps], self.file.read(rest)))

    def _extend(self, place: int) -> None:
        """Read the file as far as that place, in whole chunks."""
        reached = self.origin + (len(self._sums) - 1) * STEP
        while reached < min(place, self.size):
            self.file.seek(reached)
            data = self.file.read(CHUNK)
            for start in range(0, len(data) - STEP + 1, STEP):
                self._sums.append(google_crc32c.extend(self._sums[-1], data[start : start + STEP]))
            reached += len(data)
            if len(data) < CHUNK:
                break


def _over_zeros(sums: Sums, lengths: Places) -> Sums:
    """Return each checksum after `lengths` further zero bytes."""
    bit = 0
    while (lengths >> bit).any():
        longer = np.flatnonzero(lengths >> bit & 1)
        sums[longer] = _carried(_tables(bit), sums[longer])
        bit += 1
    return sums


def _carried(tables: Sums, sums: Sums) -> Sums:
    carried: Sums = (
        tables[0].take(sums & np.uint32(0xFF))
        ^ tables[1].take(sums >> np.uint32(8) & np.uint32(0xFF))
        ^ tables[2].take(sums >> np.uint32(16) & np.uint32(0xFF))
        ^ tables[3].take(sums >> np.uint32(24))
    )
    return carried


@cache
def _tables(bit: int) -> Sums:
    """Return the effect of 2**bit zero bytes on each byte of a checksum, as a table of 4 by 256."""
    octets = np.arange(256, dtype=np.uint32) << np.array([[0], [8], [16], [24]], dtype=np.uint32)
    if bit:
        half = _tables(bit - 1)
        return _carried(half, _carried(half, octets))
    alone = google_crc32c.value(b"\0")
    rows = [[google_crc32c.extend(each, b"\0") ^ alone for each in row] for row in octets.tolist()]
    return np.array(rows, np.uint32)


MAGIC_AT = 16
FARTHEST = 1 << 32
"""Offsets to which a search for the next batch may jump."""
LARGEST = (1 << 63) - 1
FIRST_STRETCH = 1 << 12
MOST_AT_ONCE = 1 << 12
"""Headers whose checksums are requested together."""


def next_sound(
    file: BinaryIO, position: int, size: int, least: int, sums: RangeSums, stop: Callable[[], bool]
) -> int | None:
    """Return the position of the next batch with a valid checksum, from `position` on; None without one.

    least: the smallest offset at which it may start. stop: once true, the search ends without a result.
    """
    if least > LARGEST:
        return None
    stretch, together = FIRST_STRETCH, 1
    while position + HEADER.size <= size and not stop():
        file.seek(position)
        data = file.read(stretch)
        if len(data) < HEADER.size:
            return None
        places, ends, checksums = _possible(data, position, size, least)
        first = 0
        while first < len(places) and not stop():
            some = slice(first, first + together)
            checked = sums.of_each(places[some] + CHECKED_FROM, ends[some])
            true = np.flatnonzero(checked == checksums[some])
            if len(true):
                return int(places[first + true[0]])
            first += together
            together = min(2 * together, MOST_AT_ONCE)
        position += len(data) - HEADER.size + 1
        stretch = min(2 * stretch, CHUNK)
    return None


def _possible(data: bytes, position: int, size: int, least: int) -> tuple[NDArray[Any], ...]:
    """Return the possible headers in these bytes: the start of each, the end of its batch, its checksum."""
    octets = np.frombuffer(data, np.uint8)
    at = np.flatnonzero(octets[MAGIC_AT : len(data) - HEADER.size + MAGIC_AT + 1] == MAGIC)
    base = _numbers(octets, at, ">i8")
    at = at[(base >= least) & (base - least < FARTHEST)]
    length = _numbers(octets, at + 8, ">i4").astype(np.int64) + BEFORE_LENGTH
    fits = (length >= HEADER.size) & (position + at + length <= size)
    at, length = at[fits], length[fits]
    sound = (_numbers(octets, at + 23, ">i4") >= 0) & (_numbers(octets, at + 57, ">i4") >= 0)
    at, length = at[sound], length[sound]
    checksums = _numbers(octets, at + 17, ">u4").astype(np.uint32)
    starts = (position + at).astype(np.int64)
    return starts, starts + length, checksums


def _numbers(octets: NDArray[np.uint8], places: NDArray[Any], code: str) -> NDArray[Any]:
    """Return the numbers of this type at these places."""
    kind = np.dtype(code)
    rows = octets[places[:, None] + np.arange(kind.itemsize)]
    return np.ascontiguousarray(rows).view(kind).reshape(len(places))
