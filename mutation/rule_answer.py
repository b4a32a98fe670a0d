"""The verdict on a change of a rule, and the journal of answers, with which the same command resumes a run."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Protocol, TypeVar

from msgspec import structs

from elrcheck.base.interrupts import Interrupts
from elrcheck.base.progress import PointsDone, Progress
from elrcheck.base.run_lock import alone_in
from elrcheck.base.runner.journal import Journal
from elrcheck.base.runner.runner import each
from elrcheck.base.runner.worker import useful_workers
from elrcheck.checking.runs.folders import RUNS
from elrcheck.lang.changed.variations import Variation
from elrcheck.lang.runtime import NotEnabled
from elrcheck.lang.source import ModelError
from elrcheck.mutation.rule_mutants import RuleMutants
from elrcheck.results.mutation_report import MutantVerdict, RuleMutant
from elrcheck.traces.replay import ReplayError

RULE_FAULTS = (ArithmeticError, LookupError, TypeError, ValueError, AttributeError, AssertionError, NotEnabled)
"""Errors that a rule may raise when another one that protected it is changed."""
UNDEFINED = (ReplayError, ModelError, *RULE_FAULTS)
"""Errors that a step or its replay may then raise."""


@dataclass(frozen=True)
class ChangeVerdict:
    """The effect of a change. by: the property or rule that notices it, None if only counts reveal it.

    complete: whether every state was searched; more states than before count before the last one is known.
    """

    verdict: MutantVerdict
    by: str | None = None
    depth: int | None = None
    reason: str | None = None
    configuration: str | None = None
    complete: bool = True


class MutantAnswer(RuleMutant, frozen=True, kw_only=True):
    """The result for one change. typed: false for a change that is ill-typed, and so was not compared.

    same: number of configurations in which even the program is the same.
    """

    verdict: MutantVerdict = "unaffected"
    typed: bool = True
    same: int = 0

    def shows(self, verdict: ChangeVerdict) -> MutantAnswer:
        """Return this answer with a verdict."""
        return structs.replace(
            self,
            verdict=verdict.verdict,
            by=verdict.by,
            depth=verdict.depth,
            reason=verdict.reason,
            configuration=verdict.configuration or self.configuration,
        )

    def report(self, **changes: object) -> RuleMutant:
        """Return the part of this answer that a report has, with some fields replaced."""
        values = {name: getattr(self, name) for name in RuleMutant.__struct_fields__}
        return RuleMutant(**{**values, **changes})


def plain_answer(mutants: RuleMutants, variation: Variation) -> MutantAnswer:
    """Return the answer about a change before it is judged."""
    return MutantAnswer(
        name=variation.name,
        function=variation.function,
        place=mutants.place(variation),
        kind=variation.kind,
        before=variation.before,
        after=variation.after,
    )


def defined(what: str, judge: Callable[..., ChangeVerdict | None], *arguments: object) -> ChangeVerdict | None:
    """Return judge(*arguments), or the verdict `undefined` if a rule raises an error."""
    try:
        return judge(*arguments)
    except UNDEFINED as fault:
        return ChangeVerdict("undefined", reason=f"{what} is undefined: {fault}")


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
