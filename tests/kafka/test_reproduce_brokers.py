"""Findings on real brokers: acknowledged records are lost, and not in the control. Minutes each."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from kafka_jars import ONE

from elrcheck.base.errors import EnvironmentFault
from elrcheck.base.progress import Silent
from elrcheck.base.requests import AuditRequest, ReproduceRequest
from elrcheck.commands.audit.audit import run_audit
from elrcheck.commands.reproduce.reproduce import run_reproduce
from elrcheck.kafka.jars import Jars, find_maven, from_maven, kept_versions
from elrcheck.kafka.java_program import find_jdk

pytestmark = [pytest.mark.kafka, pytest.mark.slow]


@pytest.fixture(autouse=True)
def jars() -> None:
    if ONE not in kept_versions(os.environ, Jars.CLUSTER) and find_maven(os.environ) is None:
        pytest.skip(f"no mvn, and the jars of Kafka {ONE} were not resolved before")
    try:
        find_jdk()
        from_maven(ONE, Jars.CLUSTER)
    except EnvironmentFault as fault:
        pytest.skip(f"{fault.message} {fault.excerpt or ''}")


def test_acknowledged_records_are_lost_and_not_in_the_control(tmp_path: Path) -> None:
    before = set(Path(tempfile.gettempdir()).glob("elrcheck-cluster-*"))
    report = run_reproduce(ReproduceRequest("F-20", kafka=ONE, keep=tmp_path / "kept"), Silent())
    assert (report.outcome, report.acknowledged, report.message) == ("lost", 600, "")
    assert report.left is not None and report.left < 100
    assert report.control is not None
    assert (report.control.outcome, report.control.left) == ("not-reproduced", 600)
    assert set(Path(tempfile.gettempdir()).glob("elrcheck-cluster-*")) == before
    flags = run_audit(AuditRequest((tmp_path / "kept" / "run" / "__cluster_metadata-0",)), Silent()).flags
    assert [flag.rule for flag in flags] == ["elr-outside-replicas", "ghost-elected"]
    control = run_audit(AuditRequest((tmp_path / "kept" / "control" / "__cluster_metadata-0",)), Silent())
    assert control.flags == ()
