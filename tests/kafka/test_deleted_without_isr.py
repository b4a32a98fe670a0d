"""F-67: a topic that is deleted while its ISR is empty stops the controller when a log directory fails later."""

from __future__ import annotations

import pytest

from elrcheck.catalogue.packaged_findings import find_finding
from elrcheck.kafka.controller_steps import (
    AssignDirectory,
    CreateTopic,
    DeleteTopic,
    Fence,
    Heartbeat,
    KafkaBroker,
    Setup,
    Step,
    Unfence,
)
from elrcheck.kafka.jars import ClassPath
from elrcheck.kafka.kafka_oracle import open_oracle
from support.kafka_jars import jars_or_skip
from support.patched_classes import patched_classes

SETUP = Setup((KafkaBroker(0), KafkaBroker(1)), None)
BEGIN: tuple[Step, ...] = (CreateTopic((1,)), AssignDirectory(1, 1))
FAILED = Heartbeat(1, offline=(1,))
STORY = (*BEGIN, Fence(1), DeleteTopic(), Unfence(1), FAILED, FAILED)
DELETED_FIRST = (*BEGIN, DeleteTopic(), Fence(1), Unfence(1), FAILED, FAILED)
NOT_DELETED = (*BEGIN, Fence(1), Unfence(1), FAILED, FAILED)
ANOTHER = (*STORY[:-2], Heartbeat(1, offline=(0,)), Heartbeat(1, offline=(0,)))
FINE = [("NONE", "CAUGHT_UP")] * 2
RESIGNS = [("UNKNOWN_SERVER_ERROR", "RESIGNED")] * 2
PATCH = find_finding("F-67").patch
assert PATCH is not None and len(PATCH.classes) == 2


def last_heartbeats(kafka: ClassPath, *walks: tuple[Step, ...]) -> list[list[tuple[str, str]]]:
    """What a whole QuorumController answers to the two heartbeats at the end of each walk."""
    with open_oracle(kafka, "live") as live:
        return [
            [(answer.error, " ".join(answer.reply)) for answer in answers[-2:]]
            for answers in live.walks([(SETUP, walk) for walk in walks])
        ]


@pytest.mark.slow
@pytest.mark.kafka
@pytest.mark.parametrize("version", ["4.0.2", "4.3.1", "4.4.0"])
def test_the_controller_resigns_at_each_heartbeat(version: str) -> None:
    answers = last_heartbeats(jars_or_skip(version), STORY, DELETED_FIRST, NOT_DELETED, ANOTHER)
    assert answers == [RESIGNS, FINE, FINE, FINE]


@pytest.mark.slow
@pytest.mark.kafka
@pytest.mark.parametrize("version", PATCH.classes)
def test_with_the_patch_of_its_page_the_directory_is_noted(version: str) -> None:
    kafka = jars_or_skip(version)
    patched = patched_classes("F-67", PATCH.edits_of(version), kafka)
    front = ClassPath(kafka.version, (patched, *kafka.jars), kafka.found_by)
    assert last_heartbeats(front, STORY) == [FINE]
