"""State spaces, and the one with all states in memory.

A space computes one level after another and can reproduce the states of any level. A search starts in
`Resident` or `Hashed` and may move to `Spilled`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from elrcheck.explorer.kernel.crew import SearchCrew
from elrcheck.explorer.kernel.kernel import Kernel
from elrcheck.explorer.kernel.word_layout import Counts, Rows
from elrcheck.explorer.store.judgement import Judgement, judge_rows
from elrcheck.explorer.store.levels import LevelFiles, SavedLevel
from elrcheck.explorer.store.visited import ExactSet, histogram

Pause = Callable[[], str | None]
OUT_OF_MEMORY = ""
"""The reason of a level that did not fit into memory; all other reasons are texts for the user."""


@dataclass(frozen=True)
class LevelEnd:
    """How the computation of a level ended.

    reason: why it was not finished (see `SearchCrew.expand`), None if it was. credit: the number of new states credited
    to each instance. judgement: of the new states.
    """

    reason: str | None
    credit: Counts
    judgement: Judgement


class StateSpace(Protocol):
    """The states of a search, level by level.

    sizes: number of states of each level. distinct: their sum. written: the existing level files.
    whole_levels: an unfinished level leaves nothing behind.
    """

    sizes: list[int]
    written: list[SavedLevel]
    whole_levels: bool

    @property
    def distinct(self) -> int: ...

    @property
    def used_bytes(self) -> int: ...

    def start(self, rows: Rows) -> Judgement:
        """Store the initial states as level 0, and judge them."""
        ...

    def advance(self, pause: Pause) -> LevelEnd:
        """Compute the next level, and judge its states."""
        ...

    def batches(self, depth: int) -> Iterator[Rows]:
        """Yield the states of a level in any order; each array is valid only until the next one."""
        ...

    def save(self, last: int) -> None:
        """Write the files of all levels up to this one that do not exist yet."""
        ...


class SpaceInFiles:
    """Base of the spaces whose levels are all in files."""

    def __init__(self, kernel: Kernel, crew: SearchCrew, files: LevelFiles) -> None:
        self.kernel, self.crew, self.files = kernel, crew, files
        self.sizes: list[int] = []
        self.written: list[SavedLevel] = []

    @property
    def distinct(self) -> int:
        return sum(self.sizes)

    def start(self, rows: Rows) -> Judgement:
        raise NotImplementedError("a search starts in memory, and in the driver")

    def batches(self, depth: int) -> Iterator[Rows]:
        return self.files.read(self.written[depth])

    def save(self, last: int) -> None:
        """Nothing to do: every level is written as soon as it is complete."""


class Resident:
    """All states in memory, stored whole; level files are written only by `save`."""

    whole_levels = False

    def __init__(self, kernel: Kernel, crew: SearchCrew, budget: int | None, files: LevelFiles | None) -> None:
        self.kernel, self.crew, self.files = kernel, crew, files
        self.visited = ExactSet(kernel, crew, budget)
        self.starts: list[int] = []
        self.written: list[SavedLevel] = []

    @property
    def distinct(self) -> int:
        return self.visited.count

    @property
    def used_bytes(self) -> int:
        return self.visited.used_bytes

    @property
    def sizes(self) -> list[int]:
        return [last - first for first, last in itertools.pairwise([*self.starts, self.distinct])]

    @sizes.setter
    def sizes(self, sizes: list[int]) -> None:
        del self.starts[len(sizes) :]

    def start(self, rows: Rows) -> Judgement:
        self.visited.start(rows)
        self.starts.append(0)
        return judge_rows(self.kernel, self.crew, self.visited.rows.address, 0, self.distinct)

    def load(self, written: list[SavedLevel]) -> bool:
        """Load the levels from their files; return False if memory does not suffice."""
        assert self.files is not None
        self.written = list(written)
        for level in written:
            self.starts.append(self.visited.count)
            for rows in self.files.read(level):
                if not self.visited.insert(rows):
                    return False
            self.visited.close_level()
        return True

    def advance(self, pause: Pause) -> LevelEnd:
        visited = self.visited
        first, last = self.starts[-1], self.distinct
        visited.begin_level()
        reason = self.crew.expand(visited, first, last, pause)
        visited.close_level()
        self.starts.append(last)
        judgement = judge_rows(self.kernel, self.crew, visited.rows.address, last, self.distinct)
        return LevelEnd(reason, histogram(visited.credits(), max(1, self.kernel.instances)), judgement)

    def level(self, depth: int) -> tuple[int, int]:
        """Return the first row of a level and the row after its last."""
        bounds = [*self.starts, self.distinct]
        return bounds[depth], bounds[depth + 1]

    def batches(self, depth: int) -> Iterator[Rows]:
        first, last = self.level(depth)
        yield self.visited.view(first, last)

    def save(self, last: int) -> None:
        assert self.files is not None
        for depth in range(len(self.written), last + 1):
            first, last_row = self.level(depth)
            rows = self.visited.view(first, last_row)
            self.written.append(self.files.write(depth, rows, len(self.crew.workers)))
