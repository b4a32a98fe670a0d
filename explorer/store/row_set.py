"""Common base of both kinds of visited set: rows that workers reserve in blocks, and insertion."""

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
