"""What a controller knows beside its timeline, and does not revert: that its log is not empty, and a transaction in it.

Both concern the records that the first controller of a cluster writes, and both need that it loses some of them.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from elrcheck.kafka.java_program import find_jdk
from support.junit_runs import compile_java
from support.kafka_jars import jars_or_skip
from support.places import ROOT

SOURCES = [
    *sorted((ROOT / "kafka" / "java" / "controller").glob("*.java")),
    ROOT / "tests" / "support" / "java" / "LostBootstrap.java",
]
ALL = "BeginTransaction,FeatureLevel,FeatureLevel,Config,EndTransaction"
FAULT = "Can't replay an AbortTransactionRecord at 2 because there is no open transaction."


def ends(version: str, folder: Path, *arguments: str) -> tuple[str, str]:
    """Return the records in the log at last, and the fatal faults."""
    kafka = jars_or_skip(version)
    compile_java(SOURCES, kafka, folder / "classes")
    path = ":".join(map(str, (folder / "classes", *kafka.jars)))
    command = [str(find_jdk().java.path), "-cp", path, "org.apache.kafka.controller.LostBootstrap", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    records, faults = done.stdout.splitlines()
    return records, faults


@pytest.mark.slow
@pytest.mark.kafka
@pytest.mark.parametrize(("version", "records"), [("4.0.2", ""), ("4.1.2", ALL), ("4.3.1", ALL), ("4.4.0", ALL)])
def test_only_4_0_does_not_write_them_again(version: str, records: str, tmp_path: Path) -> None:
    """LogReplayTracker.empty is false once they are replayed, although nothing is committed."""
    assert ends(version, tmp_path, "10000", "0", "again") == (records, "")


@pytest.mark.slow
@pytest.mark.kafka
@pytest.mark.parametrize("version", ["4.0.2", "4.1.2", "4.3.1", "4.4.0"])
def test_a_transaction_whose_end_is_lost_stays_open_in_the_log(version: str, tmp_path: Path) -> None:
    """OffsetControlManager.transactionStartOffset has no revert. A bootstrap of more than one batch is needed."""
    begun = "BeginTransaction,FeatureLevel"
    assert ends(version, tmp_path, "2", "2", "again") == (begun, "")
    assert ends(version, tmp_path, "2", "2", "aborted") == (f"{begun},AbortTransaction", FAULT)


@pytest.mark.slow
@pytest.mark.kafka
def test_without_a_loss_the_log_is_complete(tmp_path: Path) -> None:
    assert ends("4.3.1", tmp_path, "2", "5", "again") == (ALL, "")
