"""The layout of packed states, and the successors of such states.

A state is a row of 64-bit words. A leaf is stored as value - lo in just enough bits and never straddles
two words, so reading it takes one shift and one mask. First-fit decreasing keeps the number of words at or
near the minimum; ties keep leaf order, so a program always packs the same way. A leaf with one possible
value takes no bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from elrcheck.lang.lowering.program import Leaf

Words = npt.NDArray[np.uint64]
Rows = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int64]
Counts = npt.NDArray[np.int64]
Whos = npt.NDArray[np.uint16]
"""Words, rows of them, numbers, counts, and the instances credited with rows."""
WORD = 64


@dataclass(frozen=True)
class WordSlot:
    """Place of one leaf: word, shift, width in bits, and the value stored as 0."""

    word: int
    shift: int
    bits: int
    lo: int

    @property
    def mask(self) -> int:
        """The mask of the leaf's bits, unshifted."""
        return (1 << self.bits) - 1


@dataclass(frozen=True)
class WordLayout:
    """Slots in leaf order, and the number of words (at least 1)."""

    slots: tuple[WordSlot, ...]
    words: int

    @property
    def used_bits(self) -> int:
        return sum(slot.bits for slot in self.slots)

    def pack(self, values: Sequence[int]) -> tuple[int, ...]:
        """Return the words of one state."""
        row = [0] * self.words
        for slot, value in zip(self.slots, values, strict=True):
            row[slot.word] |= (value - slot.lo) << slot.shift
        return tuple(row)

    def unpack(self, row: Sequence[int]) -> tuple[int, ...]:
        """Return the leaf values of one state."""
        return tuple((int(row[s.word]) >> s.shift & s.mask) + s.lo for s in self.slots)

    def column(self, rows: Words, leaf: int) -> Ints:
        """Return the values of one leaf in many states."""
        slot = self.slots[leaf]
        stored = (rows[:, slot.word] >> np.uint64(slot.shift)) & np.uint64(slot.mask)
        values: Ints = stored.astype(np.int64) + slot.lo
        return values

    def columns(self, rows: Words) -> list[Ints]:
        """Return the values of every leaf in many states."""
        return [self.column(rows, leaf) for leaf in range(len(self.slots))]

    def pack_columns(self, columns: Sequence[Ints], count: int) -> Words:
        """Pack `count` states; columns[i] has the values of leaf i."""
        rows = np.zeros((count, self.words), np.uint64)
        for slot, column in zip(self.slots, columns, strict=True):
            rows[:, slot.word] |= (column - slot.lo).astype(np.uint64) << np.uint64(slot.shift)
        return rows

    def pack_rows(self, states: Sequence[Sequence[int]]) -> Words:
        """Pack many states into an array of rows."""
        rows = np.zeros((len(states), self.words), np.uint64)
        for i, state in enumerate(states):
            rows[i] = self.pack(state)
        return rows


@dataclass(frozen=True)
class Successors:
    """Every transition from the given states that stays inside the bound, in no particular order.

    rows: the packed successors; sources: index of the predecessor among the given states; instances: the
    instance that fired; flags: per transition, bit c % 64 of word c // 64 is set if it hits step check c;
    enabled: for each given state, the number of instances enabled in it.
    """

    rows: Words
    sources: Ints
    instances: Ints
    flags: Words
    enabled: Ints

    def hits(self, check: int) -> npt.NDArray[np.bool_]:
        """Return which transitions hit a step check."""
        hit: npt.NDArray[np.bool_] = self.flags[:, check // 64] >> np.uint64(check % 64) & np.uint64(1) != 0
        return hit


def make_layout(leaves: Sequence[Leaf]) -> WordLayout:
    """Assign places to the leaves, wide ones first."""
    slots: dict[int, WordSlot] = {}
    used: list[int] = []
    for index in sorted(range(len(leaves)), key=lambda i: -leaves[i].bits):
        leaf = leaves[index]
        word = next((w for w, taken in enumerate(used) if taken + leaf.bits <= WORD), len(used))
        if leaf.bits == 0:
            slots[index] = WordSlot(0, 0, 0, leaf.lo)
            continue
        if word == len(used):
            used.append(0)
        slots[index] = WordSlot(word, used[word], leaf.bits, leaf.lo)
        used[word] += leaf.bits
    return WordLayout(tuple(slots[i] for i in range(len(leaves))), max(1, len(used)))
