"""Questions and answers as lines: what is written can be told apart, what is read is strict."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wire_samples import BROKERS, PARTITION, STEPS

from elrcheck.kafka import wire, wire_steps
from elrcheck.kafka.asked import (
    BuilderAnswer,
    BuilderQuestion,
    KafkaPartition,
    ReassignmentAnswer,
    ReassignmentQuestion,
)
from elrcheck.kafka.controller_steps import (
    Configure,
    Register,
    Setup,
    Step,
    StepAnswer,
)

ids = st.lists(st.integers(-1, 2**31 - 1), max_size=5).map(tuple)
epochs = st.integers(0, 2**31 - 1)
partitions = st.builds(
    KafkaPartition, ids, ids, ids, ids, ids, ids, st.integers(-1, 99), epochs, epochs,
    st.sampled_from(["RECOVERED", "RECOVERING"]), ids,
)  # fmt: skip


@given(partitions)
def test_a_partition_is_read_as_it_was_written(partition: KafkaPartition) -> None:
    assert wire.read_partition(wire.partition(partition).split(" ")) == partition


def test_the_words_of_a_partition() -> None:
    assert wire.partition(PARTITION) == "2,0,1 0 2 -1 1 - -1 3 7 1 0,-1,-2"
    assert wire.partition(KafkaPartition((0,), ())) == "0 - - - - - -1 0 0 0 ~"


def test_every_kind_of_step_has_a_line_of_its_own() -> None:
    lines = [wire_steps.step(step) for step in STEPS]
    assert {type(step) for step in STEPS} == set(get_args(Step))
    assert len(set(lines)) == len(lines)
    assert all(line.startswith(b"t ") and b"\n" not in line for line in lines)


def test_absent_and_empty_are_not_the_same() -> None:
    unset = BuilderQuestion(PARTITION, (0,))
    empty = BuilderQuestion(PARTITION, (0,), target_isr=())
    assert wire.builder(unset).endswith(b" ~ ~ ~ ~ ~ ~ ~") and wire.builder(empty).endswith(b" - ~ ~ ~ ~ ~ ~")
    assert wire.reassignment(ReassignmentQuestion(PARTITION)).endswith(b"0,-1,-2 ~ ~")
    setup = Setup(BROKERS, None, topic_min_isr=2, broker_min_isr=((1, 3),), cluster_unclean=False)
    assert wire_steps.setup(setup) == b"s 1 ~ 2 ~ 1,3 ~ 0 0,100,3,3,2,5,0,2 ~"


@pytest.mark.parametrize(
    "step",
    [Configure("topic", "two words"), Configure("broker", "2"), Configure("topic", "2", broker=1),
     Register(1, directories=(31,))],
)  # fmt: skip
def test_what_cannot_be_sent_is_refused(step: Step) -> None:
    with pytest.raises(ValueError):
        wire_steps.step(step)


def test_a_setup_that_makes_no_sense_is_refused() -> None:
    with pytest.raises(ValueError, match="sibling"):
        wire_steps.setup(Setup(BROKERS, None, sibling=PARTITION))
    with pytest.raises(ValueError, match="metadata version"):
        wire_steps.setup(Setup(BROKERS, PARTITION, metadata_version="4.0 IV1"))


def test_answers_of_the_builder() -> None:
    assert wire.read_builder(b"-") == BuilderAnswer(None)
    assert wire.read_builder(b"! it broke, badly") == BuilderAnswer(None, "it broke, badly")
    line = f"= {wire.partition(PARTITION)}".encode()
    assert wire.read_builder(line) == BuilderAnswer(PARTITION)


def test_answers_about_a_reassignment() -> None:
    answer = wire.read_reassignment(b"= 2,3,0 2,3 0 ~ ~ 0 -")
    assert answer == ReassignmentAnswer((2, 3, 0), (2, 3), (0,), None, ((0,), ()))
    assert wire.read_reassignment(b"! no").failure == "no"


def test_answers_to_a_step() -> None:
    words = wire.partition(PARTITION)
    line = f"NONE 2 1 0,100,3,3,2,5,0,2 {words} ~ 9 ~".encode()
    expected = StepAnswer("NONE", PARTITION, BROKERS, 2, True, reply=("CAUGHT_UP", "SHUT_DOWN"))
    assert wire_steps.read_step(line) == expected
    line = f"UNKNOWN_SERVER_ERROR 1 0 - ~ {words} 0 ! it broke".encode()
    expected = StepAnswer("UNKNOWN_SERVER_ERROR", None, (), 1, False, PARTITION, "it broke")
    assert wire_steps.read_step(line) == expected


@pytest.mark.parametrize(
    "line",
    [b"", b"= 1", b"? 1", b"= 0 0 - - - - x 0 0 0 0", b"= 0 0 - - - - 0 0 0 2 0", b"= 0 0, - - - - 0 0 0 0 0",
     b"= 0 0 - - - - 0 0 0 0 0 0"],
)  # fmt: skip
def test_a_damaged_answer_of_the_builder_is_no_answer(line: bytes) -> None:
    with pytest.raises(wire.WireError):
        wire.read_builder(line)


@pytest.mark.parametrize(
    "line",
    [b"", b"ok", b"NONE 1 1 - ~ ~ 0", b"NONE 1 1 - ~ ~ 0 ~ more", b"NONE 1 1 - 0 0 ~ 0 ~",
     b"NONE x 1 - ~ ~ 0 ~", b"NONE 1 1 0,1 ~ ~ 0 ~"],
)  # fmt: skip
def test_a_damaged_answer_to_a_step_is_no_answer(line: bytes) -> None:
    with pytest.raises(wire.WireError):
        wire_steps.read_step(line)
