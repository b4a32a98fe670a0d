"""Checks configurations in processes of this machine, which share the kernel cache on disk.

A process that dies loses only its own configuration.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from elrcheck.base.errors import Interrupted
from elrcheck.base.progress import Event, LevelDone, Silent
from elrcheck.base.runner.runner import TICK, Processes, Tell
from elrcheck.checking.batch.job import Job, JobAnswer, check_job, compile_alone
from elrcheck.checking.batch.shared_kernels import Families, next_job


def check_all(jobs: Sequence[Job], processes: int, scratch: Path) -> Processes[Job, JobAnswer]:
    """Return the processes that check all jobs; each reports the number of states of its job so far.

    Jobs start in the given order, except when a process can reuse its kernel. scratch: a folder for temporary files
    of the searches; the caller removes it.
    """
    return Processes(_JobChecker(scratch), jobs, processes, lost=_answer_of_lost, choose=next_job)


def _answer_of_lost(job: Job, fate: str) -> JobAnswer:
    return JobAnswer(job.number, error=fate)


class _JobChecker:
    """Checks one job after the other in a process, which keeps the family of its last job."""

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch
        self._families = Families()

    def __call__(self, job: Job, tell: Tell) -> JobAnswer:
        compile_alone(job.workers == 1)
        try:
            return check_job(job, _States(tell), self._scratch, family_of=self._families.of)
        except Interrupted:
            return JobAnswer(job.number, error="the process was stopped by a signal")


class _States(Silent):
    """Progress that sends the number of states a few times a second."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._last = 0.0

    def tell(self, event: Event) -> None:
        now = time.monotonic()
        if isinstance(event, LevelDone) and now - self._last >= TICK:
            self._last = now
            self._tell(event.distinct)
