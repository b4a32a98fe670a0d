"""`elrcheck prove --controller`: every event preserves every rule, from every legal registration.

The proof does not assume reachability. There is one obligation per variant, event and rule: an event in a legal
situation after which the rule is broken. The partition, the brokers' registrations, the settings, the event's payload
and the knobs in `OPEN` are arbitrary (docs/controller-total.md); each of those knobs is checked with both values in
every variant. A counterexample is minimised, read back as plain values, and replayed in plain Python before it is
reported.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import z3

from elrcheck.base.progress import ObligationDone, Progress
from elrcheck.base.proof_requests import ControllerRequest
from elrcheck.base.runner.runner import each
from elrcheck.base.runner.worker import useful_workers
from elrcheck.base.typed.configuration import config_values
from elrcheck.declared.select import choose, resolve
from elrcheck.invariants.controller_events import USED, AnyEvent, EventKind
from elrcheck.invariants.modules import load_controller_model, rules_of
from elrcheck.lang.evaluate import Evaluator
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.lang.runtime import Conjunction
from elrcheck.lang.types import type_of
from elrcheck.model.config import Config
from elrcheck.model.knobs import summary
from elrcheck.model.replication_control import Controller, is_active
from elrcheck.model.state import Registration
from elrcheck.model.variants import VARIANTS
from elrcheck.proof.obligations import ask, milliseconds, new_solver, preferred_model
from elrcheck.proof.symbolic_values import Scalar, Symbolic, arbitrary, constant, read
from elrcheck.proof.z3_algebra import Z3Algebra, formula
from elrcheck.results.proofs.controller_report import (
    ControllerReport,
    EventReport,
    Possibility,
    RuleReport,
    StepFailure,
    StepReport,
    StepVerdict,
    TotalVerdict,
    VariantReport,
)
from elrcheck.results.prove_report import SolverReport
from elrcheck.results.trace_view import Argument, Change
from elrcheck.traces.describe import changes, leaves
from elrcheck.traces.replay import ReplayError

# Suffix of a path -> the least surprising values, best first.
_USUAL: dict[str, tuple[Any, ...]] = {
    "elr_enabled": (True,),
    "topic_min_isr": (-1,),
    "cluster_min_isr": (2, 1, 3),
    "registered": (True,),
    "fenced": (False,),
    "in_controlled_shutdown": (False,),
    "epoch": (1,),
    "presented": (0,),
    "value": (1, 2),
}


def wishes(config: Config, situation: Symbolic, event: Symbolic, knobs: Mapping[str, Any]) -> Iterator[Any]:
    """Yield what makes a counterexample easy to read, as formulas over situation and event, the most important first.

    They do not affect the result: a solver model is pinned to each in turn where possible.
    """
    settings = [s for s in situation.scalars if s.path.startswith("s.settings.")]
    replicas = [s for s in situation.scalars if s.path.startswith("s.partition.replicas")]
    rest = [s for s in situation.scalars if s not in settings and s not in replicas]
    for name, term in knobs.items():
        yield term == getattr(config, name)
    for scalar in (*settings, *_by_interest(rest)):
        yield from _wish(scalar)
    yield from _short_and_ascending(replicas)
    for scalar in event.scalars:
        if scalar.path.startswith("e.replicas"):
            continue
        yield from _wish(scalar)
    yield from _short_and_ascending([s for s in event.scalars if s.path.startswith("e.replicas")])


def _by_interest(scalars: list[Scalar]) -> list[Scalar]:
    """Sort fields that rarely matter first, so that they are pinned before ISR and ELR."""
    order = (".adding", ".removing", ".last_known", ".recovery", "_epoch", ".in_controlled_shutdown")
    quiet = [s for part in order for s in scalars if part in s.path]
    return list(dict.fromkeys(quiet + scalars))


def _wish(scalar: Scalar) -> Iterator[Any]:
    if isinstance(scalar.term, list):
        yield from (term == False for term in reversed(scalar.term))  # noqa: E712
        return
    usual = _USUAL.get(scalar.path.rpartition(".")[2])
    if usual is None:
        usual = (-1,) if scalar.ty.kind == "opt" else (False,) if scalar.ty.kind == "bool" else (0,)
    yield from (scalar.term == value for value in usual)


def _short_and_ascending(slots: list[Scalar]) -> Iterator[Any]:
    """Prefer a short list, ascending from broker 0."""
    for length in range(len(slots)):
        yield slots[0].term <= length
    for k, slot in enumerate(slots[1:]):
        yield slot.term == k


# ---------------------------------------------------------------------------- obligations

OPEN = ("unclean_leader_election_enable", "bump_leader_epoch_on_isr_shrink", "recovery_state_supported")
"""Settings of a topic or a metadata version, independent of the release; the proof covers both values."""


@dataclass(frozen=True)
class Counterexample:
    """The plain values of a refuted obligation, and its configuration with the open knobs fixed."""

    config: Config
    before: Controller
    event: AnyEvent
    after: Controller


@dataclass(frozen=True)
class ObligationAnswer:
    """The solver's answer to one obligation."""

    verdict: StepVerdict
    seconds: float
    reason: str | None = None
    counterexample: Counterexample | None = None


@dataclass(frozen=True)
class OpenStep:
    """One kind of event in an arbitrary legal situation: a solver that asserts both, and the outcome."""

    solver: Any
    event: dict[str, Any]
    after: dict[str, Any]


class StepProver:
    """The obligations of one configuration; `fixed` names open knobs that keep their value."""

    def __init__(self, model: Model, config: Config, timeout: float | None, fixed: Sequence[str] = ()) -> None:
        self.model, self.config = model, config
        self.timeout = milliseconds(timeout)
        self.knobs = {name: z3.Bool(name) for name in OPEN if name not in fixed}
        algebra = Z3Algebra()
        self.evaluator = Evaluator(model.fns, replace(config, **self.knobs), algebra)
        self.structure = self.evaluator.structure
        self.situation = arbitrary(self.structure, type_of(Controller), "s")
        self.event = arbitrary(self.structure, type_of(AnyEvent), "e")
        self.legal = formula(self.holds("legal", s=self.situation.value))
        self.wishes = list(wishes(config, self.situation, self.event, self.knobs))

    def holds(self, name: str, **args: Any) -> Any:
        """Evaluate a function of the model on these arguments."""
        return self.evaluator.call(self.model.fns[name], (), args)

    def open_step(self, kind: EventKind) -> OpenStep:
        """Assert that the event happens in an arbitrary legal situation."""
        event = {**self.event.value, "kind": list(EventKind).index(kind)}
        solver = new_solver(self.timeout)
        happens = formula(self.holds("possible", s=self.situation.value, e=event))
        solver.add(self.situation.within, self.event.within, self.legal, happens)
        return OpenStep(solver, event, self.holds("after", s=self.situation.value, e=event))

    def possible(self, step: OpenStep) -> tuple[Any, float]:
        """Ask for a legal situation that allows the event: the answer of Z3, and the seconds spent."""
        started = time.perf_counter()
        answer = ask(step.solver, self.timeout)
        return answer, time.perf_counter() - started

    def keeps(self, step: OpenStep, rule: Fn) -> ObligationAnswer:
        """Discharge the obligation that the rule holds after the event."""
        goal = self.holds(rule.name, s=self.situation.value, e=step.event, t=step.after)
        step.solver.push()
        step.solver.add(z3.Not(formula(goal)))
        answer = self._answer(step)
        step.solver.pop()
        return answer

    def _answer(self, step: OpenStep) -> ObligationAnswer:
        started = time.perf_counter()
        answer = ask(step.solver, self.timeout)
        seconds = time.perf_counter() - started
        if answer == z3.unsat:
            return ObligationAnswer("proved", seconds)
        if answer == z3.unknown:
            return ObligationAnswer("unknown", seconds, reason=step.solver.reason_unknown())
        small = preferred_model(step.solver, self.timeout, self.wishes)
        return ObligationAnswer("refuted", seconds, counterexample=self._read(small, step))

    def _read(self, solved: Any, step: OpenStep) -> Counterexample:
        chosen = {name: constant(solved, term) for name, term in self.knobs.items()}
        return Counterexample(
            replace(self.config, **chosen),
            read(solved, self.structure, self.situation.value, self.situation.ty),
            read(solved, self.structure, step.event, self.event.ty),
            read(solved, self.structure, step.after, self.situation.ty),
        )


DEFAULT_TIMEOUT = 60.0


@dataclass(frozen=True)
class Batch:
    """Events of one variant for one worker. fixed: open knobs that keep their value from `config`."""

    variant: str
    config: Config
    fixed: tuple[str, ...]
    kinds: tuple[EventKind, ...]
    rules: tuple[str, ...]
    timeout: float


@dataclass(frozen=True)
class ProvedEvent:
    """The result for one event: its cells."""

    variant: str
    kind: EventKind
    event: EventReport
    cells: tuple[StepReport, ...]


# ---------------------------------------------------------------------------- one batch


def prove_events(batch: Batch) -> Iterator[ProvedEvent]:
    """Prove the events of a batch one by one."""
    model = load_controller_model()
    rules = [fn for fn in rules_of(model) if fn.ident in batch.rules]
    prover = StepProver(model, batch.config, batch.timeout, batch.fixed)
    for kind in batch.kinds:
        step = prover.open_step(kind)
        answer, seconds = prover.possible(step)
        possible: Possibility = "possible" if answer == z3.sat else "impossible" if answer == z3.unsat else "unknown"
        to_prove = () if possible == "impossible" else rules
        cells = tuple(_cell(model, kind, fn, prover.keeps(step, fn)) for fn in to_prove)
        event = EventReport(kind.name, kind.value, possible, round(seconds, 3))
        yield ProvedEvent(batch.variant, kind, event, cells)


def prove_batch(batch: Batch) -> tuple[ProvedEvent, ...]:
    """Prove a whole batch; runs in a worker process."""
    return tuple(prove_events(batch))


def _cell(model: Model, kind: EventKind, fn: Fn, answer: ObligationAnswer) -> StepReport:
    failure = None if answer.counterexample is None else replayed(model, fn, answer.counterexample)
    return StepReport(kind.name, fn.ident, answer.verdict, round(answer.seconds, 3), answer.reason, failure)


# ---------------------------------------------------------------------------- counterexamples


def replayed(model: Model, rule: Fn, example: Counterexample) -> StepFailure:
    """Report a counterexample; ReplayError unless plain Python confirms it."""
    fns, config = model.fns, example.config
    step = (config, example.before, example.event)
    if not fns["legal"].source(config, example.before) or not fns["possible"].source(*step):
        raise ReplayError(f"the solver's counterexample to {rule.ident} is not a legal event")
    if fns["after"].source(*step) != example.after:
        raise ReplayError(f"the solver's result of {example.event.kind.name} is not the model's")
    holds = rule.source(*step, example.after)
    if holds:
        raise ReplayError(f"{rule.ident} holds after the solver's counterexample")
    broken = ", ".join(holds.broken) if isinstance(holds, Conjunction) else None
    ty = type_of(Controller)
    return StepFailure(
        knobs={name: getattr(config, name) for name in OPEN},
        brokers={str(b): in_words(r) for b, r in enumerate(example.before.registration)},
        before={path: v for path, v in leaves(example.before, ty) if not path.startswith("registration")},
        arguments=tuple(_arguments(example.event)),
        changes=tuple(Change(x.path, x.old, x.new) for x in changes(example.before, example.after, ty)),
        conjunct=broken,
        replayed=True,
    )


def in_words(r: Registration) -> str:
    """Describe a broker's registration: active, fenced, shutting down or unregistered, and its epoch."""
    state = "active" if is_active(r) else "shutting down" if not r.fenced else "fenced"
    if r.fenced and r.in_controlled_shutdown:
        state = "fenced, shutting down"
    return f"{state if r.registered else 'unregistered'}, epoch {r.epoch}"


def _arguments(event: AnyEvent) -> Iterator[Argument]:
    types = type_of(AnyEvent).fields
    for name in USED[event.kind]:
        for path, value in leaves(getattr(event, name), types[name], name):
            yield Argument(path, value)


# ---------------------------------------------------------------------------- the run


def run_controller(request: ControllerRequest, progress: Progress) -> ControllerReport:
    """Discharge all obligations of the requested variants; an unknown one makes it inconclusive."""
    started = time.perf_counter()
    model = load_controller_model()
    chosen = choose(rules_of(model), request.rules, "rule")
    rules = [fn for fn in rules_of(model) if fn in chosen]
    timeout = request.timeout or DEFAULT_TIMEOUT
    names = [v.name for v in VARIANTS] if request.all_variants else [request.selection.variant]
    kinds = tuple(EventKind)
    workers = useful_workers(request.workers, len(names) * len(kinds))
    pieces = 1 if workers == 1 else min(len(kinds), 2 * workers)
    batches = []
    for name in names:
        selected = resolve(replace(request.selection, variant=name))
        config = selected.config
        if request.brokers is not None:
            config = replace(config, broker_count=request.brokers, spare_brokers=0)
        fixed = tuple(knob for knob in OPEN if knob in selected.overrides)
        for piece in range(pieces):
            batches.append(Batch(name, config, fixed, kinds[piece::pieces], tuple(fn.ident for fn in rules), timeout))
    results = _results(batches, workers, len(names) * len(kinds), progress)
    variants = tuple(_variant(batch, results) for batch in batches[::pieces])
    return ControllerReport(
        verdict=_worst([v.verdict for v in variants]),
        brokers=batches[0].config.broker_count,
        solver=SolverReport("z3", z3.get_version_string(), timeout),
        seconds=round(time.perf_counter() - started, 3),
        rules=tuple(RuleReport(fn.ident, fn.name, summary(fn.doc), fn.note, fn.place) for fn in rules),
        variants=variants,
    )


def _results(batches: Sequence[Batch], workers: int, total: int, progress: Progress) -> list[ProvedEvent]:
    progress.stage(f"proving {total} events, {workers} at a time")
    results: list[ProvedEvent] = []
    parts = map(prove_events, batches) if workers == 1 else each(prove_batch, batches, workers)
    for part in parts:
        for result in part:
            results.append(result)
            worst = _worst([_TOTAL[cell.verdict] for cell in result.cells])
            seconds = sum(cell.seconds for cell in result.cells)
            subject = f"{result.variant}: {result.kind.name}"
            progress.tell(ObligationDone("controller", len(results), total, subject, worst, seconds))
    return results


_TOTAL: dict[str, TotalVerdict] = {"proved": "proved", "refuted": "refuted", "unknown": "inconclusive"}


def _worst(verdicts: Sequence[TotalVerdict]) -> TotalVerdict:
    for verdict in ("refuted", "inconclusive"):
        if verdict in verdicts:
            return verdict
    return "proved"


def _variant(batch: Batch, results: Sequence[ProvedEvent]) -> VariantReport:
    order = list(EventKind)
    mine = sorted((r for r in results if r.variant == batch.variant), key=lambda r: order.index(r.kind))
    cells = tuple(cell for r in mine for cell in r.cells)
    unsure: list[TotalVerdict] = ["inconclusive" for r in mine if r.event.verdict == "unknown"]
    verdicts = [_TOTAL[cell.verdict] for cell in cells]
    return VariantReport(
        variant=batch.variant,
        verdict=_worst([*verdicts, *unsure]),
        proved=verdicts.count("proved"),
        refuted=verdicts.count("refuted"),
        unknown=verdicts.count("inconclusive"),
        seconds=round(sum(cell.seconds for cell in cells), 3),
        config=config_values(batch.config),
        open=tuple(knob for knob in OPEN if knob not in batch.fixed),
        events=tuple(r.event for r in mine),
        cells=cells,
    )
