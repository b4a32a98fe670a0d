"""`elrcheck prove --controller`: every event preserves every rule, from every legal registration.

The proof does not assume reachability. There is one obligation per variant, event and rule; the partition,
the brokers' registrations, the settings and the event's payload are arbitrary (docs/controller-total.md).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import z3

from elrcheck.base.progress import ObligationDone, Progress
from elrcheck.base.proof_requests import ControllerRequest
from elrcheck.base.runner.runner import each
from elrcheck.base.runner.worker import useful_workers
from elrcheck.base.typed.configuration import config_values
from elrcheck.declared.select import choose, resolve
from elrcheck.invariants.controller_events import USED, AnyEvent, EventKind
from elrcheck.invariants.modules import load_controller_model, rules_of
from elrcheck.kafka.controller_proof.controller_obligations import OPEN, Counterexample, ObligationAnswer, StepProver
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.lang.runtime import Conjunction
from elrcheck.lang.types import type_of
from elrcheck.model.config import Config
from elrcheck.model.knobs import summary
from elrcheck.model.replication_control import Controller, is_active
from elrcheck.model.state import Registration
from elrcheck.model.variants import VARIANTS
from elrcheck.results.proofs.controller_report import (
    ControllerReport,
    EventReport,
    Possibility,
    RuleReport,
    StepFailure,
    StepReport,
    TotalVerdict,
    VariantReport,
)
from elrcheck.results.prove_report import SolverReport
from elrcheck.results.trace_view import Argument, Change
from elrcheck.traces.describe import changes, leaves
from elrcheck.traces.replay import ReplayError

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
