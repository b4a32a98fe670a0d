"""The states of a shard: all of them whole, or fingerprints of them and the newest level.

Both kinds read a committed level from its files (`load`), yield the newest level for expansion (`frontier`), and
accept the states of the next one (`begin`, `states.insert`), which `close` evaluates and writes. With fingerprints, a
level that outgrows its buffer is evaluated and written as it arrives, and is expanded from its files, block by block,
as in a local search (`store.hashed`).
"""

from __future__ import annotations

import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator

from elrcheck.explorer.kernel.crew import SearchCrew
from elrcheck.explorer.kernel.kernel import Kernel
from elrcheck.explorer.kernel.word_layout import Counts, Rows
from elrcheck.explorer.store.fingerprints import FingerprintSet
from elrcheck.explorer.store.hashed import NewLevel
from elrcheck.explorer.store.levels import Block, LevelFiles, SavedLevel
from elrcheck.explorer.store.visited import ExactSet, RowSet, histogram


def write_shard(files: LevelFiles, depth: int, partition: int, partitions: int, rows: Rows, threads: int) -> SavedLevel:
    """Write a partition's states at a depth, to files with names unique to this attempt."""
    if not len(rows):
        return SavedLevel(depth, (), False)
    return files.write(depth, rows, threads, shard_name(depth, partition, partitions))


def shard_name(depth: int, partition: int, partitions: int) -> str:
    """Return the name of a partition's level, unique to this attempt (`space.SHARD_FILE`)."""
    return f"{depth:05d}-{partition}of{partitions}-{uuid.uuid4().hex[:12]}"


class ShardLevel(NewLevel):
    """A partition's new level while it is built, in files with names unique to this attempt.

    place: depth, partition, partitions. lap: called with the kind of work that was done (`tasks.Clock`).
    """

    def __init__(
        self,
        kernel: Kernel,
        crew: SearchCrew,
        files: LevelFiles,
        place: tuple[int, int, int],
        lap: Callable[[str], None],
    ) -> None:
        super().__init__(kernel, crew, files, place[0], shard_name(*place))
        self.lap = lap

    def judge(self, states: RowSet, first: int, last: int) -> None:
        """See `NewLevel`."""
        super().judge(states, first, last)
        self.lap("judge")

    def stored(self, rows: Rows) -> SavedLevel:
        """Write a whole level, without a file if it is empty."""
        level = super().stored(rows) if len(rows) else SavedLevel(self.depth, (), False)
        self.lap("write")
        return level

    def append(self, states: RowSet) -> None:
        """See `NewLevel`."""
        super().append(states)
        self.lap("write")


class Shard(ABC):
    """The states of a partition up to a level. level: the depth of the newest one, -1 before the first."""

    def __init__(self, states: RowSet) -> None:
        self.level, self.states = -1, states

    @abstractmethod
    def load(self, level: SavedLevel, files: LevelFiles) -> None:
        """Add the level after the newest one from its files, whatever the budget."""

    @abstractmethod
    def frontier(self, newest: SavedLevel, files: LevelFiles) -> Iterator[Block]:
        """Yield the states of the newest level, in memory or from its files."""

    @abstractmethod
    def begin(self, new: ShardLevel | None = None) -> None:
        """Begin a level, to which states inserted from now on belong. new: receives states that outgrow memory."""

    @abstractmethod
    def close(self, new: ShardLevel) -> Counts:
        """Complete the new level; return the number of its states by the instance credited with each."""


class WholeShard(Shard):
    """All states, whole, in memory."""

    states: ExactSet

    def load(self, level: SavedLevel, files: LevelFiles) -> None:
        self.begin()
        self.states.budget = None
        for rows in files.read(level):
            self.states.insert(rows)
        self.states.close_level()

    def frontier(self, newest: SavedLevel, files: LevelFiles) -> Iterator[Block]:
        yield self.states.rows.address, self.states.base, self.states.reserved

    def begin(self, new: ShardLevel | None = None) -> None:
        self.states.begin_level()
        self.level += 1

    def close(self, new: ShardLevel) -> Counts:
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

    def frontier(self, newest: SavedLevel, files: LevelFiles) -> Iterator[Block]:
        if self.states.reserved == newest.rows:
            yield self.states.rows.address, 0, self.states.reserved
        else:
            yield from files.blocks(newest)

    def begin(self, new: ShardLevel | None = None) -> None:
        states = self.states
        states.begin_level()
        states.overflow = None if new is None else lambda: new.append(states)
        self.level += 1

    def close(self, new: ShardLevel) -> Counts:
        return new.complete(self.states)
