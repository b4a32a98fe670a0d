"""A file of the answers that Kafka's classes of a release gave, to compare with them without Java.

A file is text, compressed by xz: a header of a few lines, an empty line, then on each line a question and its
answer, separated by a tab, in the JSON of `wire.py`. A setup or the beginning of a process starts a walk, which the
next lines continue. A file holds nothing of the model. It is read strictly; any release of elrcheck reads the files
of any other.
"""

from __future__ import annotations

import lzma
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from elrcheck.base.atomic import write_bytes
from elrcheck.base.errors import UsageFault
from elrcheck.catalogue.evidence.conformance import SIDES, Side
from elrcheck.kafka import wire
from elrcheck.kafka.broker_steps import Beginning, BrokerAnswer, BrokerEvent
from elrcheck.kafka.controller_steps import Setup, Step, StepAnswer
from elrcheck.kafka.follower_questions import AskTruncation, Truncated
from elrcheck.kafka.kafka_oracle import Pairs
from elrcheck.kafka.partition_questions import BuilderAnswer, BuilderQuestion

FORMAT = "elrcheck answers of Kafka 2"
SUFFIX = ".answers.xz"
LARGEST = 256 << 20
"""Bytes of text; a larger file is refused."""


@dataclass(frozen=True)
class Answers:
    """The content of a file, in Kafka's terms. day: the date on which Kafka answered."""

    kafka: str
    level: Side
    day: str
    builder: list[tuple[BuilderQuestion, BuilderAnswer]] = field(default_factory=list)
    walks: list[tuple[Setup, list[Step], list[StepAnswer]]] = field(default_factory=list)
    broker: list[tuple[list[BrokerEvent], list[BrokerAnswer]]] = field(default_factory=list)
    truncations: list[tuple[AskTruncation, Truncated]] = field(default_factory=list)


def write_answers(path: Path, kafka: str, level: Side, day: str, pairs: Pairs) -> None:
    """Write a file, whole or not at all."""
    head = f"{FORMAT}\nkafka {kafka}\nlevel {level}\nday {day}\n\n"
    text = head.encode() + b"".join(b"%b\t%b\n" % pair for pair in pairs)
    write_bytes(path, lzma.compress(text, preset=9))


def read_answers(data: bytes, where: str) -> Answers:
    """Read a file; raise UsageFault if it does not hold answers. where: its name, for messages."""
    try:
        text = lzma.LZMADecompressor().decompress(data, max_length=LARGEST)
    except lzma.LZMAError as fault:
        raise _bad(where, f"not compressed by xz: {fault}") from None
    if len(text) >= LARGEST:
        raise _bad(where, f"more than {LARGEST:,} bytes")
    lines = text.split(b"\n")
    head = dict(_header(lines, where))
    if len(lines) < 6 or lines[4] != b"" or lines[-1] != b"":
        raise _bad(where, "the file ends too early")
    level = next(side for side in SIDES if side == head["level"])
    answers = Answers(head["kafka"], level, head["day"])
    read = _READERS[level]
    for number, line in enumerate(lines[len(head) + 2 : -1], start=len(head) + 3):
        question, tab, answer = line.partition(b"\t")
        try:
            if not tab:
                raise wire.WireError("no answer")
            read(answers, question, answer)
        except (wire.WireError, IndexError) as fault:
            reason = "a step before the setup" if isinstance(fault, IndexError) else str(fault)
            raise _bad(where, reason, number) from None
    return answers


def _read_question(answers: Answers, line: bytes, answer: bytes) -> None:
    question = wire.QUESTIONS.read(line)
    if isinstance(question, wire.AskBuilder):
        answers.builder.append((question.question, wire.BUILDER_ANSWERS.read(answer)))
    elif isinstance(question, wire.Load):
        answers.walks.append((question.setup, [], []))
    else:
        _, steps, step_answers = answers.walks[-1]
        steps.append(question)
        step_answers.append(wire.STEP_ANSWERS.read(answer))


def _read_event(answers: Answers, line: bytes, answer: bytes) -> None:
    event = wire.EVENTS.read(line)
    if isinstance(event, Beginning):
        answers.broker.append(([], []))
    events, event_answers = answers.broker[-1]
    events.append(event)
    event_answers.append(wire.BROKER_ANSWERS.read(answer))


def _read_truncation(answers: Answers, line: bytes, answer: bytes) -> None:
    answers.truncations.append((wire.TRUNCATIONS.read(line), wire.TRUNCATED.read(answer)))


_READERS: dict[Side, Callable[[Answers, bytes, bytes], None]] = {
    "controller": _read_question,
    "broker": _read_event,
    "follower": _read_truncation,
}


def _header(lines: Sequence[bytes], where: str) -> Iterator[tuple[str, str]]:
    if lines[0] != FORMAT.encode():
        raise _bad(where, f"the first line is not `{FORMAT}`", 1)
    for number, (name, line) in enumerate(zip(("kafka", "level", "day"), lines[1:4], strict=False), start=2):
        key, _, value = line.decode("ascii", "replace").partition(" ")
        if key != name or not value or (name == "level" and value not in SIDES):
            raise _bad(where, f"expected `{name}` and a value", number)
        yield key, value


def _bad(where: str, what: str, line: int | None = None) -> UsageFault:
    return UsageFault(
        "answers-damaged",
        f"not a file of Kafka's answers: {what}",
        where=where if line is None else f"{where}:{line}",
        help="give a file that `elrcheck conform --keep-answers FILE` wrote",
    )
