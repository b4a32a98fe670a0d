"""Watches the executors of a session, and reports at once which are lost."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

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
