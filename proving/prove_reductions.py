"""`elrcheck prove --reductions`: the theorems behind `check --reduce`, proved from the rules that a search runs."""

from __future__ import annotations

import functools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import z3
from msgspec import structs

from elrcheck.base.errors import UsageFault
from elrcheck.base.progress import ObligationDone, Progress
from elrcheck.base.proof_requests import ProveRequest
from elrcheck.base.runner.runner import Processes, Tell, run_tasks
from elrcheck.base.runner.worker import useful_workers
from elrcheck.base.typed.configuration import config_values
from elrcheck.declared.declared_model import declared
from elrcheck.declared.select import Selected
from elrcheck.lang.induction import Reduction
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.lang.plain import Label
from elrcheck.lang.runtime import ModelConfig
from elrcheck.proof.hypotheses import lemmas_of
from elrcheck.proof.obligations import Discharge
from elrcheck.proof.reductions.same_states import SameStates
from elrcheck.proving.left_out_steps import left_out_steps
from elrcheck.proving.reduction_failure import PlainReduction
from elrcheck.proving.step_failure import state_report
from elrcheck.proving.verdicts import RANK, phase, verdict_of
from elrcheck.results.prove_report import (
    CellReport,
    CellVerdict,
    ObligationReport,
    PossibleReport,
    ProveReport,
    ReductionProof,
    SolverReport,
)

ONCE = "Once"
DEFAULT_TIMEOUT = 60.0
NOTHING_POSSIBLE = PossibleReport(asked=0, replayed=0, impossible=(), seconds=0.0)
"""Steps agree also if none of them is possible."""

Answers = list[tuple[str, Discharge]]


@dataclass(frozen=True)
class ReductionTask:
    """A step of a reduction's proof, for another process. number: of the reduction in the packaged model."""

    number: int
    config: ModelConfig
    timeout: float
    label: Label


def discharge(task: ReductionTask, tell: Tell = lambda _: None) -> tuple[Label, Answers]:
    """Do a task in a worker process."""
    config: Any = task.config  # frozen, and so hashable
    return task.label, list(_obligations(task.number, config, task.timeout).step(task.label))


@functools.lru_cache(maxsize=1)
def _obligations(number: int, config: ModelConfig, timeout: float) -> SameStates:
    model = declared(None).with_lemmas()
    return SameStates(model, config, model.induction.reductions[number], _assumed(model), timeout)


def _assumed(model: Model) -> tuple[Fn, ...]:
    """Return the lemmas that a proof may assume: no property, since a search decides about those."""
    return tuple(fn for fn in lemmas_of(model) if fn.kind != "always")


def run_reductions(selected: Selected, request: ProveRequest, progress: Progress) -> ProveReport:
    """Prove the reductions of the selected model in its configuration, without their settings."""
    model = selected.declared.with_lemmas()
    reductions = model.induction.reductions
    config, timeout = selected.config, request.timeout or DEFAULT_TIMEOUT
    if chosen := sorted({name for one in reductions for name in one.settings if name in selected.overrides}):
        message = f"the proof compares searches with {chosen[0]} and without"
        raise UsageFault("usage-option", message, help=f"leave out --set {chosen[0]}")
    started = time.perf_counter()
    proofs, left_out = list[ReductionTheorem](), list[ObligationReport]()
    for number, reduction in enumerate(reductions):
        progress.stage(f"[{number + 1}/{len(reductions) + 1}] {reduction.name}")
        if reason := reduction.left_out(config):
            left_out.append(ObligationReport(reduction.name, "unknown", 0.0, reason=reason))
            continue
        proof = ReductionTheorem(model, config, reduction, timeout, progress)
        workers = useful_workers(request.workers, len(proof.terms.labels)) if selected.file is None else 1
        proof.run(number, workers)
        proofs.append(proof)
    progress.stage(f"[{len(reductions) + 1}/{len(reductions) + 1}] steps left out")
    commuting, left_out_cells = left_out_steps(model, config, timeout, progress)
    reports = [*(proof.report() for proof in proofs), commuting]
    cells = (*(cell for proof in proofs for cell in proof.cells), *left_out_cells)
    initiation = (*left_out, *(one for proof in proofs for one in proof.starts))
    implication = tuple(one for proof in proofs for one in proof.states)
    return ProveReport(
        verdict=verdict_of([*initiation, *cells, *implication], NOTHING_POSSIBLE),
        variant=selected.variant,
        config=config_values(config),
        solver=SolverReport("z3", z3.get_version_string(), timeout),
        seconds=round(time.perf_counter() - started, 3),
        phases=(phase("initiation", initiation), phase("consecution", cells), phase("implication", implication)),
        initiation=initiation,
        cells=cells,
        implication=implication,
        reductions=tuple(reports),
    )


class ReductionTheorem:
    """The proof of one reduction. terms: its obligations; cells, starts, states: reports of what was decided."""

    def __init__(
        self, model: Model, config: ModelConfig, reduction: Reduction, timeout: float, progress: Progress
    ) -> None:
        self.model, self.config, self.reduction = model, config, reduction
        self.timeout, self.progress = timeout, progress
        self.terms = SameStates(model, config, reduction, _assumed(model), timeout)
        self.plain = PlainReduction(model, config, reduction)
        self.answers: list[Discharge] = []
        self.starts: list[ObligationReport] = []
        self.states: list[ObligationReport] = []
        self.cells: list[CellReport] = []

    def run(self, number: int = 0, workers: int = 1) -> None:
        """Ask everything. number: of the reduction in the packaged model, which each of several workers loads."""
        verdict: CellVerdict = "proved" if self.terms.starts_agree() else "refuted"
        self.starts = [ObligationReport(f"{self.reduction.name}: initial states", verdict, 0.0)]
        self._state(None, self.terms.once())
        for fn in self.terms.state_checks:
            self._state(fn, self.terms.check(fn))
        by_cell: dict[tuple[str, str], list[tuple[Label, Discharge]]] = {}
        for done, (label, answers) in enumerate(self._discharge(number, workers), start=1):
            for goal, answer in answers:
                self.answers.append(answer)
                by_cell.setdefault((label.action, goal), []).append((label, answer))
                subject = f"{label.action} x {goal}"
                total = len(self.terms.labels)
                self.progress.tell(ObligationDone("consecution", done, total, subject, answer.verdict, answer.seconds))
        self.cells = [self._cell(*cell, answers) for cell, answers in by_cell.items()]

    def _discharge(self, number: int, workers: int) -> Iterator[tuple[Label, Sequence[tuple[str, Discharge]]]]:
        if workers <= 1:
            yield from ((label, list(self.terms.step(label))) for label in self.terms.labels)
            return
        tasks = [ReductionTask(number, self.config, self.timeout, label) for label in self.terms.labels]
        yield from run_tasks(Processes(discharge, tasks, workers))

    def _state(self, fn: Fn | None, answer: Discharge) -> None:
        """Note the answer about a property of states; about representatives of representatives for None."""
        self.answers.append(answer)
        if answer.before is not None:
            self.plain.state_failure(fn, answer.before)
        report = state_report(self.model, self.config, ONCE if fn is None else fn.name, fn, answer)
        self.states.append(structs.replace(report, name=f"{self.reduction.name}: {report.name}"))

    def _cell(self, action: str, goal: str, answers: Sequence[tuple[Label, Discharge]]) -> CellReport:
        """Report on an action and a goal, with the first of the worst answers."""
        label, worst = max(answers, key=lambda answer: RANK[answer[1].verdict])
        return CellReport(
            action,
            f"{self.reduction.name}: {goal}",
            worst.verdict,
            round(sum(answer.seconds for _, answer in answers), 3),
            tuple(sorted({lemma for _, answer in answers for lemma in answer.core})),
            worst.reason,
            None if worst.before is None else self.plain.step_failure(label, goal, worst.before),
            self.model.fns[self.reduction.same.__name__].place,
        )

    def report(self) -> ReductionProof:
        verdicts: list[CellVerdict] = [one.verdict for one in (*self.starts, *self.states)]
        verdicts += [cell.verdict for cell in self.cells]
        return ReductionProof(
            name=self.reduction.name,
            verdict=max(verdicts, key=RANK.__getitem__),
            settings=dict(self.reduction.settings),
            obligations=1 + len(self.answers),
            seconds=round(sum(answer.seconds for answer in self.answers), 3),
            lemmas=tuple(sorted({lemma for answer in self.answers for lemma in answer.core})),
            source=self.model.fns[self.reduction.same.__name__].place,
        )
