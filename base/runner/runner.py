"""Runs independent tasks, such as searches and proof obligations, in a crew: processes, this process, or Spark."""

from __future__ import annotations

import contextlib
import functools
import pickle
import traceback
from collections import deque
from collections.abc import Callable, Generator, Sequence
from multiprocessing import connection
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from elrcheck.base.errors import EnvironmentFault
from elrcheck.base.runner.worker import WorkerProcess, end_workers

T = TypeVar("T")
R = TypeVar("R")
T_co = TypeVar("T_co", covariant=True)
R_co = TypeVar("R_co", covariant=True)
Tell: TypeAlias = Callable[[Any], None]
"""Sends news of a running task to the process that waits for its answer."""
TICK = 0.2
"""Seconds between progress reports, and between checks for an interrupt."""
NEWS, ANSWER, FAULT, DEATH = "news", "answer", "fault", "death"


class TaskCrew(Protocol[T_co, R_co]):
    """Runs tasks: processes, this process, or a Spark cluster."""

    def busy(self) -> bool:
        """Return whether tasks wait or run."""

    def wait(self, seconds: float) -> Sequence[R_co]:
        """Start waiting tasks, wait for at most this long, and return the answers that have arrived."""

    def running(self) -> Sequence[tuple[T_co, Any]]:
        """Return the running tasks, each with its latest news, which is None at first."""

    def end(self) -> None:
        """Stop all running tasks at once."""


def never() -> bool:
    """Return False: the run is never interrupted."""
    return False


def run_tasks(
    crew: TaskCrew[T, R],
    *,
    interrupted: Callable[[], bool] = never,
    on_tick: Callable[[Sequence[tuple[T, Any]]], None] | None = None,
) -> Generator[R, None, None]:
    """Yield the answers as they arrive, until all tasks are done or the run is interrupted.

    on_tick: called several times a second, after new answers, with the running tasks and their news.
    Closing the iterator stops all tasks at once.
    """
    try:
        while crew.busy() and not interrupted():
            yield from crew.wait(TICK)
            if on_tick is not None:
                on_tick(crew.running())
    finally:
        crew.end()


def each(
    function: Callable[[T], R],
    tasks: Sequence[T],
    workers: int,
    *,
    in_order: bool = True,
    interrupted: Callable[[], bool] = never,
) -> Generator[R, None, None]:
    """Yield the results of a function in the order of the tasks, or as they arrive; one worker means this process.

    `function` must be a module-level function, and tasks and results picklable. Exceptions of the function are raised
    here, and EnvironmentFault if a process dies.
    """
    if workers <= 1:
        yield from run_tasks(InProcess(function, tasks), interrupted=interrupted)
        return
    crew = Processes(functools.partial(_numbered, function), list(enumerate(tasks)), workers)
    early: dict[int, R] = {}
    place = 0
    for number, result in run_tasks(crew, interrupted=interrupted):
        if not in_order:
            yield result
            continue
        early[number] = result
        while place in early:
            yield early.pop(place)
            place += 1


def _numbered(function: Callable[[T], R], task: tuple[int, T], _: Tell) -> tuple[int, R]:
    return task[0], function(task[1])


class InProcess(Generic[T, R]):
    """Runs tasks in this process, one after the other."""

    def __init__(self, function: Callable[[T], R], tasks: Sequence[T]) -> None:
        self._function = function
        self._waiting = deque(tasks)

    def busy(self) -> bool:
        return bool(self._waiting)

    def wait(self, _: float) -> Sequence[R]:
        return [self._function(self._waiting.popleft())]

    def running(self) -> Sequence[tuple[T, Any]]:
        return ()

    def end(self) -> None:
        self._waiting.clear()


def _give_up(task: object, fate: str) -> Any:
    fault = EnvironmentFault("worker-died", "a worker process ended unexpectedly", help="try --workers 1")
    fault.add_note(fate)
    raise fault


def _first(waiting: Sequence[T], last: T | None, elsewhere: Sequence[T]) -> int:
    return 0


class Processes(Generic[T, R]):
    """Runs tasks in processes, each one task after the other; a new process replaces one that dies.

    function: called as `function(task, tell)` in a process, to which it is sent once, so that its state belongs to the
    process. Tasks, news and answers must be picklable.
    lost: returns the answer for a task whose process died, given how it ended.
    choose: returns the position of the next task of a process, given the waiting tasks, its last one, and those that
    run in other processes.
    """

    def __init__(
        self,
        function: Callable[[T, Tell], R],
        tasks: Sequence[T],
        workers: int,
        *,
        lost: Callable[[T, str], R] = _give_up,
        choose: Callable[[Sequence[T], T | None, Sequence[T]], int] = _first,
    ) -> None:
        self._function = function
        self._waiting = list(tasks)
        self._workers = workers
        self._lost = lost
        self._choose = choose
        self._members: list[_TaskProcess[T]] = []
        self._fault: Exception | None = None
        """An exception of a task, raised after the answers of others that arrived with it."""

    def busy(self) -> bool:
        return bool(self._waiting or self._members)

    def wait(self, seconds: float) -> Sequence[R]:
        if self._fault is not None:
            raise self._fault
        while self._waiting and len(self._members) < self._workers:
            self._members.append(_TaskProcess(self._function, self._next(None)))
        workers = [member.worker for member in self._members]
        connection.wait([w.pipe for w in workers] + [w.process.sentinel for w in workers], seconds)
        answers = []
        for member in list(self._members):
            message = member.receive()
            if message is None:
                continue
            kind, value = message
            if kind == FAULT:
                self._fault = value
                continue
            answers.append(self._lost(member.task, value) if kind == DEATH else value)
            if kind == ANSWER and self._waiting:
                member.give(self._next(member))
            else:
                member.worker.pipe.close()  # so that the process ends by itself
                self._members.remove(member)
        if self._fault is not None and not answers:
            raise self._fault
        return answers

    def running(self) -> Sequence[tuple[T, Any]]:
        return [(member.task, member.news) for member in self._members]

    def end(self) -> None:
        self._waiting.clear()
        end_workers([member.worker for member in self._members])
        self._members.clear()

    def _next(self, member: _TaskProcess[T] | None) -> T:
        """Remove and return the next task of a process; None: of a new process."""
        last = None if member is None else member.task
        elsewhere = [other.task for other in self._members if other is not member]
        return self._waiting.pop(self._choose(self._waiting, last, elsewhere))


class _TaskProcess(Generic[T]):
    """A process with its current task, and the latest news of it."""

    def __init__(self, function: Callable[[T, Tell], object], task: T) -> None:
        self.worker = WorkerProcess(_serve, function)
        self.give(task)

    def give(self, task: T) -> None:
        self.task = task
        self.news: Any = None
        with contextlib.suppress(OSError):  # it has died, which `receive` notices
            self.worker.pipe.send(task)

    def receive(self) -> tuple[str, Any] | None:
        """Return the answer, the exception that the task raised, or how the process died; None while it works."""
        alive = self.worker.process.is_alive()  # before reading: a process may answer and die in between
        try:
            while self.worker.pipe.poll():
                kind, value = self.worker.pipe.recv()
                if kind != NEWS:
                    return kind, value
                self.news = value
            if alive:
                return None
        except (EOFError, OSError):
            pass
        return DEATH, self.worker.fate()


def _serve(pipe: connection.Connection, function: Callable[[Any, Tell], object]) -> None:
    """Do the tasks that arrive, in the process of a worker."""

    def tell(news: object) -> None:
        pipe.send((NEWS, news))

    while True:
        task = pipe.recv()
        try:
            message = pickle.dumps((ANSWER, function(task, tell)))
        except Exception as fault:
            fault.add_note(traceback.format_exc())
            message = _pickled_fault(fault)
        pipe.send_bytes(message)


def _pickled_fault(fault: Exception) -> bytes:
    """Return the message with a task's exception, or with a RuntimeError if it cannot be pickled."""
    try:
        message = pickle.dumps((FAULT, fault))
        pickle.loads(message)
    except Exception:
        substitute = RuntimeError("".join(traceback.format_exception_only(fault)).strip())
        message = pickle.dumps((FAULT, substitute))
    return message
