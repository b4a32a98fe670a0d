"""The Spark tasks for one level of a search: `expand` and `settle`, one of each per partition.

    committed level L of partition p --expand--> candidates --shuffle by owner--> settle --> level L + 1 of p

`expand` computes the successors of a partition's newest states a batch at a time, and sends every other partition
those that it owns, in fat rows: a destination and some MiB of packed states. It keeps its own successors
(`shards.Pending`) up to a limit, and sends the rest to itself.

`settle` inserts the candidates into the partition's visited set, evaluates the new states, writes them as
level files and reports. States stay in Arrow buffers throughout: no state ever becomes a Python object.

A task depends only on committed files, and changes nothing that another attempt would see: its files have
unique names, and count only once the driver has accepted its report. So tasks may be retried, run twice or
be killed at any point.
"""

from __future__ import annotations

import itertools
import os
import time
import uuid
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from elrcheck.base.errors import EnvironmentFault
from elrcheck.base.roundtrip import Record, from_text, to_text
from elrcheck.explorer.kernel.crew import SearchCrew
from elrcheck.explorer.kernel.kernel import Kernel
from elrcheck.explorer.kernel.word_layout import Rows, Whos
from elrcheck.explorer.store.judgement import SavedJudgement
from elrcheck.explorer.store.levels import Block, LevelFiles, SavedLevel
from elrcheck.explorer.store.memory import peak_bytes
from elrcheck.explorer.store.stored_levels import level_files
from elrcheck.explorer.store.visited import ExactSet
from elrcheck.spark.shards import WORKER, Pending, Piece, Shard, ShardLevel, by_owner

if TYPE_CHECKING:
    import pyarrow as pa

FAT = 4 << 20
"""Target size of a row of the exchange, in bytes of states."""
EXCHANGE = "key int, rows binary, whos binary, note binary"
"""key: Spark hashes it to the destination. rows: packed states; whos: the instance credited with each (u16).
note: JSON from an `expand` task to the `settle` task of its own partition."""
REPORT = "report binary"


BATCH = 256 << 20
"""Approximate size of a batch of candidates, in bytes. Duplicates within a batch are not sent."""
HELD = 1 << 30
"""Bytes of candidates for itself that a partition keeps until `settle`; it sends the others."""
FAN = 16
"""Assumed maximum of new candidates per state when a batch is planned."""


@dataclass(frozen=True)
class SparkRun:
    """Data common to all tasks of a search. plans: a broadcast `Plans`. memory: bytes per shard.

    batch, held: `BATCH`, `HELD`.
    """

    name: str
    plans: Any
    digest: str
    keys: tuple[int, ...]
    place: str
    threads: int
    memory: int | None = None
    batch: int = BATCH
    held: int = HELD

    @property
    def partitions(self) -> int:
        return len(self.keys)


class ExpandNote(Record, frozen=True):
    """The message of an `expand` task to the `settle` task of its own partition; fields as in `ShardReport`.

    attempt: identifies the attempt.
    """

    attempt: str
    counters: list[int]
    flags: list[int]
    sent: int
    read: int
    seconds: dict[str, float]


class ShardReport(msgspec.Struct, forbid_unknown_fields=True):
    """A partition's report on its new level to the driver; `level` and `judgement` are None if memory did not suffice.

    counters, flags: of the expansion (`SearchCrew`). credit: new states by instance. judgement: of the new states.
    used, peak: size of the shard and peak memory of the process, in bytes. read: levels that the shard lacked. sent:
    bytes sent to other partitions. seconds: by kind of work.
    """

    partition: int
    level: SavedLevel | None
    counters: list[int]
    flags: list[int]
    credit: list[int] = msgspec.field(default_factory=list)
    judgement: SavedJudgement | None = None
    used: int = 0
    peak: int = 0
    read: int = 0
    sent: int = 0
    pid: int = 0
    seconds: dict[str, float] = msgspec.field(default_factory=dict)


class Clock:
    """Measures the time of a task by kind of work."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def add(self, seconds: dict[str, float]) -> None:
        """Add time that was spent elsewhere."""
        for what, spent in seconds.items():
            self.seconds[what] = self.seconds.get(what, 0.0) + spent

    def lap(self, what: str) -> None:
        now = time.perf_counter()
        self.add({what: now - self._last})
        self._last = now


@dataclass(frozen=True)
class LevelTasks:
    """The tasks of one level. levels: the committed levels so far of every partition."""

    run: SparkRun
    levels: tuple[tuple[SavedLevel, ...], ...]

    @property
    def depth(self) -> int:
        """The depth of the level to compute."""
        return len(self.levels[0])

    # -- first stage

    def expand(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield candidates for other partitions, and a note for this one."""
        for batch in batches:
            for key in batch.column("key").to_pylist():
                with _CleanWorker():
                    yield from self._expand(self.run.keys.index(key))

    def _expand(self, partition: int) -> Iterator[pa.RecordBatch]:
        clock = Clock()
        kernel, crew = self._begin()
        shard, read = self._take(partition)
        WORKER.put(partition, shard)  # this task only reads it
        clock.lap("read")
        outgoing = _Outgoing(self.run.keys)
        own: list[Piece] = []
        held = 0
        frontier = shard.frontier(self.levels[partition][-1], self._files(kernel))
        for owner, rows, whos in self._candidates(frontier, kernel, crew, clock):
            clock.lap("route")
            if owner == partition and held < self.run.held:
                own.append((rows, whos))
                held += rows.nbytes + whos.nbytes
            else:
                yield from outgoing.add(owner, rows, whos)
            clock.lap("send")
        pending = WORKER.pending[partition] = Pending(self.depth, uuid.uuid4().hex, own)
        yield from outgoing.rest()
        clock.lap("send")
        counts = crew.counters().tolist(), crew.flag_bits()
        note = ExpandNote(pending.attempt, *counts, outgoing.sent, read, clock.seconds)
        yield fat_row(self.run.keys[partition], note=to_text(note).encode())

    def _candidates(
        self, frontier: Iterable[Block], kernel: Kernel, crew: SearchCrew, clock: Clock
    ) -> Iterator[tuple[int, Rows, Whos]]:
        """Yield the successors of the newest states (`Shard.frontier`), in pieces with their owners.

        They are distinct within a batch. The pieces are copies.
        """
        candidates = ExactSet(kernel, crew)
        candidates.begin_level()
        size = 8 * kernel.layout.words
        step = max(1, self.run.batch // (2 * FAN * size))
        for address, first, last in frontier:
            candidates.source = address
            for start in range(first, last, step):
                crew.expand(candidates, start, min(start + step, last), lambda: None)
                if size * candidates.reserved >= self.run.batch:
                    yield from self._routed(candidates, kernel, clock)
                    candidates.clear()
        yield from self._routed(candidates, kernel, clock)

    def _routed(self, candidates: ExactSet, kernel: Kernel, clock: Clock) -> Iterator[tuple[int, Rows, Whos]]:
        candidates.close_level()
        clock.lap("expand")
        yield from by_owner(kernel, candidates.view(0, candidates.reserved), candidates.credits(), self.run.partitions)

    # -- second stage

    def settle(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Compute the partition's part of the level; yield one row with a `ShardReport`."""
        import pyarrow as pa

        with _CleanWorker():
            report = self._settle(batches)
        yield pa.RecordBatch.from_arrays([pa.array([to_text(report).encode()], pa.binary())], ["report"])

    def _settle(self, batches: Iterator[pa.RecordBatch]) -> ShardReport:
        clock = Clock()
        kernel, crew = self._begin()
        incoming = _Incoming(batches, kernel.layout.words)
        partition = self.run.keys.index(incoming.key)
        clock.lap("receive")
        shard, read = self._take(partition)
        clock.lap("read")
        report = ShardReport(partition, None, [], [])
        files = self._files(kernel)
        with ShardLevel(kernel, crew, files, (self.depth, partition, self.run.partitions), clock.lap) as new:
            shard.begin(new)
            full = False
            for piece in incoming.pieces():
                clock.lap("receive")
                full = full or not shard.states.insert(*piece)
                clock.lap("insert")
            note = incoming.note
            with closing(self._own(partition, note.attempt, kernel, clock)) as own:
                for piece in own:
                    full = full or not shard.states.insert(*piece)
                    clock.lap("insert")
            report.counters, report.flags, report.sent = note.counters, note.flags, note.sent
            report.read = read + note.read
            if not full:
                self._close(shard, report, new)
        clock.add(note.seconds)
        report.seconds = clock.seconds
        return report

    def _close(self, shard: Shard, report: ShardReport, new: ShardLevel) -> None:
        """Evaluate the new states, write them, and keep the shard for the next level."""
        report.credit = shard.close(new).tolist()
        report.judgement, report.level = new.judgement.saved(), new.saved
        WORKER.put(report.partition, shard)
        report.used, report.peak, report.pid = shard.states.used_bytes, peak_bytes(), os.getpid()

    def _own(self, partition: int, attempt: str, kernel: Kernel, clock: Clock) -> Generator[Piece, None, None]:
        """Yield the partition's candidates for itself, recomputed if this worker lacks those of the attempt.

        In that case they are all of them, because it is unknown which ones were sent.
        """
        pending = WORKER.pending.pop(partition, None)
        if pending is not None and pending.attempt == attempt:
            while pending.pieces:
                yield pending.pieces.pop()
            return
        frontier = self._files(kernel).blocks(self.levels[partition][-1])
        with closing(SearchCrew(kernel, self.run.threads)) as crew:  # that of the worker inserts
            for owner, rows, whos in self._candidates(frontier, kernel, crew, clock):
                if owner == partition:
                    clock.lap("route")
                    yield rows, whos

    # -- both

    def _begin(self) -> tuple[Kernel, SearchCrew]:
        run = self.run
        return WORKER.begin(run.name, run.plans.value, run.digest, run.threads)

    def _take(self, partition: int) -> tuple[Shard, int]:
        assert WORKER.kernel is not None
        files = self._files(WORKER.kernel)
        try:
            return WORKER.take(partition, self.levels[partition], files, self.run.memory)
        except FileNotFoundError as fault:
            raise not_shared(f"an executor does not see {self.run.place}") from fault

    def _files(self, kernel: Kernel) -> LevelFiles:
        return level_files(self.run.place, kernel.layout.words)


class _CleanWorker:
    """Context manager of a task, which drops the worker's state if the task fails."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None:
            WORKER.forget()


class _Outgoing:
    """Collects pieces for other partitions into fat rows."""

    def __init__(self, keys: tuple[int, ...]) -> None:
        self.keys = keys
        self.sent = 0
        self._pieces: list[list[Piece]] = [[] for _ in keys]
        self._bytes = [0] * len(keys)

    def add(self, owner: int, rows: Rows, whos: Whos) -> Iterator[pa.RecordBatch]:
        self._pieces[owner].append((rows, whos))
        self._bytes[owner] += rows.nbytes
        if self._bytes[owner] >= FAT:
            yield self._flush(owner)

    def rest(self) -> Iterator[pa.RecordBatch]:
        for owner, pieces in enumerate(self._pieces):
            if pieces:
                yield self._flush(owner)

    def _flush(self, owner: int) -> pa.RecordBatch:
        pieces, self._pieces[owner], self._bytes[owner] = self._pieces[owner], [], 0
        rows = np.concatenate([rows for rows, _ in pieces])
        whos = np.concatenate([whos for _, whos in pieces])
        self.sent += rows.nbytes + whos.nbytes
        return fat_row(self.keys[owner], rows, whos)


class _Incoming:
    """The input of a `settle` task: the note of its own partition, and pieces.

    Raise RuntimeError if Spark did not partition the exchange as requested, because counts would be wrong.
    """

    def __init__(self, batches: Iterator[pa.RecordBatch], words: int) -> None:
        self._rows = ((batch, k) for batch in batches for k in range(batch.num_rows))
        self.words = words
        first = next(self._rows, None)
        if first is None:
            raise RuntimeError(f"{MISPLACED}: a task without a partition")
        self._first = first
        self.key: int = first[0].column("key")[first[1]].as_py()
        self._note: ExpandNote | None = None

    @property
    def note(self) -> ExpandNote:
        if self._note is None:
            raise RuntimeError(f"{MISPLACED}: a partition without its note")
        return self._note

    def pieces(self) -> Iterator[Piece]:
        """Yield packed states and their credits, as views of Arrow's buffers."""
        for batch, k in itertools.chain([self._first], self._rows):
            if batch.column("key")[k].as_py() != self.key:
                raise RuntimeError(f"{MISPLACED}: two partitions in one task")
            if batch.column("note")[k].is_valid:
                self._note = from_text(batch.column("note")[k].as_py(), ExpandNote)
            elif batch.column("rows")[k].is_valid:
                rows = np.frombuffer(batch.column("rows")[k].as_buffer(), "<u8")
                yield rows.reshape(-1, self.words), np.frombuffer(batch.column("whos")[k].as_buffer(), "<u2")


def not_shared(what: str) -> EnvironmentFault:
    """Return the fault for a driver and executors that do not see the same files."""
    return EnvironmentFault("storage-not-shared", f"{what}; give a --storage that driver and executors share")


MISPLACED = "Spark did not bring a partition and its data together"


def fat_row(key: int, rows: Rows | None = None, whos: Whos | None = None, note: bytes | None = None) -> Any:
    """Return one row of the exchange, without copying the arrays."""
    import pyarrow as pa

    columns = [pa.array([key], pa.int32()), _binary(rows), _binary(whos), pa.array([note], pa.binary())]
    return pa.RecordBatch.from_arrays(columns, ["key", "rows", "whos", "note"])


def _binary(data: Rows | Whos | None) -> Any:
    import pyarrow as pa

    if data is None:
        return pa.array([None], pa.binary())
    flat = np.ascontiguousarray(data)
    ends = np.array([0, flat.nbytes], np.int32)
    return pa.Array.from_buffers(pa.binary(), 1, [None, pa.py_buffer(ends), pa.py_buffer(flat)])
