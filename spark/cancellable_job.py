"""Runs a job of Spark in a thread, so that it can be cancelled, and reports executors at once that are lost."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from elrcheck.base.progress import ExecutorsLost, Progress

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


EVERY = 0.5
"""Seconds between two looks."""


class ExecutorWatch:
    """Looks for executors that are there no more. lost: how many were lost so far."""

    def __init__(self, session: SparkSession, progress: Progress) -> None:
        self.progress = progress
        self.lost = 0
        self._context = session.sparkContext
        self._addresses: dict[str, str] = {}
        self._present = ""
        self._next = 0.0

    def look(self) -> None:
        """Report executors lost since the last look; do nothing if that was a moment ago, or on a local master."""
        now = time.monotonic()
        if now < self._next or str(self._context.master).startswith("local"):
            return
        self._next = now + EVERY
        scheduler = self._context._jsc.sc().schedulerBackend()
        present = str(scheduler.getExecutorIds().mkString(" "))  # one answer of the JVM, however many there are
        if present != self._present:
            self._present = present
            self._changed(present.split())

    def _changed(self, present: list[str]) -> None:
        gone = [self._addresses.pop(number) for number in sorted(self._addresses.keys() - set(present))]
        summaries = self._context._jsc.sc().statusStore().executorList(True)
        for each in (summaries.apply(k) for k in range(summaries.size())):
            if each.id() in present:
                self._addresses[each.id()] = f"{each.id()} at {each.hostPort()}"
        if gone:
            self.lost += len(gone)
            self.progress.tell(ExecutorsLost(tuple(gone), len(present)))


POLL = 0.1
"""Seconds between two calls of `stop`."""


class Cancelled(Exception):
    """The job was cancelled; the message is the reason."""


def run_job(
    session: SparkSession, what: str, job: Callable[[], list[Any]], stop: Callable[[], str | None], watch: ExecutorWatch
) -> list[Any]:
    """Return the rows of a job; raise Cancelled as soon as `stop` returns a reason. what: its name on Spark's pages.

    watch: looks for lost executors meanwhile.
    """
    from pyspark import InheritableThread

    context, group = session.sparkContext, f"elrcheck-{uuid.uuid4().hex}"
    rows: list[Any] = []
    faults: list[BaseException] = []

    def work() -> None:
        context.setJobGroup(group, what, interruptOnCancel=True)
        try:
            rows.extend(job())
        except BaseException as fault:
            faults.append(fault)

    thread: threading.Thread = InheritableThread(target=work, daemon=True)
    thread.start()
    reason = None
    try:
        while thread.is_alive() and reason is None:
            thread.join(POLL)
            watch.look()
            reason = stop() if thread.is_alive() else None
    finally:
        while thread.is_alive():  # again, if the job was not submitted yet
            context.cancelJobGroup(group)
            thread.join(POLL)
    if reason is not None:
        raise Cancelled(reason)
    if faults:
        raise faults[0]
    return rows
