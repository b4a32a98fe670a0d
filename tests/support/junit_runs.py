"""JUnit tests compiled against Kafka's jars and run, with what each of them says."""

from __future__ import annotations

import os
import re
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import pytest

from elrcheck.base.errors import EnvironmentFault
from elrcheck.kafka.jars import ClassPath
from elrcheck.kafka.java_program import find_jdk
from elrcheck.kafka.maven import Dependency, MavenFailed, needed_jars

CLASS = re.compile(r"public class (\w+)")


@cache
def junit_jars() -> str:
    """The launcher and Mockito with everything that they need; skip the test where Maven does not get it."""
    launcher = Dependency("org.junit.platform", "junit-platform-console-standalone", "1.11.4")
    try:
        found = needed_jars((launcher, Dependency("org.mockito", "mockito-core", "5.14.2")), os.environ)
    except (EnvironmentFault, MavenFailed) as fault:
        pytest.skip(f"Maven did not get JUnit and Mockito: {fault}")
    return ":".join(map(str, found))


def run_tests(
    sources: Sequence[str], kafka: ClassPath, folder: Path, patched: Path | None = None, more: Sequence[Path] = ()
) -> Mapping[str, str]:
    """Class -> the message with which its test fails, "" if it passes.

    patched: a jar of classes in front of the others; more: files of classes that the tests use.
    """
    folder.mkdir(parents=True)
    jdk, junit = find_jdk(), junit_jars()
    files = []
    for source in sources:
        name = CLASS.search(source)
        assert name is not None
        files.append(folder / f"{name[1]}.java")
        files[-1].write_text(source)
    compile_java([*files, *more], kafka, folder / "classes", junit)
    parts = [*([patched] if patched else []), folder / "classes", *kafka.jars, junit]
    reports = folder / "reports"
    command = [str(jdk.java.path), "-cp", ":".join(map(str, parts)), "org.junit.platform.console.ConsoleLauncher"]
    command += ["execute", "--disable-banner", "--details=none", f"--scan-classpath={folder / 'classes'}"]
    done = subprocess.run(
        [*command, f"--reports-dir={reports}"], capture_output=True, text=True, timeout=300, check=False
    )
    found = {}
    for case in ET.parse(reports / "TEST-junit-jupiter.xml").getroot().iter("testcase"):
        failed = next((part for part in case if part.tag in ("failure", "error")), None)
        said = "" if failed is None else failed.get("message") or failed.text or failed.tag
        found[case.get("classname", "").rpartition(".")[2]] = said
    assert len(found) == len(files), done.stdout + done.stderr
    return found


def compile_java(files: Sequence[Path], kafka: ClassPath, out: Path, *more: str) -> None:
    out.mkdir(parents=True, exist_ok=True)
    path = ":".join(map(str, (*kafka.jars, *more)))
    command = [str(find_jdk().javac), "-nowarn", "-proc:none", "-cp", path, "-d", str(out), *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
