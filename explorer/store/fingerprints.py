"""The visited set of fingerprints, and the two levels kept in memory beside it.

The rows of the newest level are expanded into a buffer for the next one; expanded rows are released to the
system along the way, so memory holds the table and little more than one level. Older levels (needed for
traces or a resumed run) are read from the level files.
"""

from __future__ import annotations

import numpy as np

from elrcheck.explorer.kernel.crew import Crew
from elrcheck.explorer.kernel.kernel import Kernel
from elrcheck.explorer.kernel.table_ir import Shared
from elrcheck.explorer.store.memory import Region
from elrcheck.explorer.store.row_set import Counts, RowSet
from elrcheck.explorer.store.visited import FIRST_ROWS, LARGEST_SLOTS, STEP

FIRST_SLOTS = 1 << 13
GROWTH = 1.3
LOAD = 0.85


def collision_probability(states: int, bits: int) -> float:
    """Bound the probability that two of n states share a fingerprint: n (n - 1) / 2^(bits + 1)."""
    return min(1.0, states * (states - 1) / 2.0 ** (bits + 1))


class FingerprintSet(RowSet):
    """Table, credits and the rows of two levels. Row numbers start at the new level."""

    def __init__(self, kernel: Kernel, crew: Crew, budget: int | None = None) -> None:
        super().__init__(kernel, crew, budget)
        self.width = kernel.fingerprint
        self.before = 0
        self.released = 0
        self.capacity = FIRST_ROWS + 2 * crew.margin
        self.frontier = Region(8 * self.words)
        self.frontier_rows = 0
        self.rows = Region(8 * self.words * self.capacity)
        self.slots = -(-max(FIRST_SLOTS, int(self.capacity / LOAD)) // 4) * 4
        self.table = Region(8 * self.width * self.slots, huge=True)
        self.credit = Region(2 * self.slots, huge=True)
        self._publish()

    def _publish(self) -> None:
        s = self.shared
        s[Shared.STATES], s[Shared.FRONTIER] = self.rows.address, self.frontier.address
        s[Shared.TABLE], s[Shared.CREDIT] = self.table.address, self.credit.address
        s[Shared.SLOTS] = self.slots
        s[Shared.MARGIN] = self.crew.margin

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
        """Close the level as in every set, and drop the frontier."""
        super().close_level()
        self.frontier.release(0, self.frontier.size)
        self.frontier_rows = self.released = 0

    def settle(self) -> Counts:
        """Count the new states of the level by instance, and mark them as old."""
        counts = [
            np.zeros(max(1, self.kernel.instances), np.int64) for _ in self.crew.workers
        ]
        settle, credit = self.kernel.functions["settle"], self.credit.address
        self.crew.split(
            0, self.slots // 4, lambda w, a, b: settle(credit, 4 * a, 4 * b, counts[w].ctypes.data)
        )
        total: Counts = np.sum(counts, axis=0)
        return total

    def expanded(self, cursor: int) -> None:
        """Release the rows of the frontier before the cursor to the system."""
        if cursor - self.released >= STEP // 8:
            size = 8 * self.words
            self.frontier.release(size * self.released, size * cursor)
            self.released = cursor

    # -- growth

    @property
    def used_bytes(self) -> int:
        """Bytes used by the table, the credits and the rows in use."""
        rows = self.reserved + self.frontier_rows - self.released
        return self.slot_bytes * self.slots + 8 * self.words * rows

    @property
    def slot_bytes(self) -> int:
        return 8 * self.width + 2

    def make_room(self, more: int = 0) -> int | None:
        need = self.reserved + 2 * self.crew.margin + more
        if need > self.capacity:
            self.capacity = max(2 * self.capacity, need)
            self.rows.grow(8 * self.words * self.capacity)
        if self.before + need > LOAD * self.slots:
            wanted = max(int(GROWTH * self.slots), int((self.before + need) / LOAD) + 1)
            wanted = -(-wanted // 4) * 4
            rows = need + self.frontier_rows - self.released
            cost = self.slot_bytes * wanted + 8 * self.words * rows
            if wanted > LARGEST_SLOTS or (self.budget is not None and cost > self.budget):
                return None
            self._grow_table(wanted)
        limit = min(self.capacity, int(LOAD * self.slots) - self.before)
        if self.budget is not None:
            free = self.budget - self.slot_bytes * self.slots
            limit = min(limit, free // (8 * self.words) - self.frontier_rows + self.released)
        self._publish()
        return limit if self.reserved + self.crew.margin + more <= limit else None

    def _grow_table(self, slots: int) -> None:
        old, old_credit, old_slots = self.table, self.credit, self.slots
        self.slots, width = slots, 8 * self.width
        self.table, self.credit = Region(width * slots, huge=True), Region(2 * slots, huge=True)
        for first in range(0, old_slots, STEP):
            last = min(first + STEP, old_slots)
            self.kernel.functions["rehash"](
                old.address, old_credit.address, first, last, self.table.address, self.credit.address, slots
            )
            old.release(width * first, width * last)
            old_credit.release(2 * first, 2 * last)
        self._publish()
