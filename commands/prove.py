"""`elrcheck prove`: initiation, consecution, implication in one command.

The lemmas are the induction hypothesis. They must imply the properties of states; properties of steps must
hold for every step from a state that satisfies all lemmas. Epochs are unbounded and perturbations unlimited:
there are no budgets. The log length is the only data bound.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import z3

from elrcheck.base.errors import NothingChecked
from elrcheck.base.progress import ObligationDone, Progress
from elrcheck.base.requests import ProveRequest
from elrcheck.base.worker_pool import useful_workers
from elrcheck.catalogue.configuration import config_values
from elrcheck.catalogue.select import resolve, select_properties
from elrcheck.invariants.modules import load_proof_model
from elrcheck.invariants.proof.consecution import Obligation, in_processes, obligations
from elrcheck.invariants.proof.obligations import Discharge, Prover
from elrcheck.invariants.proof.transition import Instance, Transitions
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.lang.runtime import ModelConfig
from elrcheck.model.choices import RecoveryStrategy
from elrcheck.results.prove_report import (
    CellReport,
    CellVerdict,
    InductionFailure,
    ObligationReport,
    PhaseReport,
    ProofVerdict,
    ProveReport,
    Skipped,
    SolverReport,
)
from elrcheck.traces.behaviour import Behaviour, Origin
from elrcheck.traces.describe import arguments, changes, leaves, talk
from elrcheck.traces.replay import ReplayError, replay
from elrcheck.traces.violation import explain

PhaseName = Literal["initiation", "consecution", "implication"]
DEFAULT_TIMEOUT = 60.0
PROOF_LOG_SLOTS = 2
"""Log slots of a proof, unless `--set log_slots` overrides it; scopes keep logs short for searching."""
COVERED: dict[str, Any] = {
    "unclean_recovery_strategy": RecoveryStrategy.DISABLED,
    "response_loss": True,
    "fetch_loss": True,
    "kills": 1,
    "shutdowns": 1,
    "unregistrations": 1,
    "directory_changes": 1,
    "elections": 1,
    "acks_zero": 1,
}
"""Budgets of a proof: a budget above 0 enables its action, without any limit."""
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

    def report(self) -> CellReport:
        core = tuple(sorted(self.core))
        seconds = round(self.seconds, 3)
        return CellReport(
            self.action, self.lemma, self.verdict, seconds, core, self.reason, self.failure, self.source
        )


def run_prove(request: ProveRequest, progress: Progress) -> ProveReport:
    """Discharge every obligation of the selected configuration; an unknown one makes it inconclusive."""
    selected = resolve(request.selection)
    model = load_proof_model()
    chosen = [fn for fn in select_properties(model, request.properties) if fn.kind == "always"]
    if not chosen:
        raise NothingChecked("no-property", "only `always` properties can be proved, and none is selected")
    config = selected.config
    wide = {"log_slots": max(config.log_slots, PROOF_LOG_SLOTS), **COVERED}
    config = replace(config, **{name: to for name, to in wide.items() if name not in selected.overrides})
    proof = Proof(model, config, chosen, request.timeout or DEFAULT_TIMEOUT, progress)
    return proof.run(selected.variant, useful_workers(request.workers, len(proof.transitions.instances)))


class Proof:
    """The proof of one configuration."""

    def __init__(
        self, model: Model, config: ModelConfig, chosen: Sequence[Fn], timeout: float, progress: Progress
    ) -> None:
        self.model, self.config, self.progress, self.timeout = model, config, progress, timeout
        self.plain = PlainModel(model, config)
        self.state_properties = [fn for fn in chosen if not fn.is_step and not fn.note]
        self.step_properties = [fn for fn in chosen if fn.is_step and not fn.note]
        progress.stage("building the transition relation")
        self.transitions = Transitions(model, config)
        bounded = [Skipped(fn.ident, fn.name, fn.note) for fn in chosen if fn.note]
        self.skipped = (*bounded, *self._outside())
        self.prover = Prover(self.transitions, model.lemmas, timeout)

    def run(self, variant: str, workers: int = 1) -> ProveReport:
        """Run the whole proof; workers > 1 requires the packaged model, which each process loads itself."""
        started = time.perf_counter()
        self.progress.stage("[1/3] initiation")
        initiation = [
            self._obligation("initiation", fn, fn.name, self.prover.initiation(fn))
            for fn in self.model.lemmas
        ]
        self.progress.stage("[2/3] consecution")
        cells = [cell.report() for cell in self._consecution(workers)]
        self.progress.stage("[3/3] implication")
        implication = [
            self._obligation("implication", fn, fn.name, self.prover.implication(fn))
            for fn in self.state_properties
        ]
        phases = (
            _phase("initiation", initiation),
            _phase("consecution", cells),
            _phase("implication", implication),
        )
        return ProveReport(
            verdict=_verdict([*initiation, *cells, *implication]),
            variant=variant,
            config=config_values(self.config),
            solver=SolverReport("z3", z3.get_version_string(), self.timeout),
            seconds=round(time.perf_counter() - started, 3),
            phases=phases,
            initiation=tuple(initiation),
            cells=tuple(cells),
            implication=tuple(implication),
            skipped=self.skipped,
        )

    def _outside(self) -> list[Skipped]:
        """Actions that this configuration does not have: the verdict does not cover them."""
        inside = {instance.action for instance in self.transitions.instances}
        return [
            Skipped("action", fn.name, "INCONCLUSIVE: not part of the proof in this configuration")
            for fn in self.model.actions
            if fn.name not in inside
        ]

    # ------------------------------------------------------------------------- phases

    def _obligation(self, phase: PhaseName, fn: Fn, name: str, done: Discharge) -> ObligationReport:
        self.progress.obligation(ObligationDone(phase, 1, 1, name, done.verdict, done.seconds))
        witness = None if done.before is None else dict(leaves(done.before, self.model.state_ty))
        return ObligationReport(
            name,
            done.verdict,
            round(done.seconds, 3),
            fn.ident or None,
            tuple(sorted(done.core)),
            done.reason,
            witness,
            fn.place,
        )

    def _consecution(self, workers: int) -> list[_Cell]:
        goals = [*self.model.lemmas, *self.step_properties]
        instances = self.transitions.instances
        total = len(instances) * (len(goals) + 1)
        done = 0
        found: dict[int, list[Obligation]] = {}
        for number, cells in self._instances(goals, workers):
            found[number] = []
            for cell in cells:
                found[number].append(cell)
                done += 1
                subject = f"{instances[number].action} x {cell[0]}"
                self.progress.obligation(
                    ObligationDone("consecution", done, total, subject, cell[2].verdict, cell[2].seconds)
                )
            done = len(found) * (len(goals) + 1)
        merged: dict[tuple[str, str], _Cell] = {}
        for number, instance in enumerate(instances):
            for name, fn, answer in found[number]:
                into = merged.setdefault((instance.action, name), _Cell(instance.action, name))
                into.source = None if fn is None else fn.place
                self._merge(into, instance, fn, answer)
        return list(merged.values())

    def _instances(self, goals: Sequence[Fn], workers: int) -> Iterator[tuple[int, Iterable[Obligation]]]:
        """The cells of every instance, with the number of the instance."""
        if workers > 1:
            yield from in_processes(self.config, goals, self.timeout, workers)
            return
        for number, instance in enumerate(self.transitions.instances):
            yield number, obligations(self.prover, instance, goals)

    def _merge(self, cell: _Cell, instance: Instance, fn: Fn | None, done: Discharge) -> None:
        cell.seconds += done.seconds
        cell.core |= done.core
        if RANK[done.verdict] > RANK[cell.verdict]:
            cell.verdict, cell.reason = done.verdict, done.reason
            if done.before is not None:
                cell.failure = self._failure(instance, fn, done)

    def _failure(self, instance: Instance, fn: Fn | None, done: Discharge) -> InductionFailure:
        """The counterexample to induction, replayed through the plain model."""
        step = (Label(instance.action, instance.args),)
        behaviour = Behaviour(Origin(), (done.before, done.after), step)
        if replay(self.model, self.config, behaviour, anywhere=True).rejection is not None:
            raise ReplayError(f"the solver's step {step[0]} is not the model's")
        conjunct = None
        if fn is not None:
            states = (done.before, done.after) if fn.is_step else (done.after,)
            if self.plain.holds(fn, *states):
                raise ReplayError(f"{fn.name} holds after the solver's counterexample")
            broken = explain(self.model, self.config, fn, states)
            conjunct = ": ".join(part for part in (broken.conjunct, broken.witness) if part) or None
        ty = self.model.state_ty
        action = next(a for a in self.model.actions if a.name == instance.action)
        given = arguments(action, instance.args)
        return InductionFailure(
            before=dict(leaves(done.before, ty)),
            arguments=given,
            changes=changes(done.before, done.after, ty),
            conjunct=conjunct,
            replayed=True,
            source=action.place,
            talk=talk(action, given),
        )


def _phase(name: PhaseName, done: Sequence[CellReport | ObligationReport]) -> PhaseReport:
    count = {verdict: sum(d.verdict == verdict for d in done) for verdict in RANK}
    seconds = round(sum(d.seconds for d in done), 3)
    return PhaseReport(name, count["proved"], count["refuted"], count["unknown"], seconds)


def _verdict(done: Sequence[CellReport | ObligationReport]) -> ProofVerdict:
    worst = max((RANK[d.verdict] for d in done), default=0)
    return ("proved", "inconclusive", "refuted")[worst]
