"""A block: some hundred questions of one kind, put to both sides together.

The questions of a block depend only on its kind, its numbers and the seed, not on the process. The model answers once
for all versions of Kafka that a variant stands for. Blocks
run in several processes, each with its own copy of Kafka's classes.
"""

from __future__ import annotations

import atexit
import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, TypeAlias

from elrcheck.base.interrupts import Interrupts
from elrcheck.base.kafka_requests import ConformRequest
from elrcheck.base.progress import ComparisonsDone, Progress
from elrcheck.base.runner.runner import each
from elrcheck.kafka.broker_steps import AskTruncation
from elrcheck.kafka.conformance.broker_part import BROKER, TOGETHER
from elrcheck.kafka.conformance.broker_walks import broker_walk, together_walk
from elrcheck.kafka.conformance.controller_part import BUILDER, CONTROLLER, ORDER, Walk, permuted
from elrcheck.kafka.conformance.follower_part import FOLLOWER, follower_spaces
from elrcheck.kafka.conformance.index_part import INDEXES
from elrcheck.kafka.conformance.index_walks import random_index_walk
from elrcheck.kafka.conformance.kafka_part import Agreement, Disagreement, KafkaPart, Oracle, Outcome, key_of
from elrcheck.kafka.conformance.question_space import Space, builder_spaces, event_spaces, shuffled
from elrcheck.kafka.conformance.random_cases import random_builder_question, random_single, random_walk
from elrcheck.kafka.controller_steps import Setup, Step, SwitchElr
from elrcheck.kafka.partition_questions import BuilderQuestion, KafkaPartition
from elrcheck.model.config import Config

Kind: TypeAlias = Literal[
    "builder space",
    "event space",
    "random builder",
    "random events",
    "walks",
    "ISR order",
    "index walks",
    "broker walks",
    "together walks",
    "truncations",
]
PARTS: dict[Kind, KafkaPart[Any, Any]] = {
    "builder space": BUILDER,
    "event space": CONTROLLER,
    "random builder": BUILDER,
    "random events": CONTROLLER,
    "walks": CONTROLLER,
    "ISR order": ORDER,
    "index walks": INDEXES,
    "broker walks": BROKER,
    "together walks": TOGETHER,
    "truncations": FOLLOWER,
}
SPACES: dict[Kind, Callable[[], tuple[Space[Any], ...]]] = {
    "builder space": builder_spaces,
    "event space": event_spaces,
    "truncations": follower_spaces,
}
"""Kinds whose questions are finite sets."""


@dataclass(frozen=True, slots=True)
class Block:
    """The points `start` to `stop` of a space in shuffled order, or random questions of these numbers."""

    kind: Kind
    start: int
    stop: int
    space: int = 0

    @property
    def part(self) -> KafkaPart[Any, Any]:
        return PARTS[self.kind]


@dataclass(slots=True)
class Group:
    """Differences of one class or one signature: how many there are, and the one that is easiest to read."""

    part: KafkaPart[Any, Any]
    explained: bool
    count: int
    example: Disagreement


@dataclass(slots=True)
class VersionResult:
    """The outcomes of one version. compared: by part; groups: by the id of the class or by the signature."""

    version: str
    compared: Counter[str] = field(default_factory=Counter)
    unheld: int = 0
    groups: dict[str, Group] = field(default_factory=dict)

    def note(self, part: KafkaPart[Any, Any], outcome: Outcome) -> None:
        """Count an outcome; of the differences of a group keep the one that is easiest to read."""
        if outcome is Agreement.UNHELD:
            self.unheld += 1
            return
        self.compared[part.name] += 1
        if not isinstance(outcome, Agreement):
            self._add(key_of(outcome), Group(part, outcome.known_class is not None, 1, outcome))

    def merge(self, other: VersionResult) -> None:
        """Add the outcomes of another block for the same version."""
        self.compared += other.compared
        self.unheld += other.unheld
        for key, group in other.groups.items():
            self._add(key, group)

    def number(self, *, explained: bool) -> int:
        """Return how many differences are explained, or how many are not."""
        return sum(group.count for group in self.groups.values() if group.explained == explained)

    def _add(self, key: str, more: Group) -> None:
        group = self.groups.get(key)
        if group is None:
            self.groups[key] = more
            return
        group.count += more.count
        if more.example.rank < group.example.rank:
            group.part, group.example = more.part, more.example


def ask_block(config: Config, seed: int, block: Block, oracles: Sequence[Oracle]) -> list[VersionResult]:
    """Put a block to the model once and to each version of Kafka."""
    part = block.part
    questions = list(_questions(config, seed, block))
    expected = [part.expect(config, question) for question in questions]
    results = []
    for oracle in oracles:
        result = VersionResult(oracle.version)
        for question, model, answer in zip(questions, expected, part.ask(oracle, questions), strict=True):
            for outcome in part.compare(config, question, answer, model):
                result.note(part, outcome)
        results.append(result)
    return results


# ---------------------------------------------------------------------------- questions


def spaces_of(kind: Kind) -> tuple[Space[Any], ...]:
    """Return the finite sets of questions of a kind, none if its questions are random."""
    return SPACES[kind]() if kind in SPACES else ()


def _questions(config: Config, seed: int, block: Block) -> Iterator[Any]:
    """Return the questions of a block that can be put to the release."""
    if block.kind == "broker walks":
        return (broker_walk(config, seed, number) for number in range(block.start, block.stop))
    if block.kind == "together walks":
        return (together_walk(config, seed, number) for number in range(block.start, block.stop))
    if spaces := spaces_of(block.kind):
        space = spaces[block.space]
        points = (space.at(point) for point in shuffled(space.size, seed, block.start, block.stop))
        possible = (point for point in points if point is not None and askable(config.elr_enabled, point))
        return map(_walk_of, possible) if block.part is CONTROLLER else possible
    # The events are those compared with the model, each with the ISR in both orders.
    kind = "random events" if block.kind == "ISR order" else block.kind
    choices = (random.Random(f"{seed}/{kind}/{number}") for number in range(block.start, block.stop))
    if kind == "walks":
        return (random_walk(config, choice) for choice in choices)
    if kind == "index walks":
        return (random_index_walk(config, choice) for choice in choices)
    if kind == "random builder":
        builder = (random_builder_question(choice) for choice in choices)
        return (question for question in builder if askable(config.elr_enabled, question))
    singles = (random_single(config, choice) for choice in choices)
    walks = (_walk_of(single) for single in singles if askable(config.elr_enabled, single))
    return (walk for walk in walks if walk != permuted(walk)) if block.kind == "ISR order" else walks


def _walk_of(single: tuple[Setup, Step]) -> Walk:
    return single[0], single[1:]


def holds_elr(partition: KafkaPartition | None) -> bool:
    """Return whether a question uses the fields of ELR, which releases without the feature cannot write."""
    return partition is not None and bool(partition.elr or partition.last_known_elr)


def askable(elr: bool, question: Any) -> bool:
    """Return whether a release can answer.

    elr: it has the feature; question: to the builder or a follower, or setup and event.
    """
    if elr or isinstance(question, AskTruncation):
        return True
    if isinstance(question, BuilderQuestion):
        return not question.elr and not holds_elr(question.partition)
    setup, step = question
    return not setup.elr and not holds_elr(setup.partition) and not isinstance(step, SwitchElr)


Opener: TypeAlias = Callable[[str], AbstractContextManager[Oracle]]
"""Opens Kafka's classes of a source; a function of a module, so that a worker process can call it."""


@dataclass(frozen=True)
class Team:
    """Versions of Kafka that one configuration of the model is compared with. sources: one for each."""

    variant: str
    config: Config
    sources: tuple[str, ...]


@dataclass(frozen=True)
class Task:
    """A block for a worker process."""

    opener: Opener
    team: Team
    seed: int
    block: Block


@dataclass
class VersionRun:
    """The outcomes of one version so far. question_counts: points or walks by the kind and space of their blocks."""

    result: VersionResult
    question_counts: Counter[tuple[str, int]] = field(default_factory=Counter)


@dataclass
class TeamRun:
    """The outcomes of a team by source. stopped_by: the limit that ended it early."""

    versions: dict[str, VersionRun] = field(default_factory=dict)
    stopped_by: str | None = None

    @property
    def compared(self) -> int:
        return sum(run.result.compared.total() for run in self.versions.values())

    @property
    def unexplained(self) -> int:
        return sum(run.result.number(explained=False) for run in self.versions.values())

    def add(self, team: Team, block: Block, results: Iterable[VersionResult]) -> None:
        """Add the outcomes of a block for each source of the team."""
        for source, result in zip(team.sources, results, strict=True):
            run = self.versions.setdefault(source, VersionRun(VersionResult(result.version)))
            run.result.merge(result)
            run.question_counts[block.kind, block.space] += block.stop - block.start


@lru_cache(maxsize=32)
def opened(opener: Opener, source: str) -> Oracle:
    """Return Kafka's classes of a source, opened once in each process and ended with it."""
    return _until_exit().enter_context(opener(source))


@lru_cache(maxsize=1)
def _until_exit() -> ExitStack:
    stack = ExitStack()
    atexit.register(stack.close)
    return stack


def ask_task(task: Task) -> list[VersionResult]:
    """Ask one block; runs in a worker process."""
    oracles = [opened(task.opener, source) for source in task.team.sources]
    return ask_block(task.team.config, task.seed, task.block, oracles)


def limit_reached(stop: Interrupts, is_first: bool, deadline: float | None) -> str | None:
    """Return what ends a run now: "interrupted" or an option; None if it continues.

    is_first: the run has to end at its first difference, and there is one. deadline: of time.monotonic.
    """
    if stop():
        return "interrupted"
    if is_first:
        return "--stop-at-first"
    return "--seconds" if deadline is not None and time.monotonic() > deadline else None


def compare_team(
    opener: Opener,
    team: Team,
    request: ConformRequest,
    blocks: Sequence[Block],
    workers: int,
    deadline: float | None,
    stop: Interrupts,
    progress: Progress,
) -> TeamRun:
    """Ask all blocks, until the deadline (of time.monotonic), an interrupt or a first difference."""
    run = TeamRun()
    started = time.monotonic()
    tasks = [Task(opener, team, request.seed, block) for block in blocks]
    for block, results in zip(blocks, each(ask_task, tasks, workers), strict=False):
        run.add(team, block, results)
        progress.tell(ComparisonsDone(run.compared, run.unexplained, time.monotonic() - started))
        run.stopped_by = limit_reached(stop, request.stop_at_first and run.unexplained > 0, deadline)
        if run.stopped_by is not None or (request.level == "broker" and run.compared >= request.comparisons):
            break
    return run
