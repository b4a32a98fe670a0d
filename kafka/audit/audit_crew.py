"""Processes that each judge a share of the partitions of a log (`Share`).

This process reads and checks the log and sends every record to all of them; each picks its own. Their findings are
added up like those of the buckets of an audit on Spark.
"""

from __future__ import annotations

import contextlib
import pickle
import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from multiprocessing.connection import Connection
from types import TracebackType

from elrcheck.base.errors import EnvironmentFault
from elrcheck.base.runner.worker import WorkerProcess, end_workers
from elrcheck.kafka.audit.findings import LogFindings, add_share
from elrcheck.kafka.audit.log_audit import LogAudit, findings_of
from elrcheck.kafka.audit.rules import NONE, Repairs
from elrcheck.kafka.log.entries import EVERY, Item, RecordRun, Share
from elrcheck.kafka.log.log_files import MetadataLog

MOST_RECORDS = 1 << 13
"""Records in a message."""
WAITING = 4
"""Messages that a process may have received and not processed."""


class Crew:
    """The processes. flags: the number of flags that they have raised so far."""

    def __init__(self, count: int, repairs: Repairs = NONE) -> None:
        self.count, self.repairs = count, repairs
        self._flags = [0] * count
        self._answers: list[LogFindings | None] = [None] * count
        self.workers: list[WorkerProcess] = []

    def __enter__(self) -> Crew:
        for number in range(self.count):
            self.workers.append(WorkerProcess(_serve, number, self.count))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        end_workers(self.workers, at_once=kind is not None)

    @property
    def flags(self) -> int:
        return sum(self._flags)

    def audit(
        self, log: MetadataLog, items: Iterable[Item], interrupted: Callable[[], bool], read: Callable[[Item], None]
    ) -> LogFindings:
        """Return the findings of a log. read: called with each item; an interruption ends only the reading."""
        self._tell((log, self.repairs))
        shared = Share(EVERY, self.count).of(self._spread(items, interrupted, read))
        findings = findings_of(log, shared, self.repairs)
        self._tell(None)
        alone = findings.read.records, frozenset(findings.damage)
        for number in range(self.count):
            add_share(findings, self._answer(number), *alone)
        findings.log = log
        findings.sort()
        return findings

    def _spread(
        self, items: Iterable[Item], interrupted: Callable[[], bool], read: Callable[[Item], None]
    ) -> Iterator[Item]:
        """Yield the items, after sending them to all processes in batches."""
        waiting: list[Item] = []
        records = 0
        for item in items:
            waiting.append(item)
            records += len(item.values) if isinstance(item, RecordRun) else 1
            if records >= MOST_RECORDS:
                self._tell(waiting)
                waiting, records = [], 0
            read(item)
            yield item
            if interrupted():
                break
        self._tell(waiting)

    def _tell(self, what: object) -> None:
        message = pickle.dumps(what, protocol=pickle.HIGHEST_PROTOCOL)
        for number, worker in enumerate(self.workers):
            try:
                worker.pipe.send_bytes(message)
            except OSError as fault:
                raise _ended() from fault
            while self._received_from(number, 0.0):
                pass

    def _answer(self, number: int) -> LogFindings:
        while self._answers[number] is None:
            self._received_from(number, None)
        answer, self._answers[number] = self._answers[number], None
        assert answer is not None
        return answer

    def _received_from(self, number: int, seconds: float | None) -> bool:
        """Receive a message of a process; return whether there was one."""
        pipe = self.workers[number].pipe
        try:
            if not pipe.poll(seconds):
                return False
            message = pickle.loads(pipe.recv_bytes())
        except (EOFError, OSError) as fault:
            raise _ended() from fault
        if isinstance(message, int):
            self._flags[number] = message
        else:
            self._answers[number] = message
        return True


def _ended() -> EnvironmentFault:
    return EnvironmentFault("worker-died", "a worker process ended unexpectedly", help="try --workers 1")


# ---------------------------------------------------------------------------- in a process


def _serve(pipe: Connection, number: int, count: int) -> None:
    messages: queue.Queue[bytes | None] = queue.Queue(WAITING)
    threading.Thread(target=_received, args=(pipe, messages), daemon=True).start()
    raised = 0
    while (message := messages.get()) is not None:
        audit = LogAudit(*pickle.loads(message))
        for _ in audit.run(Share(number, count).of(_items(pipe, messages, audit.flags.raised, raised))):
            pass
        raised += len(audit.flags.raised)
        pipe.send_bytes(pickle.dumps(audit.findings()))


def _items(
    pipe: Connection, messages: queue.Queue[bytes | None], flags: Sequence[object], raised: int
) -> Iterator[Item]:
    """Yield the items of a log as they arrive; after each message send back the number of flags."""
    sent = raised
    while (message := messages.get()) is not None:
        items = pickle.loads(message)
        if items is None:
            return
        yield from items
        if sent != raised + len(flags):
            sent = raised + len(flags)
            pipe.send_bytes(pickle.dumps(sent))
    raise OSError


def _received(pipe: Connection, messages: queue.Queue[bytes | None]) -> None:
    """Receive while the process judges; None at the end."""
    with contextlib.suppress(EOFError, OSError):
        while True:
            messages.put(pipe.recv_bytes())
    messages.put(None)
