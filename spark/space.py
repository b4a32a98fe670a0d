"""The states of a search on a Spark cluster, partitioned by hash, each partition in a worker's memory.

This is another kind of space (`explorer.store.spaces`). A level is one job (`exchange`); it exists once all
its partitions have reported, and an unfinished level leaves nothing behind. Every level is on disk, in one
or more files per partition.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from elrcheck.explorer.kernel.crew import SearchCrew
from elrcheck.explorer.kernel.kernel import Kernel
from elrcheck.explorer.kernel.word_layout import Counts, Rows
from elrcheck.explorer.search.level_questions import Answers, LevelQuestion
from elrcheck.explorer.store.judgement import Judgement
from elrcheck.explorer.store.levels import FileMark, LevelFiles, SavedLevel
from elrcheck.explorer.store.spaces import OUT_OF_MEMORY, LevelEnd, Pause, SpaceInFiles
from elrcheck.spark.cancellable_job import Cancelled
from elrcheck.spark.exchange import LevelExchange, QuestionTasks
from elrcheck.spark.shards import by_owner, write_shard
from elrcheck.spark.tasks import LevelTasks, ShardReport, SparkRun, not_shared

SHARD_FILE = re.compile(r"\d{5}-(\d+)of(\d+)-")


@dataclass
class LevelCost:
    """The cost of a level: total seconds, and seconds by kind of work, summed over the tasks.

    sent: bytes sent between partitions. read: levels that workers had to read from files. peak: largest
    peak memory of a worker process, in bytes.
    """

    depth: int
    states: int
    seconds: float
    sent: int
    read: int
    peak: int
    work: dict[str, float]


class Distributed(SpaceInFiles):
    """States partitioned over Spark's executors.

    costs: receives the cost of every level.
    """

    whole_levels = True

    def __init__(
        self,
        kernel: Kernel,
        crew: SearchCrew,
        files: LevelFiles,
        exchange: LevelExchange,
        run: SparkRun,
        costs: list[LevelCost],
        tasks: type[LevelTasks] = LevelTasks,
    ) -> None:
        super().__init__(kernel, crew, files)
        self.exchange, self.run, self.costs = exchange, run, costs
        self.tasks = tasks
        self._used = 0
        self._shared = False  # until `_check_shared`
        self.shards: list[list[SavedLevel]] = [[] for _ in range(run.partitions)]

    @property
    def used_bytes(self) -> int:
        """Bytes used by the visited sets of all partitions."""
        return self._used

    # -- taking over earlier levels

    def adopt(self, written: list[SavedLevel], batches: Callable[[int], Iterator[Rows]], levels: int) -> None:
        """Take over the first levels of a search; rewrite those that are not in files per partition."""
        for depth in range(levels):
            parts = self._partitioned(written[depth]) if depth < len(written) else None
            self._add(depth, parts or self._distribute(depth, batches(depth)))

    @staticmethod
    def wrote(level: SavedLevel, partitions: int) -> bool:
        """Return True if a level was written in this number of partitions, judging by its file names."""
        matches = [SHARD_FILE.match(mark.name) for mark in level.files]
        return all(name is not None and int(name[2]) == partitions for name in matches)

    def _partitioned(self, level: SavedLevel) -> list[SavedLevel] | None:
        """Return the files of each partition; None if the level was not written in our partitions."""
        if not self.wrote(level, len(self.shards)):
            return None
        files: list[list[FileMark]] = [[] for _ in self.shards]
        for mark in level.files:
            match = SHARD_FILE.match(mark.name)
            assert match is not None
            files[int(match[1])].append(mark)
        return [SavedLevel(level.depth, tuple(marks), False) for marks in files]

    def _distribute(self, depth: int, batches: Iterator[Rows]) -> list[SavedLevel]:
        pieces: list[list[Rows]] = [[] for _ in self.shards]
        count = len(self.shards)
        for rows in batches:
            block = np.ascontiguousarray(rows)
            for partition, chosen, _ in by_owner(self.kernel, block, np.zeros(len(block), np.uint16), count):
                pieces[partition].append(chosen)
        return [
            write_shard(self.files, depth, partition, count, np.concatenate(own), 1)
            if own
            else SavedLevel(depth, (), False)
            for partition, own in enumerate(pieces)
        ]

    def _add(self, depth: int, parts: list[SavedLevel]) -> None:
        for levels, part in zip(self.shards, parts, strict=True):
            levels.append(part)
        level = SavedLevel(depth, tuple(mark for part in parts for mark in part.files), False)
        self.written.append(level)
        self.sizes.append(level.rows)

    # -- levels

    def advance(self, pause: Pause) -> LevelEnd:
        credit: Counts = np.zeros(max(1, self.kernel.instances), np.int64)
        judgement = Judgement.empty(self.kernel)
        started = time.perf_counter()
        tasks = self.tasks(self.run, tuple(tuple(levels) for levels in self.shards))
        try:
            reports = self.exchange.level(tasks, pause)
        except Cancelled as cancelled:
            return LevelEnd(str(cancelled), credit, judgement)
        parts = [report.level for report in reports if report.level is not None]
        if len(parts) < len(self.shards):
            return LevelEnd(OUT_OF_MEMORY, credit, judgement)
        for report in reports:
            assert report.judgement is not None, "of every level that fits into memory"
            self.crew.add(np.array(report.counters, np.int64), report.flags)
            credit += np.array(report.credit, np.int64)
            judgement.add(Judgement.restored(report.judgement))
        if not self._shared:
            self._check_shared(parts)
        self._add(tasks.depth, parts)
        self._used = sum(report.used for report in reports)
        self.costs.append(_cost(tasks.depth, reports, self.sizes[-1], time.perf_counter() - started))
        return LevelEnd(None, credit, judgement)

    def ask(self, depth: int, question: LevelQuestion) -> Answers:
        """Return the answers of the states of a level, from the executors."""
        parts = tuple(levels[depth] for levels in self.shards)
        return question.merged(self.exchange.ask(QuestionTasks(self.run, question, parts), lambda: None))

    def _check_shared(self, parts: list[SavedLevel]) -> None:
        """Raise EnvironmentFault if the driver does not see the files that executors have written."""
        for mark in (mark for part in parts for mark in part.files):
            if self.files.digest(mark.name) is None:
                raise not_shared(f"the driver does not see an executor's files in {self.files.place}")
            self._shared = True


def _cost(depth: int, reports: list[ShardReport], states: int, seconds: float) -> LevelCost:
    work: dict[str, float] = {}
    for report in reports:
        for what, spent in report.seconds.items():
            work[what] = work.get(what, 0.0) + spent
    return LevelCost(
        depth,
        states,
        seconds,
        sum(report.sent for report in reports),
        sum(report.read for report in reports),
        max(report.peak for report in reports),
        work,
    )
