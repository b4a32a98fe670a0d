"""CRC-32C (Castagnoli, RFC 3720), the checksum of record batches.

Short batches go byte by byte through the usual table. For long ones numpy looks up what each byte adds.
That depends only on the byte and its distance from the end, because the checksum is linear but for its
initial value. Blocks are joined by what so many zeros do to a checksum.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

POLYNOMIAL = 0x82F63B78
"""Reversed: the lowest bit is the highest power."""
BLOCK = 1024
SHORT = 160
"""Bytes up to which the table alone is quicker."""


def _entry(byte: int) -> int:
    for _ in range(8):
        byte = (byte >> 1) ^ (POLYNOMIAL if byte & 1 else 0)
    return byte


TABLE = tuple(_entry(byte) for byte in range(256))


def crc32c(data: bytes) -> int:
    """The checksum."""
    return crc32c_by_byte(data) if len(data) <= SHORT else crc32c_by_block(data)


def crc32c_by_byte(data: bytes) -> int:
    table = TABLE
    crc = 0xFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


def crc32c_by_block(data: bytes) -> int:
    """For four bytes or more."""
    contributions, places, advance = _tables()
    blocks = -(-len(data) // BLOCK)
    if blocks == 1:
        one = np.frombuffer(data, dtype=np.uint8).astype(np.intp)
        one[:4] ^= 0xFF  # the initial value
        one += places[BLOCK - len(data) :]
        return int(np.bitwise_xor.reduce(contributions.take(one))) ^ 0xFFFFFFFF
    padded = np.zeros(blocks * BLOCK, dtype=np.intp)  # zeros before the data change nothing
    start = padded.size - len(data)
    padded[start:] = np.frombuffer(data, dtype=np.uint8)
    padded[start : start + 4] ^= 0xFF
    found = contributions.take(padded.reshape(blocks, BLOCK) + places)
    crc = 0
    for part in np.bitwise_xor.reduce(found, axis=1).tolist():
        crc = (
            advance[0][crc & 0xFF]
            ^ advance[1][(crc >> 8) & 0xFF]
            ^ advance[2][(crc >> 16) & 0xFF]
            ^ advance[3][crc >> 24]
            ^ part
        )
    return crc ^ 0xFFFFFFFF


@cache
def _tables() -> tuple[NDArray[np.uint32], NDArray[np.intp], tuple[list[int], ...]]:
    """What a byte contributes at each place of a block, and where those of a place start; what a block of
    zeros makes of a checksum's bytes.
    """
    table = np.array(TABLE, dtype=np.uint32)

    def with_a_zero(crc: NDArray[np.uint32]) -> NDArray[np.uint32]:
        shorter: NDArray[np.uint32] = table[crc & np.uint32(0xFF)] ^ (crc >> np.uint32(8))
        return shorter

    contributions = np.empty((BLOCK, 256), dtype=np.uint32)
    contributions[BLOCK - 1] = table
    for place in range(BLOCK - 1, 0, -1):
        contributions[place - 1] = with_a_zero(contributions[place])
    shifted = np.arange(256, dtype=np.uint32)[None, :] << np.array([[0], [8], [16], [24]], dtype=np.uint32)
    for _ in range(BLOCK):
        shifted = with_a_zero(shifted)
    places = np.arange(BLOCK, dtype=np.intp) * 256
    return contributions.ravel(), places, tuple(row.tolist() for row in shifted)


# ---------------------------------------------------------------------------- of many at once

LANE = 64
"""Bytes that are read one pair after the other, for all lanes at the same time."""


def crc32c_of_each(data: bytes, starts: NDArray[np.int64], stops: NDArray[np.int64]) -> NDArray[np.uint32]:
    """The checksums of these parts of the data, each of four bytes or more.

    Each is cut into lanes that end where it ends, with zeros before it. The checksum of a lane is then
    carried over the lanes behind it, and all are added.
    """
    lanes = -(-(stops - starts) // LANE)
    ends = np.cumsum(lanes)
    padded = np.zeros(int(ends[-1]) * LANE, dtype=np.uint8)
    octets = np.frombuffer(data, dtype=np.uint8)
    for start, stop, end in zip(starts.tolist(), stops.tolist(), (ends * LANE).tolist(), strict=True):
        padded[end - stop + start : end] = octets[start:stop]
    first = ends * LANE - (stops - starts)
    for place in range(4):  # the initial value
        padded[first + place] ^= 0xFF
    crc = of_lanes(padded.reshape(-1, LANE))
    behind = np.repeat(ends, lanes) - 1 - np.arange(len(crc))
    bit = 0
    while (behind >> bit).any():
        far = np.flatnonzero(behind >> bit & 1)
        crc[far] = carried(crc[far], bit)
        bit += 1
    found: NDArray[np.uint32] = np.bitwise_xor.reduceat(crc, ends - lanes) ^ np.uint32(0xFFFFFFFF)
    return found


def of_lanes(lanes: NDArray[np.uint8]) -> NDArray[np.uint32]:
    """The checksum of each row of `LANE` bytes, with the initial value 0 and not inverted."""
    pairs = np.ascontiguousarray(lanes.view("<u2").T)
    table = _pair_table()
    crc = np.zeros(pairs.shape[1], dtype=np.uint32)
    for pair in pairs:
        crc = table.take((crc & np.uint32(0xFFFF)) ^ pair) ^ (crc >> np.uint32(16))
    return crc


def carried(sums: NDArray[np.uint32], bit: int) -> NDArray[np.uint32]:
    """Effect of 2**bit zero lanes on each checksum."""
    tables = _over_lanes(bit)
    over: NDArray[np.uint32] = (
        tables[0].take(sums & np.uint32(0xFF))
        ^ tables[1].take(sums >> np.uint32(8) & np.uint32(0xFF))
        ^ tables[2].take(sums >> np.uint32(16) & np.uint32(0xFF))
        ^ tables[3].take(sums >> np.uint32(24))
    )
    return over


def with_bytes(sums: NDArray[np.uint32], rows: NDArray[np.uint8], counts: NDArray[np.int64]) -> NDArray[np.uint32]:
    """Each checksum continued by the first bytes of its row, as many as its count says."""
    table, sums = _byte_table(), sums.copy()
    for place in range(int(counts.max(initial=0))):
        more = np.flatnonzero(counts > place)
        some = sums[more]
        sums[more] = table.take((some ^ rows[more, place]) & np.uint32(0xFF)) ^ (some >> np.uint32(8))
    return sums


@cache
def _byte_table() -> NDArray[np.uint32]:
    return np.array(TABLE, dtype=np.uint32)


@cache
def _pair_table() -> NDArray[np.uint32]:
    """What two bytes make of a checksum that is 0 but for them."""
    table = np.array(TABLE, dtype=np.uint32)
    pairs = np.arange(1 << 16, dtype=np.uint32)
    one = table[pairs & np.uint32(0xFF)] ^ (pairs >> np.uint32(8))
    two: NDArray[np.uint32] = table[one & np.uint32(0xFF)] ^ (one >> np.uint32(8))
    return two


@cache
def _over_lanes(bit: int) -> tuple[NDArray[np.uint32], ...]:
    """Effect of 2**bit zero lanes on each byte of a checksum."""
    shifted = np.arange(256, dtype=np.uint32)[None, :] << np.array([[0], [8], [16], [24]], dtype=np.uint32)
    if bit:
        before = _over_lanes(bit - 1)
        for _ in range(2):
            shifted = np.bitwise_xor.reduce(
                [before[n].take(shifted >> np.uint32(8 * n) & np.uint32(0xFF)) for n in range(4)]
            )
        return tuple(shifted)
    table = np.array(TABLE, dtype=np.uint32)
    for _ in range(LANE):
        shifted = table[shifted & np.uint32(0xFF)] ^ (shifted >> np.uint32(8))
    return tuple(shifted)
