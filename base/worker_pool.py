"""Independent tasks in several processes, such as proof obligations: each solver uses only one thread."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.process import BaseProcess
from typing import TypeVar

from elrcheck.base.errors import EnvironmentFault

T = TypeVar("T")
R = TypeVar("R")


def useful_workers(asked: int | None, tasks: int) -> int:
    """The number asked for, or the number of processors; never more than there are tasks."""
    return max(1, min(asked or os.cpu_count() or 1, tasks))


def each(function: Callable[[T], R], tasks: Sequence[T], workers: int, *, in_order: bool = True) -> Iterator[R]:
    """Yield the results in the order of the tasks, or as they come; one worker runs them in this process.

    `function` must be a module-level function, and tasks and results must be picklable. Processes are
    spawned, because a solver must not be forked. They end when the caller stops early or is interrupted.
    """
    if workers <= 1:
        yield from map(function, tasks)
        return
    before = set(multiprocessing.active_children())
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, context, initializer=leave_interrupts_to_parent)
    try:
        # Not pool.map: it cancels what is left when the caller stops, and Python 3.11 then prints a traceback
        # for each cancelled task of the workers that are terminated below.
        answers = [pool.submit(function, task) for task in tasks]
        for answer in answers if in_order else as_completed(answers):
            yield answer.result()
    except BrokenProcessPool as fault:
        raise EnvironmentFault("worker-died", "a worker process ended unexpectedly", help="try --workers 1") from fault
    finally:
        # Terminate the workers first: a second Ctrl-C during shutdown would otherwise hang the exit.
        masked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        for child in set(multiprocessing.active_children()) - before:
            child.terminate()
        signal.pthread_sigmask(signal.SIG_SETMASK, masked)
        pool.shutdown(wait=True, cancel_futures=True)


def leave_interrupts_to_parent() -> None:
    """Run in a worker: ignore SIGINT, and end with the parent even if the parent is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_after, args=(parent,), daemon=True).start()


def _end_after(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)
