"""JUnit tests compiled against Kafka's jars and run, with what each of them says."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from elrcheck.base.errors import EnvironmentFault
from elrcheck.kafka.jars import ClassPath
from elrcheck.kafka.java_program import BRIEF, find_jdk
from elrcheck.kafka.upstream.export_upstream import junit_libraries, run_console

CLASS = re.compile(r"public class (\w+)")


@cache
def junit_jars() -> tuple[Path, ...]:
    """The launcher and Mockito with everything that they need; skip the test where Maven does not get it."""
    try:
        return junit_libraries(os.environ)
    except EnvironmentFault as fault:
        pytest.skip(f"Maven did not get JUnit and Mockito: {fault}")


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
    compile_java([*files, *more], kafka, folder / "classes", *map(str, junit_jars()))
    return folder / "classes"


def run_compiled(classes: Path, kafka: ClassPath, reports: Path, patched: Path | None = None) -> Mapping[str, str]:
    """Class -> the message with which its test fails, "" if it passes; every test class in the folder runs."""
    path = replace(kafka, jars=(*([patched] if patched else []), classes, *kafka.jars, *junit_jars()))
    outcomes = {
        name.rpartition("(")[0].rpartition(".")[0].rpartition(".")[2]: message
        for name, message in run_console(path, [f"--scan-classpath={classes}"], reports).items()
    }
    assert outcomes and len(outcomes) == len(list(classes.parent.glob("*.java")))
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
