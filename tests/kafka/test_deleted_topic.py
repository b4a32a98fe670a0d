"""F-64: a topic that is deleted after its ELR was cleared stops a broker from registering.

The model has one topic, which is never deleted, so the story is told to a QuorumController of each release.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from elrcheck.catalogue.packaged_findings import find_finding
from elrcheck.kafka.jars import ClassPath
from elrcheck.kafka.java_program import find_jdk
from support.junit_runs import compile_java
from support.kafka_jars import jars_or_skip
from support.patched_classes import patched_classes
from support.places import ROOT

FAULT = "Topic ID AAAAAAAAAAcAAAAAAAAABw existed in isrMembers, but not in the topics map."
STORY = "write,delete,register,register"
SOURCES = [
    *sorted((ROOT / "kafka" / "java" / "controller").glob("*.java")),
    ROOT / "tests" / "support" / "java" / "DeletedTopic.java",
]
PATCH = find_finding("F-64").patch
assert PATCH is not None and len(PATCH.classes) == 2
RELEASES = ("4.0.2", "4.3.1", "4.4.0")


def run_stories(kafka: ClassPath, folder: Path, *stories: str, patched: Path | None = None) -> list[str]:
    compile_java(SOURCES, kafka, folder / "classes")
    path = [*([patched] if patched else []), folder / "classes", *kafka.jars]
    command = [str(find_jdk().java.path), "-cp", ":".join(map(str, path))]
    command += ["org.apache.kafka.controller.DeletedTopic", *stories]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.slow
@pytest.mark.kafka
@pytest.mark.parametrize("version", RELEASES)
def test_the_broker_cannot_register_and_the_controller_resigns(version: str, tmp_path: Path) -> None:
    kafka = jars_or_skip(version)
    assert run_stories(kafka, tmp_path, STORY, "write,delete,unregister", "delete,register", "write,register") == [
        *[f"register: {FAULT}; resigned"] * 2,
        f"unregister: {FAULT}; resigned",
        *["register: granted"] * 2,
    ]


@pytest.mark.slow
@pytest.mark.kafka
@pytest.mark.parametrize("version", PATCH.classes)
def test_the_patch_of_its_page_lets_the_broker_register(version: str, tmp_path: Path) -> None:
    kafka = jars_or_skip(version)
    patched = patched_classes("F-64", PATCH.edits_of(version), kafka)
    assert run_stories(kafka, tmp_path, STORY, patched=patched) == ["register: granted"] * 2
