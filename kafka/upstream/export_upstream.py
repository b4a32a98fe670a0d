"""`elrcheck export upstream`: writes the issue and the change of a finding, and runs Kafka's own tests with it."""

from __future__ import annotations

import difflib
import os
import subprocess
import tempfile
import time
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from zipfile import ZipFile

from elrcheck.base.atomic import write_files
from elrcheck.base.errors import EnvironmentFault, UsageFault
from elrcheck.base.kafka_requests import UpstreamRequest
from elrcheck.base.programs import run_program
from elrcheck.base.progress import Progress
from elrcheck.catalogue.configured import release_numbers
from elrcheck.catalogue.finding_file import Patch
from elrcheck.catalogue.packaged_findings import find_finding
from elrcheck.catalogue.recipe_notation.recipe_file import recipes_of
from elrcheck.kafka.jars import ClassPath, Dependency, Jars, fetched_jars, from_maven
from elrcheck.kafka.java_program import BRIEF, find_jdk
from elrcheck.kafka.patched_jar import (
    artifact_of,
    compiled_jar,
    edited_sources,
    edits_of,
    released_jar,
    source_of,
    source_place,
)
from elrcheck.kafka.upstream.issue_file import KafkaTest, UpstreamIssue, issue_of, issue_text
from elrcheck.results.reproduce_report import KafkaTestRuns, UpstreamReport

TEST_JARS = (
    "kafka-clients",
    "kafka-metadata",
    "kafka-raft",
    "kafka-server-common",
    "kafka-storage",
    "kafka-storage-api",
    "kafka_2.13",
)
LIBRARIES = (
    Dependency("org.junit.platform", "junit-platform-console-standalone", "1.11.4"),
    Dependency("org.mockito", "mockito-core", "5.14.2"),
    Dependency("org.hamcrest", "hamcrest", "3.0"),
    Dependency("org.apache.directory.api", "api-util", "2.1.7"),
)
PATIENCE = 900.0  # seconds
REPORT = "TEST-junit-jupiter.xml"


@dataclass(frozen=True)
class KafkaTests:
    """The tests of a release. kafka: the release with its tests and their dependencies."""

    kafka: ClassPath

    def outcomes(self, classes: Sequence[str], front: Sequence[Path] = ()) -> Mapping[str, str]:
        """Return "package.Class.method" -> the message with which a test fails, "" if it passes.

        classes: of tests, with their packages. front: jars whose classes replace those of the release.
        """
        with tempfile.TemporaryDirectory(prefix="elrcheck-tests-") as folder:
            path = replace(self.kafka, jars=(*front, *self.kafka.jars))
            return run_console(path, [f"--select-class={name}" for name in classes], Path(folder))


def kafka_tests(version: str, environ: Mapping[str, str]) -> KafkaTests:
    """Return the tests of a release; raise EnvironmentFault if Maven cannot get them."""
    kafka = from_maven(version, Jars.CLUSTER, environ)
    tests = [released_jar(artifact, version, "test", environ) for artifact in TEST_JARS]
    return KafkaTests(replace(kafka, jars=(*kafka.jars, *tests, *junit_libraries(environ))))


def junit_libraries(environ: Mapping[str, str]) -> tuple[Path, ...]:
    """Return the jars of JUnit, its launcher and Mockito."""
    return fetched_jars("JUnit and Mockito", LIBRARIES, environ)


def run_console(path: ClassPath, selection: Sequence[str], folder: Path) -> Mapping[str, str]:
    """Run the tests that options of JUnit's launcher select; return what `KafkaTests.outcomes` does."""
    command = [str(find_jdk().java.path), *BRIEF, "-cp", str(path)]
    command += ["org.junit.platform.console.ConsoleLauncher", "execute", "--disable-banner", "--details=none"]
    try:
        end = run_program([*command, *selection, f"--reports-dir={folder}"], PATIENCE)
    except subprocess.TimeoutExpired as fault:
        raise EnvironmentFault("kafka-tests", f"the tests did not end within {PATIENCE:.0f} s") from fault
    report = folder / REPORT
    outcomes = _read(report) if report.is_file() else {}
    if not outcomes:
        lines = end.output.splitlines()[-12:]
        raise EnvironmentFault("kafka-tests", "no test ran", excerpt="\n".join(lines), help="see the output")
    return outcomes


def _read(report: Path) -> Mapping[str, str]:
    """Read a report of JUnit, which our own process wrote."""
    outcomes = {}
    for case in ET.parse(report).getroot().iter("testcase"):
        failed = next((part for part in case if part.tag in ("failure", "error")), None)
        message = "" if failed is None else failed.get("message") or failed.text or failed.tag
        outcomes[f"{case.get('classname', '')}.{case.get('name', '')}"] = message
    return outcomes


def repository_path(path: str) -> str:
    """Return the path in Kafka's repository of a file in a jar of sources, of the release or of its tests."""
    _, folder = source_place(path)
    stem = path.rpartition("/")[2].rpartition(".")[0]
    return folder.format(set="test" if stem.endswith("Test") else "main") + path


def git_diff(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """Return the changes of files, path -> text, as `git apply` takes them."""
    return "".join(_file_diff(repository_path(path), before[path], after[path]) for path in after)


def _file_diff(path: str, before: str, after: str) -> str:
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), f"a/{path}", f"b/{path}"
    )
    text = "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
    return f"diff --git a/{path} b/{path}\n{text}"


ISSUE, CHANGE = "issue.md", "change.patch"


def export_upstream(request: UpstreamRequest, progress: Progress) -> UpstreamReport:
    """Write the files, and on request report the results of Kafka's tests without and with the change."""
    begun, environ = time.monotonic(), os.environ
    issue, finding = issue_of(request.finding), find_finding(request.finding)
    version = request.kafka or _newest(finding.patch)
    progress.stage(f"getting the sources of Kafka {version}")
    main = edited_sources(edits_of(finding.id, version), version, environ)
    before = {path: source_of(path, version, environ) for path in main}
    tests = {test.file: source_of(test.file, version, environ, "test-sources") for test in issue.tests}
    added = _added(issue.tests, tests)
    files = {
        ISSUE: issue_text(finding, issue, recipes_of(finding.id), version),
        CHANGE: git_diff({**before, **tests}, {**main, **added}),
    }
    folder = request.out / finding.id
    write_files(folder, files)
    runs = _run(issue, version, main, added, environ, progress) if request.run else ()
    return UpstreamReport(
        finding=finding.id,
        summary=issue.summary,
        kafka=version,
        files=tuple(str(folder / name) for name in files),
        tests=runs,
        seconds=round(time.monotonic() - begun, 1),
    )


def _newest(patch: Patch | None) -> str:
    """Return the newest release on which the patch was tried."""
    assert patch is not None, "an issue belongs to a finding with a patch"
    return max(patch.classes or patch.brokers, key=release_numbers)


def _added(every: Sequence[KafkaTest], sources: Mapping[str, str]) -> Mapping[str, str]:
    """Return path -> source of the test classes with the new methods."""
    added = dict(sources)
    for test in every:
        if f" {test.name}(" in sources[test.file]:
            message = f"{test.class_name} has a test {test.name} already"
            raise UsageFault("patch-edit", message, help="name an older release with --kafka")
        added[test.file] = test.added_to(added[test.file])
    return added


def _run(
    issue: UpstreamIssue,
    version: str,
    main: Mapping[str, str],
    added: Mapping[str, str],
    environ: Mapping[str, str],
    progress: Progress,
) -> tuple[KafkaTestRuns, ...]:
    """Run the tests of the changed classes, with the new ones, before and after the change."""
    progress.stage("getting Kafka's tests")
    tests, jdk = kafka_tests(version, environ), find_jdk(environ)
    progress.stage("compiling the change and the tests")
    broker: ClassPath = from_maven(version, Jars.BROKER, environ)
    changed = compiled_jar(issue.finding, main, broker, jdk, environ)
    new = compiled_jar(f"{issue.finding} tests", added, tests.kafka, jdk, environ)
    classes = sorted({*(test.class_name for test in issue.tests), *issue.also, *own_classes(main, version, environ)})
    progress.stage("running Kafka's tests without the change")
    without = tests.outcomes(classes, [new])
    progress.stage("running Kafka's tests with the change")
    with_it = tests.outcomes(classes, [changed, new])
    names = {f"{test.class_name}.{test.name}" for test in issue.tests}
    return tuple(KafkaTestRuns.of(name, without, with_it, names) for name in classes)


def own_classes(main: Mapping[str, str], version: str, environ: Mapping[str, str]) -> Sequence[str]:
    """Return Kafka's test classes for the changed sources, path -> text, chosen by name."""
    classes = []
    for path in main:
        name = f"{path.rpartition('.')[0]}Test"
        with ZipFile(released_jar(artifact_of(path), version, "test", environ)) as archive:
            if f"{name}.class" in archive.namelist():
                classes.append(name.replace("/", "."))
    return classes
