"""The state graph of a small scope for a report, built from the networkx graph of `networkx_graph.py`.

The plain model evaluates the properties, so a search need not be compiled with properties that only mark states in
a picture.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from elrcheck.explorer.graph.graph import Graph, graph_of_plain
from elrcheck.explorer.graph.networkx_graph import plain_marks, state_graph
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.lang.plain import PlainModel
from elrcheck.lang.runtime import ModelConfig
from elrcheck.results.drawn_graph import MOST_STATES, DrawnPath, DrawnState, DrawnStep, SmallGraph
from elrcheck.results.trace_view import Change


def small_graph(
    model: Model, config: ModelConfig, chosen: Sequence[Fn], traces: Mapping[str, Sequence[object]], graph: Graph | None
) -> SmallGraph | None:
    """Return the state graph for a report, None if it has more than MOST_STATES states.

    chosen: properties; those of states and steps mark the graph. traces: plain states of the reported
    counterexample by property id; a property without one gets a shortest path to a violation. graph: the graph of
    all states, if it has been built already.
    """
    plain = PlainModel(model, config)
    if graph is None:
        graph, _ = graph_of_plain(plain, max_states=MOST_STATES + 1)
    if graph is None or graph.count > MOST_STATES:
        return None
    drawing = state_graph(graph, model, plain_marks(graph, plain, chosen))
    numbers = {graph.state(number): number for number in range(graph.count)} if traces else {}
    paths = {ident: [numbers[state] for state in states] for ident, states in traces.items()}
    return report_of(drawing, model, chosen, paths)


def report_of(drawing: Any, model: Model, chosen: Sequence[Fn], paths_to: Mapping[str, Sequence[int]]) -> SmallGraph:
    """Convert a graph built by `state_graph`. paths_to: states of a path to a violation, for some properties."""
    kinds = {fn.name: PurePosixPath(fn.place.rpartition(":")[0]).stem for fn in model.actions}
    states = tuple(_state(drawing, number) for number in sorted(drawing.nodes))
    steps = tuple(
        DrawnStep(source, target, edge["label"], edge["action"], kinds[edge["action"]], tuple(edge["violates"].split()))
        for source, target, edge in drawing.edges(data=True)
    )
    ways = {fn.ident: paths_to.get(fn.ident) or _way(states, steps, fn.ident) for fn in chosen}
    paths = tuple(DrawnPath(ident, tuple(path)) for ident, path in ways.items() if path)
    first = drawing.nodes[0]
    return SmallGraph({path: first[path] for path in drawing.graph["variables"]}, states, steps, paths)


def _state(drawing: Any, number: int) -> DrawnState:
    node = drawing.nodes[number]
    violates = tuple(node["violates"].split())
    if node["initial"]:
        return DrawnState(0, None, "", (), violates)
    parent = min(other for other in drawing.pred[number] if drawing.nodes[other]["depth"] == node["depth"] - 1)
    step = next(iter(drawing.get_edge_data(parent, number).values()))
    before = drawing.nodes[parent]
    changes = tuple(
        Change(path, before[path], node[path]) for path in drawing.graph["variables"] if before[path] != node[path]
    )
    return DrawnState(node["depth"], parent, step["label"], changes, violates)


def _way(states: Sequence[DrawnState], steps: Sequence[DrawnStep], ident: str) -> list[int]:
    """Return a shortest path from the initial state to a violation; empty without a violation."""
    ends: list[tuple[int, tuple[int, ...]]] = [
        (state.depth, (number,)) for number, state in enumerate(states) if ident in state.violates
    ]
    ends += [(states[step.source].depth + 1, (step.source, step.target)) for step in steps if ident in step.violates]
    if not ends:
        return []
    way = list(min(ends)[1])
    while (parent := states[way[0]].parent) is not None:
        way.insert(0, parent)
    return way
