"""`elrcheck prove`: initiation, consecution, implication in one command.

The lemmas are the induction hypothesis. They must imply the properties of states; properties of steps must
hold for every step from a state that satisfies all lemmas. Epochs are unbounded and perturbations unlimited:
there are no budgets. The log length is the only data bound.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import z3
from msgspec import structs

from elrcheck.base.errors import NothingChecked
from elrcheck.base.kept.age import Kept
from elrcheck.base.progress import ObligationDone, Progress
from elrcheck.base.proof_requests import CertificateRequest, ProveRequest
from elrcheck.base.runner.worker import useful_workers
from elrcheck.base.typed.configuration import config_values
from elrcheck.catalogue.select import resolve, select_properties
from elrcheck.invariants.modules import condition_of, lemmas_of, load_proof_model
from elrcheck.invariants.modules import number as number_of
from elrcheck.invariants.proof.consecution import Obligation, Work, goal_names, in_processes, obligations
from elrcheck.invariants.proof.digests import Digests
from elrcheck.invariants.proof.necessity import needs
from elrcheck.invariants.proof.obligations import TYPES, Discharge, Prover
from elrcheck.invariants.proof.transition import Instance, Transitions
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.lang.runtime import ModelConfig
from elrcheck.proving.certify import certify, demand_room
from elrcheck.proving.check_certificate import run_check_certificate
from elrcheck.proving.covered import assumptions, coverage, skipped, widened
from elrcheck.proving.kept_cells import KeptCells
from elrcheck.proving.possible_steps import what_is_possible
from elrcheck.proving.properties_left import lemma_need, surviving
from elrcheck.proving.step_failure import step_failure
from elrcheck.results.prove_report import (
    CellReport,
    CellVerdict,
    InductionFailure,
    LemmaNeed,
    ObligationReport,
    PhaseReport,
    PossibleReport,
    ProofVerdict,
    ProveReport,
    SolverReport,
    Surviving,
    second_solver,
    with_second,
)
from elrcheck.traces.describe import leaves

PhaseName = Literal["initiation", "consecution", "implication"]
DEFAULT_TIMEOUT = 60.0
LITTLE = 150
"""Obligations that this process asks itself: others would take as long to build the terms of them."""
RANK: dict[CellVerdict, int] = {"proved": 0, "unknown": 1, "refuted": 2}


@dataclass
class _Cell:
    """All obligations of one action and one lemma."""

    action: str
    lemma: str
    verdict: CellVerdict = "proved"
    seconds: float = 0.0
    core: set[str] = field(default_factory=set)
    reason: str | None = None
    failure: InductionFailure | None = None
    source: str | None = None
    kept: bool = True

    def report(self) -> CellReport:
        core = tuple(sorted(self.core))
        seconds = round(self.seconds, 3)
        return CellReport(
            self.action, self.lemma, self.verdict, seconds, core, self.reason, self.failure, self.source, self.kept
        )


def run_prove(request: ProveRequest, progress: Progress) -> ProveReport:
    """Discharge every obligation of the selected configuration; an unknown one makes it inconclusive."""
    selected = resolve(request.selection)
    model = load_proof_model()
    chosen = [fn for fn in select_properties(model, request.properties) if fn.kind == "always"]
    if not chosen:
        raise NothingChecked("no-property", "only `always` properties can be proved, and none is selected")
    config = widened(selected.config, selected.overrides, request.assumed)
    if request.certificate is not None:
        demand_room(request.certificate)
    proof = Proof(model, config, chosen, request.timeout or DEFAULT_TIMEOUT, progress, request.assumed)
    proof.keep(request.fresh)
    report = proof.run(selected.variant, useful_workers(request.workers, len(proof.transitions.instances)))
    if request.surviving:
        report = structs.replace(report, surviving=proof.surviving())
    if request.needed and report.verdict == "proved":
        report = structs.replace(report, needs=proof.needs())
    if request.certificate is not None:
        _certified(proof, report, request.certificate)
    if request.solver is None:
        return report
    with tempfile.TemporaryDirectory() as scratch:
        folder = request.certificate or _certified(proof, report, Path(scratch) / "certificate")
        asked = CertificateRequest(folder, request.solver, request.workers, request.timeout)
        return with_second(report, second_solver(run_check_certificate(asked, progress)))


def _certified(proof: Proof, report: ProveReport, folder: Path) -> Path:
    chosen = [*proof.step_properties, *proof.state_properties]
    certify(folder, proof.prover, report, proof.found, proof.goals, chosen)
    return folder


class Proof:
    """The proof of one configuration."""

    def __init__(
        self,
        model: Model,
        config: ModelConfig,
        chosen: Sequence[Fn],
        timeout: float,
        progress: Progress,
        assumed: Sequence[str] = (),
    ) -> None:
        self.model, self.config, self.progress, self.timeout = model, config, progress, timeout
        self.chosen, self.assumed = tuple(chosen), tuple(assumed)
        progress.stage("building the transition relation")
        self.transitions = Transitions(model, config, any_order=True, assumed=self.assumed)
        self.prover = Prover(self.transitions, lemmas_of(model), timeout)
        silent = [fn for fn in chosen if self.prover.says_nothing(fn)]
        self.silent = frozenset(fn.name for fn in silent)
        asked = [fn for fn in chosen if fn.name not in self.silent]
        self.state_properties = [fn for fn in asked if not fn.is_step]
        self.step_properties = [fn for fn in asked if fn.is_step]
        self.goals = goal_names(model, [fn.name for fn in self.step_properties])
        self.found: dict[int, dict[str, Discharge]] = {}
        self.digests = Digests(self.prover)
        self.kept: KeptCells | None = None

    def keep(self, fresh: bool) -> None:
        """Take over what earlier runs have proved, unless `fresh`, and keep what this one proves."""
        self.kept = KeptCells(self.digests, fresh)

    def run(self, variant: str, workers: int = 1) -> ProveReport:
        """Run the whole proof; workers > 1 requires the packaged model, which each process loads itself."""
        started = time.perf_counter()
        self.progress.stage("[1/4] initiation")
        initiation = [
            self._obligation("initiation", None, self.prover.initial_types()),
            *(self._obligation("initiation", fn, self.prover.initiation(fn)) for fn in self.prover.lemmas),
        ]
        self.progress.stage("[2/4] consecution")
        cells = [cell.report() for cell in self._consecution(workers)]
        self.progress.stage("[3/4] implication")
        implication = [self._implication(fn) for fn in self.state_properties]
        self.progress.stage("[4/4] what is possible")
        possible = what_is_possible(self.prover, self.progress)
        phases = (_phase("initiation", initiation), _phase("consecution", cells), _phase("implication", implication))
        return ProveReport(
            verdict=_verdict([*initiation, *cells, *implication], possible),
            variant=variant,
            config=config_values(self.config),
            solver=SolverReport("z3", z3.get_version_string(), self.timeout),
            seconds=round(time.perf_counter() - started, 3),
            phases=phases,
            initiation=tuple(initiation),
            cells=tuple(cells),
            implication=tuple(implication),
            skipped=skipped(self.model, self.transitions, self.chosen, self.silent),
            coverage=coverage(
                self.model, self.transitions, len(self.state_properties) + len(self.step_properties), variant
            ),
            assumptions=assumptions(self.model, self.assumed),
            kept=None if self.kept is None else Kept.oldest(self.kept.used),
            possible=possible,
        )

    def surviving(self) -> Surviving:
        """What the lemmas prove that every step preserves; `run` need not come before."""
        self.progress.stage("what survives")
        asked = (*self.state_properties, *self.step_properties)
        properties = sorted(asked, key=lambda fn: number_of(fn.ident))
        found = self.found or self._kept_before()
        return surviving(self.model, self.transitions, properties, self.timeout, found)

    def needs(self) -> tuple[LemmaNeed, ...]:
        """What is open without each lemma, after a `run` that left nothing open."""
        self.progress.stage("what needs each lemma")
        cores = {
            (number, goal): answer.core for number, answers in self.found.items() for goal, answer in answers.items()
        }
        found = needs(self.prover, cores, self.state_properties)
        return tuple(lemma_need(fn.name, found.get(fn.name)) for fn in self.prover.lemmas)

    def _kept_before(self) -> dict[int, dict[str, Discharge]]:
        """What earlier runs have proved."""
        if self.kept is None:
            return {}
        known = (self.kept.find(instance, self.goals) for instance in self.transitions.instances)
        return {
            number: {name: answer for name, answer in answers.items() if answer is not None}
            for number, answers in enumerate(known)
        }

    # ------------------------------------------------------------------------- phases

    def _implication(self, fn: Fn) -> ObligationReport:
        condition = condition_of(self.model, fn, self.transitions.config)
        done = self._obligation("implication", fn, self.prover.implication(fn))
        return done if condition is None else structs.replace(done, condition=condition.doc)

    def _obligation(self, phase: PhaseName, fn: Fn | None, done: Discharge) -> ObligationReport:
        name = TYPES if fn is None else fn.name
        self.progress.tell(ObligationDone(phase, 1, 1, name, done.verdict, done.seconds))
        witness = None if done.before is None else dict(leaves(done.before, self.model.state_ty))
        return ObligationReport(
            name,
            done.verdict,
            round(done.seconds, 3),
            fn.ident or None if fn is not None else None,
            tuple(sorted(done.core)),
            done.reason,
            witness,
            None if fn is None else fn.place,
        )

    def _consecution(self, workers: int) -> list[_Cell]:
        goals = {fn.name: fn for fn in (*self.prover.lemmas, *self.step_properties)}
        instances = self.transitions.instances
        names, total = self.goals, len(instances) * len(self.goals)
        found = self.found = {number: {} for number in range(len(instances))}
        for decided, (number, name, answer) in enumerate(self._answers(names, workers), start=1):
            if answer is not None:
                found[number][name] = answer
                subject = f"{instances[number].action} x {name}"
                self.progress.tell(
                    ObligationDone("consecution", decided, total, subject, answer.verdict, answer.seconds)
                )
        merged: dict[tuple[str, str], _Cell] = {}
        for number, instance in enumerate(instances):
            for name in names:
                if name in found[number]:
                    fn = goals.get(name)
                    shown = name if fn is None else fn.ident or name
                    into = merged.setdefault((instance.action, shown), _Cell(instance.action, shown))
                    into.source = None if fn is None else fn.place
                    self._merge(into, instance, fn, found[number][name])
        return list(merged.values())

    def _answers(self, names: Sequence[str], workers: int) -> Iterator[tuple[int, str, Discharge | None]]:
        """The answer to every obligation: number of the instance, goal, None where nothing is to prove."""
        work: list[Work] = []
        for number, instance in enumerate(self.transitions.instances):
            known = self.kept.find(instance, names) if self.kept is not None else {}
            yield from ((number, name, answer) for name, answer in known.items())
            if left := tuple(name for name in names if name not in known):
                work.append(Work(number, left, self.digests.work(instance, left)))
        for number, answers in self._done(work, min(workers, len(work))):
            new: dict[str, Discharge | None] = {}
            for name, answer in answers:
                new[name] = answer
                yield number, name, answer
            if self.kept is not None:
                self.kept.add(self.transitions.instances[number], new)

    def _done(self, work: Sequence[Work], workers: int) -> Iterator[tuple[int, Iterable[Obligation]]]:
        """The answers of each piece of work; in this process, as they are asked for, if it is little."""
        if workers > 1 and sum(len(part.goals) for part in work) > LITTLE:
            yield from in_processes(self.config, self.timeout, work, workers, self.assumed)
            return
        for part in work:
            instance = self.transitions.instances[part.number]
            yield part.number, obligations(self.prover, instance, part.goals)

    def _merge(self, cell: _Cell, instance: Instance, fn: Fn | None, done: Discharge) -> None:
        cell.seconds += done.seconds
        cell.core |= done.core
        cell.kept = cell.kept and done.kept
        if RANK[done.verdict] > RANK[cell.verdict]:
            cell.verdict, cell.reason = done.verdict, done.reason
            if done.before is not None:
                cell.failure = step_failure(self.model, self.config, instance, fn, done)


def _phase(name: PhaseName, done: Sequence[CellReport | ObligationReport]) -> PhaseReport:
    count = {verdict: sum(d.verdict == verdict for d in done) for verdict in RANK}
    seconds = round(sum(d.seconds for d in done), 3)
    kept = sum(isinstance(d, CellReport) and d.kept for d in done)
    return PhaseReport(name, count["proved"], count["refuted"], count["unknown"], seconds, kept)


def _verdict(done: Sequence[CellReport | ObligationReport], possible: PossibleReport) -> ProofVerdict:
    """The verdict over all obligations; a proof that is about less than it seems shows nothing."""
    worst = max((RANK[d.verdict] for d in done), default=0)
    worst = max(worst, RANK["unknown"] if possible.impossible else 0)
    return ("proved", "inconclusive", "refuted")[worst]
