"""State that a Spark worker process keeps between tasks: its kernel and its shards.

A shard is one partition of the state space: all its states up to some level, in an ordinary visited set of
whole states or of fingerprints. It is only a cache of the committed level files, so a worker
that lacks a shard, or has an old one, reads the missing levels; losing a worker costs nothing but time.

Both kinds read a committed level from its files (`load`), yield the newest level for expansion (`frontier`), and
accept the states of the next one (`begin`, `states.insert`), which `close` evaluates and writes. With fingerprints, a
level that outgrows its buffer is evaluated and written as it arrives, and is expanded from its files, block by block,
as in a local search (`store.hashed`).

The process-wide `WORKER` lives in a module that workers import, because in a task's closure it would be pickled by
value, and every task would have an empty one.

Two rules keep counts exact, whatever is retried, repeated or killed:

* a task that changes a shard takes it out first and puts it back once its level is written, so a task that
  dies in between leaves no half-changed shard behind;
* `settle` takes the candidates that `expand` left for its own shard (`Pending`) only from the attempt whose other
  candidates Spark brought: which ones an attempt sends depends on the order of its states. Otherwise it recomputes
  them from committed files.
"""

from __future__ import annotations

import hashlib
import pickle
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from elrcheck.explorer.kernel.crew import SearchCrew
from elrcheck.explorer.kernel.kernel import Blueprint, Kernel
from elrcheck.explorer.kernel.native_code import KernelCache
from elrcheck.explorer.kernel.word_layout import Counts, Rows, Whos
from elrcheck.explorer.store.fingerprints import FingerprintSet
from elrcheck.explorer.store.hashed import NewLevel
from elrcheck.explorer.store.levels import Block, LevelFiles, SavedLevel
from elrcheck.explorer.store.visited import ExactSet, RowSet, histogram, positions_of


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


Piece = tuple[Rows, Whos]
LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)
BLOCK = 1 << 16


@dataclass(frozen=True)
class Plans:
    """The kernels of a search.

    states: for whole states. table: for the visited sets, if these have fingerprints.
    """

    states: Blueprint
    table: Blueprint | None

    @property
    def digest(self) -> str:
        """The digest that identifies these kernels."""
        texts = [plan and plan.texts for plan in (self.states, self.table)]
        return hashlib.sha256(pickle.dumps(texts)).hexdigest()


@dataclass
class Pending:
    """Candidates for the next level that an attempt of `expand` has computed for its own partition, and not sent."""

    level: int
    attempt: str
    pieces: list[Piece]


@dataclass
class ShardWorker:
    """The state that one Python worker process keeps, for one run at a time."""

    run: str = ""
    kernel: Kernel | None = None
    plan: str = ""
    crew: SearchCrew | None = None
    table: Kernel | None = None
    shards: dict[int, Shard] = field(default_factory=dict)
    pending: dict[int, Pending] = field(default_factory=dict)

    def begin(self, run: str, plans: Plans, digest: str, threads: int) -> tuple[Kernel, SearchCrew]:
        """Return the kernel and the threads of a run; drop the state of any other run."""
        if self.kernel is None or self.plan != digest:
            self.forget()
            cache = KernelCache()
            self.kernel, self.plan = plans.states.compile(cache), digest
            self.table = None if plans.table is None else plans.table.compile(cache)
        if self.run != run:
            self.forget()
            self.run = run
        if self.crew is None or len(self.crew.workers) != threads:
            if self.crew is not None:
                self.forget()
                self.run = run
            self.crew = SearchCrew(self.kernel, threads)
        self.crew.reset()
        return self.kernel, self.crew

    def forget(self) -> None:
        """Drop everything but the machine code."""
        self.shards.clear()
        self.pending.clear()
        if self.crew is not None:
            self.crew.close()
        self.crew, self.run = None, ""

    def take(
        self, partition: int, levels: Sequence[SavedLevel], files: LevelFiles, memory: int | None
    ) -> tuple[Shard, int]:
        """Return the shard of a partition with exactly these levels, and the number of levels read from files.

        The shard belongs to the caller until it is returned with `put`.
        """
        shard = self.shards.pop(partition, None)
        if shard is None or shard.level >= len(levels):
            shard = self._empty(memory)
        missing = levels[shard.level + 1 :]
        for level in missing:
            shard.load(level, files)
        shard.states.budget = memory  # what was read was within it when it was first stored
        return shard, len(missing)

    def _empty(self, memory: int | None) -> Shard:
        assert self.kernel is not None and self.crew is not None
        if self.table is None:
            return WholeShard(ExactSet(self.kernel, self.crew))
        crew = SearchCrew(self.table, len(self.crew.workers))  # it tracks how crowded a single table is
        return HashedShard(FingerprintSet(self.table, crew, memory))

    def put(self, partition: int, shard: Shard) -> None:
        """Put a shard back. Drop shards whose partitions other workers have advanced meanwhile."""
        self.shards = {p: other for p, other in self.shards.items() if other.level >= shard.level - 1}
        self.shards[partition] = shard
        self.pending = {p: other for p, other in self.pending.items() if other.level >= shard.level}


WORKER = ShardWorker()


def owners(kernel: Kernel, rows: Rows, partitions: int) -> npt.NDArray[np.uint16]:
    """Return the partition that owns each row.

    It comes from the low half of the hash, because tables place states by the high half (`table_ir`).
    """
    return ((kernel.hashes(rows) & LOW) * np.uint64(partitions) >> HALF).astype(np.uint16)


def by_owner(kernel: Kernel, rows: Rows, whos: Whos, partitions: int) -> Iterator[tuple[int, Rows, Whos]]:
    """Yield copies of the rows and their credits in pieces, each with its owner."""
    for start in range(0, len(rows), BLOCK):
        block, who = np.ascontiguousarray(rows[start : start + BLOCK]), whos[start : start + BLOCK]
        if partitions == 1:
            yield 0, block.copy(), who.copy()
            continue
        for partition, chosen in enumerate(positions_of(owners(kernel, block, partitions), partitions)):
            if len(chosen):
                yield partition, np.take(block, chosen, axis=0), who[chosen]
