"""Archives of classes: under which name they are kept, and with which options a node uses or writes one."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from elrcheck.base.programs import Java
from elrcheck.kafka.cluster import node_settings
from elrcheck.kafka.cluster.node_settings import DRAFT, RECORDING, ClassArchive
from elrcheck.kafka.jars import ClassPath
from elrcheck.kafka.java_program import Jdk

JDK = Jdk(Java(Path("/usr/bin/java"), "17.0.15", 17), Path("/usr/bin/javac"))


def test_an_archive_belongs_to_its_jars_and_its_jdk(tmp_path: Path) -> None:
    jar = tmp_path / "a.jar"
    jar.write_bytes(b"one")
    path, environ = ClassPath("4.1.2", (jar,), "test"), {"ELRCHECK_CACHE_DIR": str(tmp_path)}
    first = ClassArchive.of(path, JDK, environ)
    assert first.key == ClassArchive.of(path, JDK, environ).key
    newer = replace(JDK, java=replace(JDK.java, version="21.0.1"))
    jar_then = ClassArchive.of(path, newer, environ)
    jar.write_bytes(b"another")
    assert len({first.key, jar_then.key, ClassArchive.of(path, JDK, environ).key}) == 3


def test_a_node_maps_an_archive_or_can_write_one(tmp_path: Path) -> None:
    environ, draft = {"ELRCHECK_CACHE_DIR": str(tmp_path / "cache")}, tmp_path / DRAFT
    archive = ClassArchive("a", environ)
    assert archive.file is None and archive.options()[-1] == RECORDING
    archive.keep(draft)  # nothing was written
    assert archive.file is None
    draft.write_bytes(b"classes")
    archive.keep(draft)
    assert archive.file is not None and archive.file.read_bytes() == b"classes" and not draft.exists()
    again = ClassArchive("a", environ)
    assert again.options()[-1] == f"-XX:SharedArchiveFile={archive.file}"
    archive.file.write_bytes(b"damaged")
    assert ClassArchive("a", environ).options()[-1] == RECORDING


def test_few_archives_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_settings, "MOST_ARCHIVES", 2)
    environ, draft = {"ELRCHECK_CACHE_DIR": str(tmp_path / "cache")}, tmp_path / DRAFT
    for number, name in enumerate("abc"):
        archive = ClassArchive(name, environ)
        draft.write_bytes(b"classes")
        archive.keep(draft)
        assert archive.file is not None
        os.utime(archive.file, (number, number))
    assert [ClassArchive(name, environ).file is not None for name in "abc"] == [False, True, True]
