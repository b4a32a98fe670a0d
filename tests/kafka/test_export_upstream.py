"""`export upstream`: the issue, the change and its test, and what Kafka's own tests say of every patch."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from elrcheck.base.errors import EnvironmentFault, UsageFault
from elrcheck.base.kafka_requests import UpstreamRequest
from elrcheck.base.progress import Silent
from elrcheck.catalogue.packaged_findings import packaged_findings
from elrcheck.kafka.jars import Jars, from_maven
from elrcheck.kafka.java_program import find_jdk
from elrcheck.kafka.patched_jar import compiled_jar, edited_sources, edits_of
from elrcheck.kafka.upstream.export_upstream import export_upstream, git_diff, kafka_tests, own_classes, repository_path
from elrcheck.kafka.upstream.issue_file import KafkaTest, issue_names, issue_of
from elrcheck.results.reproduce_report import KafkaTestRuns, NewTest, UpstreamReport
from support.invoked import Invoke

RELEASE = "4.3.1"
WITHOUT_ISSUE = sorted(
    finding.id
    for finding in packaged_findings()
    if finding.patch is not None and RELEASE in finding.patch.classes and finding.id not in issue_names()
)
BROKEN = {
    "F-53": "org.apache.kafka.controller.ReplicationControlManagerTest."
    "testElrsRemovedShouldNotBumpPartitionEpochIfNoChange()"
}
"""What the page says of the patch: Kafka decided against it."""


def test_issues_belong_to_findings_with_a_patch() -> None:
    assert issue_names() == (
        "F-20",
        "F-51",
        "F-52",
        "F-58",
        "F-62",
        "F-63",
        "F-64",
        "F-65",
        "F-66",
        "F-67",
        "F-68",
        "F-69",
        "F-70",
    )
    for name in issue_names():
        issue = issue_of(name)
        assert edits_of(name, RELEASE) and issue.confirmed == (RELEASE,)
        for test in issue.tests:
            assert f" {test.name}(" in test.method and test.method.count("{") == test.method.count("}")
            assert 10 <= len(test.method.splitlines()) <= 45
    with pytest.raises(UsageFault, match="there is no issue of F-53"):
        issue_of("F-53")


def test_where_sources_stand_in_the_repository() -> None:
    for path, place in (
        ("kafka/cluster/Partition.scala", "core/src/main/scala/kafka/cluster/Partition.scala"),
        ("unit/kafka/cluster/PartitionTest.scala", "core/src/test/scala/unit/kafka/cluster/PartitionTest.scala"),
        ("org/apache/kafka/controller/A.java", "metadata/src/main/java/org/apache/kafka/controller/A.java"),
        ("org/apache/kafka/controller/ATest.java", "metadata/src/test/java/org/apache/kafka/controller/ATest.java"),
        ("org/apache/kafka/raft/CTest.java", "raft/src/test/java/org/apache/kafka/raft/CTest.java"),
        ("org/apache/kafka/common/D.java", "clients/src/main/java/org/apache/kafka/common/D.java"),
        ("org/apache/kafka/storage/B.java", "storage/src/main/java/org/apache/kafka/storage/B.java"),
    ):
        assert repository_path(path) == place


def test_a_test_brings_its_imports() -> None:
    test = KafkaTest("unit/kafka/ATest.scala", "testIt", "@Test\ndef testIt(): Unit = { }", ("java.util.B", "org.C"))
    before = "package kafka\n\nimport java.io.A\nimport org.A\n\nimport scala.D\n\nclass ATest {\n}\n"
    after = test.added_to(before)
    assert "import java.io.A\nimport java.util.B\nimport org.A\nimport org.C\n\nimport scala.D\n" in after
    assert after.endswith("{\n\n  @Test\n  def testIt(): Unit = { }\n}\n")


@pytest.mark.parametrize("end", ["", "\n"])
def test_git_applies_the_change(end: str, tmp_path: Path) -> None:
    git = shutil.which("git")
    if git is None:
        pytest.skip("no git here")
    path = "org/apache/kafka/controller/ATest.java"
    before = f"class ATest {{\n    int one = 1;\n}}{end}"
    test = KafkaTest(path, "testIt", "@Test\nvoid testIt() { }")
    after = test.added_to(before)
    assert after == "class ATest {\n    int one = 1;\n\n    @Test\n    void testIt() { }\n}\n"
    place = tmp_path / repository_path(path)
    place.parent.mkdir(parents=True)
    place.write_text(before)
    (tmp_path / "change.patch").write_text(git_diff({path: before}, {path: after}))
    subprocess.run([git, "init", "-q"], cwd=tmp_path, check=True, timeout=60)
    subprocess.run([git, "apply", "change.patch"], cwd=tmp_path, check=True, timeout=60)
    assert place.read_text() == after


def test_what_a_run_of_the_tests_means() -> None:
    without = {"A.new()": "expected: 1", "A.old()": "", "A.other()": "no network", "B.old()": ""}
    good = KafkaTestRuns.of("A", without, {"A.new()": "", "A.old()": "", "A.other()": "no network"}, {"A.new"})
    assert good == KafkaTestRuns("A", 2, ("A.other()",), (), (NewTest("A.new()", "expected: 1", ""),))
    bad = KafkaTestRuns.of("A", without, {"A.new()": "", "A.other()": ""}, {"A.new"})
    assert bad.broken == ("A.old()",)
    idle = KafkaTestRuns.of("A", {**without, "A.new()": ""}, {**without, "A.new()": ""}, {"A.new"})
    for runs, verdict in (((), "complete"), ((good,), "confirmed"), ((bad,), "rejected"), ((idle,), "rejected")):
        assert UpstreamReport("F-20", "a summary", RELEASE, (), runs, 0.0).verdict == verdict


def test_without_an_issue_the_command_says_which_there_are(invoke: Invoke, tmp_path: Path) -> None:
    code, _, err = invoke("export", "upstream", "F-53", "--out", str(tmp_path))
    assert code == 2 and ", ".join(issue_names()) in err and not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.kafka
@pytest.mark.parametrize("finding", issue_names())
def test_kafkas_own_tests_confirm_the_change(finding: str, tmp_path: Path) -> None:
    try:
        report = export_upstream(UpstreamRequest(finding, tmp_path, RELEASE, run=True), Silent())
    except EnvironmentFault as fault:
        pytest.skip(f"{fault.message} {fault.excerpt or ''}")
    least = 6 if finding == "F-65" else 70  # ServerShutdownTest starts controllers and brokers, and is short
    assert report.verdict == "confirmed" and sum(each.tests for each in report.tests) >= least, report.tests
    issue, change = ((tmp_path / finding / name).read_text() for name in ("issue.md", "change.patch"))
    assert issue.startswith(f"# {report.summary}\n") and change.count("diff --git a/") >= 2


@pytest.mark.slow
@pytest.mark.kafka
@pytest.mark.parametrize("finding", WITHOUT_ISSUE)
def test_kafkas_own_tests_pass_with_the_patch_of_every_page(finding: str) -> None:
    try:
        tests, jdk, kafka = kafka_tests(RELEASE, os.environ), find_jdk(), from_maven(RELEASE, Jars.BROKER)
        sources = edited_sources(edits_of(finding, RELEASE), RELEASE)
        patched = compiled_jar(finding, sources, kafka, jdk, os.environ)
    except EnvironmentFault as fault:
        pytest.skip(f"{fault.message} {fault.excerpt or ''}")
    classes = own_classes(sources, RELEASE, os.environ)
    classes = [name for name in classes if not name.endswith("BrokerMetadataPublisherTest")]
    if not classes:
        pytest.skip("Kafka's tests of these classes need jars that it does not publish")
    without, with_it = tests.outcomes(classes), tests.outcomes(classes, [patched])
    assert len(without) > 10 and without.keys() == with_it.keys()
    broken = {name for name in with_it if with_it[name] and not without[name]}
    assert broken == ({BROKEN[finding]} if finding in BROKEN else set())
