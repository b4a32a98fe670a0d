"""Runs Kafka's own tests, from the published jars of a release, with changed classes before them."""

from __future__ import annotations

import subprocess
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from elrcheck.base.errors import EnvironmentFault
from elrcheck.base.system.programs import run_program
from elrcheck.kafka.jars import ClassPath, Jars, from_maven
from elrcheck.kafka.java_process import BRIEF
from elrcheck.kafka.java_program import find_jdk
from elrcheck.kafka.maven import Dependency, fetched_jars
from elrcheck.kafka.patched_jar import released_jar

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
