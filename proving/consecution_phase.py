"""The phase of `elrcheck prove` that asks about every step, and reports a refuted obligation as soon as it is known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import structs

from elrcheck.base.progress import ObligationDone, Progress
from elrcheck.base.runner.runner import Processes, run_tasks
from elrcheck.proof.consecution import Obligation, ProofTask, Work, discharge, obligations
from elrcheck.proof.digests import Digests
from elrcheck.proof.obligations import Discharge
from elrcheck.proof.transition import SymbolicStep
from elrcheck.proving.kept_cells import KeptCells
from elrcheck.proving.step_failure import counterexample_lines, step_report
from elrcheck.proving.verdicts import RANK
from elrcheck.results.prove_report import CellReport

LITTLE = 150
"""Obligations up to which one process is enough: others would take as long to build their terms."""


class ConsecutionPhase:
    """The obligations of all steps of a proof.

    answers: number of an instance -> goal -> the answer; goals that a step cannot affect are missing. settings: what
    the tasks of other processes share, in the order of `ProofTask`.
    """

    def __init__(self, digests: Digests, goals: Sequence[str], progress: Progress, settings: Sequence[Any]) -> None:
        self.digests, self.prover, self.goals = digests, digests.prover, tuple(goals)
        self.progress, self.settings = progress, tuple(settings)
        self.answers: dict[int, dict[str, Discharge]] = {}
        self._decided: set[tuple[int, str]] = set()
        self._printed: set[str] = set()
        """Actions with a counterexample on the progress."""

    def run(self, cells: KeptCells | None, workers: int) -> None:
        """Ask every obligation without a stored answer. An interrupt leaves the answers so far."""
        instances = self.prover.ts.instances
        self.answers = {number: {} for number in range(len(instances))}
        self._decided.clear()
        self._printed.clear()
        work: list[Work] = []
        for number, instance in enumerate(instances):
            stored = cells.find(instance, self.goals) if cells is not None else {}
            for goal, answer in stored.items():
                self.note(number, goal, answer)
            if left := tuple(goal for goal in self.goals if goal not in stored):
                work.append(Work(number, left, self.digests.work(instance, left)))
        for number, answers in self._discharge(work, min(workers, len(work))):
            new: dict[str, Discharge | None] = {}
            for goal, answer in answers:
                new[goal] = answer
                self.note(number, goal, answer)
            if cells is not None:
                cells.add(instances[number], new)

    def _discharge(self, work: Sequence[Work], workers: int) -> Iterator[tuple[int, Iterable[Obligation]]]:
        """Yield the answers to each piece of work; a little work is done in this process, one answer at a time."""
        if workers > 1 and sum(len(part.goals) for part in work) > LITTLE:
            crew = Processes(discharge, [ProofTask(part, *self.settings) for part in work], workers)
            yield from run_tasks(crew, on_tick=self._hear)
            return
        for part in work:
            yield part.number, obligations(self.prover, self.prover.ts.instances[part.number], part.goals)

    def _hear(self, running: Sequence[tuple[ProofTask, Any]]) -> None:
        """Note the refuted obligations of tasks that other processes still work on."""
        for task, refuted in running:
            for goal, answer in refuted or ():
                self.note(task.work.number, goal, answer)

    def note(self, number: int, goal: str, answer: Discharge | None) -> None:
        """Note the first answer to an obligation, None where there is nothing to prove, and tell the progress."""
        if (number, goal) in self._decided:
            return
        self._decided.add((number, goal))
        if answer is None:
            return
        self.answers[number][goal] = answer
        instance = self.prover.ts.instances[number]
        subject, total = f"{instance.action} x {goal}", len(self.prover.ts.instances) * len(self.goals)
        lines: tuple[str, ...] = ()
        if answer.verdict == "refuted" and instance.action not in self._printed:
            self._printed.add(instance.action)
            lines = counterexample_lines(self._report(instance, goal, answer))
        decided = len(self._decided)
        self.progress.tell(
            ObligationDone("consecution", decided, total, subject, answer.verdict, answer.seconds, lines)
        )

    def reports(self) -> list[CellReport]:
        """Report on each action and goal that is refuted or decided for all instances of the action."""
        instances = self.prover.ts.instances
        cells: dict[tuple[str, str], list[tuple[SymbolicStep, Discharge]]] = {}
        undecided = set[tuple[str, str]]()
        for number, instance in enumerate(instances):
            for goal in self.goals:
                cell = instance.action, goal
                if (number, goal) not in self._decided:
                    undecided.add(cell)
                elif goal in self.answers[number]:
                    cells.setdefault(cell, []).append((instance, self.answers[number][goal]))
        return [
            self._cell(goal, answers)
            for (action, goal), answers in cells.items()
            if (action, goal) not in undecided or any(answer.verdict == "refuted" for _, answer in answers)
        ]

    def _cell(self, goal: str, answers: Sequence[tuple[SymbolicStep, Discharge]]) -> CellReport:
        """Report on an action and a goal, with the first of the worst answers of the action's instances."""
        instance, worst = max(answers, key=lambda answer: RANK[answer[1].verdict])
        return structs.replace(
            self._report(instance, goal, worst),
            seconds=round(sum(answer.seconds for _, answer in answers), 3),
            core=tuple(sorted({lemma for _, answer in answers for lemma in answer.core})),
            kept=all(answer.kept for _, answer in answers),
        )

    def _report(self, instance: SymbolicStep, goal: str, answer: Discharge) -> CellReport:
        ts = self.prover.ts
        return step_report(ts.model, ts.config, instance, self.prover.goals.get(goal), answer, goal)
