"""The visited set: rows in discovery order, the table that finds them, and their growth.

Rows and slots live in anonymous memory mappings that are only backed by memory where they were
touched, so capacity is free and only use counts. On Linux a mapping grows without being copied, and
the table, where every access misses, asks for huge pages. Doubling the table hands the old one back
to the system while it is read (`@rehash` goes through both front to back), so growth needs no more
memory than the new table alone.
"""

from __future__ import annotations

import contextlib
import mmap
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from elrcheck.explorer.kernel import CHUNK, Kernel
from elrcheck.explorer.table_ir import ROW_BLOCK, Context, Shared

Rows = npt.NDArray[np.uint64]
FIRST_ROWS = 1 << 16
FIRST_SLOT_BITS = 14
LARGEST_SLOT_BITS = 32
LOAD = 0.7
TIGHT_LOAD = 0.88
"""Load factors at which the table doubles, and up to which it is filled when memory does not allow that."""
REHASH_STEP = 1 << 20


class Region:
    """Zeroed memory that can grow. Views must be dropped before it grows."""

    def __init__(self, size: int, huge: bool = False) -> None:
        self.size = max(size, mmap.PAGESIZE)
        self.huge = huge
        self._map = self._new(self.size)

    def _new(self, size: int) -> mmap.mmap:
        made = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self._advise(made)
        return made

    def _advise(self, made: mmap.mmap) -> None:
        if self.huge and hasattr(mmap, "MADV_HUGEPAGE"):
            with contextlib.suppress(OSError):
                made.madvise(mmap.MADV_HUGEPAGE)

    def array(self, dtype: Any = np.uint64) -> npt.NDArray[Any]:
        return np.frombuffer(self._map, dtype)

    @property
    def address(self) -> int:
        return int(self.array(np.uint8).ctypes.data)

    def grow(self, size: int) -> None:
        """At least `size` bytes; the address may change."""
        try:
            self._map.resize(size)
        except (OSError, SystemError, ValueError):
            larger = self._new(size)
            larger[: self.size] = self._map[:]
            self._map = larger
        self.size = size
        self._advise(self._map)

    def release(self, start: int, end: int) -> None:
        """Give the memory of a range back; its contents are lost."""
        if hasattr(mmap, "MADV_DONTNEED"):
            with contextlib.suppress(OSError, ValueError):
                self._map.madvise(mmap.MADV_DONTNEED, start, end - start)


class Visited:
    """Rows, table and credits of one search, and the structs through which native code sees them."""

    def __init__(self, kernel: Kernel, workers: int, memory: int | None, expected: int | None) -> None:
        self.kernel = kernel
        self.words = kernel.layout.words
        self.memory = memory
        self.margin = workers * (CHUNK * max(1, len(kernel.program.instances)) + ROW_BLOCK)
        self.shared = np.zeros(Shared.SIZE, np.int64)
        self.contexts = [_context(kernel) for _ in range(workers)]
        wanted = max(FIRST_ROWS, expected or 0) + 2 * self.margin
        self.capacity = wanted
        self.slot_bits = FIRST_SLOT_BITS
        while wanted > LOAD * (1 << self.slot_bits):
            self.slot_bits += 1
        self.rows = Region(8 * self.words * self.capacity)
        self.credit = Region(2 * self.capacity)
        self.table = Region(8 << self.slot_bits, huge=True)
        self._publish()

    def _publish(self) -> None:
        s = self.shared
        s[Shared.STATES] = self.rows.address
        s[Shared.TABLE] = self.table.address
        s[Shared.SHIFT] = 64 - self.slot_bits
        s[Shared.MASK] = (1 << self.slot_bits) - 1
        s[Shared.CREDIT] = self.credit.address - 2 * int(s[Shared.NEW_BASE])
        s[Shared.MARGIN] = self.margin

    @property
    def reserved(self) -> int:
        """Rows taken by workers, used or not."""
        return int(self.shared[Shared.ROWS])

    @property
    def count(self) -> int:
        """Rows in use."""
        return self.reserved - sum(int(c[Context.ROW_END] - c[Context.ROW]) for c, _ in self.contexts)

    def view(self, first: int, last: int) -> Rows:
        """Some rows; drop the view before the set grows."""
        return self.rows.array()[first * self.words : last * self.words].reshape(-1, self.words)

    def insert(self, rows: Rows) -> None:
        """Put the initial states in."""
        memory, self.memory = self.memory, None  # a limit stops the search, not its start
        self.make_room(len(rows))
        self.memory = memory
        flat = np.ascontiguousarray(rows)
        context = self.contexts[0][0]
        self.kernel.functions["insert_rows"](
            self.shared.ctypes.data, context.ctypes.data, flat.ctypes.data, len(flat)
        )
        self.close_level()

    # -- levels

    def begin_level(self) -> None:
        """What is stored from now on belongs to a new level."""
        self.shared[Shared.NEW_BASE] = self.reserved
        self._publish()

    def close_level(self) -> None:
        """Close the gaps that reserved rows leave, so that rows are contiguous again."""
        gaps: set[int] = set()
        for context, _ in self.contexts:
            gaps.update(range(int(context[Context.ROW]), int(context[Context.ROW_END])))
            context[Context.ROW] = context[Context.ROW_END] = 0
        total = self.reserved - len(gaps)
        movable = (row for row in range(total, self.reserved) if row not in gaps)
        for gap in sorted(gaps):
            if gap < total:
                self.kernel.functions["relocate"](self.shared.ctypes.data, next(movable), gap)
        self.shared[Shared.ROWS] = total

    def credits(self, first: int, last: int) -> npt.NDArray[np.int64]:
        """Per instance, the number of rows of the current level that are credited to it."""
        base = int(self.shared[Shared.NEW_BASE])
        total = np.zeros(max(1, len(self.kernel.program.instances)), np.int64)
        numbers = self.credit.array(np.uint16)
        for start in range(first, last, REHASH_STEP):
            part = numbers[start - base : min(start + REHASH_STEP, last) - base]
            total += np.bincount(part, minlength=len(total))
        return total

    # -- growth

    @property
    def used_bytes(self) -> int:
        """Memory of rows and table in use."""
        return 8 * self.words * self.reserved + (8 << self.slot_bits)

    def make_room(self, more: int = 0) -> int | None:
        """Grow so that every worker can go on.

        Gives the number of rows that may be reserved, or None if the memory limit does not allow it.
        """
        need = self.reserved + 2 * self.margin + more
        if need > self.capacity:
            self.capacity = max(2 * self.capacity, need)
            self.rows.grow(8 * self.words * self.capacity)
            self.credit.grow(2 * self.capacity)
        load = LOAD
        while need > load * (1 << self.slot_bits):
            if self.slot_bits == LARGEST_SLOT_BITS or not self._affordable(need, self.slot_bits + 1):
                if load == TIGHT_LOAD:
                    return None
                load = TIGHT_LOAD
            else:
                self._double()
        limit = min(self.capacity, int(load * (1 << self.slot_bits)))
        if self.memory is not None:
            limit = min(limit, (self.memory - (8 << self.slot_bits)) // (8 * self.words + 2))
        self._publish()
        return limit if self.reserved + self.margin + more <= limit else None

    def _affordable(self, rows: int, slot_bits: int) -> bool:
        return self.memory is None or (8 * self.words + 2) * rows + (8 << slot_bits) <= self.memory

    def _double(self) -> None:
        old, old_size = self.table, 1 << self.slot_bits
        self.slot_bits += 1
        self.table = Region(8 << self.slot_bits, huge=True)
        source, target = old.address, self.table.address
        for first in range(0, old_size, REHASH_STEP):
            last = min(first + REHASH_STEP, old_size)
            self.kernel.functions["rehash"](
                source, first, last, old_size - 1, target, 64 - self.slot_bits, (1 << self.slot_bits) - 1
            )
            old.release(8 * first, 8 * last)


def _context(kernel: Kernel) -> tuple[npt.NDArray[np.int64], Sequence[npt.NDArray[Any]]]:
    """The struct of one worker and the arrays it points to."""
    room = CHUNK * max(1, len(kernel.program.instances))
    records = np.empty((room, kernel.record.size), np.uint64)
    hashes = np.empty(room, np.uint64)
    counters = np.zeros(kernel.counters.size, np.int64)
    fired = np.empty(CHUNK, np.int64)
    context = np.zeros(Context.FLAGS + max(1, kernel.record.flag_words), np.int64)
    context[Context.RECORDS] = records.ctypes.data
    context[Context.HASHES] = hashes.ctypes.data
    context[Context.COUNTERS] = counters.ctypes.data
    context[Context.FIRED] = fired.ctypes.data
    return context, (counters, records, hashes, fired)
