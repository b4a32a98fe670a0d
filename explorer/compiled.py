"""The compiled search: level-synchronous breadth-first over native code.

Each level is a range of rows in one array. `search` expands the range on one or more threads and
appends what is new; then the state checks run over the new rows. Counts, diameter and depths do not
depend on the number of threads. Traces are found afterwards (`retrace`), so no parents are stored.
"""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from elrcheck.explorer.layout import make_layout
from elrcheck.explorer.native_code import KernelCache, Native, compile_module
from elrcheck.explorer.native_expand import Counters
from elrcheck.explorer.native_search import CHUNK, NARROW, build_module
from elrcheck.explorer.program import Program
from elrcheck.explorer.result import LevelStats, Limits, SearchResult

Cells = npt.NDArray[np.uint64]
LOAD = 0.6
SLICE = 1 << 19
"""Rows handed to native code at once, so that an interrupt and the clock are looked at."""


def default_workers() -> int:
    """As many threads as this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Search:
    """One search over one program; `run` explores, `retrace` rebuilds traces."""

    def __init__(self, program: Program, *, workers: int, cache: KernelCache | None, limits: Limits) -> None:
        self.program, self.workers, self.limits = program, workers, limits
        self.layout = make_layout(program.leaves)
        self.counters = Counters(len(program.instances), len(program.leaves), len(program.checks))
        started = time.perf_counter()
        self.native: Native = compile_module(build_module(program, self.layout, self.counters), cache)
        self.compile_seconds = time.perf_counter() - started
        words = self.layout.words
        self.room = CHUNK * max(1, len(program.instances))
        self.scratch = [
            (
                np.empty((self.room, words), np.uint64),
                np.empty(self.room, np.uint64),
                np.empty(self.room, np.uint64),
            )
            for _ in range(workers)
        ]
        self.cells: list[Cells] = [np.zeros(self.counters.size, np.uint64) for _ in range(workers)]
        self.states = np.empty((self._first_room(), words), np.uint64)
        self.table = np.zeros(1 << 16, np.uint64)
        self.count = np.zeros(1, np.uint64)
        self.starts = [0]
        self.first: dict[int, int] = {}

    def _first_room(self) -> int:
        return 1 << 18

    # ------------------------------------------------------------------------- exploring

    def run(self, progress: Callable[[LevelStats], None] | None, stop: str) -> SearchResult:
        started = time.perf_counter()
        self._begin()
        reason: str | None = None
        depth = 0
        while reason is None and self.starts[-1] < self.distinct:
            lo, hi = self.starts[-1], self.distinct
            self._note(depth, lo, hi)
            if stop == "first" and self._failed():
                reason = "--stop-at-first"
                break
            if self.limits.max_depth is not None and depth >= self.limits.max_depth:
                reason = f"--max-depth {self.limits.max_depth}"
                break
            self.starts.append(hi)
            depth += 1
            reason = self._expand(lo, hi, depth, started, progress)
            self._note_steps(depth)
        if reason is not None and self.starts[-1] < self.distinct:
            self._note(depth, self.starts[-1], self.distinct)
        return self._result(reason, time.perf_counter() - started)

    @property
    def distinct(self) -> int:
        return int(self.count[0])

    def _begin(self) -> None:
        rows = np.unique(self.layout.pack_rows(self.program.init), axis=0)
        self.states[: len(rows)] = rows
        self.count[0] = len(rows)
        self._call("rehash", self.states, self.table, len(self.table) - 1, 0, len(rows))

    def _expand(
        self, lo: int, hi: int, depth: int, started: float, progress: Callable[[LevelStats], None] | None
    ) -> str | None:
        """Expand the rows lo..hi; the reason if a limit stopped it."""
        ticket = np.array([lo], np.uint64)
        while int(ticket[0]) < hi:
            stopped = self._make_room()
            if stopped is not None:
                return stopped
            end = min(hi, int(ticket[0]) + SLICE)
            self._search(ticket, end)
            ticket[0] = min(int(ticket[0]), end)
            seconds = time.perf_counter() - started
            if progress is not None:
                progress(
                    LevelStats(depth, hi - lo, int(ticket[0]) - lo, self.generated, self.distinct, seconds)
                )
            if self.limits.seconds is not None and seconds > self.limits.seconds and int(ticket[0]) < hi:
                return f"--time-budget {self.limits.seconds:g}s"
            if self.limits.max_states is not None and self.distinct >= self.limits.max_states:
                return f"--max-states {self.limits.max_states}"
        if self.limits.seconds is not None and time.perf_counter() - started > self.limits.seconds:
            return f"--time-budget {self.limits.seconds:g}s" if self.distinct > hi else None
        return None

    def _search(self, ticket: Cells, end: int) -> None:
        margin = self.workers * self.room
        limit = min(int(len(self.table) * LOAD), len(self.states)) - margin

        def work(worker: int) -> None:
            out, origin, hashes = self.scratch[worker]
            self._call("search", self.states, self.table, len(self.table) - 1, ticket, end, self.count, limit,
                       out, origin, hashes, self.cells[worker])  # fmt: skip

        if self.workers == 1 or end - int(ticket[0]) < 4 * CHUNK:
            work(0)
        else:
            with ThreadPoolExecutor(self.workers) as pool:
                list(pool.map(work, range(self.workers)))

    def _make_room(self) -> str | None:
        """Grow the array and the table ahead of need; the reason if memory does not allow it."""
        margin = self.workers * self.room
        need = self.distinct + 2 * margin
        if need > len(self.states):
            larger = max(2 * len(self.states), need)
            if self._too_much(larger, len(self.table)):
                return f"--memory {self.limits.memory_bytes}"
            grown = np.empty((larger, self.layout.words), np.uint64)
            grown[: self.distinct] = self.states[: self.distinct]
            self.states = grown
        size = len(self.table)
        while need > size * LOAD:
            size *= 2
        if size != len(self.table):
            size *= 2
            if self._too_much(len(self.states), size):
                return f"--memory {self.limits.memory_bytes}"
            self.table = np.zeros(size, np.uint64)
            self._call("rehash", self.states, self.table, size - 1, 0, self.distinct)
        return None

    def _too_much(self, rows: int, slots: int) -> bool:
        cap = self.limits.memory_bytes
        return cap is not None and 8 * (rows * self.layout.words + slots) > cap

    # ------------------------------------------------------------------------- checks

    def _note(self, depth: int, lo: int, hi: int) -> None:
        """Run the state checks over new rows."""
        cells = [np.zeros(self.counters.size, np.uint64) for _ in range(self.workers)]
        self._split(lo, hi, lambda w, a, b: self._call("check", self.states, a, b, cells[w]))
        self._first_hits(np.sum(cells, axis=0), depth)

    def _note_steps(self, depth: int) -> None:
        total = np.sum(self.cells, axis=0)
        self._first_hits(total, depth)

    def _first_hits(self, cells: Cells, depth: int) -> None:
        for check in range(len(self.program.checks)):
            if cells[self.counters.hits + check]:
                self.first.setdefault(check, depth)

    def _failed(self) -> bool:
        return any(self.program.checks[check].kind == "always" for check in self.first)

    # ------------------------------------------------------------------------- results

    @property
    def generated(self) -> int:
        enabled = sum(int(cells[: self.counters.instances].sum()) for cells in self.cells)
        return enabled + len(self.program.init)

    def _result(self, reason: str | None, seconds: float) -> SearchResult:
        c = self.counters
        total = np.sum(self.cells, axis=0)
        overflow = {i: int(n) for i, n in enumerate(total[c.overflow : c.overflow + c.leaves]) if n}
        if overflow and reason is None:
            worst = ", ".join(self.program.leaves[i].path for i in overflow)
            reason = f"numbers outgrew their room: {worst}"
        enabled = [int(n) for n in total[: c.instances]]
        stored = [int(n) for n in total[c.stored : c.stored + c.instances]]
        bounds = [*self.starts, self.distinct]
        sizes = [b - a for a, b in itertools.pairwise(bounds) if b > a]
        return SearchResult(
            complete=reason is None,
            reason=reason,
            generated=self.generated,
            distinct=self.distinct,
            levels=tuple(sizes),
            seconds=seconds,
            compile_seconds=self.compile_seconds,
            bytes_per_state=(self.states[: self.distinct].nbytes + self.table.nbytes)
            // max(1, self.distinct),
            workers=self.workers,
            enabled=enabled,
            cut=[max(0, e - s) for e, s in zip(enabled, stored, strict=True)],
            new_states=[int(n) for n in total[c.fresh : c.fresh + c.instances]],
            deadlocks=int(total[c.deadlocks]),
            overflow=overflow,
            first=dict(sorted(self.first.items())),
            leaf_values=self._leaf_values(),
        )

    def _leaf_values(self) -> list[int]:
        """Number of different values of each leaf."""
        seen = [np.zeros(len(self.program.leaves), np.uint64) for _ in range(self.workers)]
        self._split(0, self.distinct, lambda w, lo, hi: self._call("values", self.states, lo, hi, seen[w]))
        found = [int(bits).bit_count() for bits in np.bitwise_or.reduce(seen, axis=0)]
        for leaf, slot in enumerate(self.layout.slots):
            if slot.bits > NARROW:
                found[leaf] = len(np.unique(self.layout.column(self.states[: self.distinct], leaf)))
        return found

    def _split(self, lo: int, hi: int, work: Callable[[int, int, int], None]) -> None:
        """Run work(worker, from, to) over a range of rows, on all threads if it is worth it."""
        if self.workers == 1 or hi - lo < 1 << 12:
            work(0, lo, hi)
            return
        cuts = [lo + (hi - lo) * w // self.workers for w in range(self.workers + 1)]
        with ThreadPoolExecutor(self.workers) as pool:
            list(pool.map(lambda w: work(w, cuts[w], cuts[w + 1]), range(self.workers)))

    def _call(self, name: str, *args: np.ndarray[tuple[int, ...], np.dtype[np.uint64]] | int) -> None:
        plain = [a.ctypes.data if isinstance(a, np.ndarray) else a for a in args]
        self.native.functions[name](*plain)
