"""An audit on Spark gives the report of the plain one, near misses left out: flags, time lines, damage, counts."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from elrcheck.base.errors import UsageFault
from elrcheck.base.kafka_requests import AuditRequest
from elrcheck.base.progress import Silent
from elrcheck.kafka.audit.audit import run_audit
from elrcheck.kafka.audit.audit_on_spark import audit_in_session
from elrcheck.results.audit_report import AuditReport
from support.audit_stories import CONTROL, LOST, STORED
from support.log_stories import BY_KAFKA, SEGMENT
from support.random_logs import written_at_random

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def both(session: SparkSession, *paths: Path) -> tuple[AuditReport, AuditReport]:
    request = AuditRequest(paths)
    plain, spread = run_audit(request, Silent(), near=False), audit_in_session(session, request, Silent())
    return replace(plain, seconds=0.0), replace(spread, seconds=0.0)


@pytest.mark.slow  # tests/kafka/audit/test_audit_tasks.py runs the same tasks without Spark
def test_stored_logs_and_a_dump(spark: SparkSession) -> None:
    plain, spread = both(spark, LOST, BY_KAFKA / "dump.txt", CONTROL, BY_KAFKA)
    assert plain == spread
    assert len(plain.flags) > 5 and len(plain.timelines) > 3 and plain.logs[0].name.endswith("dump.txt")


@pytest.mark.slow  # tests/kafka/audit/test_audit_tasks.py runs the same tasks without Spark
def test_random_logs_with_snapshots_transactions_and_damage(spark: SparkSession, tmp_path: Path) -> None:
    folders = [tmp_path / str(seed) for seed in range(6)]
    for seed, folder in enumerate(folders):
        written_at_random(folder, random.Random(seed))
    plain, spread = both(spark, *folders)
    assert plain == spread
    assert len(plain.flags) > 100 and len(plain.damage) > 3 and len(plain.timelines) > 20
    assert {flag.rule for flag in plain.flags} >= {"elr-outside-replicas", "ghost-elected", "P-12"}


@pytest.mark.slow
def test_after_an_interruption_the_report_is_partial(spark: SparkSession) -> None:
    messages: list[str] = []

    class Noted(Silent):
        def stage(self, text: str) -> None:
            messages.append(text)

    judging = lambda: any(text.startswith("[2/3]") for text in messages)  # noqa: E731
    report = audit_in_session(spark, AuditRequest((LOST,)), Noted(), judging)
    assert report.interrupted and report.exit_code == 130 and report.timelines == ()
    assert 0 < report.records < 77
    messages.clear()
    with pytest.raises(KeyboardInterrupt):
        audit_in_session(spark, AuditRequest((LOST,)), Noted(), lambda: True)
    assert audit_in_session(spark, AuditRequest((LOST,)), Silent()).records == 77


@pytest.mark.slow
def test_a_storage_with_a_scheme(spark: SparkSession, tmp_path: Path) -> None:
    """file:// stands for every file system that Spark reads: listed and read by Spark alone."""
    inner = tmp_path / "__cluster_metadata-0"
    inner.mkdir()
    (inner / SEGMENT).write_bytes((LOST / SEGMENT).read_bytes())
    (tmp_path / "dump.txt").write_bytes((BY_KAFKA / "dump.txt").read_bytes())
    uris = (tmp_path.as_uri(), (tmp_path / "dump.txt").as_uri())
    report = audit_in_session(spark, AuditRequest(uris), Silent())
    plain = run_audit(AuditRequest((tmp_path / "dump.txt", inner)), Silent())
    assert [(f.offset, f.rule, f.message) for f in report.flags] == [(f.offset, f.rule, f.message) for f in plain.flags]
    assert [log.records for log in report.logs] == [log.records for log in plain.logs]
    assert all(flag.path.startswith("file:/") for flag in report.flags)
    with pytest.raises(UsageFault, match="no such file or folder"):
        audit_in_session(spark, AuditRequest(((tmp_path / "none").as_uri(),)), Silent())
    with pytest.raises(UsageFault, match="no metadata log"):
        audit_in_session(spark, AuditRequest((STORED.as_uri(),)), Silent())
    with pytest.raises(UsageFault, match="not a path on this machine"):
        run_audit(AuditRequest((tmp_path.as_uri(),)), Silent())
