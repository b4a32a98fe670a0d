"""Both sides of a comparison: mappings, projections, classes of differences, what is asked."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from elrcheck.base.errors import UsageFault
from elrcheck.base.kafka_requests import ConformRequest
from elrcheck.base.progress import Silent
from elrcheck.catalogue.configured import release_numbers
from elrcheck.catalogue.evidence.conformance import newest_recorded
from elrcheck.kafka.conformance import sides
from elrcheck.kafka.conformance.block import Block, ask_block, askable
from elrcheck.kafka.conformance.conform_record import reject_unrecordable
from elrcheck.kafka.conformance.controller_part import BUILDER, CONTROLLER
from elrcheck.kafka.conformance.example_text import example_of
from elrcheck.kafka.conformance.kafka_part import Agreement, known_class, projections
from elrcheck.kafka.conformance.known_classes import (
    CLASSES,
    BuilderDisagreement,
    StepDisagreement,
    builder_differences,
    class_of,
)
from elrcheck.kafka.conformance.model_side import NotRepresentable, built, decide_step, partition_of, situation_of
from elrcheck.kafka.conformance.plan import density, plan
from elrcheck.kafka.conformance.question_space import builder_spaces, event_spaces, shuffled
from elrcheck.kafka.conformance.random_cases import random_partition, random_walk
from elrcheck.kafka.conformance.sides import teams_of, variant_of
from elrcheck.kafka.controller_steps import (
    AlterPartition,
    Fence,
    KafkaBroker,
    Member,
    Reassign,
    Register,
    Setup,
    Unfence,
    Unregister,
)
from elrcheck.kafka.partition_questions import BuilderAnswer, BuilderQuestion, KafkaPartition
from elrcheck.kafka.what_if.ask import answer
from support.fake_kafka import FakeKafka, config_of, kafka_of

CONFIG = config_of("code_4_1")
NEW = KafkaPartition((0, 1), (0, 1), leader=0)
TWO = (KafkaBroker(0), KafkaBroker(1))


def test_partitions_survive_the_way_into_the_model_and_back() -> None:
    choice = random.Random(4)
    for _ in range(500):
        partition = random_partition(choice, 6)
        back = kafka_of(partition_of(partition))
        assert replace(back, directories=None) == partition


def test_nobody_is_held_as_last_known_leader_and_nowhere_else() -> None:
    assert partition_of(replace(NEW, last_known_elr=(-1,))).last_known_none
    with pytest.raises(NotRepresentable):
        partition_of(replace(NEW, isr=(-1,)))


def test_the_builder_question_is_the_models_change() -> None:
    fenced = BuilderQuestion(NEW, acceptable=(1,), min_isr=2, target_isr=(1,))
    after = built(CONFIG, fenced)
    assert (after.leader, after.isr, after.elr) == (1, {1}, {0})
    assert built(CONFIG, replace(fenced, elr=False)).elr == set()


def test_an_event_is_decided_as_what_if_decides_it() -> None:
    """The question to what-if that a report prints gets the answer that the comparison had."""
    choice, kinds = random.Random(11), Counter[str]()
    for _ in range(60):
        setup, steps = random_walk(CONFIG, choice)
        kafka = FakeKafka(config_of("code_4_1", "last_known_leader=NEVER", "clean_check=ALWAYS_UNCLEAN"))
        (answers,) = kafka.walks([(setup, steps)])
        for difference in CONTROLLER.disagreements(CONFIG, (setup, steps), answers):
            assert isinstance(difference, StepDisagreement)
            question = example_of(difference, "", "code_4_1").what_if
            if question is None or difference.now.controller.partition.last_known_none:
                continue
            reply = answer(json.loads(question))
            model = kafka_of(difference.model.controller.partition)
            kinds[json.loads(question)["op"]["type"]] += 1
            assert reply["error"] == difference.error
            assert reply["partition"]["leader"] == model.leader
            assert sorted(reply["partition"]["elr"]) == list(model.elr)
            assert reply["partition"]["partition_epoch"] == model.partition_epoch
    assert len(kinds) > 2, kinds


def test_requests_are_relative_to_what_is_registered() -> None:
    now = situation_of(CONFIG, Setup(TWO, NEW, topic_min_isr=1))
    stale = AlterPartition(0, (Member(0), Member(1, -1)))
    assert decide_step(now, stale)[0] == "INELIGIBLE_REPLICA"
    assert decide_step(now, AlterPartition(0, (Member(0),), partition_epoch=-1))[0] != "NONE"
    error, after = decide_step(now, AlterPartition(0, (Member(0),)))
    assert error == "NONE" and after.controller.partition.isr == {0}
    assert decide_step(now, AlterPartition(1, (Member(1),)))[0] == "INVALID_REQUEST"


def test_a_broker_that_is_not_registered_cannot_be_unregistered_again() -> None:
    now = situation_of(CONFIG, Setup(TWO, NEW))
    _, gone = decide_step(now, Unregister(1))
    error, after = decide_step(gone, Unregister(1))
    assert error == "BROKER_ID_NOT_REGISTERED" and after == gone


def test_a_walk_goes_on_in_kafkas_state_after_a_difference() -> None:
    """Kafka treats every registration as unclean; only that event differs, not those after it."""
    steps = (Fence(1), Fence(0), Register(1, "last"), Unfence(1), Fence(1), Reassign((0,)))
    setup = Setup(TWO, NEW, topic_min_isr=2)
    (answers,) = FakeKafka(config_of("code_4_1", "clean_check=ALWAYS_UNCLEAN")).walks([(setup, steps)])
    walk = setup, steps
    outcomes = list(CONTROLLER.compare(CONFIG, walk, answers, CONTROLLER.expect(CONFIG, walk)))
    differing = [outcome for outcome in outcomes if outcome is not Agreement.SAME]
    assert [type(d.step).__name__ for d in differing] == ["Register"]
    assert len(outcomes) == len(steps)
    assert {d.name for d in differing[0].differences} == {"elr", "partition_epoch"}


def test_a_record_for_the_order_of_the_isr_alone_is_a_known_class() -> None:
    question = BuilderQuestion(NEW, acceptable=(0, 1), target_isr=(1, 0))
    reordered = BuilderAnswer(replace(NEW, isr=(1, 0), partition_epoch=1, directories=(0, 0)))
    (difference,) = BUILDER.disagreements(CONFIG, question, reordered)
    class_ = class_of(difference)
    assert class_ is not None and class_.id == "C"
    assert reordered.partition is not None
    for wrong in (
        replace(reordered.partition, partition_epoch=2),
        replace(reordered.partition, leader=1),
        replace(reordered.partition, isr=(1,)),
    ):
        differences = builder_differences(NEW, BuilderAnswer(wrong), difference.partition)
        other = BuilderDisagreement(question, BuilderAnswer(wrong), difference.partition, differences)
        assert class_of(other) is None, wrong


def test_an_exception_of_kafka_is_a_difference() -> None:
    question = BuilderQuestion(NEW, acceptable=(0, 1))
    (difference,) = BUILDER.disagreements(CONFIG, question, BuilderAnswer(None, "boom"))
    assert [(d.name, d.kafka) for d in difference.differences] == [("failure", "boom")]
    assert class_of(difference) is None


def test_every_class_and_projection_says_why() -> None:
    assert all(len(known_class(ident).why) > 20 and known_class(ident).source for ident in CLASSES)
    assert all(len(p.why) > 20 and p.what for p in projections("controller"))


# ---------------------------------------------------------------------------- what is asked


@pytest.mark.parametrize("size", [1, 2, 7, 100, 431])
def test_a_space_is_visited_once(size: int) -> None:
    assert sorted(shuffled(size, 5, 0, size)) == list(range(size))


def test_small_spaces_have_no_question_twice() -> None:
    for space in builder_spaces():
        if space.size < 1000:
            questions = [question for n in range(space.size) if (question := space.at(n)) is not None]
            assert len(set(questions)) == len(questions), space.name


def test_spaces_reach_every_event() -> None:
    seen = Counter[str]()
    for space in event_spaces():
        for n in shuffled(space.size, 1, 0, 3000):
            if (single := space.at(n)) is not None:
                seen[type(single[1]).__name__] += 1
    assert len(seen) == 14 and min(seen.values()) > 3, seen


@pytest.mark.parametrize("comparisons", [500, 20_000, 2_000_000])
def test_a_plan_has_about_as_many_comparisons_as_asked(comparisons: int) -> None:
    total = 0.0
    for block in plan(comparisons, None):
        questions = block.stop - block.start
        if block.kind.endswith("space"):
            total += questions * density(block.kind, block.space)
        else:
            total += questions * (22 if block.kind == "walks" else 1)
    assert 0.9 * comparisons < total < 1.2 * comparisons + 200


def test_a_level_asks_only_its_own() -> None:
    assert {block.kind for block in plan(5000, "builder")} == {"builder space", "random builder"}
    assert not {block.kind for block in plan(5000, "controller")} & {"builder space", "random builder"}


def test_a_release_without_the_feature_is_not_asked_about_it() -> None:
    legacy = config_of("legacy_strict")
    for block in (Block("random events", 0, 200), Block("walks", 0, 20), Block("builder space", 0, 2000, 0)):
        kafka = FakeKafka(legacy)
        (answer,) = ask_block(legacy, 1, block, [kafka])
        assert answer.compared.total() == kafka.questions > 0
    assert not askable(False, BuilderQuestion(replace(NEW, elr=(1,), isr=(0,)), (0,), elr=False))


def test_an_order_that_matters_would_be_seen() -> None:
    """A Kafka that elects the first member of the ISR list, whatever the replicas say."""

    class OrderedKafka(FakeKafka):
        def walks(self, walks):  # type: ignore[no-untyped-def]
            answers = super().walks(walks)
            return [
                [replace(a, partition=replace(a.partition, leader=(a.partition.isr or (-1,))[0])) for a in walk]
                for walk in answers
            ]

    (answer,) = ask_block(CONFIG, 1, Block("ISR order", 0, 60), [OrderedKafka(CONFIG)])
    assert answer.groups and answer.compared.total() > 10
    (faithful,) = ask_block(CONFIG, 1, Block("ISR order", 0, 60), [FakeKafka(CONFIG)])
    assert not faithful.groups


# ---------------------------------------------------------------------------- requests and records


def test_a_release_has_the_variant_that_names_it_or_an_older_one() -> None:
    assert variant_of("4.0.0") == variant_of("4.0.2") == "code_4_0"
    assert variant_of("4.2.1") == "code_4_1_1" and variant_of("9.9.9") == variant_of("4.4.0")
    assert release_numbers("4.10.1-rc0") > release_numbers("4.9.2")
    with pytest.raises(UsageFault, match=r"no variant of the model stands for Kafka 3\.0\.0"):
        variant_of("3.0.0")


def test_a_request_names_a_kafka() -> None:
    with pytest.raises(UsageFault, match="--kafka VERSION"):
        teams_of(ConformRequest(), Silent())


def test_newest_is_the_release_that_maven_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    """The run says whether it is among the recorded ones before it opens its classes."""
    stages: list[str] = []

    class Staged(Silent):
        def stage(self, text: str) -> None:
            stages.append(text)

    def closed(source: str) -> None:
        raise UsageFault("kafka-version", f"no classes of {source} here")

    monkeypatch.setattr(sides, "open_kafka", closed)
    recorded = newest_recorded()
    for version, origin in ((recorded, "it is recorded"), ("99.0.0", f"the newest recorded one is {recorded}")):
        monkeypatch.setattr(sides, "newest_release", lambda older, version=version: version)
        with pytest.raises(UsageFault, match=f"no classes of {version} here"):
            teams_of(ConformRequest(kafka=("newest",)), Staged())
        assert f"Kafka {version} is the newest release" in stages[-2] and origin in stages[-2]


def test_only_the_variant_itself_is_recorded(tmp_path: Path) -> None:
    with pytest.raises(UsageFault, match="--set"):
        reject_unrecordable(ConformRequest(overrides=("cancel_gate=true",), record=tmp_path / "r.json"))
    (tmp_path / "other.json").write_text("[]")
    with pytest.raises(UsageFault, match="not a record of comparisons"):
        reject_unrecordable(ConformRequest(record=tmp_path / "other.json"))
    reject_unrecordable(ConformRequest(record=tmp_path / "new.json"))
