"""What a shard keeps of its states: all of them whole, or fingerprints of them and the newest level.

Both kinds read a committed level from its files (`load`), yield the newest level for expansion (`frontier`),
and take the states of the next one (`begin`, `states.insert`), which `close` evaluates and writes. A level of
a shard with fingerprints that outgrows its buffer is evaluated and written as it comes in, and is expanded
from its files, block by block, as in a local search (`store.spaces.Hashed`).
"""

from __future__ import annotations

import contextlib
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from types import TracebackType

import numpy as np
import numpy.typing as npt

from elrcheck.explorer.kernel.crew import Crew
from elrcheck.explorer.kernel.kernel import Kernel
from elrcheck.explorer.search.judgement import Seen, look, wide_leaves
from elrcheck.explorer.store.fingerprints import FingerprintSet
from elrcheck.explorer.store.levels import GatheredLevel, LevelFiles, SavedLevel, ahead
from elrcheck.explorer.store.row_set import RowSet
from elrcheck.explorer.store.visited import ExactSet, histogram

Rows = npt.NDArray[np.uint64]
Counts = npt.NDArray[np.int64]


def write_shard(files: LevelFiles, depth: int, partition: int, partitions: int, rows: Rows, threads: int) -> SavedLevel:
    """Write a partition's states at a depth, to files with names unique to this attempt."""
    if not len(rows):
        return SavedLevel(depth, (), False)
    return files.write(depth, rows, threads, shard_name(depth, partition, partitions))


def shard_name(depth: int, partition: int, partitions: int) -> str:
    """Return the name of a partition's level, unique to this attempt (`space.SHARD_FILE`)."""
    return f"{depth:05d}-{partition}of{partitions}-{uuid.uuid4().hex[:12]}"


class NewLevel:
    """A partition's new level while it comes in: evaluated and written, whole or a part at a time.

    kernel, crew: evaluate the states. seen: what they have shown. saved: the level's files, once it is
    complete; nothing is left of them if the block raises. lap: is told what was done (`tasks.Clock`).
    """

    def __init__(
        self, kernel: Kernel, crew: Crew, files: LevelFiles, place: tuple[int, int, int], lap: Callable[[str], None]
    ) -> None:
        self.kernel, self.crew, self.files, self.lap = kernel, crew, files, lap
        self.depth, self.partition, self.partitions = place
        self.seen = Seen(
            set(), np.zeros(kernel.counters.leaves, np.int64), {leaf: set() for leaf in wide_leaves(kernel)}
        )
        self.saved: SavedLevel | None = None
        self._gathered: GatheredLevel | None = None
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> NewLevel:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, fault, trace)

    @property
    def in_parts(self) -> bool:
        return self._gathered is not None

    def write(self, states: RowSet, first: int, last: int) -> None:
        """Evaluate and write the whole level, which is in these rows of the set."""
        self._look(states, first, last)
        threads = len(self.crew.workers)
        rows = states.view(first, last)
        self.saved = write_shard(self.files, self.depth, self.partition, self.partitions, rows, threads)
        self.lap("write")

    def append(self, states: RowSet) -> None:
        """Evaluate and write a part of the level, all rows of the set; they may be dropped then."""
        if self._gathered is None:
            name = shard_name(self.depth, self.partition, self.partitions)
            gathered = self.files.gathered(self.depth, len(self.crew.workers), name)
            self._gathered = self._stack.enter_context(gathered)
        self._look(states, 0, states.reserved)
        self._gathered.append(states.view(0, states.reserved))
        self.lap("write")

    def finish(self) -> None:
        """Complete a level that was written in parts."""
        assert self._gathered is not None
        self._stack.close()
        self.saved = self._gathered.saved

    def _look(self, states: RowSet, first: int, last: int) -> None:
        found = look(self.kernel, self.crew, states.rows.address, first, last)
        self.seen.hits |= found.hits
        self.seen.narrow |= found.narrow
        for leaf, values in found.wide.items():
            self.seen.wide[leaf] |= values
        self.lap("judge")


class Shard(ABC):
    """The states of a partition up to a level. level: the depth of the newest one, -1 before the first."""

    def __init__(self, states: RowSet) -> None:
        self.level, self.states = -1, states

    @abstractmethod
    def load(self, level: SavedLevel, files: LevelFiles) -> None:
        """Add the level after the newest one from its files, whatever the budget."""

    @abstractmethod
    def frontier(self, newest: SavedLevel, files: LevelFiles) -> Iterator[tuple[int, int, int]]:
        """Yield the states of the newest level, of these files: address, first row, row after the last."""

    @abstractmethod
    def begin(self, new: NewLevel | None = None) -> None:
        """Begin a level, to which states inserted from now on belong; `new` takes those that are too many."""

    @abstractmethod
    def close(self, new: NewLevel) -> Counts:
        """Complete the new level. Return the number of its states by the instance credited with each."""


class WholeShard(Shard):
    """All states, whole, in memory."""

    states: ExactSet

    def load(self, level: SavedLevel, files: LevelFiles) -> None:
        self.begin()
        self.states.budget = None
        for rows in files.read(level):
            self.states.insert(rows)
        self.states.close_level()

    def frontier(self, newest: SavedLevel, files: LevelFiles) -> Iterator[tuple[int, int, int]]:
        yield self.states.rows.address, self.states.base, self.states.reserved

    def begin(self, new: NewLevel | None = None) -> None:
        self.states.begin_level()
        self.level += 1

    def close(self, new: NewLevel) -> Counts:
        states = self.states
        states.close_level()
        new.write(states, states.base, states.reserved)
        return histogram(states.credits(), max(1, new.kernel.instances))


class HashedShard(Shard):
    """Fingerprints of all states, and the newest level if it fits into its buffer."""

    states: FingerprintSet

    def load(self, level: SavedLevel, files: LevelFiles) -> None:
        self.level += 1
        self.states.budget = None
        self.states.read_level(files.read(level))

    def frontier(self, newest: SavedLevel, files: LevelFiles) -> Iterator[tuple[int, int, int]]:
        if self.states.reserved == newest.rows:
            yield self.states.rows.address, 0, self.states.reserved
            return
        for rows in ahead(files.read(newest)):
            block = np.ascontiguousarray(rows)
            yield block.ctypes.data, 0, len(block)

    def begin(self, new: NewLevel | None = None) -> None:
        states = self.states
        states.begin_level()
        states.overflow = None if new is None else lambda: new.append(states)
        self.level += 1

    def close(self, new: NewLevel) -> Counts:
        states = self.states
        states.close_level()
        if new.in_parts:
            new.append(states)
            states.drop()
            new.finish()
        else:
            new.write(states, 0, states.reserved)
        states.overflow = None
        return states.settle()
