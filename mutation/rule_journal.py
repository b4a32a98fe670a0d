"""The journal of answers about changes of the rules, with which the same command resumes a run."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Protocol, TypeVar

from elrcheck.base.interrupts import Interrupts
from elrcheck.base.progress import PointsDone, Progress
from elrcheck.base.run_lock import alone_in
from elrcheck.base.runner.journal import Journal
from elrcheck.base.runner.runner import each
from elrcheck.base.runner.worker import useful_workers
from elrcheck.checking.runs.folders import RUNS
from elrcheck.mutation.rule_answer import MutantAnswer

JOURNAL = "mutants.jsonl"


class NamedTask(Protocol):
    """A change to judge. name: that of its variation."""

    @property
    def name(self) -> str: ...


T = TypeVar("T", bound=NamedTask)


@dataclass(frozen=True)
class RuleAnswers:
    """The answers of a run so far, in the order of its tasks. resumed: number of those from an earlier run."""

    answers: tuple[MutantAnswer, ...]
    resumed: int


def folder_of(identity: str) -> Path:
    """Return the folder of a run without --run-dir, named by a digest of the identity."""
    return RUNS / f"rules-{hashlib.sha256(identity.encode()).hexdigest()[:10]}"


def answered(
    tasks: Sequence[T],
    judge: Callable[[T], MutantAnswer],
    place: Path,
    identity: str,
    workers: int | None,
    progress: Progress,
) -> RuleAnswers:
    """Judge each change that has no answer in the folder; after an interrupt, return the answers so far.

    judge: a module-level function. identity: everything that the answers depend on, the first line of the journal.
    Raise UsageFault for the folder of another run.
    """
    place.mkdir(parents=True, exist_ok=True)
    with alone_in(place), Interrupts() as stop:
        journal = Journal(place / JOURNAL, MutantAnswer, attrgetter("name"))
        journal.read(identity)
        done = journal.answers
        remaining = [task for task in tasks if task.name not in done]
        for answer in each(judge, remaining, useful_workers(workers, len(remaining)), interrupted=stop):
            journal.add(answer)
            _report_progress(progress, [done[task.name] for task in tasks if task.name in done], len(tasks), answer)
    answers = tuple(done[task.name] for task in tasks if task.name in done)
    return RuleAnswers(answers, len(tasks) - len(remaining))


def _report_progress(progress: Progress, done: Sequence[MutantAnswer], total: int, last: MutantAnswer) -> None:
    spent = sum(answer.seconds for answer in done)
    progress.tell(
        PointsDone(
            done=len(done),
            total=total,
            current=(f"{last.verdict}: {last.name}",),
            states=0,
            seconds=spent,
            left=spent / max(1, len(done)) * (total - len(done)),
        )
    )
