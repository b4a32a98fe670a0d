"""Archives of classes: under which name they are kept, and with which options a node uses or writes one."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from elrcheck.base.java import Java
from elrcheck.kafka.cluster.class_archive import DRAFT, RECORDING, ClassArchive
from elrcheck.kafka.jars import ClassPath
from elrcheck.kafka.java_program import Jdk, program_jar

JDK = Jdk(Java(Path("/usr/bin/java"), "17.0.15", 17), Path("/usr/bin/javac"))


def test_an_archive_belongs_to_its_jars_and_its_jdk(tmp_path: Path) -> None:
    jar = tmp_path / "a.jar"
    jar.write_bytes(b"one")
    path, environ = ClassPath("4.1.2", (jar,), "test"), {"ELRCHECK_CACHE_DIR": str(tmp_path)}
    first = ClassArchive.of(path, JDK, environ)
    assert first == ClassArchive.of(path, JDK, environ) and first.file.name.startswith("4.1.2-")
    newer = replace(JDK, java=replace(JDK.java, version="21.0.1"))
    jar_then = ClassArchive.of(path, newer, environ)
    jar.write_bytes(b"another")
    assert len({first.file, jar_then.file, ClassArchive.of(path, JDK, environ).file}) == 3


def test_a_node_maps_an_archive_or_can_write_one(tmp_path: Path) -> None:
    archive, draft = ClassArchive(tmp_path / "archives" / "x.jsa"), tmp_path / DRAFT
    assert not archive.there and archive.options()[-1] == RECORDING
    archive.keep(draft)  # nothing was written
    assert not archive.there
    draft.write_bytes(b"classes")
    archive.keep(draft)
    assert archive.there and archive.file.read_bytes() == b"classes" and not draft.exists()
    assert archive.options()[-1] == f"-XX:SharedArchiveFile={archive.file}"


def test_few_archives_of_a_release_are_kept(tmp_path: Path) -> None:
    for number, name in enumerate(("4.1.2-a", "4.1.2-b", "4.1.1-c", "4.1.2-d")):
        archive, draft = ClassArchive(tmp_path / f"{name}.jsa"), tmp_path / DRAFT
        draft.write_bytes(b"classes")
        archive.keep(draft)
        os.utime(archive.file, (number, number))
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["4.1.1-c.jsa", "4.1.2-b.jsa", "4.1.2-d.jsa"]


def test_classes_are_put_into_a_jar_once(tmp_path: Path) -> None:
    (tmp_path / "org").mkdir()
    (tmp_path / "org" / "A.class").write_bytes(b"A")
    jar = program_jar(tmp_path)
    made = jar.stat().st_mtime_ns
    assert program_jar(tmp_path) == jar and jar.stat().st_mtime_ns == made
