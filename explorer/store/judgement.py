"""Evaluation of new states: the checks they hit and the values of their leaves."""

from __future__ import annotations

import ctypes
import zlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from elrcheck.base.roundtrip import Record
from elrcheck.explorer.kernel.check_ir import NARROW
from elrcheck.explorer.kernel.crew import SearchCrew
from elrcheck.explorer.kernel.kernel import Kernel, KernelShapes


class SavedJudgement(Record, frozen=True):
    """A judgement as plain data; see `Judgement`. wide: `packed`, because a number of JSON is an object in memory."""

    hits: tuple[int, ...]
    narrow: tuple[int, ...]
    wide: dict[int, bytes]


@dataclass
class Judgement:
    """The checks that new states have hit, and the values of their leaves.

    hits: indices of the state checks that were hit. narrow: for each leaf, the set of its values as a bit mask. wide:
    the distinct values, in order, of each leaf too wide for a mask; there may be as many as states, so these arrays
    are never changed in place, and copies share them.
    """

    hits: set[int]
    narrow: npt.NDArray[np.int64]
    wide: dict[int, npt.NDArray[np.int64]]

    @classmethod
    def empty(cls, shapes: KernelShapes) -> Judgement:
        narrow = np.zeros(shapes.counters.leaves, np.int64)
        return cls(set(), narrow, dict.fromkeys(wide_leaves(shapes), np.empty(0, np.int64)))

    def copy(self) -> Judgement:
        return Judgement(set(self.hits), self.narrow.copy(), dict(self.wide))

    def saved(self) -> SavedJudgement:
        wide = {leaf: packed(values) for leaf, values in self.wide.items()}
        return SavedJudgement(tuple(sorted(self.hits)), tuple(self.narrow.tolist()), wide)

    @classmethod
    def restored(cls, saved: SavedJudgement) -> Judgement:
        """Return a judgement from plain data; raise ValueError or OverflowError if it does not fit."""
        wide = {leaf: unpacked(values) for leaf, values in saved.wide.items()}
        return cls(set(saved.hits), np.array(saved.narrow, np.int64), wide)

    def add(self, other: Judgement) -> None:
        """Add the judgement of other states."""
        self.hits |= other.hits
        self.narrow |= other.narrow
        for leaf, values in other.wide.items():
            self.wide[leaf] = _union(self.wide[leaf], values)


def wide_leaves(shapes: KernelShapes) -> list[int]:
    """Return the leaves with too many values for a bit mask of one word."""
    return [leaf for leaf, slot in enumerate(shapes.layout.slots) if slot.bits > NARROW]


def judge_rows(kernel: Kernel, crew: SearchCrew, address: int, first: int, last: int) -> Judgement:
    """Evaluate the rows first..last of the array at the address."""
    checks = kernel.state_checks
    hits = [np.zeros(max(1, len(checks)), np.int64) for _ in crew.workers]
    values_of = [np.zeros(kernel.counters.leaves, np.int64) for _ in crew.workers]
    check, values = kernel.functions["check"], kernel.functions["values"]

    def part(worker: int, a: int, b: int) -> None:
        if checks:
            check(address, a, b, hits[worker].ctypes.data, 0)
        values(address, a, b, values_of[worker].ctypes.data)

    crew.split(first, last, part)
    wide = wide_leaves(kernel)
    rows = rows_at(address, first, last, kernel.layout.words) if wide else None
    return Judgement(
        hits={index for place, index in enumerate(checks) if any(own[place] for own in hits)},
        narrow=np.bitwise_or.reduce(values_of),
        wide={} if rows is None else {leaf: _distinct(np.sort(kernel.layout.column(rows, leaf))) for leaf in wide},
    )


def packed(values: npt.NDArray[np.int64]) -> bytes:
    """Return the ordered values of a leaf as compressed differences."""
    return zlib.compress(np.diff(values, prepend=np.int64(0)).astype("<i8").tobytes(), 1)


def unpacked(data: bytes) -> npt.NDArray[np.int64]:
    """Return the values that were `packed`; raise ValueError for other data."""
    try:
        return np.cumsum(np.frombuffer(zlib.decompress(data), "<i8"))
    except zlib.error as fault:
        raise ValueError(str(fault)) from fault


def _union(some: npt.NDArray[np.int64], others: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the distinct values of two ordered arrays; `some` may have very many."""
    places = np.searchsorted(some, others)
    new = np.append(some, others[-1:] + 1)[places] != others
    return np.insert(some, places[new], others[new]) if new.any() else some


def _distinct(ordered: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return each value once, like `np.unique`, but without its import of masked arrays."""
    return ordered[np.flatnonzero(np.diff(ordered, prepend=ordered[:1] - 1))]


def rows_at(address: int, first: int, last: int, words: int) -> npt.NDArray[np.uint64]:
    """Return rows of native memory as an array, without a copy."""
    start = ctypes.cast(address + 8 * words * first, ctypes.POINTER(ctypes.c_uint64))
    return np.ctypeslib.as_array(start, (last - first, words))
