"""`elrcheck simulate`: random walks through a scope that may be too large to exhaust.

The walks are native (`walk.py`). A violating walk is repeated from its seed and number, then replayed in
plain Python (`replay.py`) and stored like every other trace.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any

from msgspec import structs

from elrcheck.base.errors import UsageFault
from elrcheck.base.progress import Progress, WalksDone
from elrcheck.base.requests import SimulateRequest
from elrcheck.base.runner.processors import processors
from elrcheck.base.typed.configuration import config_values
from elrcheck.catalogue.select import Selected, resolve, select_properties
from elrcheck.checking.check import store_findings
from elrcheck.checking.runs.folders import run_folder
from elrcheck.explorer.kernel.native_code import KernelCache
from elrcheck.explorer.search.guided import Guided, GuidedResult
from elrcheck.explorer.search.walk import MOST_WALKS, Place, Walks, WalkStats
from elrcheck.explorer.search.walk import WalkResult as Result
from elrcheck.invariants.modules import load_whole_model
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.lang.lowering.lower import lower
from elrcheck.lang.lowering.lowered import Lowered
from elrcheck.results.simulation_report import SeenProperty, SeenVerdict, SimulationReport, WalkedAction, WalksReport
from elrcheck.traces.replay import Replayed, replay_finding

WALKS = 100_000
"""Number of walks without --walks and without a time budget."""


def run_simulate(request: SimulateRequest, progress: Progress) -> SimulationReport:
    """Walk and report; UsageFault for unknown names."""
    selected = resolve(request.selection)
    model = load_whole_model()
    chosen = select_properties(model, request.properties)
    if any(fn.kind == "leads_to" for fn in chosen):
        raise UsageFault(
            "simulate-liveness",
            "a walk is finite, so it cannot check liveness (V-*)",
            help="use `elrcheck check --liveness`",
        )
    if request.run_dir is not None and request.run_dir.is_file():
        raise UsageFault("run-dir-is-file", f"{request.run_dir} is a file, not a folder")
    seed = secrets.randbits(32) if request.seed is None else request.seed
    if request.guided:
        return _guided(request, selected, model, chosen, seed, progress)
    workers = request.workers or processors()
    progress.stage("compiling the model")
    lowered = lower(model, selected.config, chosen)
    walks = Walks(lowered.program, seed, request.depth, workers=workers, cache=KernelCache())
    result = _walk(walks, request, seed, progress)
    findings = _replayed(model, selected, chosen, lowered, walks, result.first)
    folder = request.run_dir or (run_folder(selected, "simulate", seed, request.depth) if findings else None)
    stored = store_findings(folder, selected, findings) if folder is not None else {}
    properties = tuple(
        _property(fn, result.first.get(number), findings.get(fn.ident), stored.get(fn.ident))
        for number, fn in enumerate(chosen)
    )
    return SimulationReport(
        verdict="violated" if findings else "inconclusive",
        variant=selected.variant,
        scope=selected.scope,
        config=config_values(selected.config),
        seed=seed,
        depth=request.depth,
        workers=workers,
        detail=_detail(walks),
        search=_search(lowered, result),
        properties=properties,
        actions=_actions(model, lowered, result),
        run_dir=None if folder is None else str(folder),
    )


def _guided(
    request: SimulateRequest, selected: Selected, model: Model, chosen: Sequence[Fn], seed: int, progress: Progress
) -> SimulationReport:
    """The same by a guided run, which has one thread."""
    progress.stage("compiling the model")
    lowered = lower(model, selected.config, chosen)
    guided = Guided(lowered.program, seed, request.depth, cache=KernelCache())
    progress.stage(f"walking, guided, seed {seed}")
    result = guided.run(
        request.walks or (WALKS if request.time_budget is None else MOST_WALKS),
        seconds=request.time_budget,
        stop_at_first=request.stop_at_first,
        progress=lambda stats: progress.tell(WalksDone(stats.walks, stats.steps, stats.seconds)),
    )
    findings = {
        fn.ident: replay_finding(model, selected.config, fn, [lowered.decode(row) for row in found.trace])
        for check, found in result.first.items()
        if (fn := chosen[check]).kind == "always"
    }
    folder = request.run_dir or (run_folder(selected, "guided", seed, request.depth) if findings else None)
    stored = store_findings(folder, selected, findings) if folder is not None else {}
    properties = []
    for number, fn in enumerate(chosen):
        found = result.first.get(number)
        place = None if found is None else Place(len(found.trace) - 1, found.walk)
        seen = _property(fn, place, findings.get(fn.ident), stored.get(fn.ident))
        properties.append(structs.replace(seen, states=None if found is None else found.states))
    return SimulationReport(
        verdict="violated" if findings else "inconclusive",
        variant=selected.variant,
        scope=selected.scope,
        config=config_values(selected.config),
        seed=seed,
        depth=request.depth,
        workers=1,
        detail=_detail(guided.walks),
        search=_guided_search(lowered, result),
        properties=tuple(properties),
        actions=_actions(model, lowered, result),
        run_dir=None if folder is None else str(folder),
    )


def _guided_search(lowered: Lowered, result: GuidedResult) -> WalksReport:
    leaves = lowered.program.leaves
    return WalksReport(
        walks=result.walks,
        ended=result.walks,
        steps=result.steps,
        states=result.states,
        deepest=result.deepest,
        deadlocks=result.deadlocks,
        blocked=0,
        distinct_estimate=float(result.distinct),
        distinct_error=0.0,
        seconds=round(result.seconds, 3),
        states_per_second=round(result.states / result.seconds, 1) if result.seconds > 0 else 0.0,
        stopped_by=result.reason,
        overflows={leaves[leaf].path: count for leaf, count in result.overflow.items()},
        guided=True,
        cells=result.cells,
    )


def _walk(walks: Walks, request: SimulateRequest, seed: int, progress: Progress) -> Result:
    progress.stage(f"walking, seed {seed}")

    def tell(stats: WalkStats) -> None:
        progress.tell(WalksDone(stats.walks, stats.steps, stats.seconds))

    return walks.run(
        request.walks or (WALKS if request.time_budget is None else MOST_WALKS),
        seconds=request.time_budget,
        stop_at_first=request.stop_at_first,
        progress=tell,
    )


def _replayed(
    model: Model, selected: Selected, chosen: Sequence[Fn], lowered: Lowered, walks: Walks, first: dict[int, Place]
) -> dict[str, Replayed]:
    """The walks that violate a property, made once more and replayed in plain Python."""
    findings = {}
    for check, place in first.items():
        if chosen[check].kind == "always":
            rows = walks.again(place.walk, place.step)
            states = [lowered.decode(row) for row in rows]
            findings[chosen[check].ident] = replay_finding(model, selected.config, chosen[check], states)
    return findings


def _property(fn: Fn, place: Place | None, finding: Replayed | None, stored: str | None) -> SeenProperty:
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
    )


def _detail(walks: Walks) -> str:
    how = "kernel from the cache" if walks.native.cached else "kernel compiled"
    return f"{len(walks.program.instances)} action instances, {walks.layout.used_bits} bits, {how}"


def _search(lowered: Lowered, result: Result) -> WalksReport:
    states = result.begun + result.steps
    leaves = lowered.program.leaves
    return WalksReport(
        walks=result.begun,
        ended=result.ended,
        steps=result.steps,
        states=states,
        deepest=result.deepest,
        deadlocks=result.deadlocks,
        blocked=result.blocked,
        distinct_estimate=round(result.distinct, 1),
        distinct_error=round(result.error, 1),
        seconds=round(result.seconds, 3),
        states_per_second=round(states / result.seconds, 1) if result.seconds > 0 else 0.0,
        stopped_by=result.reason,
        overflows={leaves[leaf].path: count for leaf, count in result.overflow.items()},
    )


def _actions(model: Model, lowered: Lowered, result: Result | GuidedResult) -> tuple[WalkedAction, ...]:
    totals = {fn.name: [0, 0, 0] for fn in model.actions}
    for k, instance in enumerate(lowered.program.instances):
        for place, counts in enumerate((result.taken, result.enabled, result.cut)):
            totals[instance.action][place] += counts[k]
    return tuple(WalkedAction(name, *counts) for name, counts in totals.items())
