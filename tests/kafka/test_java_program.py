"""The driver's sources, and a Java program compiled once and kept."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from elrcheck.base.errors import EnvironmentFault
from elrcheck.kafka.jars import ClassPath
from elrcheck.kafka.java_program import compiled, find_jdk, sources_of
from elrcheck.kafka.kafka_oracle import CONTROLLER

NO_JARS = ClassPath("0.0.0", (), "a test")


def jdk_or_skip() -> None:
    try:
        find_jdk()
    except EnvironmentFault as fault:
        pytest.skip(f"no JDK: {fault.message}")


def test_the_drivers_sources_are_found() -> None:
    folder, main = CONTROLLER
    package, _, name = main.rpartition(".")
    sources = sources_of(folder)
    assert f"{name}.java" in sources
    assert all(text.startswith(f"package {package};\n") for text in sources.values())


def test_no_source_of_the_driver_is_long() -> None:
    lines = {name: text.splitlines() for name, text in sources_of(CONTROLLER[0]).items()}
    assert {name: len(source_lines) for name, source_lines in lines.items() if len(source_lines) > 400} == {}
    assert {name for name, source_lines in lines.items() if any(len(line) > 120 for line in source_lines)} == set()


@pytest.mark.slow
@pytest.mark.kafka
def test_a_program_is_compiled_once(tmp_path: Path) -> None:
    jdk_or_skip()
    environ = {"ELRCHECK_CACHE_DIR": str(tmp_path)}
    program = {"A.java": "class A { }"}
    first = compiled(program, NO_JARS, find_jdk(), environ)
    modified = first.stat().st_mtime_ns
    assert zipfile.ZipFile(first).namelist() == ["A.class"]
    assert compiled(program, NO_JARS, find_jdk(), environ) == first
    assert first.stat().st_mtime_ns == modified
    first.write_bytes(first.read_bytes()[:-1] + b"?")
    assert compiled(program, NO_JARS, find_jdk(), environ) == first
    assert zipfile.ZipFile(first).testzip() is None, "it was compiled again"
    other = {"A.java": "class A { int x; }"}
    assert compiled(other, NO_JARS, find_jdk(), environ) != first
    assert sorted(path.name for path in first.parent.iterdir() if path.name.startswith(".")) == []


@pytest.mark.kafka
def test_a_program_that_does_not_compile_is_told_with_the_place(tmp_path: Path) -> None:
    jdk_or_skip()
    program = {"A.java": "class A { B b; }"}
    with pytest.raises(EnvironmentFault) as caught:
        compiled(program, NO_JARS, find_jdk(), {"ELRCHECK_CACHE_DIR": str(tmp_path)})
    assert caught.value.code == "kafka-driver" and "A.java:1" in str(caught.value.excerpt)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.kafka
def test_a_program_that_cannot_be_kept_is_used_all_the_same(tmp_path: Path) -> None:
    jdk_or_skip()
    (tmp_path / "file").touch()
    program = {"A.java": "class A { }"}
    jar = compiled(program, NO_JARS, find_jdk(), {"ELRCHECK_CACHE_DIR": str(tmp_path / "file")})
    assert zipfile.ZipFile(jar).namelist() == ["A.class"]


def test_a_runtime_without_a_compiler_is_not_enough(tmp_path: Path) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'openjdk version \"21.0.1\"' >&2\n", encoding="utf-8")
    java.chmod(0o755)
    with pytest.raises(EnvironmentFault) as caught:
        find_jdk({"JAVA_HOME": str(tmp_path), "PATH": "/usr/bin:/bin"})
    assert caught.value.code == "javac-missing"
    java.write_text("#!/bin/sh\necho 'openjdk version \"11.0.1\"' >&2\n", encoding="utf-8")
    with pytest.raises(EnvironmentFault) as caught:
        find_jdk({"JAVA_HOME": str(tmp_path), "PATH": "/usr/bin:/bin"})
    assert caught.value.code == "java-too-old"
