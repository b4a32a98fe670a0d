"""Records of partitions as they travel between the tasks of an audit on Spark: those of a bucket, from a
stretch of a file, in one piece of memory.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from elrcheck.kafka.log.blocks import Block, Places, Values
from elrcheck.kafka.log.entries import Run
from elrcheck.kafka.log.shares import shares_in


class Piece(NamedTuple):
    """A run, and the number of its batch in the file."""

    number: int
    run: Run


class Packed(NamedTuple):
    """Values one behind the other, with their sizes and offsets; and for each run the number of its batch,
    its position and time, and how many values it has.
    """

    data: bytes
    sizes: Places
    offsets: Places
    batches: Places
    positions: Places
    times: Places
    counts: Places

    def to_bytes(self) -> bytes:
        return pickle.dumps(tuple(self), protocol=pickle.HIGHEST_PROTOCOL)

    @staticmethod
    def from_bytes(raw: bytes) -> Packed:
        return Packed(*pickle.loads(raw))

    def pieces(self, path: str) -> Iterator[Piece]:
        """The runs, in order. None of them ends its batch: another one may follow."""
        block = self.block()
        offsets = self.offsets.tolist()
        table = zip(*(column.tolist() for column in self[3:]), strict=True)
        first = 0
        for number, position, time, count in table:
            stop = first + count
            run = Run(path, position, time, offsets[first:stop], Values(block, first, stop), ends_batch=False)
            yield Piece(number, run)
            first = stop

    def only(self, wanted: Callable[[bytes], bool]) -> Packed | None:
        """Those with these values; None without any."""
        block = self.block()
        own = np.fromiter(map(wanted, Values(block, 0, len(self.sizes))), np.bool_, len(self.sizes))
        return _some(self, block, np.flatnonzero(own)) if own.any() else None

    def block(self) -> Block:
        stops = np.cumsum(self.sizes)
        return Block(self.data, stops - self.sizes, stops, np.repeat(self.batches, self.counts))


def joined(some: Sequence[Packed]) -> Packed:
    """Records of several buckets, in the order of the file."""
    values = [value for each in some for value in Values(each.block(), 0, len(each.sizes))]
    offsets = np.concatenate([each.offsets for each in some])
    batches, positions, times = (
        np.concatenate([np.repeat(column, each.counts) for each, column in zip(some, columns, strict=True)])
        for columns in zip(*((each.batches, each.positions, each.times) for each in some), strict=True)
    )
    order = np.lexsort((offsets, batches))
    told = [values[at] for at in order.tolist()]
    return Packed(
        b"".join(told),
        np.array([len(value) for value in told], np.int64),
        offsets[order],
        batches[order],
        positions[order],
        times[order],
        np.ones(len(told), np.int64),
    )


def packed(pieces: Sequence[Piece], buckets: int) -> tuple[dict[int, Packed], list[tuple[int, int]]]:
    """The records of these runs, which are all of one block, by bucket; and those for every bucket, by the
    places of their runs and of the records in them.
    """
    runs = [piece.run for piece in pieces]
    block = runs[0].values.block
    counts = np.array([len(run.values) for run in runs], np.int64)
    at = np.concatenate([np.arange(run.values.first, run.values.stop) for run in runs])
    whole = Packed(
        block.data,
        block.stops[at] - block.starts[at],
        np.concatenate([np.asarray(run.offsets, np.int64) for run in runs]),
        np.array([piece.number for piece in pieces], np.int64),
        np.array([run.position for run in runs], np.int64),
        np.array([run.time for run in runs], np.int64),
        counts,
    )
    here = Block(block.data, block.starts[at], block.stops[at], block.batches[at])
    shares = shares_in(here, buckets)
    there = np.unique(shares[shares >= 0]).tolist()
    found = {number: _some(whole, here, np.flatnonzero(shares == number)) for number in there}
    others = np.flatnonzero(shares < 0)
    of_run = np.repeat(np.arange(len(runs)), counts)[others]
    firsts = (np.cumsum(counts) - counts)[of_run]
    return found, list(zip(of_run.tolist(), (others - firsts).tolist(), strict=True))


def _some(whole: Packed, block: Block, own: Places) -> Packed:
    """The records of these numbers."""
    sizes = whole.sizes[own]
    behind = np.cumsum(sizes)
    octets = np.frombuffer(block.data, dtype=np.uint8)
    places = np.repeat(block.starts[own] - (behind - sizes), sizes) + np.arange(int(behind[-1]))
    of_run = np.repeat(np.arange(len(whole.counts)), whole.counts)[own]
    counts = np.bincount(of_run, minlength=len(whole.counts))
    there = counts > 0
    return Packed(
        octets[places].tobytes(),
        sizes,
        whole.offsets[own],
        whole.batches[there],
        whole.positions[there],
        whole.times[there],
        counts[there],
    )
