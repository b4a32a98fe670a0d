"""F-63: an answer that is sent late brings a follower a record of an earlier epoch than its last one.

No search finds the run, so it is told to three kafka.cluster.Partition of each release, with logs in files;
what a follower does with an answer is that of ReplicaFetcherThread, without a network and threads.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from junit_runs import junit_jar, run_tests
from kafka_jars import jars_or_skip
from patched_classes import patched_classes
from places import ROOT

from elrcheck.catalogue.finding_file import finding_files, read_finding
from elrcheck.commands.export_junit.leader_source import PARTS
from elrcheck.kafka.jars import Jars

FINDING = next(found for found in map(read_finding, finding_files()) if found.id == "F-63")
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


@pytest.fixture(scope="module")
def junit(tmp_path_factory: pytest.TempPathFactory) -> str:
    return junit_jar(tmp_path_factory.mktemp("junit"))


@pytest.mark.slow
@pytest.mark.kafka
@pytest.mark.parametrize("version", RELEASES)
def test_a_member_of_the_isr_lacks_what_is_committed(version: str, junit: str, tmp_path: Path) -> None:
    kafka = jars_or_skip(version, Jars.BROKER)
    found = run_tests([TEST, IN_TIME], kafka, junit, tmp_path / "run", more=DRIVER)
    assert found["LateAnswerTest"].startswith("F-63, P-2 (CandidateCompleteness)")
    assert found["LateAnswerTest"].endswith("expected: <[0@2, 1@2]> but was: <[0@3, 1@2]>")
    assert found["InTimeTest"] == ""


@pytest.mark.slow
@pytest.mark.kafka
@pytest.mark.parametrize("version", PATCHED)
def test_the_patch_of_its_page_refuses_the_record(version: str, junit: str, tmp_path: Path) -> None:
    kafka = jars_or_skip(version, Jars.BROKER)
    assert FINDING.patch is not None
    patched = patched_classes(FINDING.patch.edits_of(version), kafka, tmp_path / "patch")
    found = run_tests([TEST, IN_TIME, NO_RECORD], kafka, junit, tmp_path / "run", patched, DRIVER)
    assert found == {"LateAnswerTest": "", "InTimeTest": "", "EmptyEpochTest": ""}
