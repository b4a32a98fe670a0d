"""Files of the answers that Kafka's classes of a release gave, to compare with them without Java.

`elrcheck conform --keep-answers FILE` puts the questions of a comparison to a release and writes one; `--answers FILE`
compares the model with it. With unchanged rules, every difference from the packaged files has a known reason. The
questions are those of the file, so differences are shown as they are, without shrinking.

A file is text, compressed by xz: a header of a few lines, an empty line, then on each line a question and its
answer, separated by a tab, in the JSON of `wire.py`. A setup or the beginning of a process starts a walk, which the
next lines continue. A file holds nothing of the model. It is read strictly; any release of elrcheck reads the files
of any other.
"""

from __future__ import annotations

import datetime
import lzma
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from elrcheck.base.atomic import write_bytes
from elrcheck.base.errors import NothingChecked, UsageFault
from elrcheck.base.interrupts import Interrupts
from elrcheck.base.kafka_requests import ConformRequest
from elrcheck.base.progress import ComparisonsDone, Progress
from elrcheck.catalogue.evidence.conformance import Side
from elrcheck.kafka import wire
from elrcheck.kafka.broker_steps import AskTruncation, Beginning, BrokerAnswer, BrokerEvent, Truncated
from elrcheck.kafka.conformance.block import Team, VersionResult, ask_block, limit_reached
from elrcheck.kafka.conformance.broker_part import BROKER
from elrcheck.kafka.conformance.conform import command_of, conform_report, group_reports, version_report
from elrcheck.kafka.conformance.controller_part import BUILDER, CONTROLLER
from elrcheck.kafka.conformance.follower_part import FOLLOWER
from elrcheck.kafka.conformance.kafka_part import KafkaPart, Outcome, projections
from elrcheck.kafka.conformance.plan import plan
from elrcheck.kafka.conformance.sides import SIDES, config_of, side_of, variant_of
from elrcheck.kafka.controller_steps import Setup, Step, StepAnswer
from elrcheck.kafka.kafka_oracle import Pairs
from elrcheck.kafka.partition_questions import BuilderAnswer, BuilderQuestion
from elrcheck.model.config import Config
from elrcheck.results.conform_report import ConformReport, DisagreementReport

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


# ---------------------------------------------------------------------------- the cases of a file

PACKAGED = "packaged"


@dataclass(frozen=True, slots=True)
class AnsweredCase:
    """One question or one walk with Kafka's answers."""

    part: KafkaPart[Any, Any]
    question: Any
    answer: Any

    def outcomes(self, config: Config) -> Iterator[Outcome]:
        """Compare the answers with the model's."""
        expected = self.part.expect(config, self.question)
        return self.part.compare(config, self.question, self.answer, expected)


@dataclass(frozen=True)
class AnsweredRelease:
    """A file of answers, and the configuration of the model that stands for the release."""

    answers: Answers
    variant: str
    config: Config
    where: str

    def cases(self) -> Iterator[AnsweredCase]:
        """Everything in the file, question by question and walk by walk."""
        for question, answer in self.answers.builder:
            yield AnsweredCase(BUILDER, question, answer)
        for setup, steps, step_answers in self.answers.walks:
            yield AnsweredCase(CONTROLLER, (setup, tuple(steps)), step_answers)
        for events, event_answers in self.answers.broker:
            yield AnsweredCase(BROKER, tuple(events), event_answers)
        for truncation, log_end in self.answers.truncations:
            yield AnsweredCase(FOLLOWER, truncation, log_end)


def releases_of(request: ConformRequest) -> list[AnsweredRelease]:
    """Read the files that a request names, each with the variant of its release or the requested one."""
    releases: list[AnsweredRelease] = []
    for name in request.answers:
        for where, data in _packaged_files() if name == PACKAGED else (_own_file(Path(name)),):
            answers = read_answers(data, where)
            variant = request.variant or variant_of(answers.kafka)
            releases.append(AnsweredRelease(answers, variant, config_of(variant, request), where))
    return releases


def _packaged_files() -> Iterator[tuple[str, bytes]]:
    folder = files("elrcheck.catalogue") / "answers"
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        if file.name.endswith(SUFFIX):
            yield file.name, file.read_bytes()


def _own_file(path: Path) -> tuple[str, bytes]:
    try:
        return str(path), path.read_bytes()
    except OSError as fault:
        raise UsageFault(
            "answers-damaged",
            f"cannot read the file: {fault.strerror or fault}",
            where=str(path),
            help=f"give a file, or `{PACKAGED}` for those that come with elrcheck",
        ) from fault


# ---------------------------------------------------------------------------- --keep-answers


def keep_answers(request: ConformRequest, teams: list[Team], path: Path, progress: Progress) -> int:
    """Ask one release and write the file; return the number of questions."""
    sources = [source for team in teams for source in team.sources]
    if len(sources) != 1 or request.overrides:
        raise UsageFault(
            "usage-option",
            "--keep-answers takes one release and no --set: a file has the answers of one",
            help="run it once for each --kafka",
        )
    progress.stage(f"asking Kafka's classes of {sources[0].removeprefix('home:')}")
    pairs: Pairs = []
    version = _ask(request, teams[0], sources[0], pairs)
    if not pairs:
        raise NothingChecked("no-answers", "no question of this kind can be put to this release")
    day = datetime.datetime.now(datetime.UTC).date().isoformat()
    write_answers(path, version, side_of(request), day, pairs)
    return len(pairs)


def _ask(request: ConformRequest, team: Team, source: str, pairs: Pairs) -> str:
    """Ask the questions of a comparison whose answers go to files; return the version."""
    with SIDES[side_of(request)].open(source, pairs) as oracle:
        for block in plan(request.comparisons, request.level, team.config.elr_enabled):
            if block.part.in_files:
                ask_block(team.config, request.seed, block, [oracle])
            if request.level == "broker" and len(pairs) >= request.comparisons:
                break
        return oracle.version


# ---------------------------------------------------------------------------- --answers

OFTEN = 200
"""Cases between two reports of progress."""


def compare_answers(request: ConformRequest, progress: Progress) -> ConformReport:
    """Compare every file; after an interrupt or at the time limit the report has the results so far."""
    started = time.monotonic()
    deadline = None if request.seconds is None else started + request.seconds
    results: list[tuple[AnsweredRelease, VersionResult]] = []
    stopped: str | None = None
    with Interrupts() as stop:
        for release in releases_of(request):
            progress.stage(f"{release.variant} with the answers of Kafka {release.answers.kafka}")
            result = VersionResult(release.answers.kafka)
            results.append((release, result))
            for number, case in enumerate(release.cases()):
                for outcome in case.outcomes(release.config):
                    result.note(case.part, outcome)
                if number % OFTEN == 0:
                    progress.tell(_so_far([result for _, result in results], time.monotonic() - started))
                differs = request.stop_at_first and result.number(explained=False) > 0
                stopped = limit_reached(stop, differs, deadline)
                if stopped is not None:
                    break
            if stopped is not None:
                break
    seconds = time.monotonic() - started
    versions = [version_report(release.variant, result) for release, result in results]
    groups: list[DisagreementReport] = []
    for release, result in results:
        groups += group_reports(result, release.variant, command_of(request, release.variant, None))
    apart = (one for release, _ in results for one in projections(release.answers.level))
    return conform_report(request, versions, groups, seconds, 1, apart, stopped)


def _so_far(results: list[VersionResult], seconds: float) -> ComparisonsDone:
    compared = sum(result.compared.total() for result in results)
    return ComparisonsDone(compared, sum(result.number(explained=False) for result in results), seconds)
