"""`elrcheck simulate`: random walks through a scope that may be too large to exhaust.

The walks run in native code (`walk.py`). A violating walk is repeated from its seed and number, replayed in plain
Python (`replay.py`), and stored as a trace.
"""

from __future__ import annotations

import secrets
import time
from typing import Any

from elrcheck.base.errors import UsageFault
from elrcheck.base.progress import Progress
from elrcheck.base.requests import SimulateRequest
from elrcheck.base.runner.processors import processors
from elrcheck.base.typed.configuration import config_values
from elrcheck.checking.check import store_findings
from elrcheck.checking.runs.folders import reject_file, run_folder
from elrcheck.declared.select import resolve, select_properties
from elrcheck.explorer.kernel.native_code import KernelCache
from elrcheck.explorer.search.guided import Guided
from elrcheck.explorer.search.walk import MOST_WALKS, FirstHit, WalkResult, Walks
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.lang.lowering.lower import lower
from elrcheck.lang.lowering.lowered import Lowered
from elrcheck.results.exploration_report import SeenProperty, SeenVerdict, SimulationReport, WalkedAction, WalksReport
from elrcheck.traces.replay import Replayed, replay_finding

WALKS = 100_000
"""Number of walks without --walks and without a time budget."""


def run_simulate(request: SimulateRequest, progress: Progress) -> SimulationReport:
    """Return the report of the walks; raise UsageFault for unknown names and for liveness properties."""
    selected = resolve(request.selection)
    model = selected.declared.whole()
    chosen = select_properties(model, request.properties)
    if any(fn.kind == "leads_to" for fn in chosen):
        raise UsageFault(
            "simulate-liveness",
            "a walk is finite, so it cannot check liveness (V-*)",
            help="use `elrcheck check --liveness`",
        )
    reject_file(request.run_dir)
    started = time.monotonic()
    seed = secrets.randbits(32) if request.seed is None else request.seed
    progress.stage("compiling the model")
    lowered = lower(model, selected.config, chosen)
    walker: Walks | Guided
    if request.guided:  # in one thread
        walker = Guided(lowered.program, seed, request.depth, cache=KernelCache())
        walks = walker.walks
    else:
        workers = request.workers or processors()
        walker = walks = Walks(lowered.program, seed, request.depth, workers=workers, cache=KernelCache())
    progress.stage(f"walking, guided, seed {seed}" if request.guided else f"walking, seed {seed}")
    result = walker.run(
        request.walks or (WALKS if request.time_budget is None else MOST_WALKS),
        seconds=None if request.time_budget is None else max(request.time_budget - time.monotonic() + started, 0.0),
        stop_at_first=request.stop_at_first,
        progress=progress.tell,
    )
    hits = result.first
    findings: dict[str, Replayed] = {}
    for number, fn in enumerate(chosen):
        if number in hits and fn.kind == "always":
            rows = hits[number].trace or walks.replayed(hits[number].walk, hits[number].step)
            findings[fn.ident] = replay_finding(model, selected.config, fn, list(map(lowered.decode, rows)))
    word = "guided" if request.guided else "simulate"
    folder = request.run_dir or (run_folder(selected, word, seed, request.depth) if findings else None)
    stored = store_findings(folder, selected, findings) if folder is not None else {}
    properties = tuple(
        _property(fn, hits.get(number), findings.get(fn.ident), stored.get(fn.ident))
        for number, fn in enumerate(chosen)
    )
    return SimulationReport(
        verdict="violated" if findings else "inconclusive",
        variant=selected.variant,
        scope=selected.scope,
        config=config_values(selected.config),
        seed=seed,
        depth=request.depth,
        workers=walks.workers,
        detail=_detail(walks),
        search=_report(lowered, request, result),
        properties=properties,
        actions=_actions(model, lowered, result),
        run_dir=None if folder is None else str(folder),
        model=selected.model,
        patch=selected.patch,
    )


def _stopped_by(request: SimulateRequest, result: WalkResult) -> str | None:
    """Return the limit that ended the walks, as the option; compiling may have used part of the time budget."""
    if result.reason is not None and result.reason.startswith("--time-budget"):
        return f"--time-budget {request.time_budget:g}s"
    return result.reason


def _report(lowered: Lowered, request: SimulateRequest, result: WalkResult) -> WalksReport:
    leaves = lowered.program.leaves
    return WalksReport(
        walks=result.begun,
        ended=result.ended,
        steps=result.steps,
        states=result.states,
        deepest=result.deepest,
        deadlocks=result.deadlocks,
        blocked=result.blocked,
        distinct_estimate=round(result.distinct, 1),
        distinct_error=round(result.error, 1),
        seconds=round(result.seconds, 3),
        states_per_second=round(result.states / result.seconds, 1) if result.seconds > 0 else 0.0,
        stopped_by=_stopped_by(request, result),
        overflows={leaves[leaf].path: count for leaf, count in result.overflow.items()},
        guided=request.guided,
        cells=result.cells,
    )


def _property(fn: Fn, place: FirstHit | None, finding: Replayed | None, stored: str | None) -> SeenProperty:
    verdict: SeenVerdict = "inconclusive"
    if place is not None:
        verdict = "reached" if fn.kind == "sometimes" else "violated"
    kind: Any = fn.kind
    return SeenProperty(
        id=fn.ident,
        name=fn.name,
        kind=kind,
        verdict=verdict,
        steps=None if place is None else place.step,
        walk=None if place is None else place.walk,
        conjunct=finding.broken.conjunct if finding else None,
        witness=finding.broken.witness if finding else None,
        trace=stored,
        counterexample=finding.view if finding else None,
        states=None if place is None else place.states,
    )


def _detail(walks: Walks) -> str:
    how = "kernel from the cache" if walks.native.cached else "kernel compiled"
    return f"{len(walks.program.instances)} action instances, {walks.layout.used_bits} bits, {how}"


def _actions(model: Model, lowered: Lowered, result: WalkResult) -> tuple[WalkedAction, ...]:
    totals = {fn.name: [0, 0, 0] for fn in model.actions}
    for k, instance in enumerate(lowered.program.instances):
        for place, counts in enumerate((result.taken, result.enabled, result.cut)):
            totals[instance.action][place] += counts[k]
    return tuple(WalkedAction(name, *counts) for name, counts in totals.items())
