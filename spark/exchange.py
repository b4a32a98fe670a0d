"""One level of a search as one Spark job.

    anchor --mapInArrow(expand)--> fat rows --repartition by key--+
       |                                                          +-- join --mapInArrow(settle)--> reports
       +----------------------------------------------------------+

The anchor is a cached table with one row per partition. Spark prefers to run a task on the executor that has the
cached block of its input, so a partition stays where its states are. Its join with the shuffled rows (a hash join
without a shuffle of its own) passes this preference on, to the very executor, where a union would keep only the host.
The shuffle states none (`spark.shuffle.reduceLocality.enabled`).

All levels have the same plan; only the function differs.

The tasks of a trace are here too: each partition answers a question about its states in a level. States come from the
level's files, so that no shard has to be there any more.
"""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from elrcheck.base.roundtrip import from_text
from elrcheck.explorer.kernel.kernel import Kernel
from elrcheck.explorer.kernel.word_layout import Rows, Successors
from elrcheck.explorer.search.level_questions import Answers, LevelQuestion
from elrcheck.explorer.search.result import in_batches
from elrcheck.explorer.store.levels import SavedLevel
from elrcheck.explorer.store.stored_levels import level_files
from elrcheck.spark.cancellable_job import run_job
from elrcheck.spark.shards import WORKER
from elrcheck.spark.tasks import EXCHANGE, REPORT, LevelTasks, ShardReport, SparkRun

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from elrcheck.spark.cancellable_job import ExecutorWatch


ANSWERS = "answers binary"


@dataclass(frozen=True)
class KernelSteps:
    """A kernel as a question asks it."""

    kernel: Kernel

    def successors(self, rows: Rows) -> Successors:
        return self.kernel.successors(rows, np.zeros(self.kernel.counters.size, np.int64))

    def state_hits(self, check: int, rows: Rows) -> npt.NDArray[np.bool_]:
        return self.kernel.state_hits(check, rows)


@dataclass(frozen=True)
class QuestionTasks:
    """The tasks of one question. parts: the level in each partition."""

    run: SparkRun
    question: LevelQuestion
    parts: tuple[SavedLevel, ...]

    def answer(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the answers of each partition whose key comes."""
        import pyarrow as pa

        run = self.run
        for batch in batches:
            for key in batch.column("key").to_pylist():
                kernel, _ = WORKER.begin(run.name, run.plans.value, run.digest, run.threads)
                steps, files = KernelSteps(kernel), level_files(run.place, kernel.layout.words)
                blocks = files.read(self.parts[run.keys.index(key)])
                answers = self.question.merged(self.question.answers(steps, rows) for rows in in_batches(blocks))
                yield pa.RecordBatch.from_arrays([pa.array([pickle.dumps(answers)], pa.binary())], ["answers"])


SETTINGS = {
    "spark.sql.adaptive.enabled": "false",  # adaptive execution would merge partitions
    "spark.sql.execution.arrow.maxRecordsPerBatch": "1",  # a single row already holds some MiB
    "spark.sql.sources.bucketing.enabled": "false",
    # A repeated task may send other candidates, which is harmless (`shards`); Spark would fail the job instead.
    "spark.sql.shuffle.orderIndependentChecksum.enabled": "false",
    "spark.sql.shuffle.orderIndependentChecksum.enableFullRetryOnMismatch": "false",
    "spark.sql.shuffle.orderIndependentChecksum.enableQueryLevelRollbackOnMismatch": "false",
}
"""Session settings that the exchange needs for correctness or speed."""
WORD = (1 << 32) - 1


class LevelExchange:
    """Runs the levels of a search as Spark jobs."""

    def __init__(self, session: SparkSession, partitions: int, watch: ExecutorWatch) -> None:
        self.session, self.watch = session, watch
        self.keys = keys_of(partitions)
        self._anchor: DataFrame | None = None

    def anchor(self, stop: Callable[[], str | None]) -> DataFrame:
        """Return the anchor, cached: a single one Spark would shuffle again otherwise."""
        if self._anchor is None:
            partitions = len(self.keys)
            for name, value in {**SETTINGS, "spark.sql.shuffle.partitions": str(partitions)}.items():
                self.session.conf.set(name, value)
            rows = [(key, None, None, None) for key in self.keys]
            anchor = self.session.createDataFrame(rows, EXCHANGE).repartition(partitions, "key").cache()
            run_job(self.session, "anchor", lambda: [anchor.count()], stop, self.watch)
            self._anchor = anchor
        return self._anchor

    def close(self) -> None:
        if self._anchor is not None:
            self._anchor.unpersist()

    def level(self, tasks: LevelTasks, stop: Callable[[], str | None]) -> list[ShardReport]:
        """Run a level; raise Cancelled as soon as `stop` returns a reason."""
        anchor = self.anchor(stop)
        sent = anchor.mapInArrow(_stage(tasks, "expand"), EXCHANGE).repartition(len(self.keys), "key")
        settled = sent.join(anchor.select("key").hint("shuffle_hash"), "key")
        job = settled.mapInArrow(_stage(tasks, "settle"), REPORT).collect
        rows = run_job(self.session, "level", job, stop, self.watch)
        return sorted((from_text(row.report, ShardReport) for row in rows), key=lambda report: report.partition)

    def ask(self, tasks: QuestionTasks, stop: Callable[[], str | None]) -> list[Answers]:
        """Ask all partitions about a level; raise Cancelled as soon as `stop` returns a reason."""
        answered = self.anchor(stop).mapInArrow(_stage(tasks, "answer"), ANSWERS)
        return [pickle.loads(row.answers) for row in run_job(self.session, "trace", answered.collect, stop, self.watch)]


def keys_of(partitions: int) -> tuple[int, ...]:
    """Return the smallest number that Spark's hash maps to each partition."""
    keys: dict[int, int] = {}
    for number in itertools.count():
        keys.setdefault(spark_hash(number) % partitions, number)
        if len(keys) == partitions:
            return tuple(keys[p] for p in range(partitions))
    raise AssertionError("there is a number for every partition")


def spark_hash(number: int) -> int:
    """Return `hash(number)` of Spark SQL for an int: 32 bits of MurmurHash3 with the seed 42."""
    k = _turned(number * 0xCC9E2D51, 15) * 0x1B873593
    h = (_turned(42 ^ k, 13) * 5 + 0xE6546B64) ^ 4
    h &= WORD
    h = (h ^ h >> 16) * 0x85EBCA6B & WORD
    h = (h ^ h >> 13) * 0xC2B2AE35 & WORD
    h ^= h >> 16
    return h - (1 << 32) if h >> 31 else h


def _turned(value: int, bits: int) -> int:
    value &= WORD
    return (value << bits | value >> 32 - bits) & WORD


def _stage(tasks: LevelTasks | QuestionTasks, name: str) -> Any:
    """Return a plain function for mapInArrow, which does not accept a bound method."""

    def stage(batches: Any) -> Any:
        return getattr(tasks, name)(batches)

    return stage
