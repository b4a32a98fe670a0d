"""Runs the blocks in several processes, each with its own copy of Kafka's classes."""

from __future__ import annotations

import atexit
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeAlias

from elrcheck.base.interrupts import Interrupts
from elrcheck.base.kafka_requests import ConformRequest
from elrcheck.base.progress import ComparisonsDone, Progress
from elrcheck.base.runner.runner import each
from elrcheck.kafka.conformance.block import Block, VersionResult, ask_block
from elrcheck.kafka.conformance.kafka_part import Oracle
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
