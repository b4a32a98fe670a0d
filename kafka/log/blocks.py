"""Batches as a controller writes them, many at once: an offset for each record, one time, no keys or headers.

Nearly all of a metadata log is like that. Checking such batches one record after the other takes longer than
judging them, so numpy checks a stretch of the file at once: Python only walks from length to length. A batch
of which anything is otherwise is left to `batches.py`, which says what it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from elrcheck.kafka.log.batches import CHECKED_FROM, CODEC, CONTROL, HEADER, Head, head_of
from elrcheck.kafka.log.crc32c import crc32c_of_each

Places: TypeAlias = NDArray[np.int64]
MOST_PLAIN = 1 << 17
"""Records of a batch."""
SLACK = bytes(8)
"""Behind the data, so that a look at the byte after next is within it."""


@dataclass(frozen=True, eq=False)
class Block:
    """Values of records, in one piece of memory. starts, stops: where each is. batches: which batch it is of,
    by any ascending numbers.
    """

    data: bytes
    starts: Places
    stops: Places
    batches: Places

    def __reduce__(self) -> tuple[type[Block], tuple[bytes, Places, Places, Places]]:
        return Block, (self.data, self.starts, self.stops, self.batches)

    @cached_property
    def places(self) -> list[tuple[int, int]]:
        return list(zip(self.starts.tolist(), self.stops.tolist(), strict=True))

    @staticmethod
    def of(values: Sequence[bytes]) -> Block:
        """These values, as those of one batch."""
        stops = np.cumsum(np.fromiter(map(len, values), np.int64, len(values)))
        return Block(b"".join(values), stops - np.diff(stops, prepend=0), stops, np.zeros_like(stops))


class Values(Sequence[bytes]):
    """Some records of a block that follow each other."""

    __slots__ = ("block", "first", "stop")

    def __init__(self, block: Block, first: int, stop: int) -> None:
        self.block = block
        self.first = first
        self.stop = stop

    def __len__(self) -> int:
        return self.stop - self.first

    @overload
    def __getitem__(self, number: int) -> bytes: ...
    @overload
    def __getitem__(self, number: slice) -> Values: ...
    def __getitem__(self, number: int | slice) -> bytes | Values:
        if isinstance(number, slice):
            first, stop, _ = number.indices(len(self))
            return Values(self.block, self.first + first, self.first + max(first, stop))
        if not -len(self) <= number < len(self):
            raise IndexError(number)
        start, stop = self.block.places[(self.first if number >= 0 else self.stop) + number]
        return self.block.data[start:stop]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Values) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __iter__(self) -> Iterator[bytes]:
        data = self.block.data
        for start, stop in self.block.places[self.first : self.stop]:
            yield data[start:stop]


def plain_heads(data: bytes, expected: int, epoch: int) -> list[Head]:
    """The headers of the batches with which these bytes start, as far as these are whole, may be plain and
    continue where the one before ends.
    """
    heads: list[Head] = []
    at = 0
    while (head := head_of(data, at)) is not None:
        if (
            head.base_offset != expected
            or head.leader_epoch < epoch
            or head.attributes & (CODEC | CONTROL)
            or head.count != head.last_delta + 1
            or head.count > MOST_PLAIN
            or not head.is_possible()
            or at + head.size > len(data)
        ):
            break
        heads.append(head)
        at += head.size
        expected, epoch = head.next_offset, head.leader_epoch
    return heads


def plain_block(data: bytes, heads: Sequence[Head]) -> tuple[Block, int]:
    """The records of the batches with these headers, and how many of the batches they are: those before the
    first that has a wrong checksum or is not plain.
    """
    sizes = np.array([head.size for head in heads], np.int64)
    ends = np.cumsum(sizes)
    checked = crc32c_of_each(data, ends - sizes + CHECKED_FROM, ends)
    sound = checked == np.array([head.checksum for head in heads], np.int64)
    count = len(heads) if sound.all() else int(sound.argmin())
    bodies, walked = _bodies(data, heads[:count])
    counts = np.array([head.count for head in heads[:walked]], np.int64)
    batches = np.repeat(np.arange(walked), counts)
    firsts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    numbers = np.arange(len(bodies)) - firsts[batches]
    starts, stops, plain = _checked(data, np.array(bodies, np.int64), numbers)
    if not plain.all():
        walked = int(batches[plain.argmin()])
    total = int(firsts[walked])
    return Block(data, starts[:total], stops[:total], batches[:total]), walked


def _bodies(data: bytes, heads: Sequence[Head]) -> tuple[list[int], int]:
    """Where each record starts behind its length, shifted by 14 bits, with that length; and of how many
    batches these are: those that lengths of at most two bytes fill.
    """
    found: list[int] = []
    at = 0
    for number, head in enumerate(heads):
        end, had = at + head.size, len(found)
        at += HEADER.size
        try:
            for _ in range(head.count):
                length = data[at]
                at += 1
                if length > 0x7F:
                    second = data[at]
                    if second > 0x7F:
                        return found[:had], number
                    length = length & 0x7F | second << 7
                    at += 1
                found.append(at << 14 | length)
                at += length >> 1
        except IndexError:
            return found[:had], number
        if at != end:
            return found[:had], number
    return found, len(heads)


def _checked(data: bytes, bodies: Places, numbers: Places) -> tuple[Places, Places, NDArray[np.bool_]]:
    """Where the value of each record starts and ends, and whether all else is as in a plain record: no
    attributes, the time of the batch, its number as offset, no key and no headers.
    """
    octets = np.frombuffer(data + SLACK, dtype=np.uint8)
    end, at, size = len(data), bodies >> 14, bodies & 0x3FFF
    stops = at + (size >> 1) - 1
    plain = (size & 1 == 0) & (octets[at] | octets[at + 1] == 0) & (octets[stops] == 0)
    at = at + 2
    for place in (0, 7, 14):
        offset = numbers << 1 >> place
        more = offset > 0x7F
        here = (offset > 0) | (place == 0)
        plain &= ~here | (octets[np.minimum(at, end)] == (offset & 0x7F | more << 7))
        at = at + here
    at = np.minimum(at, end)
    first, second = octets[at + 1].astype(np.int64), octets[at + 2].astype(np.int64)
    long = first > 0x7F
    length = np.where(long, first & 0x7F | second << 7, first)
    starts = at + 2 + long
    plain &= (octets[at] == 1) & ~(long & (second > 0x7F))
    plain &= (length & 1 == 0) & (starts + (length >> 1) == stops)
    return starts, stops, plain
