"""What Kafka's classes of a release answered, kept in a file, so that it can be compared without Java.

A file is text, compressed by xz: a few lines that say what it is, an empty line, then a question and its
answer on each line with a tab between them, the JSON of `wire.py`. A setup or the beginning of a process
starts a walk, which the lines after it continue. A file holds nothing of the model. It is read strictly, and
a file of another release of elrcheck is as good as one of this.
"""

from __future__ import annotations

import lzma
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from elrcheck.base.atomic import write_bytes
from elrcheck.base.errors import UsageFault
from elrcheck.kafka import wire
from elrcheck.kafka.asked import BuilderAnswer, BuilderQuestion
from elrcheck.kafka.broker_steps import Beginning, BrokerAnswer, BrokerEvent
from elrcheck.kafka.controller_steps import Setup, Step, StepAnswer
from elrcheck.kafka.line_oracle import Pairs

FORMAT = "elrcheck answers of Kafka 2"
SUFFIX = ".answers.xz"
LARGEST = 256 << 20
"""Bytes of text; a larger file is refused."""
Level: TypeAlias = Literal["controller", "broker"]


@dataclass(frozen=True)
class Answers:
    """The content of a file, in Kafka's terms. day: on which Kafka was asked."""

    kafka: str
    level: Level
    day: str
    builder: tuple[tuple[BuilderQuestion, BuilderAnswer], ...] = ()
    walks: tuple[tuple[Setup, tuple[Step, ...], tuple[StepAnswer, ...]], ...] = ()
    broker: tuple[tuple[tuple[BrokerEvent, ...], tuple[BrokerAnswer, ...]], ...] = ()


def write_answers(path: Path, kafka: str, level: Level, day: str, pairs: Pairs) -> None:
    """Write a file, whole or not at all."""
    head = f"{FORMAT}\nkafka {kafka}\nlevel {level}\nday {day}\n\n"
    text = head.encode() + b"".join(b"%b\t%b\n" % pair for pair in pairs)
    write_bytes(path, lzma.compress(text, preset=9))


def read_answers(data: bytes, where: str) -> Answers:
    """Read a file; UsageFault if it does not hold answers. where: its name, for messages."""
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
    builder: list[tuple[BuilderQuestion, BuilderAnswer]] = []
    walks: list[tuple[Setup, list[Step], list[StepAnswer]]] = []
    broker: list[tuple[list[BrokerEvent], list[BrokerAnswer]]] = []
    for number, line in enumerate(lines[len(head) + 2 : -1], start=len(head) + 3):
        question, tab, answer = line.partition(b"\t")
        try:
            if not tab:
                raise wire.WireError("no answer")
            if head["level"] == "broker":
                event, known = wire.read_event(question), wire.read_broker_answer(answer)
                if isinstance(event, Beginning):
                    broker.append(([], []))
                broker[-1][0].append(event)
                broker[-1][1].append(known)
                wire.reject_unusual(question, event)
                wire.reject_unusual(answer, known)
                continue
            asked = wire.read_question(question)
            wire.reject_unusual(question, asked)
            if isinstance(asked, wire.AskBuilder):
                change = wire.read_builder(answer)
                wire.reject_unusual(answer, change)
                builder.append((asked.question, change))
            elif isinstance(asked, wire.Load):
                walks.append((asked.setup, [], []))
            elif isinstance(asked, wire.AskReassignment):
                raise wire.WireError("a reassignment is compared with nothing")
            else:
                after = wire.read_step(answer)
                wire.reject_unusual(answer, after)
                walks[-1][1].append(asked)
                walks[-1][2].append(after)
        except (wire.WireError, IndexError, ValueError) as fault:
            raise _bad(where, str(fault) or "a step before the setup", number) from None
    return Answers(
        head["kafka"],
        "broker" if head["level"] == "broker" else "controller",
        head["day"],
        tuple(builder),
        tuple((setup, tuple(steps), tuple(answers)) for setup, steps, answers in walks),
        tuple((tuple(events), tuple(answers)) for events, answers in broker),
    )


def _header(lines: Sequence[bytes], where: str) -> Iterator[tuple[str, str]]:
    if lines[0] != FORMAT.encode():
        raise _bad(where, f"the first line is not `{FORMAT}`", 1)
    for number, (name, line) in enumerate(zip(("kafka", "level", "day"), lines[1:4], strict=False), start=2):
        key, _, value = line.decode("ascii", "replace").partition(" ")
        if key != name or not value or (name == "level" and value not in ("controller", "broker")):
            raise _bad(where, f"expected `{name}` and a value", number)
        yield key, value


def _bad(where: str, what: str, line: int | None = None) -> UsageFault:
    return UsageFault(
        "answers-damaged",
        f"not a file of Kafka's answers: {what}",
        where=where if line is None else f"{where}:{line}",
        help="give a file that `elrcheck conform --keep-answers FILE` wrote",
    )
