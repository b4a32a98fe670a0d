"""Configurations of a sweep as Spark tasks: one row is one configuration in, its answer out, both JSON.

Small configurations are packed together, by estimate, into about `PACKS` tasks for each slot of the
cluster; a task checks its pack one after the other with one thread. Several Spark jobs run at the same
time, so that answers come while the others still work. When a job fails for good (Spark has retried its
tasks), every configuration of it gets a task of its own, and only the one that fails again is lost. What
no task can survive, such as executors without Python or a driver without its JVM, ends the sweep.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from elrcheck.base.errors import ElrError
from elrcheck.base.roundtrip import from_text, to_text
from elrcheck.commands.sweep.estimate import cost, pack
from elrcheck.commands.sweep.job import Answer, Job, check_job, compile_alone
from elrcheck.commands.sweep.pool import TICK, Tick
from elrcheck.spark.faults import explained

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

PACKS = 4
"""Tasks for each slot: enough to even out wrong estimates."""
JOBS = 16
"""Spark jobs at the same time: each is a thread of the driver."""
SCHEMA = "number int, body string"
TAG = "elrcheck-sweep"
HOPELESS = ("executor", "executor-package", "executor-python")
"""Faults (`elrcheck.spark.faults`) that every task will meet."""


def slots(session: SparkSession) -> int:
    """How many tasks the cluster runs at the same time, as far as the driver knows."""
    return int(session.sparkContext.defaultParallelism)


def check_in_tasks(session: SparkSession, jobs: Sequence[Job]) -> Generator[Tick, None, None]:
    """Every job; answers as soon as the Spark job they are in is done. Closing the iterator cancels all."""
    by_number = {job.number: job for job in jobs}
    costs = {job.number: cost(job.selected().config, job.large or 0) for job in jobs}
    packs = [[by_number[number] for number in group] for group in pack(costs, PACKS * slots(session))]
    batches = [packs[first::JOBS] for first in range(min(JOBS, len(packs)))]
    waiting = len(jobs)
    crew = _Crew(session)
    try:
        for batch in batches:
            crew.start(batch)
        while waiting:
            answers, retried = crew.answers()
            for job in retried:
                crew.start([[job]])
            waiting -= len(answers)
            yield Tick(tuple(answers))
    finally:
        if waiting:
            crew.cancel()


class _Crew:
    """Threads of the driver, each of which waits for one Spark job."""

    def __init__(self, session: SparkSession) -> None:
        self.session = session
        self.heard: queue.SimpleQueue[tuple[list[list[Job]], list[Answer] | Exception]] = queue.SimpleQueue()

    def start(self, packs: list[list[Job]]) -> None:
        threading.Thread(target=self._run, args=(packs,), daemon=True).start()

    def _run(self, packs: list[list[Job]]) -> None:
        try:
            with explained("Spark"):
                self.heard.put((packs, _submit(self.session, packs)))
        except Exception as fault:
            self.heard.put((packs, fault))

    def answers(self) -> tuple[list[Answer], list[Job]]:
        """What has come within a tick: answers, and jobs to be tried again by themselves.

        EnvironmentFault if it is no use to try again.
        """
        try:
            packs, result = self.heard.get(timeout=TICK)
        except queue.Empty:
            return [], []
        if isinstance(result, list):
            return result, []
        if isinstance(result, ElrError) and (result.code in HOPELESS or not self._alive()):
            raise result
        jobs = [job for each in packs for job in each]
        if len(jobs) > 1:
            return [], jobs
        return [Answer(jobs[0].number, error=f"the Spark task failed: {_first_line(result)}")], []

    def _alive(self) -> bool:
        """Whether the driver's JVM still takes jobs."""
        try:
            return not self.session.sparkContext._jsc.sc().isStopped()
        except Exception:  # whatever py4j says of a JVM that is gone
            return False

    def cancel(self) -> None:
        with contextlib.suppress(Exception):  # there may be nobody left to tell
            self.session.sparkContext.cancelJobsWithTag(TAG)


def _submit(session: SparkSession, packs: list[list[Job]]) -> list[Answer]:
    """One Spark job: a partition for each pack."""
    context = session.sparkContext
    context.addJobTag(TAG)  # of this thread
    bodies = [[(job.number, to_text(job)) for job in each] for each in packs]
    rows = context.parallelize(bodies, len(bodies)).flatMap(list)
    frame = session.createDataFrame(rows, SCHEMA).mapInArrow(check_rows, SCHEMA)
    return [from_text(row.body, Answer) for row in frame.collect()]


def check_rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """In a task: every configuration of its pack."""
    import pyarrow as pa

    from elrcheck.base.progress import Silent

    compile_alone(True)
    kinds = pa.schema([("number", pa.int32()), ("body", pa.string())])
    for batch in batches:
        for row in batch.to_pylist():
            answer = check_job(from_text(row["body"], Job), Silent())
            yield pa.RecordBatch.from_pylist([{"number": answer.number, "body": to_text(answer)}], kinds)


def _first_line(fault: Exception) -> str:
    """What Spark says of a task that failed, without its stack traces."""
    lines = [line.strip() for line in str(fault).splitlines() if line.strip()]
    return lines[0][:300] if lines else type(fault).__name__
