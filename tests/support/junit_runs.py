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
BRIEF = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
"""A Java program of seconds: its optimizing compiler and collector threads take more time than they save."""


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
    return run_compiled(compile_tests(sources, kafka, folder, more), kafka, folder / "reports", patched)


def compile_tests(sources: Sequence[str], kafka: ClassPath, folder: Path, more: Sequence[Path] = ()) -> Path:
    """The folder of the compiled classes."""
    folder.mkdir(parents=True)
    files = []
    for source in sources:
        name = CLASS.search(source)
        assert name is not None
        files.append(folder / f"{name[1]}.java")
        files[-1].write_text(source)
    compile_java([*files, *more], kafka, folder / "classes", junit_jars())
    return folder / "classes"


def run_compiled(classes: Path, kafka: ClassPath, reports: Path, patched: Path | None = None) -> Mapping[str, str]:
    """Class -> the message with which its test fails, "" if it passes; every test class in the folder runs."""
    parts = [*([patched] if patched else []), classes, *kafka.jars, junit_jars()]
    command = [str(find_jdk().java.path), *BRIEF, "-cp", ":".join(map(str, parts))]
    command += ["org.junit.platform.console.ConsoleLauncher", "execute", "--disable-banner", "--details=none"]
    done = subprocess.run(
        [*command, f"--scan-classpath={classes}", f"--reports-dir={reports}"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    outcomes = {}
    for case in ET.parse(reports / "TEST-junit-jupiter.xml").getroot().iter("testcase"):
        failed = next((part for part in case if part.tag in ("failure", "error")), None)
        message = "" if failed is None else failed.get("message") or failed.text or failed.tag
        outcomes[case.get("classname", "").rpartition(".")[2]] = message
    assert outcomes and len(outcomes) == len(list(classes.parent.glob("*.java"))), done.stdout + done.stderr
    return outcomes


def compile_java(files: Sequence[Path], kafka: ClassPath, out: Path, *more: str) -> None:
    out.mkdir(parents=True, exist_ok=True)
    path = ":".join(map(str, (*kafka.jars, *more)))
    command = [
        str(find_jdk().javac),
        *(f"-J{option}" for option in BRIEF),
        "-nowarn",
        "-proc:none",
        "-cp",
        path,
        "-d",
        str(out),
        *map(str, files),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
