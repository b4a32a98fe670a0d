"""F-69, asked of Kafka's own classes: the leader epoch cache that a log is loaded with, after a truncation.

A process is shut down in the order of BrokerServer.shutdown, or dies, before the task that writes the cache's file.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from elrcheck.catalogue.packaged_findings import find_finding
from elrcheck.kafka.jars import ClassPath, Jars
from support.junit_runs import run_tests
from support.kafka_jars import jars_or_skip
from support.patched_classes import patched_classes
from support.places import ROOT

JAVA = [ROOT / "tests" / "support" / "java" / "EpochFile.java", ROOT / "kafka" / "java" / "broker" / "Reflected.java"]
TESTS = {"StoppedTest": "afterAnOrderlyShutdown", "KilledTest": "afterAKill", "FlushedTest": "onceTheTaskHasRun"}
TOO_MANY = "F-69: the latest epoch is that of the last record ==> expected: <1> but was: <2>"


def _run(kafka: ClassPath, folder: Path, patched: Path | None = None) -> Mapping[str, str]:
    sources = [
        f"package org.elrcheck.broker; public class {name} extends EpochFile "
        f"{{ @org.junit.jupiter.api.Test void test() throws Exception {{ {method}(); }} }}"
        for name, method in TESTS.items()
    ]
    return run_tests(sources, kafka, folder, patched, JAVA)


@pytest.mark.slow
@pytest.mark.kafka
@pytest.mark.parametrize("version", ["3.9.1", "4.1.2", "4.3.1", "4.4.0"])
def test_an_epoch_that_was_truncated_is_back(version: str, tmp_path: Path) -> None:
    kafka = jars_or_skip(version, Jars.BROKER)
    assert _run(kafka, tmp_path / "run") == {"StoppedTest": TOO_MANY, "KilledTest": TOO_MANY, "FlushedTest": ""}


@pytest.mark.slow
@pytest.mark.kafka
@pytest.mark.parametrize("version", ["4.1.2", "4.3.1"])
def test_it_is_not_with_the_patch_of_its_page(version: str, tmp_path: Path) -> None:
    kafka = jars_or_skip(version, Jars.BROKER)
    patch = find_finding("F-69").patch
    assert patch is not None
    patched = patched_classes("F-69", patch.edits_of(version), kafka)
    assert set(_run(kafka, tmp_path / "run", patched).values()) == {""}
