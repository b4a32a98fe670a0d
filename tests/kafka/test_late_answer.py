"""F-63: a response that is already in a socket when its leader truncates, and repairs that do less than the page's.

The exported tests, of a response that the network thread still has to read, are in tests/kafka/test_export_junit.py.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from elrcheck.base.progress import Silent
from elrcheck.catalogue.finding_file import Edit
from elrcheck.catalogue.packaged_findings import find_finding
from elrcheck.kafka.jars import Jars
from elrcheck.kafka.junit.export_junit import junit_test
from elrcheck.kafka.junit.junit_source import PARTS
from support.edits import replaced
from support.junit_runs import run_tests
from support.kafka_jars import jars_or_skip
from support.patched_classes import patched_classes
from support.places import ROOT

PATCH = find_finding("F-63").patch
assert PATCH is not None and PATCH.classes
NO_RECORD = (ROOT / "tests" / "support" / "java" / "EmptyEpochTest.java").read_text()
CALLS = ROOT / "kafka" / "java"
DRIVER = [CALLS / "junit" / "Follower.java", *(CALLS / "broker" / f"{name}.java" for name in PARTS)]
FIRST, SECOND, SENT = "F63CandidateCompletenessTest", "F63LeaderCompletenessTest", "SentF63LeaderCompletenessTest"
NEWEST = PATCH.classes[-1]

FALLING_EPOCHS = [
    Edit(
        "org/apache/kafka/storage/internals/log/UnifiedLog.java",
        replace="""firstOffset, appendInfo.lastOffset());
                                }""",
        insert="""firstOffset, appendInfo.lastOffset());
                                }
                                int newest = latestEpoch().orElse(RecordBatch.NO_PARTITION_LEADER_EPOCH);
                                for (RecordBatch batch : validRecords.batches()) {
                                    if (batch.partitionLeaderEpoch() < newest)
                                        throw new InvalidRecordException("Epoch " + batch.partitionLeaderEpoch());
                                    newest = batch.partitionLeaderEpoch();
                                }""",
    )
]
"""A follower refuses a batch of an earlier epoch than its last one. For NEWEST."""


def in_file_records(after: str, insert: str) -> Edit:
    return Edit("org/apache/kafka/common/record/internal/FileRecords.java", after=after, insert=insert)


TRUNCATED_SLICES = [
    in_file_records("private volatile File file;", "private final int[] truncations; private final int before;"),
    in_file_records("this.isSlice = false;", "this.truncations = new int[1]; this.before = 0;"),
    in_file_records("this.isSlice = true;", "this.truncations = truncations; this.before = truncations[0];"),
    in_file_records("        int start,\n        int end", ", int[] truncations"),
    in_file_records("startPosition + availableBytes", ", truncations"),
    in_file_records("            channel.truncate(targetSize);", "synchronized (truncations) { truncations[0]++; }"),
    in_file_records(
        "        // safe to cast to int since `count` is an int\n",
        """synchronized (truncations) {
            if (before != truncations[0]) throw new KafkaException("truncated since");
        }""",
    ),
]
"""A slice is not sent if its file was truncated since. For NEWEST; without a race, so that no lock is needed."""


def sent_at_once() -> str:
    """The test of four brokers, with the response in a socket before the leader truncates."""
    test = junit_test("F-63", "P-1", None, Silent())
    text = replaced(test.text, f"class {test.name}", f"class Sent{test.name}", 1)
    sent = "java.nio.channels.SocketChannel answer = Follower.send(zero.ask(two));"
    text = replaced(text, "Object answer = zero.ask(two);", sent, 1)
    return re.sub(r"(?m)^    (?:public )?void test\w+\(\)(?= \{)", r"\g<0> throws Exception", text, count=1)


def outcomes(version: str, edits: Sequence[Edit], folder: Path) -> set[str]:
    """The tests that fail, of F-63's and of a leader that has written nothing."""
    kafka = jars_or_skip(version, Jars.BROKER)
    patched = patched_classes("F-63", edits, kafka) if edits else None
    exported = [junit_test("F-63", name, None, Silent()).text for name in ("P-2", "P-1")]
    run = run_tests([NO_RECORD, sent_at_once(), *exported], kafka, folder / "run", patched, DRIVER)
    assert run.keys() == {"EmptyEpochTest", FIRST, SECOND, SENT}
    return {name for name, message in run.items() if message}


@pytest.mark.slow
@pytest.mark.kafka
@pytest.mark.skipif(sys.platform != "linux", reason="sendfile need not share pages elsewhere")
@pytest.mark.parametrize(
    ("edits", "fail"),
    [((), {FIRST, SECOND, SENT}), (FALLING_EPOCHS, {SECOND, SENT}), (TRUNCATED_SLICES, {SENT})],
    ids=["none", "falling-epochs", "truncated-slices"],
)
def test_smaller_repairs_are_not_enough(edits: Sequence[Edit], fail: set[str], tmp_path: Path) -> None:
    assert outcomes(NEWEST, edits, tmp_path) == fail


@pytest.mark.slow
@pytest.mark.kafka
@pytest.mark.parametrize("version", PATCH.classes)
def test_with_the_patch_no_response_changes_and_a_leader_without_a_record_copies_older_ones(
    version: str, tmp_path: Path
) -> None:
    assert PATCH is not None
    assert outcomes(version, PATCH.edits_of(version), tmp_path) == set()
