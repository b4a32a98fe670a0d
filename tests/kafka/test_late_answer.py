"""F-63: its patch must not keep a former leader from copying records of earlier epochs.

That it refuses the record of a late answer, tests/kafka/test_export_junit.py says.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from elrcheck.catalogue.packaged_findings import find_finding
from elrcheck.kafka.jars import Jars
from elrcheck.kafka.junit.leader_source import PARTS
from support.junit_runs import run_tests
from support.kafka_jars import jars_or_skip
from support.patched_classes import patched_classes
from support.places import ROOT

PATCH = find_finding("F-63").patch
assert PATCH is not None and PATCH.classes
NO_RECORD = (ROOT / "tests" / "support" / "java" / "EmptyEpochTest.java").read_text()
CALLS = ROOT / "kafka" / "java"
DRIVER = [CALLS / "junit" / "Follower.java", *(CALLS / "broker" / f"{name}.java" for name in PARTS)]


@pytest.mark.slow
@pytest.mark.kafka
@pytest.mark.parametrize("version", PATCH.classes)
def test_a_leader_without_a_record_copies_older_ones(version: str, tmp_path: Path) -> None:
    kafka = jars_or_skip(version, Jars.BROKER)
    assert PATCH is not None
    patched = patched_classes("F-63", PATCH.edits_of(version), kafka)
    run = run_tests([NO_RECORD], kafka, tmp_path / "run", patched, DRIVER)
    assert run == {"EmptyEpochTest": ""}
