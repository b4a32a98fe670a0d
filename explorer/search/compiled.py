"""The compiled search: level-synchronous breadth-first search over native code.

`Search` evaluates the states of a level (state checks, values of leaves) and then computes the next level.
A space stores the states (`spaces`, `spilled`), and the crew divides the work among threads. Only the order of
rows inside a level depends on the space and the crew, and nothing reported depends on that order. Traces are
rebuilt afterwards (`retrace`).

A search with a folder can be saved at the end of any level and resumed. An unfinished level is not saved:
the counts are rolled back to the start of the level.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from elrcheck.base.progress import LevelDone, Progress, Silent
from elrcheck.base.requests import Limits
from elrcheck.explorer.kernel.crew import SearchCrew
from elrcheck.explorer.kernel.kernel import Kernel, build
from elrcheck.explorer.kernel.native_code import KernelCache
from elrcheck.explorer.kernel.symmetry.canonical_ir import Canonical
from elrcheck.explorer.kernel.word_layout import Rows, Successors
from elrcheck.explorer.search.outcome import LevelProgress
from elrcheck.explorer.search.result import SearchResult, violates
from elrcheck.explorer.search.tally import Tally
from elrcheck.explorer.store.fingerprints import collision_probability
from elrcheck.explorer.store.hashed import Hashed
from elrcheck.explorer.store.levels import LevelFiles, SavedLevel
from elrcheck.explorer.store.memory import peak_bytes
from elrcheck.explorer.store.spaces import OUT_OF_MEMORY, Resident, SpaceInFiles, StateSpace
from elrcheck.explorer.store.spilled import Spilled
from elrcheck.lang.lowering.program import Program

INTERRUPTED = "interrupted"


class Keeper(Protocol):
    """Saves the checkpoints of a search."""

    def files(self, words: int) -> LevelFiles:
        """Return the folder for the level files."""
        ...

    def due(self) -> bool:
        """Return True if it is time for a checkpoint."""
        ...

    def at_stop(self, interrupted: bool) -> bool:
        """Return True if a search that was interrupted or stopped by a limit is to be saved."""
        ...

    def save(self, written: list[SavedLevel], tally: Tally) -> None:
        """Save these levels and the counts up to the last of them."""
        ...


SAVED_PER_SECOND = 50e6
"""Bytes of states that a checkpoint writes in a second: a cautious guess, used only with a time budget."""


@dataclass(frozen=True)
class SearchSettings:
    """The resources and the limits of a search.

    limits: `memory` is that of the states alone. workers: number of threads. fingerprint: bits stored per state,
    64 or 128; 0 for the whole state. keeper: saves checkpoints; fingerprints need one, and without one a search
    that exceeds its memory limit stops. interrupted: returns True once the search has to stop. spent: seconds of the
    time budget used before the search; afterwards: seconds of it reserved for what follows, except a checkpoint.
    """

    limits: Limits = field(default_factory=Limits)
    workers: int = 1
    cache: KernelCache | None = None
    fingerprint: int = 0
    keeper: Keeper | None = None
    interrupted: Callable[[], bool] = bool
    spent: float = 0.0
    afterwards: float = 0.0


class Search:
    """One search over one program; keeps its states for `retrace`.

    native: the kernel, if it has been built already, for this program or one that differs in initial states only.
    leave_out: see `SearchCrew`; it changes no result of a completed level.
    """

    def __init__(
        self,
        program: Program,
        settings: SearchSettings | None = None,
        *,
        native: Kernel | None = None,
        leave_out: bool = True,
    ) -> None:
        settings = settings or SearchSettings()
        if settings.fingerprint and settings.keeper is None:
            raise ValueError("a search with fingerprints needs a folder for its levels")
        self.program, self.settings = program, settings
        self.limits, self.keeper, self.fingerprint = settings.limits, settings.keeper, settings.fingerprint
        self.native: Kernel = native or build(program, settings.cache, settings.fingerprint // 64)
        self.layout = self.native.layout
        self.compile_seconds = self.native.seconds
        self.crew = SearchCrew(self.native, settings.workers, leave_out)
        self.tally = Tally.empty(self.native)
        self.spilled = False
        self._files = None if self.keeper is None else self.keeper.files(self.layout.words)
        self.space: StateSpace = self._in_memory()
        self._started = 0.0
        self._progress: LevelProgress | None = None
        self._level, self._level_size = 0, 0

    def _in_memory(self) -> Hashed | Resident:
        if self.fingerprint:
            assert self._files is not None
            return Hashed(self.native, self.crew, self.limits.memory, self._files)
        return Resident(self.native, self.crew, self.limits.memory, self._files)

    # -- exploring

    def resume(self, written: list[SavedLevel], tally: Tally) -> None:
        """Resume from a checkpoint."""
        space = self.space
        assert isinstance(space, Hashed | Resident)
        if not space.load(written):
            self._spill(written)
            if self.keeper is not None:
                self._save(len(written) - 1, tally)
        self.tally = tally
        self.crew.restore(tally.counters)

    def run(self, progress: Progress | None, stop: str) -> SearchResult:
        """Search to the end or until a limit is reached."""
        self._started = time.perf_counter() - self.tally.seconds
        self._progress = None if progress is None or type(progress) is Silent else LevelProgress(progress)
        try:
            reason = self._explore(stop)
        finally:
            self.crew.close()
        return self._result(reason)

    @property
    def distinct(self) -> int:
        return self.space.distinct

    @property
    def first(self) -> dict[int, int]:
        """The smallest depth of each check that was hit."""
        return self.tally.first

    @property
    def generated(self) -> int:
        n = len(self.program.instances)
        return len(self.program.init) + int(self.crew.counters()[1 : 1 + n].sum())

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self._started

    def _explore(self, stop: str) -> str | None:
        if not self.space.sizes:
            rows = self.layout.pack_rows(sorted(set(self.program.init)))
            if self.program.symmetry is not None:
                rows = np.unique(Canonical(self.program, self.layout).rows(rows), axis=0)
            self.tally.note(self.space.start(rows), 0)
        while True:
            sizes = self.space.sizes
            depth, size = len(sizes) - 1, sizes[-1]
            self._level, self._level_size = depth, size
            if size == 0:
                self.space.sizes = sizes[:-1]
                return None
            begun = self._snapshot()
            reason = self._before(depth, stop)
            if reason is None:
                if self.keeper is not None and self._due():
                    self._save(depth, begun)
                reason = self._advance(depth, begun)
            if reason is None:
                continue
            if self.keeper is not None and self.keeper.at_stop(reason == INTERRUPTED):
                self._save(depth, begun)
            if self.space.sizes[-1] == 0:
                self.space.sizes = self.space.sizes[:-1]
            return reason

    def _before(self, depth: int, stop: str) -> str | None:
        """Return a reason not to start another level, None to continue."""
        if stop == "first" and violates(self.program, self.first):
            return "--stop-at-first"
        if self.limits.max_depth is not None and depth >= self.limits.max_depth:
            return f"--max-depth {self.limits.max_depth}"
        return self._pause()

    def _advance(self, depth: int, begun: Tally) -> str | None:
        """Compute the next level; return the reason if it could not be finished."""
        while True:
            level = self.space.advance(self._pause)
            reason = level.reason
            if reason != OUT_OF_MEMORY:
                break
            reason = f"--memory {self.limits.memory}"
            if not self._can_spill:
                break
            self.crew.forget()
            self._set_back(begun)
            self._spill_from(depth, begun)
        if reason is not None and self.space.whole_levels:
            self.crew.forget()
            self._set_back(begun)
            return reason
        self.tally.new_states += level.credit
        self.tally.note(level.judgement, depth + 1)
        for check in self.crew.flags():
            self.tally.first.setdefault(check, depth + 1)
        return reason

    @property
    def _can_spill(self) -> bool:
        """True if states that exceed memory can go elsewhere."""
        return self.keeper is not None and not self.spilled

    def about(self) -> str:
        """Return details of the execution, for the report."""
        return ""

    def _remark(self) -> str:
        """Return an extra remark for the progress line."""
        return ""

    def _pause(self) -> str | None:
        """Report progress, and return the limit that has been reached, if any."""
        seconds = self.seconds
        if self._progress is not None:
            generated, distinct, remark = self.generated, self.distinct, self._remark()
            self._progress.tell(LevelDone(self._level, self._level_size, generated, distinct, seconds, remark))
        if self.settings.interrupted():
            return INTERRUPTED
        return self.limits.reached(self.distinct, seconds + self.settings.spent + self._afterwards())

    def _afterwards(self) -> float:
        """Estimate the seconds that follow the search, with those of a checkpoint whose levels are not in files yet."""
        if self.keeper is None or isinstance(self.space, SpaceInFiles) or not self.keeper.at_stop(False):
            return self.settings.afterwards
        return self.settings.afterwards + self.distinct * self.layout.words * 8 / SAVED_PER_SECOND

    # -- checkpoints and spilling

    def _due(self) -> bool:
        """Return True to save a checkpoint before the next level."""
        return self.keeper is not None and self.keeper.due()

    def _snapshot(self) -> Tally:
        self.tally.counters, self.tally.seconds = self.crew.counters(), self.seconds
        return self.tally.copy()

    def _set_back(self, begun: Tally) -> None:
        self.tally = begun.copy()
        self.crew.restore(begun.counters)

    def _save(self, depth: int, begun: Tally) -> None:
        assert self.keeper is not None
        self.space.save(depth)
        self.keeper.save(self.space.written[: depth + 1], begun)

    def _spill_from(self, depth: int, begun: Tally) -> None:
        """Write the levels up to this depth to disk and continue from there.

        A resumable run is saved before and after. So nothing is lost if the disk cannot hold its levels twice, and
        the old files are removed as soon as the new ones are complete.
        """
        assert self.keeper is not None
        if self.keeper.at_stop(False):
            self._save(depth, begun)
        else:
            self.space.save(depth)
        self._spill(self.space.written[: depth + 1])
        if self.keeper.at_stop(False):
            self._save(depth, begun)

    def _spill(self, written: list[SavedLevel]) -> None:
        """Continue from level files, with as little as one part of them in memory."""
        assert self._files is not None and self.limits.memory is not None
        del self.space  # free its memory first
        self.crew.forget()
        if self.fingerprint:
            self.native = build(self.program, self.settings.cache)
            crew = SearchCrew(self.native, len(self.crew.workers), self.crew.leave_out)
            crew.restore(self.crew.counters())
            self.crew.close()
            self.crew = crew
        space = Spilled(self.native, self.crew, self.limits.memory, self._files)
        space.load(written)
        self.space, self.spilled = space, True

    # -- stored states

    def batches(self, depth: int) -> Iterator[Rows]:
        """Yield the states of a level; drop each array before taking the next one."""
        return self.space.batches(depth)

    def successors(self, rows: Rows) -> Successors:
        """Expand packed states, without counting or storing anything."""
        return self.native.successors(rows, np.zeros(self.native.counters.size, np.int64))

    def state_hits(self, check: int, rows: Rows) -> npt.NDArray[np.bool_]:
        """Return which packed states hit a state check."""
        return self.native.state_hits(check, rows)

    # -- results

    def _result(self, reason: str | None) -> SearchResult:
        seconds, counters = self.seconds, self.crew.counters()
        enabled, cut, overflow = self.native.counters.totals(counters)
        if overflow and reason is None:
            reason = f"values out of range: {', '.join(self.program.leaves[i].path for i in overflow)}"
        bits = self.fingerprint or None
        return SearchResult(
            complete=reason is None,
            reason=reason,
            generated=self.generated,
            distinct=self.distinct,
            levels=tuple(self.space.sizes),
            seconds=seconds,
            compile_seconds=self.compile_seconds,
            bytes_per_state=self.space.used_bytes // max(1, self.distinct),
            workers=len(self.crew.workers),
            enabled=enabled,
            cut=cut,
            new_states=self.tally.new_states[: len(enabled)].tolist(),
            deadlocks=int(counters[0]),
            overflow=overflow,
            first=dict(sorted(self.tally.first.items())),
            leaf_values=self.tally.leaf_values(self.native),
            fingerprint_bits=bits,
            collision_probability=collision_probability(self.distinct, bits) if bits else 0.0,
            spilled=self.spilled,
            peak_bytes=peak_bytes(),
        )
