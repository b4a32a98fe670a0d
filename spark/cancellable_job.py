"""Runs a job of Spark in a thread, so that it can be cancelled."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from elrcheck.spark.executors import ExecutorWatch

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
