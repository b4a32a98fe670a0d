"""Configurations of a sweep as Spark tasks: an input row is a configuration, an output row its answer (JSON).

Small configurations are packed by estimated cost into about `PACKS` tasks per slot of the cluster; a task checks its
pack sequentially in one thread. Several Spark jobs run concurrently, so that answers arrive while others still run. If
a job fails (after Spark's retries), each of its configurations gets its own task, and only one that fails again is
lost. A fault that every task would meet, such as executors without Python, stops the sweep.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from elrcheck.base.errors import ElrError
from elrcheck.base.roundtrip import from_text, to_text
from elrcheck.checking.batch.job import Job, JobAnswer, check_job, compile_alone
from elrcheck.commands.sweep.grid import cost, pack
from elrcheck.spark.jvm import explained

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

PACKS = 4
"""Tasks per slot, to even out wrong estimates."""
JOBS = 16
"""Number of concurrent Spark jobs, each with a thread of the driver."""
SCHEMA = "number int, body string"
TAG = "elrcheck-sweep"
HOPELESS = ("executor", "executor-package", "executor-python")
"""Faults (`elrcheck.spark.jvm`) that would occur in every task."""


def slots(session: SparkSession) -> int:
    """Return the number of tasks that the cluster runs concurrently, according to the driver."""
    return int(session.sparkContext.defaultParallelism)


class SparkTasks:
    """A crew on the cluster: driver threads that each wait for one Spark job. `end` cancels all jobs."""

    def __init__(self, session: SparkSession, jobs: Sequence[Job]) -> None:
        self._session = session
        self._finished: queue.SimpleQueue[tuple[list[list[Job]], list[JobAnswer] | Exception]] = queue.SimpleQueue()
        self._unanswered = len(jobs)
        by_number = {job.number: job for job in jobs}
        costs = {job.number: cost(job.selected().before.states, job.large or 0) for job in jobs}
        packs = [[by_number[number] for number in group] for group in pack(costs, PACKS * slots(session))]
        for first in range(min(JOBS, len(packs))):
            self._start(packs[first::JOBS])

    def busy(self) -> bool:
        return self._unanswered > 0

    def wait(self, seconds: float) -> Sequence[JobAnswer]:
        """Return the new answers; start the configurations of a failed Spark job one by one.

        Raises EnvironmentFault if a retry is useless.
        """
        try:
            packs, result = self._finished.get(timeout=seconds)
        except queue.Empty:
            return ()
        if isinstance(result, Exception):
            if isinstance(result, ElrError) and (result.code in HOPELESS or not self._alive()):
                raise result
            jobs = [job for each in packs for job in each]
            if len(jobs) > 1:
                for job in jobs:
                    self._start([[job]])
                return ()
            result = [JobAnswer(jobs[0].number, error=f"the Spark task failed: {_first_line(result)}")]
        self._unanswered -= len(result)
        return result

    def running(self) -> Sequence[tuple[Job, int | None]]:
        """Return nothing: only the cluster knows which tasks run."""
        return ()

    def end(self) -> None:
        if self._unanswered:
            with contextlib.suppress(Exception):  # the JVM may be gone
                self._session.sparkContext.cancelJobsWithTag(TAG)

    def _start(self, packs: list[list[Job]]) -> None:
        threading.Thread(target=self._run, args=(packs,), daemon=True).start()

    def _run(self, packs: list[list[Job]]) -> None:
        try:
            with explained("Spark"):
                self._finished.put((packs, _submit(self._session, packs)))
        except Exception as fault:
            self._finished.put((packs, fault))

    def _alive(self) -> bool:
        """Return whether the driver's JVM still accepts jobs."""
        try:
            return not self._session.sparkContext._jsc.sc().isStopped()
        except Exception:  # whatever py4j raises when the JVM is gone
            return False


def _submit(session: SparkSession, packs: list[list[Job]]) -> list[JobAnswer]:
    """Return the answers of one Spark job with one partition per pack."""
    context = session.sparkContext
    context.addJobTag(TAG)  # of this thread
    bodies = [[(job.number, to_text(job)) for job in each] for each in packs]
    rows = context.parallelize(bodies, len(bodies)).flatMap(list)
    frame = session.createDataFrame(rows, SCHEMA).mapInArrow(check_rows, SCHEMA)
    return [from_text(row.body, JobAnswer) for row in frame.collect()]


def check_rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the answer for every configuration of a pack, in a Spark task."""
    import pyarrow as pa

    from elrcheck.base.progress import Silent

    compile_alone(True)
    kinds = pa.schema([("number", pa.int32()), ("body", pa.string())])
    for batch in batches:
        for row in batch.to_pylist():
            answer = check_job(from_text(row["body"], Job), Silent())
            yield pa.RecordBatch.from_pylist([{"number": answer.number, "body": to_text(answer)}], kinds)


def _first_line(fault: Exception) -> str:
    """Return Spark's message about a failed task, without stack traces."""
    lines = [line.strip() for line in str(fault).splitlines() if line.strip()]
    return lines[0][:300] if lines else type(fault).__name__
