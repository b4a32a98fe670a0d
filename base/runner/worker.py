"""A worker process, and how all of them treat signals.

A worker has its own process group and ignores SIGINT, so Ctrl-C reaches only the parent, which decides what ends. It
ends when its pipe is closed, and when its parent ends, even if the parent is killed.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from multiprocessing import connection, resource_tracker
from typing import Any

from elrcheck.base.runner.processors import processors

GRACE = 2.0
"""Seconds that a process has to stop before it is killed."""


def useful_workers(requested: int | None, tasks: int) -> int:
    """Return the number requested, by default that of processors; never more than there are tasks."""
    return max(1, min(requested or processors(), tasks))


class WorkerProcess:
    """The parent's side of a process that runs `main(pipe, *arguments)`, a function of a module.

    Processes are spawned, because a solver must not be forked; the arguments must be picklable.
    """

    def __init__(self, main: Callable[..., None], *arguments: object) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        if hasattr(signal, "pthread_sigmask"):
            resource_tracker.ensure_running()  # now, because its first start ends by unblocking SIGINT
        self.process = context.Process(target=_work, args=(main, theirs, arguments), daemon=True)
        with interrupts_blocked():  # until the process has left our group
            self.process.start()
        theirs.close()

    def fate(self) -> str:
        """Wait until the process has ended, and return how, in words."""
        self.process.join(GRACE)
        code = self.process.exitcode
        if code is None or code >= 0:
            return f"the process exited with code {code}"
        name = signal.Signals(-code).name
        hint = "; it may have run out of memory, --memory sets a limit" if name == "SIGKILL" else ""
        return f"the process was killed by {name}{hint}"


def end_workers(workers: Sequence[WorkerProcess], *, at_once: bool = True) -> None:
    """End all processes, and kill those that have not ended after `GRACE` seconds.

    at_once: send them SIGTERM; otherwise each ends when it notices that its pipe is closed.
    """
    with interrupts_blocked():  # another Ctrl-C must not leave processes behind
        for worker in workers:
            worker.pipe.close()  # first, so that a worker that survives the signal gets no more tasks
            if at_once:
                worker.process.terminate()
        deadline = time.monotonic() + GRACE
        for worker in workers:
            worker.process.join(max(0.0, deadline - time.monotonic()))
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join(GRACE)


@contextlib.contextmanager
def interrupts_blocked() -> Iterator[None]:
    """Delay SIGINT until this context ends; a process started inside begins with SIGINT blocked."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _work(main: Callable[..., None], pipe: connection.Connection, arguments: Sequence[Any]) -> None:
    """Run `main` in the new process, until it returns or the pipe is closed."""
    with contextlib.suppress(OSError, AttributeError):  # Windows has no process groups
        os.setpgid(0, 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with contextlib.suppress(EOFError, OSError):
        main(pipe, *arguments)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)
