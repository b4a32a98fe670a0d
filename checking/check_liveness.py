"""Liveness in `elrcheck check`: search, state graph, fair cycles, lassos and their replay."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from elrcheck.base.errors import UsageFault
from elrcheck.base.progress import Progress
from elrcheck.base.requests import CheckRequest
from elrcheck.checking.engines import PlannedRun, SearchSubject, reference_deadline, run_search
from elrcheck.explorer.graph.lassos import Waiting, replay_lasso
from elrcheck.explorer.search.outcome import SearchOutcome
from elrcheck.lang.fairness import fair_actions
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.lang.plain import PlainModel
from elrcheck.lang.runtime import ModelConfig
from elrcheck.traces.replay import Replayed

MOST_STATES = 2_000_000
"""Default limit: the graph with its steps stays below about 1 GiB."""


def explore_liveness(
    model: Model,
    config: ModelConfig,
    chosen: Sequence[Fn],
    request: CheckRequest,
    progress: Progress,
    run: PlannedRun | None = None,
) -> tuple[SearchOutcome, dict[str, Replayed]]:
    """Return the counts of the search, and a replayed lasso for every violated property.

    An incomplete graph decides no property: a missing step could be the way out of a cycle. run: of a search on Spark;
    the driver builds the graph from the levels in its folder.
    """
    from elrcheck.explorer.graph.fair_cycles import FairGraph
    from elrcheck.explorer.graph.lassos import check_leads_to, claims_of, fair_steps

    if request.stop_at_first:
        raise UsageFault("liveness-option", "--stop-at-first is for safety properties")
    outcome, graph = _graph(model, config, request, progress, run)
    if graph is None:
        return outcome, {}
    started = time.perf_counter()
    progress.stage("looking for waits without an end")
    fair = fair_steps(graph, fair_actions(model.actions), model.fns)
    arena = FairGraph(graph, claims_of(graph, fair))
    plain = PlainModel(model, config)
    replayed: dict[str, Replayed] = {}
    for fn in chosen:
        answers = check_leads_to(arena, config, fn)
        outcome.waiting[fn.ident] = sum(answer.waiting for answer in answers)
        broken = [answer for answer in answers if answer.lasso is not None]
        if broken:
            shortest = min(broken, key=_steps_before)
            replayed[fn.ident] = replay_lasso(plain, graph, fn, shortest, fair)
            outcome.first[fn.ident] = _steps_before(shortest)
    outcome.seconds += time.perf_counter() - started
    return outcome, replayed


def _steps_before(answer: Waiting) -> int:
    """Return the number of steps before the cycle."""
    return (answer.lasso.behaviour.loop or 0) if answer.lasso is not None else 0


def _graph(
    model: Model, config: Any, request: CheckRequest, progress: Progress, run: PlannedRun | None
) -> tuple[SearchOutcome, Any]:
    """Return the outcome of the search, and the graph if the search is complete."""
    from elrcheck.explorer.graph.graph import graph_of_plain, graph_of_search

    limits = replace(request.limits, max_states=request.limits.max_states or MOST_STATES)
    if request.engine == "reference":
        deadline = reference_deadline(limits)
        graph, outcome = graph_of_plain(PlainModel(model, config), max_states=limits.max_states, deadline=deadline)
        outcome.reason = None if outcome.complete else limits.reached(outcome.distinct, math.inf)
        return outcome, graph
    try:
        ended = run_search(SearchSubject(model, config, ()), replace(request, limits=limits), progress, run)
        outcome = ended.outcome()
        if not outcome.complete:
            return outcome, None
        started = time.perf_counter()
        progress.stage("building the graph")
        graph = graph_of_search(ended.search, ended.lowered, len(outcome.levels))
        outcome.seconds += time.perf_counter() - started
        return outcome, graph
    finally:
        if run is not None and run.folder is not None:
            run.folder.finish()
