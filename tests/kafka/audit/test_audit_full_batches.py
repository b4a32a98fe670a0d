"""Events with more records than a batch may have: a controller writes the rest in the next batch."""

from __future__ import annotations

from pathlib import Path

import pytest

from elrcheck.base.kafka_requests import AuditRequest
from elrcheck.base.progress import Silent
from elrcheck.kafka.audit.audit import run_audit
from elrcheck.kafka.log import dump_text, segments
from elrcheck.kafka.log.batches import FULL
from support.audit_stories import audited, shutdown_in_batches

FEW = 3


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (segments, dump_text):
        monkeypatch.setattr(module, "FULL", FEW)


@pytest.mark.usefixtures("small_batches")
def test_an_event_of_three_batches_is_judged_once_it_is_whole(tmp_path: Path) -> None:
    report = audited(shutdown_in_batches(tmp_path, FEW), near=False)
    assert report.flags == () and report.partitions == 2 * FEW


@pytest.mark.usefixtures("small_batches")
def test_an_event_that_a_failure_cut_off_is_flagged(tmp_path: Path) -> None:
    report = audited(shutdown_in_batches(tmp_path, FEW, whole=False), near=False)
    assert [(flag.rule, flag.partition, flag.until) for flag in report.flags] == [
        ("P-19", number, None) for number in range(FEW - 1, 2 * FEW)
    ]


def test_a_batch_that_is_not_full_is_a_whole_event(tmp_path: Path) -> None:
    """As Kafka's batches are: the same records, of which some are late."""
    assert FULL == 10_000
    report = audited(shutdown_in_batches(tmp_path, FEW), near=False)
    assert {flag.rule for flag in report.flags} == {"P-19"} and all(flag.until for flag in report.flags)


@pytest.mark.slow
def test_several_processes_give_the_same_report(tmp_path: Path) -> None:
    log = shutdown_in_batches(tmp_path, FULL)
    report = run_audit(AuditRequest((log,), workers=2), Silent(), near=False)
    assert report.flags == () and report.partitions == 2 * FULL
