"""State that a Spark worker process keeps between tasks: its kernel and its shards.

A shard is one partition of the state space: all its states up to some level, in an ordinary visited set.
It is only a cache of the committed level files, so a worker that lacks a shard, or has an old one, reads the
missing levels; losing a worker costs nothing but time.

The process-wide `WORKER` must live in a module that workers import. In a task's closure it would be
pickled by value, and every task would find an empty one.

Two rules keep counts exact, whatever is retried, repeated or killed:

* a task that changes a shard takes it out first and puts it back once its level is written, so a task that
  dies in between leaves no half-changed shard behind;
* the candidates that `expand` leaves for its own shard (`Pending`) are a function of committed files only,
  so a task that finds none recomputes them.
"""

from __future__ import annotations

import hashlib
import pickle
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from elrcheck.explorer.kernel.crew import Crew
from elrcheck.explorer.kernel.kernel import Blueprint, Kernel
from elrcheck.explorer.kernel.native_code import KernelCache, default_cache
from elrcheck.explorer.store.levels import LevelFiles, SavedLevel
from elrcheck.explorer.store.visited import ExactSet

Rows = npt.NDArray[np.uint64]
Whos = npt.NDArray[np.uint16]
Piece = tuple[Rows, Whos]
LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)
BLOCK = 1 << 16


@dataclass
class Shard:
    """The states of a partition up to a level, the newest level last."""

    level: int
    states: ExactSet

    def begin(self) -> None:
        """Begin a new level; states inserted from now on belong to it."""
        self.states.begin_level()
        self.level += 1

    @property
    def frontier(self) -> tuple[int, int]:
        """The first row of the newest level, and the row after its last."""
        return self.states.base, self.states.reserved


@dataclass
class Pending:
    """Candidates for the next level that a partition has computed for itself."""

    level: int
    pieces: list[Piece]


@dataclass
class Worker:
    """The state that one Python worker process keeps, for one run at a time."""

    run: str = ""
    kernel: Kernel | None = None
    plan: str = ""
    crew: Crew | None = None
    shards: dict[int, Shard] = field(default_factory=dict)
    pending: dict[int, Pending] = field(default_factory=dict)

    def begin(self, run: str, plan: Blueprint, digest: str, threads: int) -> tuple[Kernel, Crew]:
        """Return the kernel and the threads of a run; drop the state of any other run."""
        if self.kernel is None or self.plan != digest:
            self.forget()
            self.kernel, self.plan = plan.compile(KernelCache(default_cache())), digest
        if self.run != run:
            self.forget()
            self.run = run
        if self.crew is None or len(self.crew.workers) != threads:
            if self.crew is not None:
                self.forget()
                self.run = run
            self.crew = Crew(self.kernel, threads)
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
        """Return the shard of a partition with exactly these levels, and how many of them were read.

        The shard belongs to the caller until it is returned with `put`.
        """
        assert self.kernel is not None and self.crew is not None
        shard = self.shards.pop(partition, None)
        if shard is None or shard.level >= len(levels):
            shard = Shard(-1, ExactSet(self.kernel, self.crew))
        shard.states.crew = self.crew
        missing = levels[shard.level + 1 :]
        for level in missing:
            shard.begin()
            shard.states.budget = None  # these states were within it when they were first stored
            for rows in files.read(level):
                shard.states.insert(rows)
            shard.states.close_level()
        shard.states.budget = memory
        return shard, len(missing)

    def put(self, partition: int, shard: Shard) -> None:
        """Return a shard. Drop shards whose partitions other workers have advanced meanwhile."""
        self.shards = {p: other for p, other in self.shards.items() if other.level >= shard.level - 1}
        self.shards[partition] = shard
        self.pending = {p: other for p, other in self.pending.items() if other.level >= shard.level}


WORKER = Worker()


def write_shard(
    files: LevelFiles, depth: int, partition: int, partitions: int, rows: Rows, threads: int
) -> SavedLevel:
    """Write a partition's states at a depth, to files with names unique to this attempt."""
    if not len(rows):
        return SavedLevel(depth, (), False)
    name = f"{depth:05d}-{partition}of{partitions}-{uuid.uuid4().hex[:12]}"
    return files.write(depth, rows, threads, name)


def digest_of(plan: Blueprint) -> str:
    """Return a digest that identifies a kernel's plan."""
    return hashlib.sha256(pickle.dumps(plan.texts)).hexdigest()


def owners(kernel: Kernel, rows: Rows, partitions: int) -> npt.NDArray[np.uint16]:
    """Return the partition that owns each row.

    It comes from the low half of the hash, because tables place states by the high half (`hash_ir`).
    """
    hashes = np.empty(len(rows), np.uint64)
    kernel.functions["hashes"](rows.ctypes.data, len(rows), hashes.ctypes.data)
    return ((hashes & LOW) * np.uint64(partitions) >> HALF).astype(np.uint16)  # 16-bit numbers sort fast


def by_owner(
    kernel: Kernel, rows: Rows, whos: Whos, partitions: int
) -> Iterator[tuple[int, Rows, Whos]]:
    """Yield the rows and their credits in pieces, each with its owner."""
    for start in range(0, len(rows), BLOCK):
        block, who = np.ascontiguousarray(rows[start : start + BLOCK]), whos[start : start + BLOCK]
        if partitions == 1:
            yield 0, block, who
            continue
        owner = owners(kernel, block, partitions)
        order = np.argsort(owner, kind="stable")
        cuts = np.searchsorted(owner[order], np.arange(1, partitions, dtype=np.uint16))
        for partition, chosen in enumerate(np.split(order, cuts)):
            if len(chosen):
                yield partition, np.take(block, chosen, axis=0), who[chosen]
