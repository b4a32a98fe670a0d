"""Finds the next batch with a valid checksum after a damaged place.

Any byte may be its start. numpy discards inconsistent headers, and `RangeSums` computes the checksums of the rest, so
the time is proportional to the size of the file, whatever the headers claim.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from elrcheck.kafka.log.batches import BEFORE_LENGTH, CHECKED_FROM, HEADER, MAGIC
from elrcheck.kafka.log.range_sums import CHUNK, RangeSums

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
