"""The space with fingerprints of all states in memory, and the levels on disk; a level while it is built."""

from __future__ import annotations

import contextlib
from types import TracebackType
from typing import Self

from elrcheck.explorer.kernel.crew import SearchCrew
from elrcheck.explorer.kernel.kernel import Kernel
from elrcheck.explorer.kernel.word_layout import Counts, Rows
from elrcheck.explorer.store.fingerprints import FingerprintSet
from elrcheck.explorer.store.judgement import Judgement, judge_rows
from elrcheck.explorer.store.levels import GatheredLevel, LevelFiles, SavedLevel
from elrcheck.explorer.store.spaces import LevelEnd, Pause, SpaceInFiles
from elrcheck.explorer.store.visited import RowSet


class NewLevel:
    """A new level of a visited set, as a context manager that removes the level's files if its block raises.

    name: see `LevelFiles.write`. judgement: of the states so far. saved: the level's files, once it is complete.
    """

    def __init__(
        self, kernel: Kernel, crew: SearchCrew, files: LevelFiles, depth: int, name: str | None = None
    ) -> None:
        self.kernel, self.crew, self.files, self.depth, self.name = kernel, crew, files, depth, name
        self.judgement = Judgement.empty(kernel)
        self.saved: SavedLevel | None = None
        self._gathered: GatheredLevel | None = None
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, fault, trace)

    @property
    def in_parts(self) -> bool:
        """Whether the level came in parts; for tests, which have to try both ways."""
        return self._gathered is not None

    def judge(self, states: RowSet, first: int, last: int) -> None:
        """Judge the new states in these rows of the set."""
        self.judgement.add(judge_rows(self.kernel, self.crew, states.rows.address, first, last))

    def write(self, states: RowSet, first: int, last: int) -> None:
        """Judge and write the whole level: these rows of the set."""
        self.judge(states, first, last)
        self.saved = self.stored(states.view(first, last))

    def stored(self, rows: Rows) -> SavedLevel:
        """Write a whole level."""
        return self.files.write(self.depth, rows, len(self.crew.workers), self.name)

    def append(self, states: RowSet) -> None:
        """Judge and write a part of the level: all rows of the set, which may be dropped afterwards."""
        if self._gathered is None:
            threads = len(self.crew.workers)
            self._gathered = self._stack.enter_context(self.files.gathered(self.depth, threads, self.name))
        self.judge(states, 0, states.reserved)
        self._gathered.append(states.view(0, states.reserved))

    def complete(self, states: FingerprintSet) -> Counts:
        """Complete the level with the rows that are left in the set; return the number of new states by instance."""
        states.close_level()
        if self._gathered is None:
            self.write(states, 0, states.reserved)
        else:
            self.append(states)
            states.drop()
            self._stack.close()
            self.saved = self._gathered.saved
        states.overflow = None
        return states.settle()


class Hashed(SpaceInFiles):
    """Fingerprints of all states in memory; all levels on disk, and the newest also in memory if it is small."""

    whole_levels = False

    def __init__(self, kernel: Kernel, crew: SearchCrew, budget: int | None, files: LevelFiles) -> None:
        super().__init__(kernel, crew, files)
        self.visited = FingerprintSet(kernel, crew, budget)

    @property
    def distinct(self) -> int:
        return self.visited.count

    @property
    def used_bytes(self) -> int:
        return self.visited.used_bytes

    def start(self, rows: Rows) -> Judgement:
        self.visited.start(rows)
        with self._new_level() as new:
            self._add(new, 0)
            return new.judgement

    def _new_level(self) -> NewLevel:
        return NewLevel(self.kernel, self.crew, self.files, len(self.written))

    def _add(self, new: NewLevel, before: int) -> Counts:
        """Complete a level; `before` is the number of states before it."""
        credit = new.complete(self.visited)
        assert new.saved is not None
        self.sizes.append(self.visited.count - before)
        self.written.append(new.saved)
        return credit

    def load(self, written: list[SavedLevel]) -> bool:
        """Load the levels from their files; return False if memory does not suffice."""
        for level in written:
            before = self.visited.count
            if not self.visited.read_level(self.files.read(level)):
                return False
            self.sizes.append(self.visited.count - before)
        self.written = list(written)
        return True

    def advance(self, pause: Pause) -> LevelEnd:
        """See `Space`. A level that outgrows its buffer is judged and written as it is built."""
        visited = self.visited
        in_memory, before = visited.reserved, visited.count
        with self._new_level() as new:
            visited.begin_level()
            visited.overflow = lambda: new.append(visited)
            if in_memory == self.sizes[-1]:
                reason = self.crew.expand(visited, 0, in_memory, pause)
            else:
                reason = self._expand_stored(pause)
            return LevelEnd(reason, self._add(new, before), new.judgement)

    def _expand_stored(self, pause: Pause) -> str | None:
        """Expand the newest level from its files."""
        for address, first, last in self.files.blocks(self.written[-1]):
            self.visited.source = address
            reason = self.crew.expand(self.visited, first, last, pause)
            if reason is not None:
                return reason
        return None
