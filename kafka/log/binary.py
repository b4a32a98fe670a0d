"""Numbers, strings and identifiers as Kafka writes them into records: a reader takes bytes and a position.

Every reader returns the value and the position behind it, and raises Malformed for anything else.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeAlias

Reader: TypeAlias = Callable[[bytes, int], tuple[Any, int]]


class Malformed(Exception):
    """The bytes do not encode the expected value."""


def unsigned_varint(data: bytes, at: int) -> tuple[int, int]:
    """Read an unsigned varint of at most 32 bits (ByteUtils.readUnsignedVarint)."""
    if at < len(data) and (byte := data[at]) < 0x80:  # most numbers have one byte
        return byte, at + 1
    total, at = _long_varint(data, at, 5)
    if total >> 32:
        raise Malformed("a number of more than 32 bits")
    return total, at


def varlong(data: bytes, at: int) -> tuple[int, int]:
    """Read a signed varint in zigzag order, of at most 64 bits (ByteUtils.readVarint, readVarlong)."""
    if at < len(data) and (byte := data[at]) < 0x80:
        return (byte >> 1) ^ -(byte & 1), at + 1
    total, at = _long_varint(data, at, 10)
    return (total >> 1) ^ -(total & 1), at


def _long_varint(data: bytes, at: int, most: int) -> tuple[int, int]:
    """Read seven bits from each byte, the lowest first. most: bytes that the number may have."""
    total = 0
    for place in range(most):
        if at >= len(data):
            raise Malformed("ends within a number")
        byte = data[at]
        at += 1
        total |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            return total, at
    raise Malformed(f"a number of more than {'five' if most == 5 else 'ten'} bytes")


def part(data: bytes, at: int, length: int) -> tuple[bytes, int]:
    """Return the next `length` bytes."""
    end = at + length
    if length < 0 or end > len(data):
        raise Malformed(f"{length} bytes expected, {len(data) - at} left")
    return data[at:end], end


def fixed(code: str) -> Reader:
    """Return the reader of one number with a code of the module struct, such as "i" for an int32."""
    packed = struct.Struct(f">{code}")
    unpack, size = packed.unpack_from, packed.size

    def read(data: bytes, at: int) -> tuple[Any, int]:
        if at + size > len(data):
            raise Malformed(f"{size} bytes expected, {len(data) - at} left")
        return unpack(data, at)[0], at + size

    return read


def uuid(data: bytes, at: int) -> tuple[str, int]:
    """Read an identifier as Kafka prints it, Base64 of 22 letters (Uuid.toString)."""
    raw, at = part(data, at, 16)
    return _printed(raw), at


@lru_cache(maxsize=1 << 14)
def _printed(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw)[:22].decode("ascii")


def compact_string(data: bytes, at: int) -> tuple[str | None, int]:
    """Read a string behind its length plus one; 0 is null."""
    length, at = unsigned_varint(data, at)
    if length == 0:
        return None, at
    raw, at = part(data, at, length - 1)
    try:
        return raw.decode("utf-8"), at
    except UnicodeDecodeError:
        raise Malformed("a string that is not UTF-8") from None


def compact_array(element: Reader) -> Reader:
    """Return the reader of an array, as a tuple, behind its length plus one; 0 is null."""

    def read(data: bytes, at: int) -> tuple[tuple[Any, ...] | None, int]:
        count, at = unsigned_varint(data, at)
        if count == 0:
            return None, at
        if count - 1 > len(data) - at:  # an element has at least one byte
            raise Malformed(f"an array of {count - 1} elements in {len(data) - at} bytes")
        values = []
        for _ in range(count - 1):
            value, at = element(data, at)
            values.append(value)
        return tuple(values), at

    return read


def compact_ids(data: bytes, at: int) -> tuple[tuple[int, ...] | None, int]:
    """Read an array of int32 in one step."""
    count, at = unsigned_varint(data, at)
    if count == 0:
        return None, at
    end = at + 4 * (count - 1)
    if end > len(data):
        raise Malformed(f"an array of {count - 1} elements in {len(data) - at} bytes")
    return struct.unpack_from(f">{count - 1}i", data, at), end


def required(reader: Reader) -> Reader:
    """Return the same reader for a field that is never null."""

    def read(data: bytes, at: int) -> tuple[Any, int]:
        value, end = reader(data, at)
        if value is None:
            raise Malformed("null where there must be a value")
        return value, end

    return read
