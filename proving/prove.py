"""`elrcheck prove`: initiation, consecution, implication in one command.

The lemmas are the induction hypothesis. They must imply the properties of states; properties of steps must hold for
every step from a state that satisfies all lemmas. There are no budgets, and numbers without `hi=` are unbounded.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Collection, Sequence
from pathlib import Path

import z3
from msgspec import structs

from elrcheck.base.errors import NothingChecked, UsageFault
from elrcheck.base.kept.age import KeptOrigin
from elrcheck.base.progress import ObligationDone, Progress
from elrcheck.base.proof_requests import CertificateRequest, ProveRequest
from elrcheck.base.runner.worker import useful_workers
from elrcheck.base.typed.configuration import config_values
from elrcheck.declared.select import Selected, resolve, select_properties
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model, by_number
from elrcheck.lang.runtime import ModelConfig
from elrcheck.proof.any_size.questions import Routes, routes_of
from elrcheck.proof.hypotheses import condition_of, lemmas_of
from elrcheck.proof.obligations import TYPES, Discharge, Prover
from elrcheck.proof.transition import Transitions
from elrcheck.proving.any_size import GivenSizes, proved_for_any_size, silent_for_any_size
from elrcheck.proving.certify import FinishedProof, certify, demand_room
from elrcheck.proving.check_certificate import run_check_certificate
from elrcheck.proving.consecution_phase import ConsecutionPhase, Digests, KeptCells, goal_names
from elrcheck.proving.covered import PhaseName, assumptions, claimed, coverage, phase, skipped, verdict_of
from elrcheck.proving.failures_by_root import with_roots
from elrcheck.proving.possible_steps import what_is_possible
from elrcheck.proving.properties_left import needs, surviving
from elrcheck.proving.prove_reductions import run_reductions
from elrcheck.proving.step_failure import state_report
from elrcheck.proving.wait_proof import demand_stages, with_waits
from elrcheck.results.proofs.certificate_report import second_solver
from elrcheck.results.prove_report import (
    LemmaNeed,
    ObligationReport,
    PossibleReport,
    ProveReport,
    SolverReport,
    Surviving,
    with_second,
)

DEFAULT_TIMEOUT = 60.0


def run_prove(request: ProveRequest, progress: Progress, partial: bool = False) -> ProveReport:
    """Discharge every obligation of the selected configuration; an unknown one makes the proof inconclusive.

    partial: after an interrupt, return a report of what was decided until then instead of raising KeyboardInterrupt.
    """
    if request.liveness:
        _reject_options(request, "is about a proof of other properties than liveness", "--liveness")
    elif request.any_size:
        _reject_options(request, "is about a proof for given sizes", "--any-size")
    if request.reductions:
        _reject_options(request, "is about a proof of properties", "--reductions")
    selected = resolve(request.selection)
    if request.reductions:
        return structs.replace(run_reductions(selected, request, progress), model=selected.model, patch=selected.patch)
    return structs.replace(_proof_of(selected, request, progress, partial), model=selected.model, patch=selected.patch)


def _proof_of(selected: Selected, request: ProveRequest, progress: Progress, partial: bool) -> ProveReport:
    model = selected.declared.with_waits() if request.liveness else selected.declared.with_lemmas()
    if selected.file is not None and request.assumed:
        message = "--assume is about the proof of Kafka's partition"
        raise UsageFault("usage-option", message, help="leave it out, or leave out --model")
    try:
        selected_properties = select_properties(model, request.properties, request.liveness)
    except UsageFault as fault:
        waits = {name for fn in selected.declared.whole().leads_to for name in (fn.ident, fn.name)}
        if waits & set(request.properties) and not request.liveness:
            fault.help = "--liveness proves liveness properties (V-*), in a run of their own"
        raise
    chosen = [fn for fn in selected_properties if fn.kind == "always"]
    if request.liveness:
        demand_stages(model, selected_properties)
    elif not chosen:
        raise NothingChecked("no-property", "only `always` properties can be proved, and none is selected")
    config = selected.declared.widened(selected.config, selected.overrides, request.assumed)
    if request.certificate is not None:
        demand_room(request.certificate)
    proof = InductionProof(
        model,
        config,
        chosen,
        request.timeout or DEFAULT_TIMEOUT,
        progress,
        request.assumed,
        request.any_size,
        request.liveness,
    )
    if proof.transitions.structure.lifted:
        _demand_bounded(request, proof.transitions.structure.lifted)
    proof.keep(request.fresh or request.any_size)
    workers = useful_workers(request.workers, len(proof.transitions.instances)) if selected.file is None else 1
    report = proof.run(selected.variant, workers, partial)
    if any(cell.verdict == "refuted" for cell in report.cells):
        try:
            report = with_roots(selected, proof.steps, report, progress)
        except KeyboardInterrupt:
            if not partial:
                raise
            report = structs.replace(report, interrupted=True)
    if report.interrupted:
        return report
    if request.liveness:
        report = with_waits(proof.prover, report, selected_properties, progress, partial)
    if report.coverage is not None:
        claim = claimed(selected.declared, proof.transitions, report.coverage, report.variant)
        report = structs.replace(report, coverage=claim)
    if request.any_size:
        file = selected.declared.any_size_routes()
        routes = {} if file is None else routes_of(file.read_text(encoding="utf-8"))
        written = None if request.certificate is None else (request.certificate, selected.declared.digest())
        bounded = proof.with_sizes(report, routes)
        return proved_for_any_size(bounded, request.timeout, workers, progress, written, partial)
    try:
        if request.surviving:
            report = structs.replace(report, surviving=proof.surviving())
        if request.needed and report.verdict == "proved":
            report = structs.replace(report, needs=proof.needs())
        if request.certificate is not None:
            _certified(proof, report, request.certificate, selected)
        if request.solver is None:
            return report
        with tempfile.TemporaryDirectory() as scratch:
            folder = request.certificate or _certified(proof, report, Path(scratch) / "certificate", selected)
            check = CertificateRequest(
                folder, request.solver, request.workers, request.timeout, request.selection, fresh=request.fresh
            )
            return with_second(report, second_solver(run_check_certificate(check, progress)))
    except KeyboardInterrupt:
        if not partial:
            raise
        return structs.replace(report, interrupted=True)


def _reject_options(request: ProveRequest, reason: str, other: str) -> None:
    """Refuse options that go with neither --any-size nor --liveness."""
    chosen = {
        "--solver": request.solver is not None,
        "--surviving": request.surviving,
        "--needed": request.needed,
        "--certificate": (request.liveness or request.reductions) and request.certificate is not None,
        "--any-size": (request.liveness or request.reductions) and request.any_size,
        "--liveness": request.reductions and request.liveness,
        "--assume": request.reductions and bool(request.assumed),
        "--property": request.reductions and bool(request.properties),
    }
    for option, is_chosen in chosen.items():
        if is_chosen:
            raise UsageFault("usage-option", f"{option} {reason}", help=f"leave it out, or leave out {other}")


def _demand_bounded(request: ProveRequest, lifted: Collection[str]) -> None:
    """Refuse options that read whole sequences, where a proof has a sample of one."""
    chosen = {
        "--any-size": request.any_size,
        "--liveness": request.liveness,
        "--certificate": request.certificate is not None,
        "--solver": request.solver is not None,
    }
    for option, is_chosen in chosen.items():
        if is_chosen:
            message = f"{option} reads whole sequences, and a proof knows no limit of {', '.join(sorted(lifted))}"
            raise UsageFault("usage-option", message, help=f"leave out {option}")


def _certified(proof: InductionProof, report: ProveReport, folder: Path, selected: Selected) -> Path:
    chosen = [*proof.step_properties, *proof.state_properties]
    source = selected.declared.digest()
    certify(folder, FinishedProof(proof.prover, report, proof.steps.answers, proof.goals, chosen, source))
    return folder


class InductionProof:
    """The proof of one configuration. steps: the answers to the obligations of steps.

    any_size: a proof for any size follows, for which the lemmas that an answer needed are minimised.
    """

    def __init__(
        self,
        model: Model,
        config: ModelConfig,
        chosen: Sequence[Fn],
        timeout: float,
        progress: Progress,
        assumed: Sequence[str] = (),
        any_size: bool = False,
        liveness: bool = False,
    ) -> None:
        self.model, self.config, self.progress, self.timeout = model, config, progress, timeout
        self.chosen, self.assumed, self.liveness = tuple(chosen), tuple(assumed), liveness
        progress.stage("building the transition relation")
        self.transitions = Transitions(model, config, any_order=True, assumed=self.assumed)
        self.prover = Prover(self.transitions, lemmas_of(model, liveness), timeout, any_size)
        silent: Sequence[Fn] = [fn for fn in chosen if self.prover.is_trivial(fn)]
        if any_size:
            silent = silent_for_any_size(model, config, self.assumed, silent)
        self.silent = frozenset(fn.name for fn in silent)
        to_prove = [fn for fn in chosen if fn.name not in self.silent]
        self.state_properties = [fn for fn in to_prove if not fn.is_step]
        self.step_properties = [fn for fn in to_prove if fn.is_step]
        self.goals = goal_names(model, [fn.name for fn in self.step_properties], liveness)
        self.digests = Digests(self.prover)
        settings = config, timeout, self.assumed, any_size, liveness
        self.steps = ConsecutionPhase(self.digests, self.goals, progress, settings)
        self.cells: KeptCells | None = None

    def keep(self, fresh: bool) -> None:
        """Use the stored answers of earlier runs, unless `fresh`, and store those of this one."""
        self.cells = KeptCells(self.digests, fresh)

    def run(self, variant: str, workers: int = 1, partial: bool = False) -> ProveReport:
        """Run the whole proof; workers > 1 requires the packaged model, which each process loads.

        partial: see `run_prove`.
        """
        started = time.perf_counter()
        initiation, implication = list[ObligationReport](), list[ObligationReport]()
        possible: PossibleReport | None = None
        try:
            self.progress.stage("[1/4] initiation")
            initiation.append(self._obligation("initiation", None, self.prover.initial_types()))
            for fn in self.prover.lemmas:
                initiation.append(self._obligation("initiation", fn, self.prover.initiation(fn)))
            self.progress.stage("[2/4] consecution")
            self.steps.run(self.cells, workers)
            self.progress.stage("[3/4] implication")
            for fn in self.state_properties:
                implication.append(self._implication(fn))
            self.progress.stage("[4/4] what is possible")
            possible = what_is_possible(self.prover, self.progress)
        except KeyboardInterrupt:
            if not partial:
                raise
            self.progress.stage("interrupted; what was decided so far")
        cells = self.steps.reports()
        phases = (phase("initiation", initiation), phase("consecution", cells), phase("implication", implication))
        return ProveReport(
            verdict=verdict_of([*initiation, *cells, *implication], possible),
            variant=variant,
            config=config_values(self.config),
            solver=SolverReport("z3", z3.get_version_string(), self.timeout),
            seconds=round(time.perf_counter() - started, 3),
            phases=phases,
            initiation=tuple(initiation),
            cells=tuple(cells),
            implication=tuple(implication),
            skipped=skipped(self.model, self.transitions, self.chosen, self.silent),
            coverage=coverage(self.model, self.transitions, len(self.state_properties) + len(self.step_properties)),
            assumptions=assumptions(self.model, self.assumed),
            kept=None if self.cells is None else KeptOrigin.oldest(self.cells.used),
            possible=possible,
            interrupted=possible is None,
        )

    def with_sizes(self, report: ProveReport, routes: Routes) -> GivenSizes:
        """Return what a proof for any size begins with. report: of `run`."""
        steps, states = self.step_properties, self.state_properties
        return GivenSizes(self.model, self.config, self.assumed, self.goals, steps, states, report, routes)

    def surviving(self) -> Surviving:
        """Find the lemmas that every step preserves, and the properties that they prove; works without `run`."""
        self.progress.stage("what survives")
        properties = sorted((*self.state_properties, *self.step_properties), key=lambda fn: by_number(fn.ident))
        answers = self.steps.answers or self._stored_answers()
        return surviving(self.model, self.transitions, properties, self.timeout, answers)

    def needs(self) -> tuple[LemmaNeed, ...]:
        """Find, for each lemma, an obligation that is open without it, after a `run` that proved everything."""
        self.progress.stage("what needs each lemma")
        cores = {
            (number, goal): answer.core
            for number, answers in self.steps.answers.items()
            for goal, answer in answers.items()
        }
        return needs(self.prover, cores, self.state_properties)

    def _stored_answers(self) -> dict[int, dict[str, Discharge]]:
        """Return the answers that earlier runs have stored."""
        if self.cells is None:
            return {}
        stored = (self.cells.find(instance, self.goals) for instance in self.transitions.instances)
        return {
            number: {name: answer for name, answer in answers.items() if answer is not None}
            for number, answers in enumerate(stored)
        }

    # ------------------------------------------------------------------------- phases

    def _implication(self, fn: Fn) -> ObligationReport:
        condition = condition_of(self.model, fn, self.transitions.config)
        report = self._obligation("implication", fn, self.prover.implication(fn))
        return report if condition is None else structs.replace(report, condition=condition.doc)

    def _obligation(self, phase: PhaseName, fn: Fn | None, answer: Discharge) -> ObligationReport:
        name = TYPES if fn is None else fn.name
        self.progress.tell(ObligationDone(phase, 1, 1, name, answer.verdict, answer.seconds))
        return state_report(self.model, self.config, name, fn, answer)
