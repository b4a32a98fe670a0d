"""Proof work in several processes: a solver uses one thread, and obligations do not depend on each other."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.process import BaseProcess
from typing import TypeVar

from elrcheck.base.errors import EnvironmentFault

T = TypeVar("T")
R = TypeVar("R")


def useful_workers(asked: int | None, tasks: int) -> int:
    """As many as asked for, or as there are processors; never more than tasks."""
    return max(1, min(asked or os.cpu_count() or 1, tasks))


def each(function: Callable[[T], R], tasks: Sequence[T], workers: int) -> Iterator[R]:
    """The results in the order of the tasks; with one worker in this process.

    `function` is a function of a module, and tasks and results can be pickled. Processes are spawned:
    a solver must not be forked. Whoever stops early, or is interrupted, ends them.
    """
    if workers <= 1:
        yield from map(function, tasks)
        return
    before = set(multiprocessing.active_children())
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, context, initializer=_leave_interrupts_to_parent)
    try:
        yield from pool.map(function, tasks)
    except BrokenProcessPool as fault:
        raise EnvironmentFault(
            "worker-died", "a worker process ended unexpectedly", help="try --workers 1"
        ) from fault
    finally:
        # Ended first: a second Ctrl-C while they are waited for would leave the exit waiting for ever.
        masked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        for child in set(multiprocessing.active_children()) - before:
            child.terminate()
        signal.pthread_sigmask(signal.SIG_SETMASK, masked)
        pool.shutdown(wait=True, cancel_futures=True)


def _leave_interrupts_to_parent() -> None:
    """In a worker; it ends with its parent, also if that is killed and cannot tell it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_after, args=(parent,), daemon=True).start()


def _end_after(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)
