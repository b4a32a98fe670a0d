"""`elrcheck audit --engine spark`: files of any storage that Spark reads, cut and judged by its tasks.

The report equals that of the local engine, apart from the time. From each log the driver keeps only the records
about the cluster: brokers, topics, features, settings, transactions (`spark_tasks.py`).
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elrcheck.base.interrupts import Interrupts
from elrcheck.base.kafka_requests import AuditRequest
from elrcheck.base.progress import Progress
from elrcheck.kafka.audit.findings import report_of
from elrcheck.kafka.audit.rules import Repairs
from elrcheck.kafka.audit.spark_driver import AuditTasks, FilePlace, Stopped, run_tasks
from elrcheck.kafka.audit.spark_tasks import (
    CUT,
    FILE,
    FINDING_SCHEMA,
    BucketRow,
    LogAnswer,
    Shared,
    cut_files,
    judge_bucket,
    only_named,
    read_whole,
)
from elrcheck.kafka.log.cluster_state import PartitionKey
from elrcheck.kafka.log.dump_text import LOOKED_AT, starts_as_dump
from elrcheck.kafka.log.entries import EVERY
from elrcheck.kafka.log.log_files import (
    FOLDER,
    WHAT_IT_IS,
    MetadataLog,
    files_of,
    is_named_as_log,
    size_of,
    sorted_into_logs,
)
from elrcheck.kafka.log.metadata_records import name_of_partition
from elrcheck.kafka.log.segments import unreadable
from elrcheck.results.audit_report import AuditReport
from elrcheck.spark.cancellable_job import Cancelled, ExecutorWatch, run_job

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
if TYPE_CHECKING:
    from pyspark import RDD
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class ListedFile:
    """A file. uri: where Spark reads it; None for one that a task opens by its path."""

    path: str
    dump: bool
    uri: str | None = None


def files_on_spark(session: SparkSession, uri: str) -> list[ListedFile]:
    """Return the files that a URI names: itself, or the metadata log in a folder."""
    place = uri.rstrip("/")
    for folder in (place, f"{place}/{FOLDER}"):
        paths = _listed(session, folder)
        if paths is None and folder == place:
            raise unreadable(uri, "there is no such file or folder", WHAT_IT_IS)
        named = sorted(path for path in paths or () if is_named_as_log(path.rpartition("/")[2]))
        if named:
            return [ListedFile(path, False, path) for path in named]
        if paths is not None and len(paths) == 1 and _same(paths[0], place):
            return [ListedFile(paths[0], _is_dump(session, paths[0]), paths[0])]
    raise unreadable(uri, "the folder has no metadata log", WHAT_IT_IS)


def _same(path: str, uri: str) -> bool:
    """Return whether both name one file: Spark gives its URI with or without an empty host."""
    return path.split(":", 1)[-1].lstrip("/") == uri.split(":", 1)[-1].lstrip("/")


def _listed(session: SparkSession, uri: str) -> list[str] | None:
    from pyspark.errors import AnalysisException

    try:
        return [row.path for row in session.read.format("binaryFile").load(uri).select("path").collect()]
    except AnalysisException:  # there is nothing
        return None


def _is_dump(session: SparkSession, path: str) -> bool:
    from pyspark.sql import functions as F

    frame = session.read.format("binaryFile").load(path)
    (row,) = frame.select(F.substring("content", 1, LOOKED_AT).alias("start")).collect()
    return starts_as_dump(bytes(row.start))


BUCKETS = 2
"""Of partitions, or groups of whole logs, per task that runs at the same time. The partitions of a topic are in one
bucket, because a rule asks how many replicas its partition 0 has."""
FILE_TASKS = 4
"""At most, per task that runs at the same time: a task takes Spark longer than a small file takes to read."""


def audit_on_spark(request: AuditRequest, progress: Progress) -> AuditReport:
    """Audit on a session of its own."""
    from elrcheck.spark.session import SparkChoice, parse_conf, spark_session

    spark = request.spark
    conf = parse_conf(spark.conf)
    shipped, name = spark.ship_packages, "elrcheck audit"
    choice = SparkChoice(spark.master, conf, verbose=spark.verbose, ship_packages=shipped, app_name=name)
    progress.stage(f"starting Spark ({choice.master})")
    with spark_session(choice) as session, Interrupts() as interrupted:
        return audit_in_session(session, request, progress, interrupted)


def audit_in_session(
    session: SparkSession, request: AuditRequest, progress: Progress, interrupted: Callable[[], bool] = lambda: False
) -> AuditReport:
    """Audit on this session; raise KeyboardInterrupt if it was interrupted before anything was judged."""
    started, repairs = time.monotonic(), Repairs.of(request.repaired)
    progress.stage("listing files")
    listed: dict[str, ListedFile] = {}
    for path in request.paths:
        if isinstance(path, Path):
            listed.update({name: ListedFile(name, dump) for name, dump in files_of([path]).items()})
        else:
            listed.update({each.path: each for each in files_on_spark(session, path)})
    logs = sorted_into_logs({name: each.dump for name, each in listed.items()})
    tasks = SparkAudit(session, logs, listed, interrupted, repairs, ExecutorWatch(session, progress))
    try:
        findings, timelines, stopped = run_tasks(tasks, progress)
    except Stopped:
        raise KeyboardInterrupt from None
    finally:
        tasks.close()
    return report_of(findings, timelines, started, strict=request.strict, interrupted=stopped, repairs=repairs)


class SparkAudit(AuditTasks):
    """The tasks as jobs of Spark."""

    def __init__(
        self,
        session: SparkSession,
        logs: Sequence[MetadataLog],
        listed: Mapping[str, ListedFile],
        interrupted: Callable[[], bool],
        repairs: Repairs,
        watch: ExecutorWatch,
    ) -> None:
        self.interrupted = interrupted
        self.session, self.watch = session, watch
        self.listed = listed
        self.width = max(int(session.sparkContext.defaultParallelism), 1)
        self.sizes = [sum(size_of(path) for path in log.files) for log in logs]
        most = sum(self.sizes) / self.width
        far = [any(listed[path].uri is not None for path in log.files) for log in logs]
        super().__init__(logs, repairs, [n for n, size in enumerate(self.sizes) if size <= most and not far[n]])
        self.records: DataFrame | None = None

    def cut(self, places: Sequence[FilePlace]) -> Iterator[tuple[int, int, bytes]]:
        files = self._frame(places)
        cut = partial(cut_files, logs=self.logs, buckets=BUCKETS * self.width)
        self.records = files.mapInArrow(cut, CUT).persist()
        rows = self.records.where(f"bucket = {EVERY}").select("log", "part", "body")
        for row in self._done(rows.collect):
            yield row.log, row.part, bytes(row.body)

    def judge(self, shared: Shared) -> Iterator[tuple[int, bytes]]:
        assert self.records is not None
        context, logs, repairs = self.session.sparkContext, self.logs, self.repairs
        buckets = BUCKETS * self.width
        broadcast = context.broadcast(shared)
        bodies = (
            self.records.where(f"bucket <> {EVERY}")
            .repartitionByRange(buckets, "bucket")
            .sortWithinPartitions("bucket", "log", "part", "piece")
            .mapInArrow(lambda batches: judge_bucket(batches, logs, broadcast.value, repairs), FINDING_SCHEMA)
        ).rdd
        yield from self._by_turns(bodies)
        broadcast.destroy()

    def rows_of(self, number: int, keys: Sequence[PartitionKey]) -> Iterator[BucketRow]:
        assert self.records is not None
        names = frozenset(name_of_partition(*key) for key in keys)
        some = self.records.where(f"log = {number} and bucket <> {EVERY}")
        rows = some.mapInArrow(partial(only_named, names=names), CUT)
        for row in self._done(rows.collect):
            yield BucketRow(row.log, row.part, row.piece, row.bucket, bytes(row.body))

    def read_whole(self, numbers: Sequence[int], answer: LogAnswer) -> Iterator[tuple[int, bytes]]:
        read = partial(read_whole, logs=self.logs, answer=answer)
        far = [number for number in numbers if self.listed[self.logs[number].files[0]].uri is not None]
        near = [number for number in numbers if number not in far]
        frames = [self._frame([(number, 0, self.logs[number].files[0]) for number in far])] if far else []
        if near:
            groups = in_groups({number: self.sizes[number] for number in near}, BUCKETS * self.width)
            rows = [[(number, 0, self.logs[number].files[0], None) for number in group] for group in groups]
            spread = self.session.sparkContext.parallelize(rows, len(rows)).flatMap(list)
            frames.append(self.session.createDataFrame(spread, FILE))
        for frame in frames:
            yield from self._by_turns(frame.mapInArrow(read, FINDING_SCHEMA).rdd)

    def close(self) -> None:
        if self.records is not None:
            self.records.unpersist()

    def _by_turns(self, rows: RDD[Any]) -> Iterator[tuple[int, bytes]]:
        """Run as many tasks as there is room for, then the next: what came so far is kept after an interruption."""
        tasks = range(rows.getNumPartitions())
        for start in range(0, len(tasks), self.width):
            some = list(tasks[start : start + self.width])
            for row in self._done(partial(self.session.sparkContext.runJob, rows, list, some)):
                yield row.log, bytes(row.body)

    def _done(self, job: Callable[[], list[Any]]) -> list[Any]:
        try:
            stop = lambda: "interrupted" if self.interrupted() else None  # noqa: E731
            return run_job(self.session, "audit", job, stop, self.watch)
        except Cancelled:
            raise Stopped from None

    def _frame(self, places: Sequence[FilePlace]) -> DataFrame:
        """Return a frame of files for the tasks, which open those with a path; Spark reads the others."""
        near = [(*place, None) for place in places if self.listed[place[2]].uri is None]
        context = self.session.sparkContext
        tasks = max(1, min(len(near), FILE_TASKS * self.width))
        frame = self.session.createDataFrame(context.parallelize(near, tasks), FILE)
        far = [place for place in places if self.listed[place[2]].uri is not None]
        if far:
            uris = [uri for *_, path in far if (uri := self.listed[path].uri) is not None]
            places_of_files = self.session.createDataFrame(far, "log int, part int, path string")
            read = self.session.read.format("binaryFile").load(uris).select("path", "content")
            frame = frame.unionByName(places_of_files.join(read, "path").select("log", "part", "path", "content"))
        return frame


def in_groups(sizes: Mapping[int, int], most: int) -> list[list[int]]:
    """Divide logs among at most so many groups of nearly equal bytes. sizes: bytes by the number of a log."""
    groups: list[tuple[int, int, list[int]]] = [(0, n, []) for n in range(min(most, len(sizes)))]
    for number in sorted(sizes, key=lambda each: -sizes[each]):
        size, place, group = heapq.heappop(groups)
        heapq.heappush(groups, (size + sizes[number], place, [*group, number]))
    return [group for _, _, group in sorted(groups, key=itemgetter(1))]
