"""F-63: an answer that is sent late brings a follower a record of an earlier epoch than its last one.

No search finds the run, so it is told to three kafka.cluster.Partition of each release, with logs in files;
what a follower does with an answer is that of ReplicaFetcherThread, without a network and threads.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from junit_runs import run_tests
from kafka_jars import jars_or_skip
from patched_classes import patched_classes
from places import ROOT

from elrcheck.catalogue.finding_file import find_finding
from elrcheck.commands.export_junit.leader_source import PARTS
from elrcheck.kafka.jars import Jars

FINDING = find_finding("F-63")
JAVA = ROOT / "tests" / "support" / "java"
TEST = (JAVA / "LateAnswerTest.java").read_text()
IN_TIME = TEST.replace("LATE = true", "LATE = false").replace("class LateAnswerTest", "class InTimeTest")
NO_RECORD = (JAVA / "EmptyEpochTest.java").read_text()
DRIVER = [
    JAVA / "Follower.java",
    *(ROOT / "kafka" / "java" / "broker" / f"{name}.java" for name in PARTS),
]
PATCHED = FINDING.patch.classes if FINDING.patch else ()
RELEASES = next(part.versions for part in FINDING.evidence if part.level == "classes")


@pytest.mark.slow
@pytest.mark.kafka
@pytest.mark.parametrize("version", RELEASES)
def test_a_member_of_the_isr_lacks_what_is_committed(version: str, tmp_path: Path) -> None:
    kafka = jars_or_skip(version, Jars.BROKER)
    found = run_tests([TEST, IN_TIME], kafka, tmp_path / "run", more=DRIVER)
    assert found["LateAnswerTest"].startswith("F-63, P-2 (CandidateCompleteness)")
    assert found["LateAnswerTest"].endswith("expected: <[0@2, 1@2]> but was: <[0@3, 1@2]>")
    assert found["InTimeTest"] == ""


@pytest.mark.slow
@pytest.mark.kafka
@pytest.mark.parametrize("version", PATCHED)
def test_the_patch_of_its_page_refuses_the_record(version: str, tmp_path: Path) -> None:
    kafka = jars_or_skip(version, Jars.BROKER)
    assert FINDING.patch is not None
    patched = patched_classes("F-63", FINDING.patch.edits_of(version), kafka)
    found = run_tests([TEST, IN_TIME, NO_RECORD], kafka, tmp_path / "run", patched, DRIVER)
    assert found == {"LateAnswerTest": "", "InTimeTest": "", "EmptyEpochTest": ""}
