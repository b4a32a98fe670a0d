"""The controller's indexes compared with its partitions: what is found, and which finding explains it."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest

from elrcheck.kafka.conformance.example_text import example_of
from elrcheck.kafka.conformance.index_part import INDEXES, IndexDisagreement, class_of_loaded
from elrcheck.kafka.conformance.index_walks import random_index_walk
from elrcheck.kafka.conformance.kafka_part import Agreement
from elrcheck.kafka.controller_steps import (
    Configure,
    CreatePartition,
    CreateTopic,
    DeleteTopic,
    Fence,
    Heartbeat,
    IndexAnswer,
    IndexEntry,
    KafkaBroker,
    Register,
    Setup,
    Step,
    StepAnswer,
    SwitchElr,
    Unfence,
)
from elrcheck.kafka.kafka_oracle import open_oracle
from support.fake_kafka import config_of
from support.kafka_jars import jars_or_skip

CONFIG = config_of("code_4_3")
SETUP = Setup((KafkaBroker(0), KafkaBroker(1)), None, cluster_min_isr=2)
GONE = "java.lang.RuntimeException: Topic ID x existed in isrMembers, but not in the topics map."
ELR = IndexEntry("brokersToElrs", "1", "t-0", 1, 1)
STALE = replace(ELR, due=0)
DIRECTORY = IndexEntry("directoriesToPartitions", "0/1", "t-0", 1, 1)
MEMBER = IndexEntry("brokersToIsrs", "0 as leader", "t-0", 1, 1)
EMPTY = '{"replicas":[0,1],"isr":[0],"elr":[],"last_known_elr":[],"adding":[],"partition_epoch":2}'
WITH_ELR = EMPTY.replace('"elr":[]', '"elr":[1]', 1)


def compared(
    *walk: tuple[Step, tuple[IndexEntry, ...]],
    loaded: tuple[IndexEntry, ...] = (),
    elr: bool = True,
    failure: str | None = None,
    unloaded: str | None = None,
) -> list[IndexDisagreement]:
    """What is found in the last of some events. walk: with what the running controller holds after each."""
    answers = [(StepAnswer("NONE", None, (), 0, elr), IndexAnswer(running, ())) for _, running in walk]
    last, indexes = answers[-1]
    answers[-1] = replace(last, failure=failure), replace(indexes, loaded=loaded, failure=unloaded)
    outcomes = list(INDEXES.compare(CONFIG, (SETUP, tuple(step for step, _ in walk)), answers, None))
    differences = [outcome for outcome in outcomes if isinstance(outcome, IndexDisagreement)]
    return [difference for difference in differences if len(difference.steps) == len(walk)]


def classes(*walk: tuple[Step, tuple[IndexEntry, ...]], **also: object) -> list[str | None]:
    return [d.known_class.id if d.known_class else None for d in compared(*walk, **also)]  # type: ignore[arg-type]


def test_an_index_without_a_difference() -> None:
    assert compared((CreateTopic((0, 1)), (ELR, MEMBER))) == []


def test_a_difference_is_reported_once() -> None:
    (only,) = compared((Fence(1), (ELR,)), (Configure("topic", "2"), (STALE,)))
    assert only.signature == "Configure: brokersToElrs" and only.entries == (STALE,)
    assert compared((Configure("topic", "2"), (STALE,)), (Fence(0), (STALE,))) == []
    example = example_of(only, "", "code_4_3")
    assert example.fields[0].name == "brokersToElrs 1 t-0"
    assert (example.fields[0].kafka, example.fields[0].model) == ("held 1", "due 0")


def test_the_elr_is_cleared_beside_its_index() -> None:
    assert classes((Fence(1), (ELR,)), (Configure("topic", "2"), (STALE,))) == ["F-64"]
    assert classes((Fence(1), (ELR,)), (Unfence(1), (STALE,))) == [None]
    assert classes((Fence(1), (ELR,)), (Configure("topic", "2"), (replace(STALE, held=2),))) == [None]


def test_what_comes_of_a_stale_entry() -> None:
    twice, zero = replace(ELR, held=2), IndexEntry("brokersToElrs", "1", "t-0", 1, 0)
    assert classes((Fence(1), (STALE,)), (Fence(1), (twice,))) == ["F-64"]
    assert classes((Fence(1), (ELR,)), (Fence(1), (twice,))) == [None]
    first = IndexEntry("brokersToElrs", "1", "t-1", 2, 1)
    assert classes((Fence(1), (first,)), (Unfence(1), (zero,))) == ["F-64"]
    assert classes((Fence(1), (first,)), (Unfence(1), (replace(zero, held=2),))) == [None]


def test_a_topic_deleted_without_an_isr_leaves_its_directories() -> None:
    left = replace(DIRECTORY, due=0)
    nobody = replace(MEMBER, of="-1 as leader")
    assert classes((Fence(0), (DIRECTORY, nobody)), (DeleteTopic(), (left,))) == ["F-67"]
    assert classes((Fence(0), (DIRECTORY, MEMBER)), (DeleteTopic(), (left,))) == [None]
    assert classes((Fence(0), (DIRECTORY, nobody)), (Fence(1), (left, nobody))) == [None]
    assert classes((Fence(0), (nobody,)), (DeleteTopic(), (left,))) == [None]


def test_an_exception_is_explained_by_the_entry_that_the_event_meets() -> None:
    left = replace(DIRECTORY, due=0)
    for step, entry, name in (
        (Register(1, "none"), STALE, "F-64"),
        (Register(0, "none"), STALE, None),
        (Heartbeat(0, offline=(1,)), left, "F-67"),
        (Heartbeat(0, offline=(0,)), left, None),
    ):
        assert classes((DeleteTopic(), (entry,)), (step, (entry,)), failure=GONE) == [name]
    assert classes((DeleteTopic(), (STALE,)), (Register(1, "none"), (STALE,)), failure="else") == [None]


def test_a_snapshot_without_elr() -> None:
    running = IndexEntry("partition", WITH_ELR, "t-0", 0, 1)
    loaded = IndexEntry("partition", EMPTY, "t-0", 1, 0)
    assert classes((SwitchElr(False), ()), loaded=(loaded, running), elr=False) == ["F-28"]
    assert classes((SwitchElr(True), ()), loaded=(loaded, running)) == [None]
    assert classes((SwitchElr(False), ()), loaded=(running,), elr=False) == [None]
    assert classes((Fence(1), ()), loaded=(STALE,)) == [None]


def test_a_snapshot_from_before_the_elr_was_cleared() -> None:
    running, clear = IndexEntry("partition", EMPTY, "t-0", 0, 1), (Configure("cluster", "2"), ())
    for registered, walk, name in (
        (WITH_ELR.replace(":2}", ":1}"), (clear,), "KAFKA-19383"),
        (EMPTY.replace(":2}", ":1}"), (clear, (Fence(1), ())), "KAFKA-19383"),
        (WITH_ELR, (clear,), None),
        (WITH_ELR.replace(":2}", ":1}"), ((Configure("topic", "2"), ()),), None),
        (WITH_ELR.replace(":2}", ":1}").replace("[0,1]", "[1,0]"), (clear,), None),
    ):
        assert classes(*walk, loaded=(IndexEntry("partition", registered, "t-0", 1, 0), running)) == [name]


def test_a_snapshot_from_before_the_elr_was_cleared_is_written_without_one() -> None:
    """KAFKA-19383 leaves an earlier epoch, also where only the loaded entry is new, and F-28 takes the ELR out."""
    clear, off = Configure("cluster", "2"), SwitchElr(False)
    running, other = IndexEntry("partition", WITH_ELR, "t-0", 0, 1), IndexEntry("partition", WITH_ELR, "t-1", 0, 1)
    early, stripped = EMPTY.replace(":2}", ":1}"), IndexEntry("partition", EMPTY, "t-1", 1, 0)
    for steps, loaded, elr, name in (
        ((clear, off), (IndexEntry("partition", early, "t-0", 1, 0), running), False, "KAFKA-19383"),
        ((clear, off), (IndexEntry("partition", early, "t-0", 1, 0), running, stripped, other), False, "KAFKA-19383"),
        ((off,), (stripped, other), False, "F-28"),
        ((clear, off), (IndexEntry("partition", early, "t-0", 1, 0), running, stripped, other), True, None),
        ((clear,), (IndexEntry("partition", early, "t-0", 1, 0), stripped, other), False, None),
    ):
        differ = [entry for entry in loaded if entry.held]
        explanation = class_of_loaded(steps, differ, loaded, elr)
        assert (explanation.id if explanation else None) == name


def test_a_snapshot_that_cannot_be_made() -> None:
    deleted, cleared = (DeleteTopic(), ()), (Configure("cluster", "2"), ())
    gone = 'java.lang.NullPointerException: Cannot invoke "org.apache.kafka.image.TopicImage.partitions()" ..'
    assert classes(deleted, cleared, unloaded=gone) == ["KAFKA-19497"]
    assert classes(cleared, deleted, unloaded=gone) == [None]
    assert classes(deleted, cleared, unloaded="else") == [None]


def test_walks_have_events_of_every_kind() -> None:
    kinds = Counter[str]()
    for number in range(60):
        setup, steps = random_index_walk(CONFIG, random.Random(number))
        assert setup.partition is None and isinstance(steps[0], CreateTopic)
        kinds.update(type(step).__name__ for step in steps)
    assert {kind.__name__ for kind in (CreatePartition, DeleteTopic, Register, Heartbeat, SwitchElr)} <= set(kinds)
    assert kinds["CreateTopic"] > kinds["DeleteTopic"] > 20


@pytest.mark.kafka
@pytest.mark.slow
@pytest.mark.parametrize(
    ("version", "findings"),
    [
        ("3.9.1", set()),
        ("4.0.0", {"F-28", "F-64", "F-67", "KAFKA-19383"}),
        ("4.0.2", {"F-28", "F-64", "F-67", "KAFKA-19497"}),
    ],
)
def test_the_indexes_of_a_release(version: str, findings: set[str]) -> None:
    """F-64 and F-67 are found in walks that were not made for them, and nothing else."""
    config = config_of("code_3_9" if version == "3.9.1" else "code_4_0")
    walks = [random_index_walk(config, random.Random(f"indexes/{number}")) for number in range(60)]
    with open_oracle(jars_or_skip(version)) as oracle:
        outcomes = [
            outcome
            for walk, answer in zip(walks, oracle.index_walks(walks), strict=True)
            for outcome in INDEXES.compare(config, walk, answer, None)
        ]
        differences = [outcome for outcome in outcomes if isinstance(outcome, IndexDisagreement)]
        assert outcomes.count(Agreement.SAME) > 2000
        assert {d.known_class.id if d.known_class else d.signature for d in differences} == findings
        shortest = {d.signature: INDEXES.shrunk(config, d, oracle) for d in differences}
    if findings:
        stale, left = shortest["Configure: brokersToElrs"], shortest["DeleteTopic: directoriesToPartitions"]
        assert isinstance(stale, IndexDisagreement) and len(stale.steps) == 3, stale.steps
        assert isinstance(left, IndexDisagreement) and len(left.steps) <= 4, left.steps
