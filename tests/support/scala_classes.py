"""Kafka's Scala sources compiled against its jars, by the compiler that the release was built with."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from junit_runs import maven_class_path

from elrcheck.kafka.jars import ClassPath
from elrcheck.kafka.java_program import find_jdk

LIBRARY = re.compile(r"scala-library-(2\.13\.\d+)\.jar")


def compile_scala(files: Sequence[Path], kafka: ClassPath, out: Path) -> None:
    """Skip the test where Maven does not get the compiler."""
    out.mkdir(parents=True, exist_ok=True)
    version = next(found[1] for jar in kafka.jars if (found := LIBRARY.fullmatch(jar.name)))
    compiler = maven_class_path("org.scala-lang", "scala-compiler", version, out.parent)
    command = [str(find_jdk().java.path), "-Xss4m", "-cp", compiler, "scala.tools.nsc.Main", "-nowarn"]
    command += ["-classpath", ":".join(map(str, kafka.jars)), "-d", str(out), *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode != 0:
        pytest.fail((done.stdout + done.stderr)[-3000:])
