"""The visited set of fingerprints, and the two levels kept in memory beside it.

The rows of the newest level are expanded into a buffer for the next one, and released to the system along the
way. When rows outgrow the buffer, `overflow` writes them to the files of their level, from which the level is then
expanded block by block (`source`). So memory holds the table and at most two buffers of rows. Older levels (needed
for traces or a resumed run) are read from the level files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from elrcheck.explorer.kernel.crew import SearchCrew
from elrcheck.explorer.kernel.fingerprint_ir import credit_bits
from elrcheck.explorer.kernel.kernel import Kernel
from elrcheck.explorer.kernel.table_ir import Context, Shared
from elrcheck.explorer.kernel.word_layout import Counts, Rows
from elrcheck.explorer.store.memory import Region
from elrcheck.explorer.store.visited import FIRST_ROWS, LARGEST_SLOTS, STEP, RowSet

LEAST_SPACING = 1 << 12
"""Slots between states whose fingerprints differ only in bits that a slot does not store. At the load below, the
probability of a run of so many taken slots is about 10^-22."""
LOAD = 0.85
GROWTH = ((1 << 30, 1.3), (1 << 62, 1.15))
"""Factors by which a table below that size in bytes grows: small ones where it is most of the memory."""
KEPT_ROWS = 1 << 27
"""Bytes of rows of a level kept in memory, at most; an eighth of the budget if that is less."""


def collision_probability(states: int, bits: int) -> float:
    """Bound the probability that two of n states share a fingerprint: n (n - 1) / 2^(bits + 1)."""
    return min(1.0, states * (states - 1) / 2.0 ** (bits + 1))


class FingerprintSet(RowSet):
    """Table with credits, and the rows of two levels. Row numbers start at the new level.

    overflow: called when the new level has too many rows, which are dropped afterwards; None keeps all of them in
    memory.
    """

    def __init__(self, kernel: Kernel, crew: SearchCrew, budget: int | None = None) -> None:
        super().__init__(kernel, crew, budget)
        self.width = kernel.fingerprint
        self.bits = credit_bits(kernel.instances)
        self.before = 0
        self.released = 0
        self.overflow: Callable[[], None] | None = None
        self.capacity = FIRST_ROWS + 2 * crew.margin
        buffer = KEPT_ROWS if budget is None else min(KEPT_ROWS, budget // 8)
        self.most = max(buffer // (8 * self.words), 4 * crew.margin)
        self.frontier = Region(8 * self.words)
        self.frontier_rows = 0
        self.rows = Region(8 * self.words * self.capacity)
        self.slots = max(LEAST_SPACING << self.bits, int(self.capacity / LOAD) + 1)
        self.table = Region(8 * self.width * self.slots, huge=True)
        self._publish()

    @property
    def count(self) -> int:
        """Number of distinct states so far."""
        return self.before + self.filled

    def move(self, source: int, target: int) -> None:
        rows = self.view(0, self.reserved)
        rows[target] = rows[source]

    # -- levels

    def begin_level(self) -> None:
        """Begin a new level; the newest one becomes the frontier."""
        self.before += self.reserved
        self.frontier, self.rows = self.rows, self.frontier
        self.frontier_rows, self.released = self.reserved, 0
        self.capacity = self.rows.size // (8 * self.words)
        self.shared[Shared.ROWS] = 0
        self._publish()

    def close_level(self) -> None:
        """Close the gaps (`RowSet`), and drop the frontier."""
        super().close_level()
        self.frontier.release(0, self.frontier.size)
        self.frontier_rows = self.released = 0
        self.source = None

    def read_level(self, batches: Iterable[Rows]) -> bool:
        """Add a level that is stored elsewhere; return False if memory does not suffice.

        Its rows stay in memory if they fit into their buffer.
        """
        self.begin_level()
        before, self.overflow = self.before, lambda: None
        for rows in batches:
            if not self.insert(rows):
                return False
        self.close_level()
        self.settle()
        if self.before > before:
            self.drop()
        self.overflow = None
        return True

    def drop(self) -> None:
        """Drop the rows of a closed level, which are stored elsewhere, from memory."""
        self.before += self.reserved
        self.rows.release(0, self.rows.size)
        self.shared[Shared.ROWS] = 0

    def settle(self) -> Counts:
        """Count the new states of the level by instance, and mark them as old."""
        counts = [np.zeros(max(1, self.kernel.instances), np.int64) for _ in self.crew.workers]
        settle, table = self.kernel.functions["settle"], self.table.address
        self.crew.split(0, self.slots, lambda w, a, b: settle(table, a, b, counts[w].ctypes.data))
        total: Counts = np.sum(counts, axis=0)
        return total

    def expanded(self, cursor: int) -> None:
        """Release the rows of the frontier before the cursor to the system."""
        if self.source is None and cursor - self.released >= STEP // 8:
            size = 8 * self.words
            self.frontier.release(size * self.released, size * cursor)
            self.released = cursor

    # -- growth

    @property
    def used_bytes(self) -> int:
        rows = self.reserved + self.frontier_rows - self.released
        return self.slot_bytes * self.slots + 8 * self.words * rows

    @property
    def slot_bytes(self) -> int:
        return 8 * self.width

    @property
    def spacing(self) -> int:
        """No state may lie this many slots behind its home (`fingerprint_ir`)."""
        return (self.slots >> self.bits) - 1

    def make_room(self, more: int = 0) -> int | None:
        need = self.reserved + 2 * self.crew.margin + more
        if need > self.most and self.overflow is not None and self.reserved:
            super().close_level()
            self.overflow()
            self.drop()
            need = 2 * self.crew.margin + more
        if need > self.capacity:
            self.capacity = max(min(2 * self.capacity, self.most), need)
            self.rows.grow(8 * self.words * self.capacity)
        if self.before + need > LOAD * self.slots or self._crowded():
            table = self.slot_bytes * self.slots
            growth = next(factor for below, factor in GROWTH if table < below)
            larger = max(int(growth * self.slots), int((self.before + need) / LOAD) + 1)
            rows = need + self.frontier_rows - self.released
            cost = self.slot_bytes * larger + 8 * self.words * rows
            if larger > LARGEST_SLOTS or (self.budget is not None and cost > self.budget):
                return None
            self._grow_table(larger)
        limit = min(self.capacity, int(LOAD * self.slots) - self.before)
        if self.budget is not None:
            free = self.budget - self.slot_bytes * self.slots
            limit = min(limit, free // (8 * self.words) - self.frontier_rows + self.released)
        self._publish()
        return limit if self.reserved + self.crew.margin + more <= limit else None

    def _crowded(self) -> bool:
        """Return whether a state lies so far from its home that the table has to grow, whatever its load."""
        most = max(int(worker.context[Context.DISPLACED]) for worker in self.crew.workers)
        if most >= self.spacing:
            raise RuntimeError(f"a state lies {most} slots behind its home, of {self.spacing} allowed")
        return 2 * most > self.spacing

    def _grow_table(self, slots: int) -> None:
        old, old_slots = self.table, self.slots
        self.slots, width = slots, 8 * self.width
        self.table = Region(width * slots, huge=True)
        rehash, source, target = self.kernel.functions["rehash"], old.address, self.table.address
        for worker in self.crew.workers:
            worker.context[Context.DISPLACED] = 0
        contexts = [worker.context.ctypes.data for worker in self.crew.workers]
        for first in range(0, old_slots, STEP):
            last = min(first + STEP, old_slots)
            self.crew.split(first, last, lambda w, a, b: rehash(source, a, b, old_slots, target, slots, contexts[w]))
            old.release(width * first, width * last)
        self._publish()
