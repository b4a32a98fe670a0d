"""The worker threads of a search: in every round of a fraction of a second, each makes one native call.

Between rounds no work is half done, so limits, interrupts and growth are handled there. Counts depend
neither on the number of threads nor on the division of the work into rounds.
"""

from __future__ import annotations

import functools
import operator
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, TypeVar

import numpy as np

from elrcheck.explorer.kernel.kernel import CHUNK, Kernel
from elrcheck.explorer.kernel.table_ir import ROW_BLOCK, Context, Shared
from elrcheck.explorer.kernel.word_layout import Counts

T = TypeVar("T")
SLICE = 256
ALONE = 2048  # frontiers up to this size are not worth a second thread
ROUND_SECONDS = 0.2
LONGEST_ROUND = 1 << 24


class Worker:
    """A worker's struct `context`, and the arrays to which it points."""

    def __init__(self, kernel: Kernel) -> None:
        room = CHUNK * max(1, kernel.instances)
        self.records = np.empty((room, kernel.record.size), np.uint64)
        self.hashes = np.empty(room, np.uint64)
        self.counters = np.zeros(kernel.counters.size, np.int64)
        self.context = np.zeros(Context.FLAGS + max(1, kernel.record.flag_words), np.int64)
        self.context[Context.RECORDS] = self.records.ctypes.data
        self.context[Context.HASHES] = self.hashes.ctypes.data
        self.context[Context.COUNTERS] = self.counters.ctypes.data

    @property
    def unfinished(self) -> bool:
        return bool(self.context[Context.AT] < self.context[Context.END])


class Growing(Protocol):
    """A visited set, as seen by expansion."""

    shared: Counts

    def make_room(self) -> int | None:
        """Return the number of rows up to which workers may reserve; None if memory is exhausted."""
        ...

    def expanded(self, cursor: int) -> None:
        """Note that the frontier's rows before the cursor will not be read again."""
        ...


class SearchCrew:
    """Workers, and the rounds in which they expand rows into a visited set.

    margin: number of rows that all workers together may reserve between two checks of the limit. leave_out: do
    not look up steps that certainly lead to visited states (docs/adr/0025).
    """

    def __init__(self, kernel: Kernel, workers: int, leave_out: bool = True) -> None:
        self.kernel, self.leave_out = kernel, leave_out
        self.workers = [Worker(kernel) for _ in range(workers)]
        self.margin = workers * (CHUNK * max(1, kernel.instances) + ROW_BLOCK)
        self._step = 4 * SLICE
        self._pool = ThreadPoolExecutor(max(1, workers - 1))

    def close(self) -> None:
        self._pool.shutdown(wait=True)

    def counters(self) -> Counts:
        """Return the sum of all workers' counters (`Counters`)."""
        total = self.workers[0].counters.copy()
        for worker in self.workers[1:]:
            total += worker.counters
        return total

    @property
    def looked_up(self) -> int:
        """Number of successors looked up in a set since the start: the steps inside the bound that were not left out.

        Abandoned levels count too.
        """
        return sum(int(worker.context[Context.LOOKED_UP]) for worker in self.workers)

    def restore(self, counters: Counts) -> None:
        """Continue counting from these numbers."""
        for worker in self.workers:
            worker.counters[:] = 0
        self.workers[0].counters[:] = counters

    def add(self, counters: Counts, flags: Sequence[int]) -> None:
        """Add the counts of another process, and the flag words of the step checks that it hit."""
        first = self.workers[0]
        first.counters += counters
        for word, bits in enumerate(flags):
            first.context[Context.FLAGS + word] |= np.uint64(bits).astype(np.int64)

    def flag_bits(self) -> list[int]:
        """Return the step checks hit so far, as one word of flag bits per 64 checks."""
        words = range(self.kernel.record.flag_words)
        return [
            functools.reduce(operator.or_, (int(w.context[Context.FLAGS + word]) & (1 << 64) - 1 for w in self.workers))
            for word in words
        ]

    def reset(self) -> None:
        """Clear counts, flags and work in progress."""
        self.forget()
        for worker in self.workers:
            worker.counters[:] = 0
            worker.context[Context.FLAGS :] = 0

    def flags(self) -> list[int]:
        """Return the indices of the step checks hit so far."""
        return [64 * word + bit for word, bits in enumerate(self.flag_bits()) for bit in range(64) if bits >> bit & 1]

    def expand(self, visited: Growing, first: int, last: int, pause: Callable[[], str | None]) -> str | None:
        """Expand the rows first..last of the frontier.

        pause() is called before every round and may return a reason to stop. Return that reason, "" if memory does
        not suffice, or None when all rows are expanded.
        """
        shared = visited.shared
        shared[Shared.CURSOR], shared[Shared.SLICE] = first, SLICE
        while (position := self._position(shared)) < last:
            visited.expanded(position)
            reason = pause()
            if reason is not None:
                return reason
            room = visited.make_room()
            if room is None:
                return ""
            shared[Shared.LIMIT] = room
            shared[Shared.STOP] = min(last, int(shared[Shared.CURSOR]) + self._step)
            self._round(visited)
            shared[Shared.CURSOR] = min(shared[Shared.CURSOR], shared[Shared.STOP])
        return None

    def _position(self, shared: Counts) -> int:
        """Return the first row that may not have been expanded yet."""
        waiting = [int(w.context[Context.AT]) for w in self.workers if w.unfinished]
        return min([int(shared[Shared.CURSOR]), *waiting])

    def forget(self) -> None:
        """Drop slices in progress and rows reserved in a set that is being abandoned."""
        for worker in self.workers:
            for field in (Context.AT, Context.END, Context.ROW, Context.ROW_END):
                worker.context[field] = 0

    def _round(self, visited: Growing) -> None:
        """Make one native call per worker."""
        started, used = time.perf_counter(), time.process_time()
        explore, shared = self.kernel.functions["explore"], visited.shared

        def work(worker: Worker) -> int:
            return explore(shared.ctypes.data, worker.context.ctypes.data)

        several = self._step > ALONE and shared[Shared.STOP] - shared[Shared.CURSOR] > ALONE
        self._together(work, self.workers if several else self.workers[:1])
        if not several:
            for worker in self.workers[1:]:
                if worker.unfinished:
                    work(worker)
        seconds = time.perf_counter() - started
        if seconds < ROUND_SECONDS / 2:
            self._step = min(2 * self._step, LONGEST_ROUND)
        elif seconds > ROUND_SECONDS:
            self._step = max(self._step // 2, 4 * SLICE)
        self.kernel.used(time.process_time() - used)

    def split(self, first: int, last: int, work: Callable[[int, int, int], object]) -> None:
        """Run work(worker, from, to) over a range of rows, on all threads if the range is large enough."""
        count = len(self.workers)
        if count == 1 or last - first < ALONE:
            work(0, first, last)
            return
        cuts = [first + (last - first) * w // count for w in range(count + 1)]
        self._together(lambda w: work(w, cuts[w], cuts[w + 1]), range(count))

    def _together(self, work: Callable[[T], object], parts: Sequence[T]) -> None:
        """Do a part here, and the others in the pool; wait for them even if this thread is interrupted."""
        others = [self._pool.submit(work, part) for part in parts[1:]]
        try:
            work(parts[0])
        finally:
            for other in others:
                other.result()
