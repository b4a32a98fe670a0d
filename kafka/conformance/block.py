"""A block: some hundred questions of one kind, put to both sides in one go.

What a block asks depends on its kind, its numbers and the seed only, whichever process asks it.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from elrcheck.kafka.conformance.builder_space import builder_spaces
from elrcheck.kafka.conformance.compare import (
    Counted,
    Disagreement,
    StepDisagreement,
    Walk,
    build_all,
    compare_builder,
    compare_walk,
    follow,
)
from elrcheck.kafka.conformance.event_space import event_spaces
from elrcheck.kafka.conformance.isr_order import order_matters, permuted
from elrcheck.kafka.conformance.known_classes import class_of, signature
from elrcheck.kafka.conformance.question_space import shuffled
from elrcheck.kafka.conformance.random_cases import random_builder_question, random_single, random_walk
from elrcheck.kafka.controller_steps import SwitchElr
from elrcheck.kafka.kafka_oracle import ControllerOracle as Oracle
from elrcheck.kafka.partition_questions import BuilderQuestion, KafkaPartition
from elrcheck.model.config import Config

Kind: TypeAlias = Literal["builder space", "event space", "random builder", "random events", "walks", "ISR order"]
BUILDER: tuple[Kind, ...] = ("builder space", "random builder")


@dataclass(frozen=True, slots=True)
class Block:
    """The points `start` to `stop` of a space in shuffled order, or random questions of these numbers."""

    kind: Kind
    start: int
    stop: int
    space: int = 0


@dataclass(slots=True)
class Group:
    """Differences of one class or one signature: how many there are, and the one that is easiest to read."""

    explained: bool
    count: int
    example: Disagreement


@dataclass(slots=True)
class VersionResult:
    """What a block found in one version. groups: by the id of the class or by the signature."""

    version: str
    counted: Counted = field(default_factory=Counted)
    groups: dict[str, Group] = field(default_factory=dict)

    def note(self, found: Disagreement) -> None:
        """Count a difference, and keep the shortest of its group."""
        known = class_of(found)
        self.add(signature(found) if known is None else known.id, Group(known is not None, 1, found))

    def add(self, key: str, more: Group) -> None:
        """Count the differences of another group under the same key."""
        group = self.groups.get(key)
        if group is None:
            self.groups[key] = more
            return
        group.count += more.count
        if rank(more.example) < rank(group.example):
            group.example = more.example

    def merge(self, other: VersionResult) -> None:
        """Add what another block found in the same version."""
        self.counted.compared += other.counted.compared
        self.counted.unheld += other.counted.unheld
        for key, group in other.groups.items():
            self.add(key, group)


def rank(d: Disagreement) -> tuple[int, int, int]:
    """Short walks from a new topic first, then single events, fewer brokers first."""
    if isinstance(d, StepDisagreement):
        fresh = d.setup.partition is not None and d.setup.partition.partition_epoch == 0
        return (0 if fresh else 1, len(d.steps), len(d.setup.brokers))
    return (2, 1, len(d.question.partition.replicas))


def ask_block(config: Config, seed: int, block: Block, oracles: Sequence[Oracle]) -> list[VersionResult]:
    """Put a block to the model once and to each version of Kafka."""
    match block.kind:
        case "builder space" | "random builder":
            return _builder(config, _builder_questions(seed, block), oracles)
        case "ISR order":
            return _order(config, _walks(config, seed, replace(block, kind="random events")), oracles)
    return _controller(config, _walks(config, seed, block), oracles)


# ---------------------------------------------------------------------------- what is asked


def _numbered(seed: int, block: Block, number: int) -> random.Random:
    return random.Random(f"{seed}/{block.kind}/{number}")


def _builder_questions(seed: int, block: Block) -> list[BuilderQuestion]:
    if block.kind == "random builder":
        return [random_builder_question(_numbered(seed, block, n)) for n in range(block.start, block.stop)]
    space = builder_spaces()[block.space]
    points = shuffled(space.size, seed, block.start, block.stop)
    return [question for point in points if (question := space.at(point)) is not None]


def holds_elr(partition: KafkaPartition | None) -> bool:
    """The fields of ELR are in use, which releases without the feature cannot even write."""
    return partition is not None and bool(partition.elr or partition.last_known_elr)


def askable(elr: bool, question: object) -> bool:
    """A question to a release: elr says whether the release has the feature."""
    if elr:
        return True
    if isinstance(question, BuilderQuestion):
        return not question.elr and not holds_elr(question.partition)
    assert isinstance(question, tuple)
    setup, step = question
    return not setup.elr and not holds_elr(setup.partition) and not isinstance(step, SwitchElr)


def _walks(config: Config, seed: int, block: Block) -> list[Walk]:
    if block.kind == "event space":
        space = event_spaces()[block.space]
        points = shuffled(space.size, seed, block.start, block.stop)
        found = (single for point in points if (single := space.at(point)) is not None)
        return [(single[0], single[1:]) for single in found if askable(config.elr_enabled, single)]
    numbers = (_numbered(seed, block, n) for n in range(block.start, block.stop))
    if block.kind == "walks":
        return [random_walk(config, choice) for choice in numbers]
    singles = (random_single(config, choice) for choice in numbers)
    return [(single[0], single[1:]) for single in singles if askable(config.elr_enabled, single)]


# ---------------------------------------------------------------------------- both sides


def _builder(config: Config, asked: Sequence[BuilderQuestion], oracles: Sequence[Oracle]) -> list[VersionResult]:
    usable = [question for question in asked if askable(config.elr_enabled, question)]
    expected = build_all(config, usable)
    results = []
    for oracle in oracles:
        result = VersionResult(oracle.version)
        answers = oracle.builder(usable)
        for found in compare_builder(config, usable, expected, answers, result.counted):
            result.note(found)
        results.append(result)
    return results


def _controller(config: Config, walks: Sequence[Walk], oracles: Sequence[Oracle]) -> list[VersionResult]:
    expected = [follow(config, walk) for walk in walks]
    results = []
    for oracle in oracles:
        result = VersionResult(oracle.version)
        for walk, mine, answers in zip(walks, expected, oracle.walks(walks), strict=True):
            for found in compare_walk(config, walk, mine, answers, result.counted):
                result.note(found)
        results.append(result)
    return results


def _order(config: Config, walks: Sequence[Walk], oracles: Sequence[Oracle]) -> list[VersionResult]:
    """Kafka's classes against themselves: a question and the same one with the ISR permuted."""
    pairs = [(walk, permuted(walk)) for walk in walks]
    pairs = [(walk, other) for walk, other in pairs if walk != other]
    results = []
    for oracle in oracles:
        result = VersionResult(oracle.version)
        plain = oracle.walks([walk for walk, _ in pairs])
        turned = oracle.walks([other for _, other in pairs])
        for (walk, other), one, two in zip(pairs, plain, turned, strict=True):
            result.counted.compared += 1
            found = order_matters(config, walk, other, one[0], two[0])
            if found is not None:
                result.add("the order of the ISR matters", Group(False, 1, found))
        results.append(result)
    return results
