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
