"""`elrcheck explore`: describe a scope, and write its state graph if it is small.

Sizes, actions and values come from the search of `check`; out-degrees from expanding every state once more; strongly
connected components from `components.py`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from msgspec import structs

from elrcheck.base.errors import UsageFault
from elrcheck.base.progress import Progress
from elrcheck.base.requests import CheckRequest, ExploreRequest, GraphFormat
from elrcheck.base.typed.configuration import config_values
from elrcheck.checking.engines import FinishedSearch, SearchSubject, run_search
from elrcheck.declared.select import Selected, resolve, select_properties
from elrcheck.explorer.graph.components import NONE, parts_of
from elrcheck.explorer.graph.graph import Graph, graph_of_search
from elrcheck.explorer.search.compiled import Search
from elrcheck.explorer.search.outcome import projection_of
from elrcheck.explorer.search.result import level_batches
from elrcheck.lang.ir import Fn
from elrcheck.results.check_report import VariableReport
from elrcheck.results.exploration_report import (
    ComponentsReport,
    DegreeReport,
    ExploredAction,
    ExploreReport,
    GraphReport,
    SpaceReport,
)
from elrcheck.results.trace_view import MOST_STATES

if TYPE_CHECKING:
    from elrcheck.explorer.search.outcome import SearchOutcome
    from elrcheck.results.trace_view import SmallGraph

GRAPH_STATES = 500_000
"""Number of states beyond which no graph is built, so that there are no strongly connected components."""
FORMATS: Mapping[str, GraphFormat] = {
    ".graphml": "graphml",
    ".xml": "graphml",
    ".dot": "dot",
    ".gv": "dot",
    ".json": "json",
    ".svg": "svg",
}


def run_explore(request: ExploreRequest, progress: Progress) -> ExploreReport:
    """Search and describe; raise UsageFault for unknown names or a graph that would be too large."""
    form = _format(request)
    selected = resolve(request.selection)
    model = selected.declared.whole()
    marked = form is not None or request.drawn
    marks = _marks(select_properties(model, request.properties)) if marked else ()
    judged = marks if form is not None else ()  # a report's small graph is judged in plain Python
    subject = SearchSubject(model, selected.config, judged, expected=selected.before.states)
    ended = run_search(subject, _search_request(request, form), progress)
    outcome, search = ended.outcome(), ended.search
    assert isinstance(search, Search), "the local engine was requested"
    if form is not None:
        _reject_large(_most(request, form), form, outcome)
    started = time.perf_counter()
    progress.stage("counting the steps from each state")
    graph = None
    if outcome.complete and outcome.distinct <= max(GRAPH_STATES, request.max_nodes if form else 0):
        graph = graph_of_search(search, ended.lowered, len(outcome.levels))
        degrees = np.bincount(np.diff(graph.offsets))
    else:
        degrees = _degrees(search, len(outcome.levels), outcome.workers)
    components = None if graph is None else _components(graph)
    outcome.seconds += time.perf_counter() - started
    drawn = None
    if graph is not None and (request.drawn or form == "svg"):
        from elrcheck.explorer.graph.networkx_graph import small_graph

        drawn = small_graph(model, selected.config, marks, {}, graph)
    written = None
    if form is not None and graph is not None and request.graph is not None:
        progress.stage("writing the graph")
        written = _write(graph, search, ended, marks, request.graph, form, drawn)
    report = _report(selected, outcome, degrees, [fn.name for fn in model.actions])
    return structs.replace(report, components=components, graph=written, small_graph=drawn)


def _marks(chosen: Sequence[Fn]) -> tuple[Fn, ...]:
    """Return the properties whose violations the graph marks."""
    if any(fn.kind == "leads_to" for fn in chosen):
        raise UsageFault(
            "explore-liveness",
            "no single state violates a liveness property (V-*)",
            help="use `elrcheck check --liveness`",
        )
    return tuple(fn for fn in chosen if fn.kind == "always")


def _format(request: ExploreRequest) -> GraphFormat | None:
    """Return the format of the graph: --graph-format, else by the extension of the file; None without a graph."""
    path, named = request.graph, request.graph_format
    if path is None:
        if named is not None:
            raise UsageFault("explore-option", "--graph-format needs --graph", help="add --graph FILE")
        if request.properties and not request.drawn:
            raise UsageFault("explore-option", "--property needs --graph or the HTML report", help="add --graph FILE")
        return None
    if path.is_dir():
        raise UsageFault("graph-file", f"{path} is a folder, not a file")
    form = named or FORMATS.get(path.suffix.lower())
    if form is None:
        raise UsageFault(
            "graph-format",
            f"the name {path.name} implies no graph format",
            help="give --graph-format, or a name that ends in .graphml, .dot, .json or .svg",
        )
    return form


def _most(request: ExploreRequest, form: str | None) -> int:
    """Return the largest number of states that the graph may have."""
    return min(request.max_nodes, MOST_STATES) if form == "svg" else request.max_nodes


def _search_request(request: ExploreRequest, form: str | None) -> CheckRequest:
    """Return the search request, which stops as soon as the graph would be too large."""
    limits = request.limits
    if request.graph is not None:
        most = _most(request, form) + 1
        limits = replace(limits, max_states=min(most, limits.max_states or most))
    return CheckRequest(workers=request.workers, limits=limits)


def _reject_large(most: int, form: str, outcome: SearchOutcome) -> None:
    if outcome.distinct <= most:
        if outcome.complete:
            return
        raise UsageFault(
            "graph-incomplete",
            f"a graph needs all states, but {outcome.reason} stopped the search",
            help="leave out the limit, or choose a smaller scope",
        )
    at_least = "" if outcome.complete else "at least "
    help = "raise --max-nodes, choose a smaller --scope, or lower budgets with --set"
    if form == "svg" and most == MOST_STATES:
        help = "write .graphml or .dot for other tools, choose a smaller --scope, or lower budgets with --set"
    raise UsageFault(
        "graph-too-large",
        f"the scope has {at_least}{outcome.distinct:,} states; the graph may have at most {most:,}",
        help=help,
    )


# ---------------------------------------------------------------------------- statistics


def _degrees(search: Search, levels: int, workers: int) -> npt.NDArray[np.int64]:
    """Return the number of states with 0, 1, .. steps within the budgets."""

    def batches() -> Iterator[npt.NDArray[np.uint64]]:
        for level in range(levels):
            yield from map(np.array, level_batches(search, level))

    def count(rows: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
        successors = search.successors(rows)
        each = np.bincount(successors.sources, minlength=len(rows))
        return np.bincount(each, minlength=len(search.program.instances) + 1)

    total = np.zeros(len(search.program.instances) + 1, np.int64)
    with ThreadPoolExecutor(workers) as pool:
        for part in pool.map(count, batches()):
            total += part
    return np.trim_zeros(total, "b")


def _components(graph: Graph) -> ComponentsReport:
    parts = parts_of(graph.sources, graph.targets, graph.count)
    sizes = np.bincount(parts[parts != NONE])
    alone = int((parts == NONE).sum())
    return ComponentsReport(alone + len(sizes), len(sizes), int(sizes.max(initial=1)))


def _write(
    graph: Graph,
    search: Search,
    ended: FinishedSearch,
    marks: Sequence[Fn],
    path: Path,
    form: GraphFormat,
    drawn: SmallGraph | None,
) -> GraphReport:
    from elrcheck.base.atomic import write_file
    from elrcheck.explorer.graph.networkx_graph import compiled_marks, rendered, state_graph
    from elrcheck.report.html.html_states import to_svg

    exported = state_graph(graph, ended.lowered.model, compiled_marks(graph, search, ended.lowered, marks))
    write_file(path, rendered(exported, form) if drawn is None or form != "svg" else to_svg(drawn))
    return GraphReport(
        path=str(path),
        format=form,
        nodes=exported.number_of_nodes(),
        edges=exported.number_of_edges(),
        violating=sum(1 for _, node in exported.nodes(data=True) if node["violates"]),
        violating_steps=sum(1 for _, _, edge in exported.edges(data=True) if edge["violates"]),
    )


def _report(
    selected: Selected, outcome: SearchOutcome, degrees: npt.NDArray[Any], actions: Sequence[str]
) -> ExploreReport:
    steps = int((degrees * np.arange(len(degrees))).sum())
    space = SpaceReport(
        complete=outcome.complete,
        generated=outcome.generated,
        distinct=outcome.distinct,
        steps=steps,
        cut=outcome.cut,
        deadlocks=outcome.deadlocks,
        diameter=len(outcome.levels),
        levels=outcome.levels,
        seconds=round(outcome.seconds, 3),
        stopped_by=outcome.reason,
        overflows=outcome.overflow,
        projection=projection_of(outcome),
    )
    return ExploreReport(
        verdict="explored" if outcome.complete else "inconclusive",
        variant=selected.variant,
        scope=selected.scope,
        config=config_values(selected.config),
        workers=outcome.workers,
        detail=outcome.detail,
        space=space,
        degrees=tuple(DegreeReport(k, int(n)) for k, n in enumerate(degrees) if n),
        mean_degree=round(steps / outcome.distinct, 3) if outcome.distinct else 0.0,
        actions=tuple(
            ExploredAction(
                name, outcome.enabled.get(name, 0), outcome.new_states.get(name, 0), outcome.beyond.get(name, 0)
            )
            for name in actions
        ),
        variables=tuple(VariableReport(name, count) for name, count in outcome.variables.items()),
        components=None,
        components_limit=GRAPH_STATES,
        model=selected.model,
        patch=selected.patch,
    )
