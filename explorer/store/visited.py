"""The visited set of whole states: rows in discovery order, and the hash table that refers to them.

Its base, which the set of fingerprints shares, is rows that workers reserve in blocks, and insertion. While the table
grows, the old table is released to the system as it is read (`@rehash` reads and writes sequentially), so growth needs
no more memory than the new table alone. Each worker moves a part of a large table; the edges of the parts are moved
when all workers are done.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import numpy.typing as npt

from elrcheck.explorer.kernel.crew import SearchCrew
from elrcheck.explorer.kernel.kernel import Kernel
from elrcheck.explorer.kernel.table_ir import Context, Shared
from elrcheck.explorer.kernel.word_layout import Counts, Rows
from elrcheck.explorer.store.memory import Region


class RowSet(ABC):
    """Rows, and the struct through which native code accesses them and the table.

    budget: limit on the total size in bytes, None for no limit. frontier: has the rows to expand, unless `source` is
    their address.
    """

    rows: Region
    frontier: Region
    table: Region
    slots: int

    def __init__(self, kernel: Kernel, crew: SearchCrew, budget: int | None) -> None:
        self.kernel, self.crew, self.budget = kernel, crew, budget
        self.words = kernel.layout.words
        self.source: int | None = None
        self.shared: Counts = np.zeros(Shared.SIZE, np.int64)
        self.shared[Shared.THIN] = -1 if crew.leave_out else 0

    def _publish(self) -> None:
        """Write addresses and sizes into the struct."""
        s = self.shared
        s[Shared.STATES] = self.rows.address
        s[Shared.FRONTIER] = self.frontier.address if self.source is None else self.source
        s[Shared.TABLE] = self.table.address
        s[Shared.SLOTS] = self.slots
        s[Shared.MARGIN] = self.crew.margin

    @abstractmethod
    def make_room(self, more: int = 0) -> int | None:
        """Grow so that every worker can continue.

        Return the number of rows that may be reserved, or None if the budget does not allow it.
        """

    @abstractmethod
    def move(self, source: int, target: int) -> None:
        """Move a row of the newest level to an unused place."""

    @property
    @abstractmethod
    def used_bytes(self) -> int:
        """Bytes used by the table and the rows in use."""

    @property
    def reserved(self) -> int:
        """Number of rows reserved by workers, used or not."""
        return int(self.shared[Shared.ROWS])

    @property
    def filled(self) -> int:
        """Number of rows in use."""
        unused = (int(w.context[Context.ROW_END] - w.context[Context.ROW]) for w in self.crew.workers)
        return self.reserved - sum(unused)

    def view(self, first: int, last: int) -> Rows:
        """Return a view of the rows first..last; drop it before the set grows."""
        return self.rows.array()[first * self.words : last * self.words].reshape(-1, self.words)

    def start(self, rows: Rows) -> None:
        """Insert the initial states, whatever the budget: a limit may stop the search, but not its start."""
        budget, self.budget = self.budget, None
        self.insert(rows)
        self.budget = budget
        self.close_level()

    def insert(self, rows: Rows, whos: npt.NDArray[np.uint16] | None = None) -> bool:
        """Insert states, credited to instances `whos`; return False if memory does not suffice."""
        flat = np.ascontiguousarray(rows)
        credited = np.zeros(len(flat), np.uint16) if whos is None else np.ascontiguousarray(whos)
        if self.make_room(len(flat)) is None:
            return False
        insert, shared, size = self.kernel.functions["insert_rows"], self.shared.ctypes.data, 8 * self.words
        to, who = flat.ctypes.data, credited.ctypes.data
        contexts = [worker.context.ctypes.data for worker in self.crew.workers]
        self.crew.split(0, len(flat), lambda w, a, b: insert(shared, contexts[w], to + size * a, b - a, who + 2 * a))
        return True

    def close_level(self) -> None:
        """Close the gaps left by unused reserved rows, so that rows are contiguous again."""
        gaps: set[int] = set()
        for worker in self.crew.workers:
            context = worker.context
            gaps.update(range(int(context[Context.ROW]), int(context[Context.ROW_END])))
            context[Context.ROW] = context[Context.ROW_END] = 0
        total = self.reserved - len(gaps)
        movable = (row for row in range(total, self.reserved) if row not in gaps)
        for gap in sorted(gaps):
            if gap < total:
                self.move(next(movable), gap)
        self.shared[Shared.ROWS] = total


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
