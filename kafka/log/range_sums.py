"""Checksums of any parts of a file, of which every byte is read about once.

A checksum is linear but for its initial value, so that of a part follows from those of the two beginnings of
the file that end where the part starts and where it ends. These are kept for every `LANE` bytes. So a file
that claims a long batch at each of many places, all of them false, costs no more than its length.
"""

from __future__ import annotations

from typing import BinaryIO, TypeAlias

import numpy as np
from numpy.typing import NDArray

from elrcheck.kafka.log.crc32c import LANE, carried, of_lanes, with_bytes

CHUNK = 1 << 20
Sums: TypeAlias = NDArray[np.uint32]
Places: TypeAlias = NDArray[np.int64]


class RangeSums:
    """The checksums of parts of a file from `origin` on, as far as they have been asked for.

    bytes_checked: how many bytes went into checksums so far.
    """

    def __init__(self, file: BinaryIO, origin: int, size: int) -> None:
        self.file = file
        self.origin = origin
        self.size = size
        self.bytes_checked = 0
        self._sums: Sums = np.zeros(1 + CHUNK // LANE, np.uint32)
        """Of the bytes from the origin to each multiple of LANE behind it, as far as the file was read."""
        self._count = 1
        self._reached = origin

    def of_each(self, starts: Places, stops: Places) -> Sums:
        """The checksums of the parts between these places of the file, each from the origin on."""
        self._extend(int(stops.max()))
        lengths = stops - starts
        begun, ended = self._until(starts), self._until(stops)
        initial = np.full(len(starts), 0xFFFFFFFF, np.uint32)
        found: Sums = ended ^ _behind(begun ^ initial, lengths) ^ np.uint32(0xFFFFFFFF)
        return found

    def _until(self, places: Places) -> Sums:
        """The checksum, with the initial value 0, of what is before each place."""
        lanes = (places - self.origin) // LANE
        counts = (places - self.origin) % LANE
        rests = np.zeros((len(places), LANE), np.uint8)
        for row, (place, count) in enumerate(zip(places.tolist(), counts.tolist(), strict=True)):
            if count:
                self.file.seek(place - count)
                rests[row, :count] = np.frombuffer(self.file.read(count), np.uint8)
        self.bytes_checked += int(counts.sum())
        return with_bytes(self._sums[lanes], rests, counts)

    def _extend(self, place: int) -> None:
        """Read the file as far as that place, in whole chunks."""
        while self._reached < min(place, self.size):
            self.file.seek(self._reached)
            data = self.file.read(CHUNK)
            whole = len(data) // LANE * LANE
            if not whole:
                break
            lanes = of_lanes(np.frombuffer(data, np.uint8, whole).reshape(-1, LANE))
            lanes[:1] ^= carried(self._sums[self._count - 1 : self._count], 0)
            bit = 0
            while 1 << bit < len(lanes):
                lanes[1 << bit :] ^= carried(lanes[: -(1 << bit)], bit)
                bit += 1
            count = self._count + len(lanes)
            if count > len(self._sums):
                self._sums = np.concatenate([self._sums, np.zeros_like(self._sums)])
            self._sums[self._count : count] = lanes
            self._count = count
            self._reached += whole
            self.bytes_checked += whole
            if len(data) < CHUNK:
                break


def _behind(sums: Sums, lengths: Places) -> Sums:
    """What so many zeros behind it make of each checksum."""
    rests = lengths % LANE
    sums = with_bytes(sums, np.zeros((len(sums), LANE), np.uint8), rests)
    lanes, bit = lengths // LANE, 0
    while (lanes >> bit).any():
        far = np.flatnonzero(lanes >> bit & 1)
        sums[far] = carried(sums[far], bit)
        bit += 1
    return sums
