"""Checksums (CRC-32C) of arbitrary parts of a file, reading every byte about once.

The checksum of a part follows from those of two beginnings of the file: the one that ends where the part
starts, carried over as many zeros as the part has bytes, and the one that ends where the part ends. They are
computed for every `STEP` bytes. So a file that claims a long batch at each of many places, all of them false,
costs no more than its length.
"""

from __future__ import annotations

from functools import cache
from typing import BinaryIO, TypeAlias

import google_crc32c
import numpy as np
from numpy.typing import NDArray

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
