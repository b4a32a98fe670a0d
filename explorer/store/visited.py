"""The visited set of whole states: rows in discovery order, and the hash table that refers to them.

While the table grows, the old table is released to the system as it is read (`@rehash` reads and writes
sequentially), so growth needs no more memory than the new table alone. Each worker moves a part of a large table; the
edges of the parts are moved when all workers are done.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from elrcheck.explorer.kernel.crew import SearchCrew
from elrcheck.explorer.kernel.kernel import Kernel
from elrcheck.explorer.kernel.table_ir import Shared
from elrcheck.explorer.kernel.word_layout import Counts, Rows
from elrcheck.explorer.store.memory import Region
from elrcheck.explorer.store.row_set import RowSet

FIRST_ROWS = 1 << 12
FIRST_SLOTS = 1 << 18
LARGEST_SLOTS = 1 << 34
LARGE_GROWTH = 1.5
GROWTH = ((1 << 19, 4), (1 << 27, 2), (1 << 62, LARGE_GROWTH))
"""Factors by which a table with fewer slots grows: large ones for a small table, which a short search would otherwise
grow often; a small one for a large table, which is most of the memory."""
LOAD = 0.6
TIGHT_LOAD = 0.9
"""Load factor at which the table grows, and the one up to which it is filled if memory forbids growth."""
STEP = 1 << 20
APART, SPLIT_SLOTS = 1 << 14, 1 << 18
"""Distance in slots that workers keep while they move parts of a table, and minimum size of a part. Slots keep their
order, so two workers meet only in a run of as many taken slots: at the tight load its probability is below 10^-35."""


def histogram(numbers: npt.NDArray[np.uint16], size: int) -> Counts:
    """Count the occurrences of each of 0..size-1, in pieces, because bincount makes 64-bit copies."""
    total = np.zeros(size, np.int64)
    for start in range(0, len(numbers), STEP):
        total += np.bincount(numbers[start : start + STEP], minlength=size)
    return total


def positions_of(numbers: npt.NDArray[np.unsignedinteger], size: int) -> list[npt.NDArray[np.int64]]:
    """Return the positions of each of 0..size-1, in order; small types sort fast."""
    order = np.argsort(numbers, kind="stable")
    return np.split(order, np.searchsorted(numbers[order], np.arange(1, size, dtype=numbers.dtype)))


class ExactSet(RowSet):
    """Rows, table and credits, and the struct through which native code accesses them.

    The credits of the level being expanded are kept too, if it was built in this set, so that steps can be left out.
    """

    def __init__(self, kernel: Kernel, crew: SearchCrew, budget: int | None = None, expected: int = 0) -> None:
        super().__init__(kernel, crew, budget)
        self.base, self.base_before = 0, 0
        self._stepped = self._stepped_before = False
        rows = max(FIRST_ROWS, expected) + 2 * crew.margin
        self.capacity = rows
        self.slots = self._first_slots(rows)
        self.rows = self.frontier = Region(8 * self.words * self.capacity, huge=True)
        self.credit, self.credit_before = Region(2 * self.capacity), Region(2 * self.capacity)
        self.table = Region(8 * self.slots, huge=True)
        self._publish()

    def _publish(self) -> None:
        super()._publish()
        s = self.shared
        s[Shared.MASK] = (1 << self.slots.bit_length()) - 1
        s[Shared.CREDIT] = self.credit.address - 2 * self.base
        credited = self.crew.leave_out and self.source is None and self._stepped_before
        s[Shared.FRONTIER_CREDIT] = self.credit_before.address - 2 * self.base_before if credited else 0
        s[Shared.NEW_BASE] = self.base

    @property
    def count(self) -> int:
        """Number of distinct states so far."""
        return self.filled

    def move(self, source: int, target: int) -> None:
        self.kernel.functions["relocate"](self.shared.ctypes.data, source, target)

    # -- levels

    def begin_level(self) -> None:
        """Begin a new level; rows stored from now on belong to it."""
        self.credit, self.credit_before = self.credit_before, self.credit
        self.base_before, self.base = self.base, self.reserved
        self._stepped_before, self._stepped = self._stepped, True
        self._publish()

    def insert(self, rows: Rows, whos: npt.NDArray[np.uint16] | None = None) -> bool:
        """See `RowSet`. The steps that lead into a level with such rows are unknown."""
        self._stepped = False
        return super().insert(rows, whos)

    def clear(self) -> None:
        """Drop all states, and release the memory of their rows to the system."""
        self.rows.release(0, self.rows.size)
        self.table = Region(8 * self.slots, huge=True)
        self.shared[Shared.ROWS] = 0
        self.base = self.base_before = 0
        self._stepped = self._stepped_before = False
        self._publish()

    def credits(self) -> npt.NDArray[np.uint16]:
        """Return a view with the instance credited with each row of the current level."""
        numbers: npt.NDArray[np.uint16] = self.credit.array(np.uint16)[: self.reserved - self.base]
        return numbers

    # -- growth

    @property
    def used_bytes(self) -> int:
        return 8 * self.words * self.reserved + 8 * self.slots

    @property
    def row_bytes(self) -> int:
        return 8 * self.words + 2

    def expanded(self, cursor: int) -> None:
        """Keep the rows, because new states are compared with them."""

    def make_room(self, more: int = 0) -> int | None:
        need = self.reserved + 2 * self.crew.margin + more
        if need > self.capacity:
            self.capacity = max(2 * self.capacity, need)
            self.rows.grow(8 * self.words * self.capacity)
            self.credit.grow(2 * self.capacity)
            self.credit_before.grow(2 * self.capacity)
        load = LOAD
        while need > load * self.slots:
            larger = self._larger(need)
            if larger > self.slots:
                self._grow_table(larger)
            elif load == TIGHT_LOAD:
                return None
            else:
                load = TIGHT_LOAD
        limit = min(self.capacity, int(load * self.slots))
        if self.budget is not None:
            limit = min(limit, (self.budget - 8 * self.slots) // self.row_bytes)
        self._publish()
        return limit if self.reserved + self.crew.margin + more <= limit else None

    def _first_slots(self, rows: int) -> int:
        """Return the number of slots for the expected rows, fewer if the budget requires it."""
        slots = max(FIRST_SLOTS, int(rows / LOAD) + 1)
        if self.budget is None:
            return slots
        room = (self.budget - self.row_bytes * rows) // 8
        return max(min(slots, room), int(rows / TIGHT_LOAD) + 1)

    def _larger(self, rows: int) -> int:
        """Return the number of slots to grow to; at most the current one if budget or format is exhausted."""
        growth = next(factor for below, factor in GROWTH if self.slots < below)
        larger = min(max(int(growth * self.slots), int(rows / LOAD) + 1), LARGEST_SLOTS)
        if self.budget is None or self.row_bytes * rows + 8 * larger <= self.budget:
            return larger
        tight = int(self.budget / (8 + TIGHT_LOAD * self.row_bytes))
        return tight if tight > 1.05 * self.slots else 0

    def _grow_table(self, slots: int) -> None:
        old, old_slots, old_mask = self.table, self.slots, int(self.shared[Shared.MASK])
        self.slots = slots
        self.table = Region(8 * slots, huge=True)
        source, target, mask = old.address, self.table.address, (1 << slots.bit_length()) - 1

        def rehash(first: int, last: int) -> None:
            for start in range(first, last, STEP):
                end = min(start + STEP, last)
                self.kernel.functions["rehash"](source, start, end, old_mask, target, slots, mask)
                old.release(8 * start, 8 * end)

        parts: list[tuple[int, int]] = []

        def inner(_: int, first: int, last: int) -> None:
            parts.append((first, last))
            rehash(first + APART, last - APART)

        if old_slots < len(self.crew.workers) * SPLIT_SLOTS:
            rehash(0, old_slots)
        else:
            self.crew.split(0, old_slots, inner)
            for first, last in parts:
                rehash(first, first + APART)
                rehash(last - APART, last)
        self._publish()
