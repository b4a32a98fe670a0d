"""F-68, which the model of the quorum shows (P-8 of `protocols/agreement/kraft`), asked of Kafka's own classes.

A voter that voted for itself in an epoch, and then followed its leader, stands again when it restarts, with records of
that epoch. A voter that knows of no leader refuses its request, and the answer is a fault in the thread of the quorum.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from elrcheck.base.errors import EnvironmentFault
from elrcheck.catalogue.packaged_findings import find_finding
from elrcheck.kafka.jars import ClassPath, Jars
from elrcheck.kafka.patched_jar import patched_jar
from elrcheck.kafka.upstream.export_upstream import kafka_tests
from support.junit_runs import run_tests
from support.kafka_jars import jars_or_skip
from support.places import ROOT

TEST = (ROOT / "tests" / "support" / "java" / "RestartedVoterTest.java").read_text()


def _classes(version: str) -> ClassPath:
    jars_or_skip(version, Jars.CLUSTER)
    try:
        return kafka_tests(version, os.environ).kafka
    except EnvironmentFault as fault:
        pytest.skip(f"{fault.message} {fault.excerpt or ''}")


@pytest.mark.slow
@pytest.mark.kafka
@pytest.mark.parametrize("version", ["4.1.2", "4.3.1"])
def test_a_restarted_voter_that_followed_stands_again_and_stops(version: str, tmp_path: Path) -> None:
    outcomes = run_tests([TEST], _classes(version), tmp_path / "run")
    assert outcomes == {"RestartedVoterTest": "Received unexpected invalid request error"}


@pytest.mark.slow
@pytest.mark.kafka
def test_it_follows_again_if_the_leader_is_looked_for_first(tmp_path: Path) -> None:
    kafka = _classes("4.3.1")
    patch = find_finding("F-68").patch
    assert patch is not None
    patched = patched_jar("F-68", patch.edits_of("4.3.1"), kafka)
    assert run_tests([TEST], kafka, tmp_path / "run", patched) == {"RestartedVoterTest": ""}
