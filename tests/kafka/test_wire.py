"""Questions and answers as JSON lines: what is written is read back, what is read is strict."""

from __future__ import annotations

import json
import re
from dataclasses import fields, is_dataclass
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elrcheck.kafka import wire
from elrcheck.kafka.broker_steps import AskTruncation, BrokerAnswer, BrokerEvent, Metadata, Proposed, Truncated
from elrcheck.kafka.controller_steps import Configure, KafkaBroker, Member, Setup, Step, StepAnswer
from elrcheck.kafka.partition_questions import BuilderAnswer, BuilderQuestion, KafkaPartition
from support.places import ROOT
from support.wire_samples import BROKERS, PARTITION, STEPS

JAVA = ROOT / "kafka" / "java"
ids = st.lists(st.integers(-1, 2**31 - 1), max_size=5).map(tuple)
epochs = st.integers(0, 2**31 - 1)
partitions = st.builds(
    KafkaPartition,
    ids,
    ids,
    ids,
    ids,
    ids,
    ids,
    st.integers(-1, 99),
    epochs,
    epochs,
    st.sampled_from(["RECOVERED", "RECOVERING"]),
    ids,
)


@given(partitions, st.none() | st.text())
def test_an_answer_is_read_as_it_was_written(partition: KafkaPartition, failure: str | None) -> None:
    builder = BuilderAnswer(partition, failure)
    assert wire.BUILDER_ANSWERS.read(msgspec.json.encode(builder)) == builder
    step = StepAnswer("NONE", partition, BROKERS, 2, True, partition, failure, ("CAUGHT_UP", "SHUT_DOWN"))
    assert wire.STEP_ANSWERS.read(msgspec.json.encode(step)) == step


def test_every_kind_of_step_has_a_line_of_its_own() -> None:
    lines = [wire.write(step) for step in STEPS]
    assert {type(step) for step in STEPS} == set(get_args(Step))
    assert len(set(lines)) == len(lines)
    assert all(json.loads(line)["type"] == type(step).__name__ for line, step in zip(lines, STEPS, strict=True))
    assert not any(b"\n" in line for line in lines)


def test_absent_and_empty_are_not_the_same() -> None:
    unset = json.loads(wire.write(wire.AskBuilder(BuilderQuestion(PARTITION, (0,)))))["question"]
    empty = json.loads(wire.write(wire.AskBuilder(BuilderQuestion(PARTITION, (0,), target_isr=()))))["question"]
    assert unset["target_isr"] is None and empty["target_isr"] == []


def test_a_line_break_in_a_text_does_not_end_the_line() -> None:
    assert b"\n" not in wire.write(Configure("topic", "two\nlines"))


@pytest.mark.parametrize(("level", "broker"), [("broker", None), ("topic", 1)])
def test_exactly_the_level_of_a_broker_takes_a_broker(level: Any, broker: int | None) -> None:
    with pytest.raises(ValueError, match="takes a broker"):
        Configure(level, "2", broker=broker)


def test_a_sibling_needs_a_partition() -> None:
    with pytest.raises(ValueError, match="sibling"):
        Setup(BROKERS, None, sibling=PARTITION)


def test_an_answer_of_a_broker() -> None:
    sent = Proposed(4, 5, ((1, 11), (2, -1)))
    answer = BrokerAnswer(
        "read:1:0", True, 4, 5, 2, 2, 2, (1, 2), (1, 2), True, ((0, 1, 10), (2, -1, -1)), sent, ("NONE",)
    )
    assert wire.BROKER_ANSWERS.read(msgspec.json.encode(answer)) == answer


GOOD = msgspec.json.encode(BuilderAnswer(PARTITION)).decode()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"failure":null', '"failure":null,"more":1'),
        ('"failure":null', '"failure":1'),
        ('"leader":-1', '"leader":"x"'),
        ('"RECOVERING"', '"LOST"'),
        ('"isr":[0]', '"isr":[0,]'),
        ('"isr":[0],', ""),
        ("{", "{ "),
        ("}", ""),
        ('"failure":null', '"failure":null,"failure":null'),
        ('"leader":-1', '"leader":-1.0'),
    ],
)
def test_a_damaged_answer_is_no_answer(old: str, new: str) -> None:
    assert old in GOOD
    damaged = GOOD.replace(old, new, 1).encode()
    with pytest.raises(wire.WireError):
        wire.BUILDER_ANSWERS.read(damaged)
    for reader in (wire.STEP_ANSWERS, wire.BROKER_ANSWERS):
        with pytest.raises(wire.WireError):
            reader.read(damaged)


# ---------------------------------------------------------------------------- the same types in Java


def java_records(folder: str) -> dict[str, list[str]]:
    """The records of the Java sources: name -> names of the components, in order."""
    records = {}
    for file in (JAVA / folder).glob("*.java"):
        for name, inside in re.findall(r"\brecord (\w+)\(([^)]*)\)", file.read_text(encoding="utf-8")):
            plain = re.sub(r"<[^<>]*(<[^<>]*>)?[^<>]*>", "", inside)
            records[name] = [part.split()[-1] for part in plain.split(",") if part.strip()]
    return records


def names_of(kind: type) -> list[str]:
    """The fields of a record as Java has them."""
    names = [part.name for part in fields(kind)] if is_dataclass(kind) else list(kind.__struct_fields__)  # type: ignore[attr-defined]
    return [re.sub(r"_(\w)", lambda letter: letter[1].upper(), name) for name in names]


def test_every_record_has_the_same_fields_in_java() -> None:
    controller, broker = java_records("controller"), java_records("broker")
    for kind in get_args(Step):
        assert controller[kind.__name__] == names_of(kind), kind
    for kind in get_args(BrokerEvent):
        assert broker[kind.__name__] == names_of(kind), kind
    others: dict[str, type] = {
        "Change": BuilderQuestion,
        "Setup": Setup,
        "Broker": KafkaBroker,
        "Partition": KafkaPartition,
        "Member": Member,
        "StepAnswer": StepAnswer,
        "BuilderAnswer": BuilderAnswer,
    }
    assert {name: controller[name] for name in others} == {name: names_of(kind) for name, kind in others.items()}
    for kind in (BrokerAnswer, Proposed, Truncated):
        assert broker[kind.__name__] == names_of(kind), kind
    assert broker["Truncation"] == names_of(AskTruncation)
    assert wire.write(Metadata(1, 4, 5, (0, 1), ())) == (
        b'{"type":"Metadata","leader":1,"leader_epoch":4,"partition_epoch":5,"replicas":[0,1],"isr":[]}'
    )
