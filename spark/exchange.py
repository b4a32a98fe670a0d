"""One level of a search as one Spark job.

    anchor --mapInArrow(expand)--> fat rows --repartition by key--+
       |                                                          +-- union --mapInArrow(settle)--> reports
       +----------------------------------------------------------+

The anchor is a cached table with one row per partition. Its cached blocks lie on executors, and Spark prefers to run
a task where the blocks of its input are, so a partition stays where its states are. And the union with it preserves
the partitioning of both sides (Spark 4.1 and later), so the task that settles partition p prefers the location of
anchor p, wherever the shuffle data comes from.

All levels have the same plan; only the function differs.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from elrcheck.base.roundtrip import from_text
from elrcheck.explorer.search.level_questions import Answers
from elrcheck.spark.cancellable_job import run_job
from elrcheck.spark.level_answers import ANSWERS, QuestionTasks
from elrcheck.spark.tasks import EXCHANGE, REPORT, LevelTasks, ShardReport

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from elrcheck.spark.executors import ExecutorWatch

SETTINGS = {
    "spark.sql.adaptive.enabled": "false",  # adaptive execution would merge partitions
    "spark.sql.unionOutputPartitioning": "true",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "1",  # a single row already holds some MiB
    "spark.sql.sources.bucketing.enabled": "false",
}
"""Session settings that the exchange needs for correctness or speed."""
TRIES = 40


class LevelExchange:
    """Runs the levels of a search as Spark jobs."""

    def __init__(self, session: SparkSession, partitions: int, watch: ExecutorWatch) -> None:
        for name, value in SETTINGS.items():
            session.conf.set(name, value)
        self.session, self.watch = session, watch
        self.keys = self._find_keys(partitions)
        rows = [(key, None, None, None) for key in self.keys]
        self.anchor = session.createDataFrame(rows, EXCHANGE).repartition(partitions, "key").cache()
        self.anchor.count()

    def _find_keys(self, partitions: int) -> tuple[int, ...]:
        """Return one key per partition that Spark's hash maps to that partition."""
        keys: dict[int, int] = {}
        for first in range(0, TRIES * partitions, 10 * partitions):
            numbers = self.session.range(first, first + 10 * partitions)
            for row in numbers.selectExpr("int(id) key", f"pmod(hash(int(id)), {partitions}) p").collect():
                keys.setdefault(row.p, row.key)
            if len(keys) == partitions:
                return tuple(keys[p] for p in range(partitions))
        raise RuntimeError(f"found no keys for {partitions} partitions")

    def close(self) -> None:
        self.anchor.unpersist()

    def level(self, tasks: LevelTasks, stop: Callable[[], str | None]) -> list[ShardReport]:
        """Run a level; raise Cancelled as soon as `stop` returns a reason."""
        sent = self.anchor.mapInArrow(_stage(tasks, "expand"), EXCHANGE)
        settled = self.anchor.union(sent.repartition(len(self.keys), "key"))
        job = settled.mapInArrow(_stage(tasks, "settle"), REPORT).collect
        rows = run_job(self.session, "level", job, stop, self.watch)
        return sorted((from_text(row.report, ShardReport) for row in rows), key=lambda report: report.partition)

    def ask(self, tasks: QuestionTasks, stop: Callable[[], str | None]) -> list[Answers]:
        """Ask all partitions about a level; raise Cancelled as soon as `stop` returns a reason."""
        answered = self.anchor.mapInArrow(_stage(tasks, "answer"), ANSWERS)
        return [pickle.loads(row.answers) for row in run_job(self.session, "trace", answered.collect, stop, self.watch)]


def _stage(tasks: LevelTasks | QuestionTasks, name: str) -> Any:
    """Return a plain function for mapInArrow, which does not accept a bound method."""

    def stage(batches: Any) -> Any:
        return getattr(tasks, name)(batches)

    return stage
