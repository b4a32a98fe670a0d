"""`elrcheck prove --reductions`: the theorems behind `check --reduce`, proved from the rules that a search runs.

One is about steps that a search leaves out: every pair that it takes to commute does (ADR 25, ADR 42). A counterexample
is replayed in plain Python before it is reported.
"""

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
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.lang.runtime import ModelConfig
from elrcheck.proof.hypotheses import lemmas_of
from elrcheck.proof.obligations import Discharge
from elrcheck.proof.reduction_terms import ALIKE, CHECKS, SETTINGS, Commuting, SameStates, with_settings
from elrcheck.proving.covered import RANK, phase, verdict_of
from elrcheck.proving.step_failure import replayed_step, state_report
from elrcheck.results.prove_report import (
    CellReport,
    CellVerdict,
    InductionFailure,
    ObligationReport,
    PossibleReport,
    ProveReport,
    ReductionProof,
    SolverReport,
)
from elrcheck.traces.describe import changes
from elrcheck.traces.replay import ReplayError

NAME = "steps left out"
Pair = tuple[Label, Label]


def left_out_steps(
    model: Model, config: ModelConfig, timeout: float, progress: Progress, pairs: Sequence[Pair] | None = None
) -> tuple[ReductionProof, tuple[CellReport, ...]]:
    """Prove that pairs of steps commute, by default those that the search takes to, and report it action by action."""
    terms = Commuting(model, config, timeout)
    pairs = terms.pairs() if pairs is None else pairs
    cells: dict[tuple[str, str], list[tuple[Pair, Discharge]]] = {}
    for done, pair in enumerate(pairs, start=1):
        answer = terms.commute(*pair)
        first, second = pair
        cells.setdefault((first.action, second.action), []).append((pair, answer))
        subject = f"{first.action} x {second.action}"
        progress.tell(ObligationDone("consecution", done, len(pairs), subject, answer.verdict, answer.seconds))
    reports = tuple(_cell(model, config, answers) for answers in cells.values())
    proof = ReductionProof(
        name=NAME,
        verdict=max((cell.verdict for cell in reports), key=RANK.__getitem__, default="proved"),
        settings={},
        obligations=len(pairs),
        seconds=round(sum(cell.seconds for cell in reports), 3),
        lemmas=(),
    )
    return proof, reports


def _cell(model: Model, config: ModelConfig, answers: Sequence[tuple[Pair, Discharge]]) -> CellReport:
    """Report on the pairs of two actions, with the first of the worst answers."""
    (first, second), worst = max(answers, key=lambda answer: RANK[answer[1].verdict])
    return CellReport(
        first.action,
        f"{NAME}: {second.action}",
        worst.verdict,
        round(sum(answer.seconds for _, answer in answers), 3),
        reason=worst.reason,
        failure=None if worst.before is None else orders_differ(model, config, first, second, worst.before),
    )


def orders_differ(model: Model, config: ModelConfig, first: Label, second: Label, state: Any) -> InductionFailure:
    """Report a state from which two steps do not commute; ReplayError if plain Python does not see it."""
    plain = PlainModel(model, config)
    after = plain.attempt(state, first)
    return replayed_step(model, config, first, state, after, _difference(plain, first, second, state))


def _difference(plain: PlainModel, first: Label, second: Label, state: Any) -> str:
    ends = []
    for one, other in ((first, second), (second, first)):
        alone, after = plain.attempt(state, other), plain.attempt(state, one)
        both = None if after is None else plain.attempt(after, other)
        if after is not None and (alone is None) != (both is None):
            return f"{other.action} is possible only {'after' if alone is None else 'before'} {one.action}"
        ends.append(both)
    if None in ends:
        raise ReplayError(f"plain Python does not see that {first} and {second} do not commute")
    ways = changes(ends[0], ends[1], plain.model.state_ty)
    if ways:
        return f"afterwards {', '.join(f'{way.path} is {way.old} or {way.new}' for way in ways)}"
    for one, other in ((first, second), (second, first)):
        after = plain.step(state, one)
        if plain.within(after) and plain.within(plain.step(state, other)) != plain.within(plain.step(after, other)):
            return f"{other.action} stays inside the bound only before or only after {one.action}"
    raise ReplayError(f"plain Python does not see that {first} and {second} do not commute")


# ---------------------------------------------------------------------------- counterexamples


class PlainReduction:
    """A reduction in the plain model. config: of the search without it."""

    def __init__(self, model: Model, config: ModelConfig, reduction: Reduction) -> None:
        self.model, self.config, self.reduction = model, config, reduction
        self.reduced_config = with_settings(config, reduction)
        self.plain, self.reduced = PlainModel(model, config), PlainModel(model, self.reduced_config)

    def representative(self, state: Any) -> Any:
        return self.reduction.same(self.reduced_config, state)

    def state_failure(self, fn: Fn | None, state: Any) -> None:
        """Raise ReplayError unless a state refutes that its representative has the same property, or is its own."""
        there = self.representative(state)
        if fn is None:
            differs = self.representative(there) != there
        else:
            values = {plain.holds(fn, one) for plain in (self.plain, self.reduced) for one in (state, there)}
            differs = len(values) > 1
        if not differs:
            raise ReplayError(f"{self.reduction.name}: the state does not refute {'Once' if fn is None else fn.name}")

    def step_failure(self, label: Label, goal: str, state: Any) -> InductionFailure:
        """Report a state from which a step refutes a goal; ReplayError if plain Python does not see it."""
        plain, reduced = (self.plain, state), (self.reduced, state)
        pairs = {ALIKE: (plain, (self.plain, self.representative(state))), SETTINGS: (plain, reduced)}
        reasons = (
            self._difference(label, *pair, with_checks=goal == CHECKS)
            for name, pair in pairs.items()
            if goal in (name, CHECKS)
        )
        reason = next((reason for reason in reasons if reason is not None), None)
        if reason is None:
            raise ReplayError(f"{self.reduction.name}: plain Python sees no difference after {label}")
        tried = (self.plain.attempt(state, label), self.reduced.attempt(state, label))
        after = next((t for t in tried if t is not None), state)
        return replayed_step(self.model, self.config, label, state, after, reason)

    def _difference(
        self, label: Label, one: tuple[PlainModel, Any], two: tuple[PlainModel, Any], *, with_checks: bool
    ) -> str | None:
        """Return how two steps disagree; None if they agree. one, two: a model and a state before the step."""
        afters = tuple(plain.attempt(before, label) for plain, before in (one, two))
        mapped = [None if after is None else self.representative(after) for after in afters]
        inside = [after is None or self.plain.within(after) for after in afters]
        meet = None not in afters and mapped[0] == mapped[1] and inside[0] == inside[1]
        property_difference = self._property_told_apart(afters, one, two) if with_checks and meet else None
        for (plain, before), after, image in zip((one, two), afters, mapped, strict=True):
            if after is None or (meet and property_difference is None):
                continue
            if image == self.representative(before) and not (with_checks and self._shows(plain, before, after)):
                continue
            return property_difference or self._where(afters, mapped)
        return None

    def _where(self, afters: tuple[Any, Any], mapped: list[Any]) -> str:
        if None in afters:
            side = "first" if afters[1] is None else "second"
            return f"only the {side} of the two steps is possible"
        ways = changes(mapped[0], mapped[1], self.model.state_ty)
        differing_parts = ", ".join(f"{way.path} is {way.old} or {way.new}" for way in ways)
        return f"afterwards {differing_parts}" if ways else "only one of the two steps stays inside the bound"

    def _property_told_apart(
        self, afters: tuple[Any, Any], one: tuple[PlainModel, Any], two: tuple[PlainModel, Any]
    ) -> str | None:
        for fn in self.model.checks:
            if fn.is_step and one[0].holds(fn, one[1], afters[0]) != two[0].holds(fn, two[1], afters[1]):
                return f"{fn.ident} {fn.name} is true of one of the two steps only"
        return None

    def _shows(self, plain: PlainModel, before: Any, after: Any) -> bool:
        """Return whether a step violates a property of steps, or witnesses one."""
        steps = (fn for fn in self.model.checks if fn.is_step)
        return any(plain.holds(fn, before, after) != (fn.kind == "always") for fn in steps)


# ---------------------------------------------------------------------------- reductions

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
