"""Checks configurations in a pool of processes on this machine.

Each process searches one configuration after another; all share the kernel cache on disk. A process that dies
loses only its own configuration, and a new one replaces it. The processes have their own process group, so
Ctrl-C reaches only the parent; they exit when the parent exits.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing import connection
from multiprocessing.context import SpawnContext, SpawnProcess
from pathlib import Path
from typing import Any

from elrcheck.base.progress import Event, LevelDone, Silent
from elrcheck.base.roundtrip import from_text, to_text
from elrcheck.checking.batch.job import Answer, Job, check_job, compile_alone
from elrcheck.checking.batch.shared_kernels import Families, next_job

TICK = 0.2
"""Seconds between progress reports to the caller, who can stop at each one."""
GRACE = 2.0
"""Seconds a process has to stop before it is killed."""


@dataclass(frozen=True)
class Tick:
    """New answers, and the states found so far by each running configuration, by number."""

    answers: tuple[Answer, ...] = ()
    current: dict[int, int] = field(default_factory=dict)


def processors() -> int:
    """Number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check_all(jobs: Sequence[Job], processes: int, scratch: Path) -> Generator[Tick, None, None]:
    """Runs all jobs in a pool, in the given order as far as a process does not prefer to keep its kernel.

    Closing the iterator stops all processes at once.
    scratch: a folder for temporary files of the searches; the caller removes it.
    """
    waiting = list(jobs)
    context = multiprocessing.get_context("spawn")
    crew: list[_Worker] = []
    try:
        while waiting or crew:
            while waiting and len(crew) < processes:
                job = waiting.pop(next_job(waiting, None, [worker.job for worker in crew]))
                crew.append(_Worker(context, scratch, job))
            connection.wait([w.pipe for w in crew] + [w.process.sentinel for w in crew], TICK)
            answers = []
            for worker in list(crew):
                answer = worker.poll()
                if answer is None:
                    continue
                answers.append(answer)
                if worker.alive and waiting:
                    others = [other.job for other in crew if other is not worker]
                    worker.give(waiting.pop(next_job(waiting, worker.job, others)))
                else:
                    worker.dismiss()
                    crew.remove(worker)
            yield Tick(tuple(answers), {worker.job.number: worker.states for worker in crew})
    finally:
        _end(crew)


class _Worker:
    """The parent's side of one process, which always has a job."""

    def __init__(self, context: SpawnContext, scratch: Path, job: Job) -> None:
        self.pipe, theirs = context.Pipe()
        self.process: SpawnProcess = context.Process(target=_serve, args=(theirs, scratch), daemon=True)
        with _interrupts_blocked():  # until the process has left our group
            self.process.start()
        theirs.close()
        self.job, self.states, self.alive = job, 0, True
        self.give(job)

    def give(self, job: Job) -> None:
        self.job, self.states = job, 0
        with contextlib.suppress(OSError):  # it has died: `poll` will tell
            self.pipe.send(to_text(job))

    def poll(self) -> Answer | None:
        """The answer if it has arrived, or an error answer if the process died; None otherwise."""
        try:
            while self.pipe.poll():
                kind, value = self.pipe.recv()
                if kind == "answer":
                    return from_text(value, Answer)
                self.states = value
            if self.process.is_alive():
                return None
        except (EOFError, OSError):
            self.process.join(GRACE)
        self.alive = False
        return Answer(self.job.number, error=_fate(self.process.exitcode))

    def dismiss(self) -> None:
        """Signals that there are no more jobs: the process exits by itself."""
        self.pipe.close()
        if not self.alive:
            self.process.join(GRACE)


def _fate(code: int | None) -> str:
    if code is not None and code < 0:
        name = signal.Signals(-code).name
        more = "; it may have run out of memory, --memory sets a limit" if name == "SIGKILL" else ""
        return f"the process was killed by {name}{more}"
    return f"the process exited with code {code}"


def _end(crew: Sequence[_Worker]) -> None:
    """Asks all processes to stop, and kills those that do not."""
    for worker in crew:
        worker.pipe.close()  # a process that stops its search on the signal finds no more jobs
        worker.process.terminate()
    deadline = time.monotonic() + GRACE
    for worker in crew:
        worker.process.join(max(0.0, deadline - time.monotonic()))
        if worker.process.is_alive():
            worker.process.kill()
            worker.process.join(GRACE)


@contextlib.contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """A process started inside this context begins with SIGINT blocked."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# ------------------------------------------------------------------------------ in the process


class _Tell(Silent):
    """Reports the number of states to the parent, a few times a second."""

    def __init__(self, pipe: Any) -> None:
        self.pipe, self.last = pipe, 0.0

    def tell(self, event: Event) -> None:
        now = time.monotonic()
        if isinstance(event, LevelDone) and now - self.last >= TICK:
            self.last = now
            self.pipe.send(("states", event.distinct))


def _serve(pipe: Any, scratch: Path) -> None:
    """Main loop of a process: runs jobs until there are no more."""
    with contextlib.suppress(OSError, AttributeError):  # Windows has no process groups
        os.setpgid(0, 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    threading.Thread(target=_end_with_parent, daemon=True).start()
    families = Families()
    with contextlib.suppress(EOFError, OSError):
        while True:
            job = from_text(pipe.recv(), Job)
            compile_alone(job.workers == 1)
            pipe.send(("answer", to_text(check_job(job, _Tell(pipe), scratch, family_of=families.of))))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)
