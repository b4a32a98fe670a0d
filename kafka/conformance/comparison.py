"""The blocks of a run, asked in several processes, each with Kafka's classes of its own."""

from __future__ import annotations

import atexit
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeAlias

from elrcheck.base.interrupts import Interrupts
from elrcheck.base.progress import ComparisonsDone, Progress
from elrcheck.base.runner.runner import each
from elrcheck.kafka.conformance.block import BUILDER, Block, VersionResult, ask_block
from elrcheck.kafka.kafka_oracle import ControllerOracle as Oracle
from elrcheck.model.config import Config

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
class Progressed:
    """What was found in one version so far, and what was asked. at: points visited in each space."""

    result: VersionResult
    of_kind: dict[str, int] = field(default_factory=dict)
    at: dict[tuple[str, int], int] = field(default_factory=dict)

    def add(self, block: Block, found: VersionResult) -> None:
        """Count in what a block found."""
        self.result.merge(found)
        self.of_kind[block.kind] = self.of_kind.get(block.kind, 0) + found.counted.compared
        place = block.kind, block.space
        self.at[place] = self.at.get(place, 0) + block.stop - block.start

    @property
    def builder(self) -> int:
        return sum(self.of_kind.get(kind, 0) for kind in BUILDER)


@dataclass
class Found:
    """Everything that the run of a team found, by source. stopped_by: what ended it early."""

    versions: dict[str, Progressed]
    stopped_by: str | None = None


@lru_cache(maxsize=32)
def opened(opener: Opener, source: str) -> Oracle:
    """Kafka's classes of a source, opened once in each process and ended with it."""
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


def compare_team(
    opener: Opener,
    team: Team,
    seed: int,
    blocks: Sequence[Block],
    workers: int,
    deadline: float | None,
    stop: Interrupts,
    progress: Progress,
    *,
    stop_at_first: bool = False,
) -> Found:
    """Ask all blocks, until the deadline (of time.monotonic), an interrupt or a first difference."""
    found = Found({})
    tasks = [Task(opener, team, seed, block) for block in blocks]
    started, compared = time.monotonic(), 0
    for block, results in zip(blocks, _answers(tasks, workers), strict=False):
        for source, result in zip(team.sources, results, strict=True):
            progressed = found.versions.setdefault(source, Progressed(VersionResult(result.version)))
            progressed.add(block, result)
            compared += result.counted.compared
        odd = sum(
            group.count
            for progressed in found.versions.values()
            for group in progressed.result.groups.values()
            if not group.explained
        )
        progress.tell(ComparisonsDone(compared, odd, time.monotonic() - started))
        if stop():
            found.stopped_by = "interrupted"
        elif stop_at_first and odd:
            found.stopped_by = "--stop-at-first"
        elif deadline is not None and time.monotonic() > deadline:
            found.stopped_by = "--seconds"
        if found.stopped_by is not None:
            break
    return found


def _answers(tasks: Sequence[Task], workers: int) -> Iterator[list[VersionResult]]:
    return each(ask_task, tasks, workers)
