"""The driver of an audit by tasks: its questions to them, and how their answers become the findings of a log."""

from __future__ import annotations

import pickle
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import TypeAlias

from elrcheck.base.progress import Progress
from elrcheck.kafka.audit.findings import LogFindings, add_share
from elrcheck.kafka.audit.log_audit import findings_of
from elrcheck.kafka.audit.rules import NONE, Repairs
from elrcheck.kafka.audit.spark_tasks import BucketRow, LogAnswer, Placed, Shared, audited_whole, together
from elrcheck.kafka.audit.timelines import timelines_of, worst_partitions
from elrcheck.kafka.log.cluster_state import PartitionKey
from elrcheck.kafka.log.entries import Item
from elrcheck.kafka.log.history import ReadSoFar
from elrcheck.kafka.log.log_files import MetadataLog
from elrcheck.results.audit_report import AuditTimeline

FilePlace: TypeAlias = tuple[int, int, str]
"""The number of a log, that of a part of it, and the path."""


class Stopped(Exception):
    """The audit was interrupted while a task was awaited."""


class AuditTasks(ABC):
    """Runs the tasks of `spark_tasks`. Answers come pickled, in any order.

    Each method raises Stopped after an interruption. whole: the logs, by number, that one task reads from start to
    end: dumps and short logs. The others are cut.
    """

    def __init__(self, logs: Sequence[MetadataLog], repairs: Repairs = NONE, short: Collection[int] = ()) -> None:
        self.logs, self.repairs = logs, repairs
        self.whole = [n for n, log in enumerate(logs) if log.dump is not None or n in short]

    @abstractmethod
    def cut(self, places: Sequence[FilePlace]) -> Iterator[tuple[int, int, bytes]]:
        """Cut files into records; keep those of partitions, yield the rest by log and part."""

    @abstractmethod
    def judge(self, shared: Shared) -> Iterator[tuple[int, bytes]]:
        """Yield the findings in every bucket of partitions, by log."""

    @abstractmethod
    def rows_of(self, number: int, keys: Sequence[PartitionKey]) -> Iterator[BucketRow]:
        """Yield the records of these partitions of a log."""

    @abstractmethod
    def read_whole(self, numbers: Sequence[int], answer: LogAnswer) -> Iterator[tuple[int, bytes]]:
        """Yield the answer about each of these logs, which are among `whole`."""


def run_tasks(tasks: AuditTasks, progress: Progress) -> tuple[list[LogFindings], list[AuditTimeline], bool]:
    """Return the findings of each log, the timelines, and whether an interrupt cut the audit short.

    Raise Stopped if nothing has been judged yet.
    """
    shared = _cut(tasks, progress)
    progress.stage("[2/3] judging partitions")
    findings, whole = _judged(tasks, shared)
    if not whole:
        return findings, [], True
    progress.stage("[3/3] time lines")
    try:
        return findings, list(_timelines(tasks, shared, findings)), False
    except Stopped:
        return findings, [], True


def _cut(tasks: AuditTasks, progress: Progress) -> Shared:
    places = [
        (number, index, part.path)
        for number, log in enumerate(tasks.logs)
        if number not in tasks.whole
        for index, part in enumerate(log.parts)
    ]
    progress.stage(f"[1/3] reading {len(places)} files")
    shared: dict[tuple[int, int], list[Placed]] = {}
    for log, index, body in tasks.cut(places) if places else ():
        shared.setdefault((log, index), []).extend(pickle.loads(body))
    for items in shared.values():
        items.sort(key=lambda placed: placed[:2])
    return shared


def _judged(tasks: AuditTasks, shared: Shared) -> tuple[list[LogFindings], bool]:
    """Return the findings of the buckets, and whether all of them were judged."""
    by_log: dict[int, LogFindings] = {}
    for number, log in enumerate(tasks.logs):
        if number not in tasks.whole:
            by_log[number] = findings_of(log, together(number, log, shared, ()), tasks.repairs)
    alone = {n: (each.read.records, frozenset(each.damage)) for n, each in by_log.items()}
    whole = True
    try:
        for number, body in tasks.judge(shared) if alone else ():
            add_share(by_log[number], pickle.loads(body), *alone[number])
        audit = partial(audited_whole, repairs=tasks.repairs)
        for number, body in tasks.read_whole(tasks.whole, audit) if tasks.whole else ():
            by_log[number] = pickle.loads(body)
    except Stopped:
        whole = False
    for number, log in enumerate(tasks.logs):
        findings = by_log.setdefault(number, LogFindings(log, ReadSoFar()))
        findings.log = log
        findings.sort()
    return [by_log[number] for number in range(len(tasks.logs))], whole


def _timelines(tasks: AuditTasks, shared: Shared, findings: Sequence[LogFindings]) -> Iterator[AuditTimeline]:
    worst = {tasks.logs.index(of_log.log): (of_log, keys) for of_log, keys in worst_partitions(findings)}
    some = [number for number in worst if number in tasks.whole]
    answer = partial(_timelines_of_whole, worst=worst)
    of_whole = {number: pickle.loads(body) for number, body in tasks.read_whole(some, answer)} if some else {}
    for number, (of_log, keys) in worst.items():
        if number in of_whole:
            yield from of_whole[number]
        else:
            rows = _in_order(tasks.rows_of(number, keys))
            yield from timelines_of(of_log, keys, together(number, of_log.log, shared, rows))


def _in_order(rows: Iterable[BucketRow]) -> list[BucketRow]:
    """Return the same records, as if all partitions were in one bucket: a row for each part of the log."""
    by_part: dict[int, list[BucketRow]] = {}
    for row in rows:
        by_part.setdefault(row.part, []).append(row)
    return [some[0]._replace(body=_joined(some)) for _, some in sorted(by_part.items())]


def _joined(rows: Iterable[BucketRow]) -> bytes:
    """Return the records of several buckets in the order of the file, each as a run."""
    items: list[Placed] = []
    for row in rows:
        for piece, _, run in pickle.loads(row.body):
            items += [Placed(piece, offset, run.chosen([n])) for n, offset in enumerate(run.offsets)]
    return pickle.dumps(sorted(items, key=itemgetter(0, 1)))


def _timelines_of_whole(
    number: int,
    _: MetadataLog,
    items: Iterator[Item],
    *,
    worst: Mapping[int, tuple[LogFindings, Sequence[PartitionKey]]],
) -> list[AuditTimeline]:
    return list(timelines_of(*worst[number], items))
