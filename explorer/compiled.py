"""The compiled search: level-synchronous breadth-first over native code.

Each level is a range of rows. `Search` runs the state checks over it, expands it on one or more
threads, which append what is new, closes the gaps and goes on. Counts, diameter, depths and the
credit of new states to actions do not depend on the number of threads; the order of rows inside a
level does, and nothing reported depends on that order. Traces are found afterwards (`retrace`).

Native calls get a share of a level that takes a fraction of a second, so limits and interrupts are
seen at a point where nothing is half done.
"""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from elrcheck.explorer.check_ir import NARROW
from elrcheck.explorer.expand_ir import INSTANCE_BITS
from elrcheck.explorer.kernel import Kernel, build
from elrcheck.explorer.native_code import KernelCache
from elrcheck.explorer.program import Program
from elrcheck.explorer.result import LevelStats, Limits, SearchResult, Successors
from elrcheck.explorer.retrace import Retrace
from elrcheck.explorer.table_ir import Context, Shared
from elrcheck.explorer.visited import Visited

Progress = Callable[[LevelStats], None]
SLICE = 256
ALONE = 2048  # frontiers this small are not worth a second thread
ROUND_SECONDS = 0.2
Rows = npt.NDArray[np.uint64]


def default_workers() -> int:
    """As many threads as this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def search(
    program: Program,
    *,
    limits: Limits | None = None,
    workers: int = 1,
    progress: Progress | None = None,
    stop: str = "complete",
    kernel_cache: KernelCache | None = None,
) -> SearchResult:
    """Explore a program and rebuild a trace for everything that was hit."""
    run = Search(program, workers=workers, cache=kernel_cache, limits=limits or Limits())
    result = run.run(progress, stop)
    retrace = Retrace(run)
    result.traces = retrace.traces(list(result.first))
    result.deadlock_trace = retrace.deadlock()
    return result


class Search:
    """One search over one program; its rows stay for `retrace`."""

    def __init__(
        self,
        program: Program,
        *,
        workers: int,
        cache: KernelCache | None,
        limits: Limits,
        expected: int | None = None,
    ) -> None:
        self.program, self.workers, self.limits = program, workers, limits
        self.native: Kernel = build(program, cache)
        self.layout = self.native.layout
        self.compile_seconds = self.native.seconds
        self.visited = Visited(self.native, workers, limits.memory_bytes, expected)
        self.starts = [0]
        self.first: dict[int, int] = {}
        self.first_deadlock: int | None = None
        self.new_states = np.zeros(max(1, len(program.instances)), np.int64)
        self._step = 4 * SLICE
        self._started = 0.0
        self._progress: Progress | None = None

    # -- exploring

    def run(self, progress: Progress | None, stop: str) -> SearchResult:
        self._started, self._progress = time.perf_counter(), progress
        with ThreadPoolExecutor(max(1, self.workers - 1)) as pool:
            self._pool = pool
            reason = self._explore(stop)
            seconds = time.perf_counter() - self._started
            return self._result(reason, seconds)

    @property
    def distinct(self) -> int:
        return self.visited.count

    @property
    def generated(self) -> int:
        n = len(self.program.instances)
        return len(self.program.init) + sum(int(c[1 : 1 + n].sum()) for c in self._counters())

    def _counters(self) -> list[npt.NDArray[np.int64]]:
        return [arrays[0] for _, arrays in self.visited.contexts]

    def _explore(self, stop: str) -> str | None:
        self.visited.insert(np.unique(self.layout.pack_rows(self.program.init), axis=0))
        depth, lo, hi = 0, 0, self.distinct
        while True:
            self._check(depth, lo, hi)
            if lo == hi:
                self.starts.pop()
                return None
            if stop == "first" and self._failed():
                return "--stop-at-first"
            if self.limits.max_depth is not None and depth >= self.limits.max_depth:
                return f"--max-depth {self.limits.max_depth}"
            self.starts.append(hi)
            reason = self._level(depth, lo, hi)
            depth, lo, hi = depth + 1, hi, self.distinct
            if reason is not None:
                self._check(depth, lo, hi)
                if lo == hi:
                    self.starts.pop()
                return reason

    def _level(self, depth: int, lo: int, hi: int) -> str | None:
        """Expand the rows lo..hi; the reason if a limit stopped it."""
        visited, shared = self.visited, self.visited.shared
        visited.begin_level()
        dead = self._deadlocks
        shared[Shared.CURSOR], shared[Shared.SLICE] = lo, SLICE
        reason = None
        while reason is None and (shared[Shared.CURSOR] < hi or self._unfinished()):
            reason = self._limit(depth, lo, hi)
            if reason is None:
                room = visited.make_room()
                if room is None:
                    reason = f"--memory {self.limits.memory_bytes}"
                    break
                if self.limits.max_states is not None:
                    room = min(room, self.limits.max_states + 2 * visited.margin)  # unused rows do not count
                shared[Shared.LIMIT] = room
                shared[Shared.STOP] = min(hi, int(shared[Shared.CURSOR]) + self._step)
                self._round()
                shared[Shared.CURSOR] = min(shared[Shared.CURSOR], shared[Shared.STOP])
        visited.close_level()
        self.new_states += visited.credits(hi, visited.reserved)
        self._note_steps(depth + 1)
        if self._deadlocks > dead and self.first_deadlock is None:
            self.first_deadlock = depth
        return reason

    def _unfinished(self) -> bool:
        return any(c[Context.AT] < c[Context.END] for c, _ in self.visited.contexts)

    def _limit(self, depth: int, lo: int, hi: int) -> str | None:
        """The limit that has been reached, if any; tells the progress on the way."""
        seconds = time.perf_counter() - self._started
        done = int(self.visited.shared[Shared.CURSOR]) - lo
        if self._progress is not None:
            self._progress(LevelStats(depth + 1, hi - lo, done, self.generated, self.distinct, seconds))
        if self.limits.seconds is not None and seconds > self.limits.seconds:
            return f"--time-budget {self.limits.seconds:g}s"
        if self.limits.max_states is not None and self.distinct >= self.limits.max_states:
            return f"--max-states {self.limits.max_states}"
        return None

    def _round(self) -> None:
        """One native call per worker."""
        started = time.perf_counter()
        explore, shared = self.native.functions["explore"], self.visited.shared

        def work(worker: int) -> int:
            return explore(shared.ctypes.data, self.visited.contexts[worker][0].ctypes.data)

        several = self._step > ALONE and shared[Shared.STOP] - shared[Shared.CURSOR] > ALONE
        others = [self._pool.submit(work, w) for w in range(1, self.workers)] if several else []
        try:
            work(0)
        finally:
            for other in others:
                other.result()
        if not several:
            for worker in range(1, self.workers):
                if self._unfinished():
                    work(worker)
        if time.perf_counter() - started < ROUND_SECONDS / 2:
            self._step = min(2 * self._step, 1 << 24)
        elif time.perf_counter() - started > ROUND_SECONDS:
            self._step = max(self._step // 2, 4 * SLICE)

    # -- checks

    def _check(self, depth: int, lo: int, hi: int) -> None:
        """Run the state checks over new rows."""
        checks = self.native.state_checks
        hits = [np.zeros(max(1, len(checks)), np.int64) for _ in range(self.workers)]
        states = self.visited.rows.address
        check = self.native.functions["check"]
        self._split(lo, hi, lambda w, a, b: check(states, a, b, hits[w].ctypes.data, 0))
        for place, index in enumerate(checks):
            if any(found[place] for found in hits):
                self.first.setdefault(index, depth)

    def _note_steps(self, depth: int) -> None:
        for context, _ in self.visited.contexts:
            for word in range(self.native.record.flag_words):
                flags = int(context[Context.FLAGS + word])
                for bit in range(64):
                    if flags >> bit & 1:
                        self.first.setdefault(64 * word + bit, depth)

    def _failed(self) -> bool:
        return any(self.program.checks[check].kind == "always" for check in self.first)

    # -- what was stored

    def level(self, depth: int) -> tuple[int, int]:
        """The rows of a level."""
        bounds = [*self.starts, self.distinct]
        return bounds[depth], bounds[depth + 1]

    def rows(self, first: int, last: int) -> Rows:
        """Some packed states; a view that must be dropped before the search goes on."""
        return self.visited.view(first, last)

    def successors(self, rows: Rows) -> Successors:
        """Expand packed states; counts nothing and stores nothing."""
        record = self.native.record
        rows = np.ascontiguousarray(rows)
        out = np.empty((len(rows) * max(1, len(self.program.instances)), record.size), np.uint64)
        counters = np.zeros(self.native.counters.size, np.int64)
        enabled = np.zeros(len(rows), np.int64)
        made = self.native.functions["expand"](
            rows.ctypes.data, 0, len(rows), out.ctypes.data, counters.ctypes.data, enabled.ctypes.data
        )
        origin = out[:made, record.origin].astype(np.int64)
        return Successors(
            rows=out[:made, : record.words],
            sources=origin >> INSTANCE_BITS,
            instances=origin & ((1 << INSTANCE_BITS) - 1),
            flags=out[:made, record.origin + 1 :],
            enabled=enabled,
        )

    def state_hits(self, check: int, rows: Rows) -> npt.NDArray[np.bool_]:
        """Which packed states a state check reports."""
        lanes, checks = self.native.lanes.count, self.native.state_checks
        rows = np.ascontiguousarray(rows)
        out = np.zeros((-(-len(rows) // lanes), len(checks)), np.int64)
        self.native.functions["check"](rows.ctypes.data, 0, len(rows), out.ctypes.data, 1)
        bits = out[:, checks.index(check), None] >> np.arange(lanes) & 1
        hits: npt.NDArray[np.bool_] = (bits != 0).reshape(-1)[: len(rows)]
        return hits

    # -- results

    @property
    def _deadlocks(self) -> int:
        return sum(int(c[0]) for c in self._counters())

    def _result(self, reason: str | None, seconds: float) -> SearchResult:
        c, n = self.native.counters, len(self.program.instances)
        total = np.sum(self._counters(), axis=0)
        overflow = {i: int(total[c.overflow(i)]) for i in range(c.leaves) if total[c.overflow(i)]}
        if overflow and reason is None:
            reason = f"numbers outgrew their room: {', '.join(self.program.leaves[i].path for i in overflow)}"
        bounds = [*self.starts, self.distinct]
        return SearchResult(
            complete=reason is None,
            reason=reason,
            generated=self.generated,
            distinct=self.distinct,
            levels=tuple(b - a for a, b in itertools.pairwise(bounds)),
            seconds=seconds,
            compile_seconds=self.compile_seconds,
            bytes_per_state=self.visited.used_bytes // max(1, self.distinct),
            workers=self.workers,
            enabled=[int(total[c.enabled(i)]) for i in range(n)],
            cut=[int(total[c.cut(i)]) for i in range(n)],
            new_states=[int(x) for x in self.new_states[:n]],
            deadlocks=int(total[0]),
            overflow=overflow,
            first=dict(sorted(self.first.items())),
            leaf_values=self._leaf_values(),
            first_deadlock=self.first_deadlock,
        )

    def _leaf_values(self) -> list[int]:
        """Number of different values of each leaf."""
        seen = [np.zeros(len(self.program.leaves), np.int64) for _ in range(self.workers)]
        states, values = self.visited.rows.address, self.native.functions["values"]
        self._split(0, self.distinct, lambda w, a, b: values(states, a, b, seen[w].ctypes.data))
        found = [int(bits).bit_count() for bits in np.bitwise_or.reduce(seen, axis=0).view(np.uint64)]
        for leaf, slot in enumerate(self.layout.slots):
            if slot.bits == 0:
                found[leaf] = 1
            elif slot.bits > NARROW:
                found[leaf] = len(np.unique(self.layout.column(self.visited.view(0, self.distinct), leaf)))
        return found

    def _split(self, lo: int, hi: int, work: Callable[[int, int, int], object]) -> None:
        """Run work(worker, from, to) over a range of rows, on all threads if it is worth it."""
        if self.workers == 1 or hi - lo < ALONE:
            work(0, lo, hi)
            return
        cuts = [lo + (hi - lo) * w // self.workers for w in range(self.workers + 1)]
        others = [self._pool.submit(work, w, cuts[w], cuts[w + 1]) for w in range(1, self.workers)]
        work(0, cuts[0], cuts[1])
        for other in others:
            other.result()
