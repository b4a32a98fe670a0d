"""A patch built from Kafka's sources: what it is made of, when it is made again, and what does not fit.

Maven, the sources and Kafka are stood in for by a script and two classes; the compiler is the real one.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from elrcheck.base.errors import EnvironmentFault, UsageFault
from elrcheck.base.kept.store import FOLDER
from elrcheck.catalogue.finding_file import Edit
from elrcheck.catalogue.packaged_findings import packaged_findings
from elrcheck.kafka.jars import ClassPath
from elrcheck.kafka.java_program import find_jdk, jar_bytes
from elrcheck.kafka.patched_jar import edited_sources, edits_of, patched_jar
from support.fake_maven import maven

LIMIT = """\
package org.apache.kafka.controller;
public class Limit { public static int of() { return Unit.ONE; } }
"""
UNIT = 'package org.apache.kafka.controller;\nclass Unit { static final int ONE = Integer.parseInt("1"); }\n'
PATH = "org/apache/kafka/controller/Limit.java"
ADDED = Edit("Limit", insert="+ 1", after="Unit.ONE")


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> ClassPath:
    """A release of one jar."""
    try:
        jdk = find_jdk()
    except EnvironmentFault as fault:
        pytest.skip(fault.message)
    folder = tmp_path_factory.mktemp("kafka")
    source, classes = folder / "Unit.java", folder / "classes"
    source.write_text(UNIT)
    subprocess.run([jdk.javac, "-d", classes, source], check=True, timeout=120)
    jar = folder / "kafka-metadata-4.1.2.jar"
    jar.write_bytes(jar_bytes(classes))
    return ClassPath("4.1.2", (jar,), "a test")


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """A `mvn` that copies a jar of sources, and leaves a mark whenever it runs."""
    sources = tmp_path / "sources.jar"
    with zipfile.ZipFile(sources, "w") as archive:
        archive.writestr(PATH, LIMIT)
    copies = 'for word in "$@"; do case $word in -DoutputDirectory=*) cp'
    script = f'echo "$@" >> {tmp_path}/runs; {copies} {sources} "${{word#*=}}/it.jar";; esac; done'
    environment = maven(tmp_path / "bin", script)
    return {**environment, **{key: os.environ[key] for key in ("JAVA_HOME",) if key in os.environ}}


def runs(tmp_path: Path) -> list[str]:
    file = tmp_path / "runs"
    return file.read_text().splitlines() if file.exists() else []


@pytest.mark.slow
def test_the_edited_source_is_compiled(kafka: ClassPath, environ: dict[str, str], tmp_path: Path) -> None:
    edit = Edit("Limit", insert='+ "edited".length()', after="Unit.ONE")
    jar = patched_jar("F-20", [edit], kafka, environ)
    assert jar.parent == Path(environ["ELRCHECK_CACHE_DIR"]) / FOLDER / "patches"
    with zipfile.ZipFile(jar) as archive:
        name = PATH.replace(".java", ".class")
        assert archive.namelist() == [name] and b"edited" in archive.read(name)
    (words,) = runs(tmp_path)
    assert "-Dartifact=org.apache.kafka:kafka-metadata:4.1.2:jar:sources" in words


def test_it_is_built_once_for_what_it_is_made_of(
    kafka: ClassPath, environ: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled: list[object] = []
    monkeypatch.setattr("elrcheck.kafka.patched_jar._compile", lambda *arguments: compiled.append(arguments))
    jar = patched_jar("F-20", [ADDED], kafka, environ)
    assert patched_jar("F-20", [ADDED], kafka, environ) == jar
    assert len(runs(tmp_path)) == len(compiled) == 1
    more = Edit("Limit", insert="+ 2", after="Unit.ONE")
    assert patched_jar("F-20", [more], kafka, environ) != jar and len(compiled) == 2
    other = replace(kafka, jars=(*kafka.jars, *kafka.jars))
    assert patched_jar("F-20", [ADDED], other, environ) != jar and len(compiled) == 3
    jar.write_bytes(b"cut short")
    assert patched_jar("F-20", [ADDED], kafka, environ) == jar and zipfile.is_zipfile(jar)
    assert len(runs(tmp_path)) == 1 and len(compiled) == 4


def test_an_edit_that_does_not_fit(kafka: ClassPath, environ: dict[str, str]) -> None:
    for edit, message in (
        (Edit("Limit", insert="", replace="Unit.TWO"), "has to read once, and reads 0 times: Unit.TWO"),
        (Edit("Unlimited", insert="", replace="Unit.ONE"), "Unlimited.java is not a source of Kafka 4.1.2"),
        (Edit("Limit", insert="Unit.TWO", replace="Unit.ONE"), "does not compile against Kafka 4.1.2"),
    ):
        with pytest.raises(UsageFault) as fault:
            patched_jar("F-20", [edit], kafka, environ)
        assert fault.value.code == "patch-edit" and message in fault.value.message
    assert "cannot find symbol" in str(fault.value.excerpt)


def test_edits_of_one_file_follow_each_other(environ: dict[str, str]) -> None:
    other = Edit("Limit", insert="3", replace="Unit.ONE + 1")
    assert "return 3;" in edited_sources([ADDED, other], "4.1.2", environ)[PATH]


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("Could not find artifact org.apache.kafka:kafka-metadata:jar:sources:4.4.0", "kafka-sources"),
        ("org.apache.kafka:kafka-metadata:jar:sources:4.4.0 was not found in https://x", "kafka-sources"),
        ("Could not transfer artifact org.apache.kafka:x: Unknown host repo", "kafka-jars"),
    ],
)
def test_sources_that_maven_does_not_get(message: str, code: str, tmp_path: Path) -> None:
    environ = maven(tmp_path / "bin", f"echo '[ERROR] {message}'; exit 1")
    with pytest.raises(UsageFault if code == "kafka-sources" else EnvironmentFault) as fault:
        edited_sources([ADDED], "4.4.0", environ)
    assert fault.value.code == code and "kafka-metadata 4.4.0" in fault.value.message


def test_without_maven_or_a_compiler(kafka: ClassPath, tmp_path: Path) -> None:
    java = shutil.which("java")
    assert java is not None
    (tmp_path / "bin").mkdir()
    alone = tmp_path / "bin" / "java"
    alone.write_text(f'#!/bin/sh\nexec {java} "$@"\n')
    alone.chmod(0o755)
    environ = {"PATH": str(tmp_path / "bin"), "ELRCHECK_CACHE_DIR": str(tmp_path / "cache")}
    with pytest.raises(EnvironmentFault) as fault:
        patched_jar("F-20", [ADDED], kafka, environ)
    assert fault.value.code == "javac-missing"
    with pytest.raises(EnvironmentFault) as fault:
        edited_sources([ADDED], "4.1.2", environ)
    assert fault.value.code == "maven-missing"


def test_which_edits_a_release_has() -> None:
    assert [edit.file for edit in edits_of("F-20", "4.1.2")] == ["PartitionChangeBuilder"]
    older, newer = edits_of("F-58", "4.1.2"), edits_of("F-58", "4.3.1")
    assert len(older) == len(newer) == 2 and older != newer
    for finding, version, code, message in (
        ("F-55", "4.1.2", "no-patch", "F-55 has no patch to build"),
        ("F-58", "9.9.9", "patch-edit", "has no edit for Kafka 9.9.9"),
        ("F-200", "4.1.2", "unknown-name", "there is no finding F-200"),
    ):
        with pytest.raises(UsageFault) as fault:
            edits_of(finding, version)
        assert fault.value.code == code and message in fault.value.message


def test_every_release_with_a_patch_has_its_edits() -> None:
    for finding in packaged_findings():
        patch = finding.patch
        for version in (*patch.classes, *patch.brokers) if patch is not None else ():
            assert edits_of(finding.id, version), (finding.id, version)
