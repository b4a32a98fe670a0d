"""`elrcheck export upstream`: writes the issue and the change of a finding, and runs Kafka's own tests with it."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from zipfile import ZipFile

from elrcheck.base.atomic import write_files
from elrcheck.base.errors import UsageFault
from elrcheck.base.kafka_requests import UpstreamRequest
from elrcheck.base.progress import Progress
from elrcheck.catalogue.configured import release_numbers
from elrcheck.catalogue.finding_file import Patch
from elrcheck.catalogue.packaged_findings import find_finding
from elrcheck.catalogue.recipe_notation.recipe_file import recipes_of
from elrcheck.kafka.finding_patch import edits_of
from elrcheck.kafka.jars import ClassPath, Jars, from_maven
from elrcheck.kafka.java_program import find_jdk
from elrcheck.kafka.patched_jar import artifact_of, compiled_jar, edited_sources, released_jar, source_of
from elrcheck.kafka.upstream.issue_file import KafkaTest, UpstreamIssue, issue_of
from elrcheck.kafka.upstream.issue_text import issue_text
from elrcheck.kafka.upstream.own_tests import kafka_tests
from elrcheck.kafka.upstream.repository import git_diff
from elrcheck.results.reproduce_report import KafkaTestRuns, UpstreamReport

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
