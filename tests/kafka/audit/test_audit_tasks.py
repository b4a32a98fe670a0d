"""An audit by tasks, run here one after the other, gives the report of the plain one."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pytest
from msgspec.structs import replace

from elrcheck.base.progress import Silent
from elrcheck.kafka.audit.audit_on_spark import in_groups
from elrcheck.kafka.audit.findings import report_of
from elrcheck.kafka.audit.spark_driver import AuditTasks, FilePlace, Stopped, run_tasks
from elrcheck.kafka.audit.spark_tasks import (
    BucketRow,
    LogAnswer,
    Shared,
    cut_files,
    judge_bucket,
    only_named,
    read_whole,
)
from elrcheck.kafka.log import segments
from elrcheck.kafka.log.cluster_state import PartitionKey
from elrcheck.kafka.log.entries import EVERY
from elrcheck.kafka.log.log_files import logs_of
from elrcheck.kafka.log.metadata_records import name_of_partition
from elrcheck.results.audit_report import AuditReport
from support.audit_stories import CONTROL, LOST, audited, shutdown_in_batches
from support.log_stories import BY_KAFKA
from support.random_logs import written_at_random


class Here(AuditTasks):
    """The tasks in this process, with a number of buckets."""

    buckets = 3

    def cut(self, places: Sequence[FilePlace]) -> Iterator[tuple[int, int, bytes]]:
        batches = list(cut_files(_files(places), self.logs, self.buckets))
        self.rows = [row for batch in batches for row in batch.to_pylist()]
        for row in self.rows:
            if row["bucket"] == EVERY:
                yield row["log"], row["part"], row["body"]

    def judge(self, shared: Shared) -> Iterator[tuple[int, bytes]]:
        for bucket in range(self.buckets):
            rows = [row for row in self.rows if row["bucket"] == bucket]
            rows.sort(key=lambda row: (row["log"], row["part"], row["piece"]))
            if rows:
                batch = pa.RecordBatch.from_pylist(rows)
                halves = [batch.slice(0, 5), batch.slice(5)]
                for answer in judge_bucket(halves, self.logs, shared, self.repairs):
                    yield from _answers(answer)

    def rows_of(self, number: int, keys: Sequence[PartitionKey]) -> Iterator[BucketRow]:
        rows = [row for row in self.rows if row["log"] == number and row["bucket"] != EVERY]
        if rows:
            names = frozenset(name_of_partition(*key) for key in keys)
            for batch in only_named([pa.RecordBatch.from_pylist(rows)], names):
                yield from (BucketRow(**row) for row in batch.to_pylist())

    def read_whole(self, numbers: Sequence[int], answer: LogAnswer) -> Iterator[tuple[int, bytes]]:
        places = [(number, 0, self.logs[number].files[0]) for number in numbers]
        for batch in read_whole(_files(places), self.logs, answer):
            yield from _answers(batch)


def _files(places: Sequence[FilePlace]) -> list[pa.RecordBatch]:
    rows = [dict(zip(("log", "part", "path"), place, strict=True)) | {"content": None} for place in places]
    return [pa.RecordBatch.from_pylist(rows)]


def _answers(batch: pa.RecordBatch) -> Iterator[tuple[int, bytes]]:
    for row in batch.to_pylist():
        yield row["log"], row["body"]


def both(*paths: Path, short: Sequence[int] = ()) -> tuple[AuditReport, AuditReport]:
    findings, timelines, stopped = run_tasks(Here(logs_of(paths), short=short), Silent())
    spread = report_of(findings, timelines, time.monotonic(), strict=False, interrupted=stopped)
    return replace(audited(*paths, near=False), seconds=0.0), replace(spread, seconds=0.0)


def test_stored_logs_and_a_dump() -> None:
    plain, spread = both(LOST, BY_KAFKA / "dump.txt", CONTROL, BY_KAFKA)
    assert plain == spread
    assert len(plain.flags) > 5 and len(plain.timelines) > 3 and plain.logs[0].name.endswith("dump.txt")


@pytest.mark.parametrize("whole", [True, False])
def test_an_event_of_several_full_batches(whole: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "FULL", 3)
    plain, spread = both(shutdown_in_batches(tmp_path, 3, whole))
    assert plain == spread and bool(plain.flags) is not whole


@pytest.mark.parametrize("short", [(0, 1, 2, 3), (1, 3)], ids=["all", "some"])
def test_short_logs_are_not_cut(short: Sequence[int]) -> None:
    plain, spread = both(LOST, BY_KAFKA / "dump.txt", CONTROL, BY_KAFKA, short=short)
    assert plain == spread
    assert len(plain.logs) == 4 and len(plain.timelines) > 3


def test_groups_of_logs_have_nearly_equal_bytes() -> None:
    sizes = {n: 100 - n for n in range(100)}
    groups = in_groups(sizes, 4)
    assert sorted(n for group in groups for n in group) == list(range(100))
    totals = [sum(sizes[n] for n in group) for group in groups]
    assert len(groups) == 4 and max(totals) - min(totals) < 100
    assert in_groups({7: 5, 3: 0}, 8) == [[7], [3]]


@pytest.mark.slow
def test_random_logs_with_snapshots_transactions_and_damage(tmp_path: Path) -> None:
    folders = [tmp_path / str(seed) for seed in range(5)]
    for seed, folder in enumerate(folders):
        written_at_random(folder, random.Random(seed))
    plain, spread = both(*folders)
    assert plain.logs == spread.logs and plain.damage == spread.damage
    assert plain == spread
    assert len(plain.flags) > 100 and len(plain.damage) > 3 and len(plain.timelines) > 20
    assert {flag.rule for flag in plain.flags} >= {"elr-outside-replicas", "ghost-elected", "P-12"}


class Interrupted(Here):
    """An interruption after one of two buckets."""

    buckets = 2

    def judge(self, shared: Shared) -> Iterator[tuple[int, bytes]]:
        for number, answer in enumerate(super().judge(shared)):
            if number == 1:
                raise Stopped
            yield answer


def test_after_an_interruption_the_report_has_the_buckets_judged_so_far(tmp_path: Path) -> None:
    folder = tmp_path / "log"
    written_at_random(folder, random.Random(3))
    plain, _ = both(folder, BY_KAFKA / "dump.txt")
    findings, timelines, stopped = run_tasks(Interrupted(logs_of([folder, BY_KAFKA / "dump.txt"])), Silent())
    partial = report_of(findings, timelines, time.monotonic(), strict=False, interrupted=stopped)
    assert partial.interrupted and partial.exit_code == 130 and partial.timelines == ()
    assert 0 < len(partial.flags) < len(plain.flags) and set(partial.flags) <= set(plain.flags)
    assert [log.name for log in partial.logs] == [log.name for log in plain.logs]
    assert 0 < partial.records < plain.records
