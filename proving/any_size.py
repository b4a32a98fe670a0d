"""`elrcheck prove --any-size`: discharges every obligation of a proof for all sizes at once.

The proof for the sizes of the configuration comes first. An obligation that it refutes is false, with a replayed
counterexample; the lemmas that it needed are hints for the rest.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msgspec import structs

from elrcheck.base.errors import UsageFault
from elrcheck.base.progress import ObligationDone, Progress
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.lang.runtime import ModelConfig
from elrcheck.lang.source import ModelError
from elrcheck.proof.any_size.questions import GoalAnswer, Premises, Routes
from elrcheck.proof.any_size.step_tasks import Hints, StepTask, every_choice, questions, solved
from elrcheck.proof.any_size.steps import Unbounded
from elrcheck.proving.certify import FinishedAnySize, certify_any_size
from elrcheck.proving.covered import NEVER, PhaseName, phase, verdict_of
from elrcheck.results.prove_report import CellReport, Coverage, ObligationReport, ProveReport, Skipped

SECONDS = 20.0
"""The time limit of an obligation, unless the user sets one."""
IMPLIED_SECONDS = 6.0
"""The time limit for the question whether the lemmas imply a part of a property, in processor time."""


@dataclass(frozen=True)
class GivenSizes:
    """The finished proof for the sizes of the configuration. goals: names of all goals of a step."""

    model: Model
    config: ModelConfig
    assumed: tuple[str, ...]
    goals: tuple[str, ...]
    step_properties: Sequence[Fn]
    state_properties: Sequence[Fn]
    report: ProveReport
    routes: Routes = field(default_factory=dict)
    """How steps were proved before."""


def proved_for_any_size(
    proof: GivenSizes,
    timeout: float | None,
    workers: int,
    progress: Progress,
    certificate: tuple[Path, str] | None,
    partial: bool = False,
) -> ProveReport:
    """Return the report for all sizes; UsageFault, with the place, for a model that cannot be read for any size.

    certificate: the folder to write one into, unless the proof is interrupted, and the digest of the model's rules.
    partial: see `run_prove`.
    """
    with _readable():
        whole = AnySizeProof(proof, timeout or SECONDS, progress)
        report = whole.run(workers, partial)
        if certificate is not None and not report.interrupted:
            certify_any_size(certificate[0], whole.finished(report, certificate[1]))
        return report


def silent_for_any_size(
    model: Model, config: ModelConfig, assumed: Sequence[str], silent: Sequence[Fn]
) -> tuple[Fn, ...]:
    """Return the properties that say nothing for any size, of those that say nothing for the sizes of a configuration.

    The others need a proof: at most two nodes may have a role because there are only two.
    """
    if not silent:
        return ()
    with _readable():
        system = Unbounded(model, config, assumed)
        questions_of = ((fn, *system.by_types(fn)) for fn in silent)
        return tuple(
            fn
            for fn, premises, goal in questions_of
            if Premises(system.scope, premises, system.lemma, (), ()).imply(goal, IMPLIED_SECONDS)
        )


@contextlib.contextmanager
def _readable() -> Iterator[None]:
    """Raise UsageFault, with the place, for a model that cannot be read for any size."""
    try:
        yield
    except ModelError as fault:
        message = f"{fault.where}: {fault.message}" if fault.where else fault.message
        raise UsageFault("usage-option", message, help=fault.help or "leave out --any-size") from None


def _questions_before(task: StepTask) -> int:
    """Return how many questions the routes of a step have: the longest steps come first, so that none is left last."""
    return sum(len(part.questions) for route in task.routes.values() for part in route.parts)


class AnySizeProof:
    """The proof of one configuration with arbitrary sizes."""

    def __init__(self, proof: GivenSizes, timeout: float, progress: Progress) -> None:
        self.proof, self.bounded, self.timeout, self.progress = proof, proof.report, timeout, progress
        self.progress.stage("building the transition relation for any size")
        self._state(frozenset())
        self.cells_of_sizes = {(cell.action, cell.lemma): cell for cell in proof.report.cells}
        self.answers: dict[int, Mapping[str, GoalAnswer] | None] = {}
        self.beside: dict[tuple[PhaseName, str], GoalAnswer] = {}

    def _state(self, implied: frozenset[str]) -> None:
        """Set the obligations. implied: properties that no step has to preserve."""
        proof, self.implied = self.proof, implied
        self.system = Unbounded(proof.model, proof.config, proof.assumed, implied=implied)
        self.goals = tuple(goal for goal in proof.goals if goal not in implied)
        self.choices = every_choice(self.system)
        self.idents = {fn.name: fn.ident or fn.name for fn in self.system.goals.values()}

    def run(self, workers: int, partial: bool = False) -> ProveReport:
        """Discharge all obligations; return the report. partial: see `run_prove`."""
        started = time.perf_counter()
        initiation, implication, interrupted = list[ObligationReport](), list[ObligationReport](), False
        answers = self.answers
        try:
            if implied := self._implied():
                self._state(implied)
            self.progress.stage("[1/3] initiation, for any size")
            stated = (one for one in self.bounded.initiation if one.name not in self.implied)
            initiation.extend(map(self._initiation, stated))
            self.progress.stage("[2/3] consecution, for any size")
            self._consecution(workers)
            self.progress.stage("[3/3] implication, for any size")
            implication.extend(map(self._implication, self.proof.state_properties))
        except KeyboardInterrupt:
            if not partial:
                raise
            interrupted = True
        cells = list(self._cells(answers))
        reports: list[CellReport | ObligationReport] = [*initiation, *cells, *implication]
        arbitrary = self.system.evaluator.sizes.arbitrary
        return structs.replace(
            self.bounded,
            verdict=verdict_of(reports, None if interrupted else self.bounded.possible),
            config={name: value for name, value in self.bounded.config.items() if name not in arbitrary},
            solver=structs.replace(self.bounded.solver, timeout_seconds=self.timeout),
            seconds=round(self.bounded.seconds + time.perf_counter() - started, 3),
            phases=(phase("initiation", initiation), phase("consecution", cells), phase("implication", implication)),
            initiation=tuple(initiation),
            cells=tuple(cells),
            implication=tuple(implication),
            skipped=tuple(self._skipped(answers)),
            coverage=self._coverage(answers),
            kept=None,
            sizes="any",
            interrupted=interrupted,
        )

    def finished(self, report: ProveReport, source: str) -> FinishedAnySize:
        """Return the contents of a certificate, after `run`. source: a digest of the model's rules."""
        names = {ident: name for name, ident in self.idents.items()}
        refuted = frozenset(
            (action, names.get(lemma, lemma))
            for (action, lemma), cell in self.cells_of_sizes.items()
            if cell.verdict == "refuted"
        )
        chosen = [*self.proof.step_properties, *self.proof.state_properties]
        return FinishedAnySize(self.system, report, self.answers, self.beside, refuted, self.goals, chosen, source)

    # ------------------------------------------------------------------------- phases

    def _initiation(self, bounded: ObligationReport) -> ObligationReport:
        premises, goal = self.system.initially(bounded.name)
        ask = lambda: Premises(self.system.scope, premises, self.system.lemma, (), ())  # noqa: E731
        return self._obligation("initiation", bounded, ask, goal)

    def _implication(self, fn: Fn) -> ObligationReport:
        bounded = next(report for report in self.bounded.implication if report.name == fn.name)
        hints = tuple(self.system.lemmas) if fn.name in self.implied else bounded.core
        ask = lambda: questions(self.system, self.system.typed, hints)  # noqa: E731
        return self._obligation("implication", bounded, ask, self.system.implied(fn))

    def _implied(self) -> frozenset[str]:
        """Return properties that the lemmas and the other properties imply: no step has to preserve them."""
        if self.proof.model.induction.history is not None:
            return frozenset()
        self.progress.stage("which properties the lemmas imply")
        left = dict.fromkeys(self.system.lemmas)
        for fn in self.proof.model.always:
            others = [name for name in left if name != fn.name]
            premises = Premises(self.system.scope, self.system.typed, self.system.lemma, others, others)
            if fn.name in left and others and premises.imply(self.system.lemma(fn.name), IMPLIED_SECONDS):
                del left[fn.name]
        return frozenset(self.system.lemmas.keys() - left.keys())

    def _obligation(self, name: PhaseName, bounded: ObligationReport, ask: Any, goal: Any) -> ObligationReport:
        if bounded.verdict == "refuted":
            return bounded
        answer = self.beside[name, bounded.name] = ask().prove(goal, self.timeout)
        verdict = "proved" if answer.proved else "unknown"
        self.progress.tell(ObligationDone(name, 1, 1, bounded.name, verdict, answer.seconds))
        core = tuple(sorted(answer.lemmas)) if answer.proved else bounded.core
        seconds = round(answer.seconds, 3)
        return structs.replace(bounded, verdict=verdict, seconds=seconds, core=core, reason=answer.reason, witness=None)

    def _consecution(self, workers: int) -> None:
        """Store for the number of each choice its answers by goal; None for one that is never enabled."""
        tasks = sorted(map(self.task, range(len(self.choices))), key=_questions_before, reverse=True)
        total, decided = len(tasks) * len(self.goals), 0
        for one in solved(self.system, tasks, workers):
            self.answers[one.number] = one.answers
            for goal, answer in (one.answers or {}).items():
                decided += 1
                subject = f"{self.choices[one.number].action.name} x {goal}"
                verdict = "proved" if answer.proved else "unknown"
                self.progress.tell(ObligationDone("consecution", decided, total, subject, verdict, answer.seconds))

    def task(self, number: int) -> StepTask:
        """Return the goals of a choice that are not refuted for the given sizes."""
        system, action = self.system, self.choices[number].action.name
        bounded = {goal: self.cells_of_sizes.get((action, self.idents.get(goal, goal))) for goal in self.goals}
        hints: Hints = {goal: cell.core for goal, cell in bounded.items() if cell is not None}
        goals = tuple(goal for goal, cell in bounded.items() if cell is None or cell.verdict != "refuted")
        origin = system.model.origin
        routes = self.proof.routes.get(self.choices[number].name, {})
        return StepTask(system.config, self.proof.assumed, origin, number, goals, hints, self.timeout, routes)

    def _cells(self, answers: Mapping[int, Mapping[str, GoalAnswer] | None]) -> Iterator[CellReport]:
        """Yield a report for each action and goal, over all choices of the action; none if one of them is undecided."""
        for action in self.proof.model.actions:
            numbers = [number for number, choice in enumerate(self.choices) if choice.action is action]
            if not all(number in answers for number in numbers):
                continue
            for goal in self.goals:
                ident = self.idents.get(goal, goal)
                bounded = self.cells_of_sizes.get((action.name, ident))
                if bounded is not None and bounded.verdict == "refuted":
                    yield bounded
                    continue
                asked_of = [(number, (answers[number] or {}).get(goal)) for number in numbers]
                of_goal = [(number, answer) for number, answer in asked_of if answer is not None]
                if of_goal:
                    yield self._cell(action, goal, of_goal)

    def _cell(self, action: Fn, goal: str, answers: Sequence[tuple[int, GoalAnswer]]) -> CellReport:
        fn = self.system.goals.get(goal)
        open_ = [(self.choices[number].text, answer.reason) for number, answer in answers if not answer.proved]
        reason = "; ".join(f"{text}: {why}" if text else str(why) for text, why in open_)
        return CellReport(
            action.name,
            self.idents.get(goal, goal),
            "unknown" if open_ else "proved",
            round(sum(answer.seconds for _, answer in answers), 3),
            tuple(sorted({lemma for _, answer in answers for lemma in answer.lemmas})),
            reason or None,
            source=None if fn is None else fn.place,
        )

    # ------------------------------------------------------------------------- the claim

    def _skipped(self, answers: Mapping[int, Mapping[str, GoalAnswer] | None]) -> Iterator[Skipped]:
        """Yield properties that say nothing, and actions that are never enabled."""
        yield from (one for one in self.bounded.skipped if one.id not in ("action", "arguments"))
        for action in self.proof.model.actions:
            numbers = [number for number, choice in enumerate(self.choices) if choice.action is action]
            if all(answers.get(number, {}) is None for number in numbers):
                bounded = (one for one in self.bounded.skipped if one.id == "action" and one.name == action.name)
                yield next(bounded, Skipped("action", action.name, NEVER))
                continue
            for number in numbers:
                if answers.get(number, {}) is None:
                    yield Skipped("arguments", self.choices[number].name, NEVER)

    def _coverage(self, answers: Mapping[int, Mapping[str, GoalAnswer] | None]) -> Coverage:
        claim = self.bounded.coverage
        assert claim is not None
        enabled = [self.choices[number].action.name for number, one in answers.items() if one is not None]
        sizes = self.system.evaluator.sizes
        return structs.replace(
            claim,
            actions=len(set(enabled)),
            choices=len(enabled),
            renamed=0,
            all_choices=len(self.choices),
            brokers=None,
            replicas=None,
            sizes=tuple(f"any {name} from {least}" for name, least in sorted(sizes.least.items())),
        )
