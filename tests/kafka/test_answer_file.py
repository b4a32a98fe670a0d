"""Kafka's answers in a file: what was written is read back, and anything else is refused with its place."""

from __future__ import annotations

import lzma
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from elrcheck.base.errors import UsageFault
from elrcheck.kafka import wire
from elrcheck.kafka.broker_steps import (
    Append,
    AskTruncation,
    Beginning,
    BrokerEvent,
    FollowerFetch,
    Granted,
    LookForLag,
    Metadata,
    Refused,
    Registered,
    Truncated,
    Wait,
)
from elrcheck.kafka.conformance.answer_files import read_answers, write_answers
from elrcheck.kafka.controller_steps import Setup, StepAnswer
from elrcheck.kafka.partition_questions import BuilderQuestion
from elrcheck.laboratory.rule_trials import packaged_releases
from support.edits import replaced
from support.wire_samples import BROKERS, PARTITION, STEPS

HEAD = "elrcheck answers of Kafka 2\nkafka 4.1.2\nlevel controller\nday 2026-11-22\n\n"
FENCE = '{"type":"Fence","broker":1}'
NOTHING = msgspec.json.encode(StepAnswer("NONE", None, (), 1, True)).decode()
EVENTS: tuple[BrokerEvent, ...] = (
    Beginning(1, 11, 2),
    Registered(((0, 10, "active"), (2, 12, "shutting down"))),
    Metadata(1, 1, 1, (0, 1), (1,)),
    Append(-1),
    FollowerFetch(0, 10, 0, 1, -1),
    LookForLag(),
    Wait(5),
    Granted(1, 2, (1, 0)),
    Refused("INELIGIBLE_REPLICA"),
)
TRUNCATION = AskTruncation((1, 1), 4, (1, 2), True)
BUILDER = (
    BuilderQuestion(PARTITION, (0, 2)),
    BuilderQuestion(PARTITION, (), 2, False, "UNCLEAN", (), (1,), (2,), (3,), (0, 1), "RECOVERING", "4.0-IV1"),
)
SETUPS = (
    Setup(BROKERS, PARTITION),
    Setup(BROKERS, None, False, 2, 3, ((0, 1), (2, 2)), True, False, None, "4.1-IV0"),
    Setup(BROKERS, PARTITION, sibling=PARTITION),
)


def test_every_kind_of_question_is_read_as_it_was_written() -> None:
    questions = [*STEPS, *map(wire.AskBuilder, BUILDER), *map(wire.Load, SETUPS)]
    assert [wire.QUESTIONS.read(wire.write(one)) for one in questions] == questions
    assert {type(event) for event in EVENTS} == set(get_args(BrokerEvent))
    assert [wire.EVENTS.read(wire.write(event)) for event in EVENTS] == list(EVENTS)
    assert wire.TRUNCATIONS.read(wire.write(TRUNCATION)) == TRUNCATION


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{}",
        b"[]",
        b"t fence 1",
        b'{"type":"Nothing","broker":1}',
        b'{"type":"Fence"}',
        b'{"type":"Fence","broker":"1"}',
        b'{"type":"Fence","broker":1,"more":2}',
        b'{"type":"Fence", "broker":1}',
        b'{"broker":1,"type":"Fence"}',
        b'{"type":"Builder","question":{}}',
    ],
)
def test_a_line_that_is_no_question_is_refused(line: bytes) -> None:
    for lines in (wire.QUESTIONS, wire.EVENTS, wire.TRUNCATIONS):
        with pytest.raises(wire.WireError):
            lines.read(line)


def test_the_packaged_files_have_an_answer_of_every_release_that_a_variant_stands_for() -> None:
    releases = packaged_releases()
    controller = {one.variant for one in releases if one.answers.level == "controller"}
    assert controller == {"code_3_9", "code_4_0", "code_4_1_0", "code_4_1_1", "code_4_3"}
    least = {"controller": 2000, "broker": 100, "follower": 2000}
    assert all(len(list(one.cases())) > least[one.answers.level] for one in releases)


def test_a_file_holds_what_was_asked(tmp_path: Path) -> None:
    answer = StepAnswer("NONE", None, (), 1, True)
    walk = [(wire.write(wire.Load(SETUPS[0])), b'"ok"'), (wire.write(STEPS[0]), msgspec.json.encode(answer))]
    write_answers(tmp_path / "a.xz", "4.1.2", "controller", "2026-11-22", walk)
    read = read_answers((tmp_path / "a.xz").read_bytes(), "a.xz")
    assert (read.kafka, read.level, read.day) == ("4.1.2", "controller", "2026-11-22")
    ((setup, steps, answers),) = read.walks
    assert (setup, steps, answers) == (SETUPS[0], [*STEPS[:1]], [answer])


def test_a_file_of_a_follower_holds_its_truncations(tmp_path: Path) -> None:
    pair = (wire.write(TRUNCATION), msgspec.json.encode(Truncated(1)))
    write_answers(tmp_path / "a.xz", "4.1.2", "follower", "2026-11-22", [pair])
    assert read_answers((tmp_path / "a.xz").read_bytes(), "a.xz").truncations == [(TRUNCATION, Truncated(1))]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("something else\n", "a.xz:1"),
        (replaced(HEAD, "level controller", "level topic"), "a.xz:3"),
        ("elrcheck answers of Kafka 2\nkafka 4.1.2\n", "a.xz:3"),
        (HEAD + FENCE + "\n", "a.xz:6"),
        (HEAD + FENCE + "\t{}\n", "a.xz:6"),
        (HEAD + FENCE + "\t" + NOTHING + "\n", "a.xz:6"),
        (HEAD + "b 0\t-\n", "a.xz:6"),
        (HEAD + "cut off", "a.xz"),
    ],
)
def test_a_damaged_file_is_refused_with_its_place(text: str, place: str) -> None:
    with pytest.raises(UsageFault) as caught:
        read_answers(lzma.compress(text.encode()), "a.xz")
    assert caught.value.code == "answers-damaged" and caught.value.where == place


def test_a_file_that_is_not_compressed_is_refused() -> None:
    with pytest.raises(UsageFault, match="not compressed"):
        read_answers(HEAD.encode(), "a.xz")
