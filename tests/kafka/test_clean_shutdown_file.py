"""F-52, the broker's half: what a LogManager of Kafka makes of its clean-shutdown files.

The controller's half is a test of `export junit` (tests/kafka/test_export_junit.py).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from elrcheck.catalogue.packaged_findings import find_finding
from elrcheck.kafka.jars import Jars
from support.junit_runs import run_tests
from support.kafka_jars import jars_or_skip
from support.patched_classes import patched_classes
from support.places import ROOT

FINDING = find_finding("F-52")
TEST = (ROOT / "tests" / "support" / "java" / "LostDirectoryTest.java").read_text()
CALLS = [ROOT / "kafka" / "java" / "broker" / "Reflected.java"]
RELEASES = ("3.9.1", "4.1.2", "4.4.0")


@pytest.mark.slow
@pytest.mark.kafka
@pytest.mark.parametrize("version", RELEASES)
def test_a_dropped_directory_is_not_missed(version: str, tmp_path: Path) -> None:
    kafka = jars_or_skip(version, Jars.BROKER)
    run = run_tests([TEST], kafka, tmp_path / "run", more=CALLS)
    assert run["LostDirectoryTest"].startswith("F-52: a broker without one of its log directories")
    assert run["LostDirectoryTest"].endswith("expected: <OptionalLong.empty> but was: <OptionalLong[7]>")


@pytest.mark.slow
@pytest.mark.kafka
@pytest.mark.parametrize("version", FINDING.patch.classes if FINDING.patch else ())
def test_the_patch_of_its_page_misses_it(version: str, tmp_path: Path) -> None:
    kafka = jars_or_skip(version, Jars.BROKER)
    assert FINDING.patch is not None
    half = [edit for edit in FINDING.patch.edits_of(version) if "/" in edit.file]  # not the controller's
    patched = patched_classes("F-52", half, kafka)
    run = run_tests([TEST], kafka, tmp_path / "run", patched, CALLS)
    assert run == {"LostDirectoryTest": ""}
