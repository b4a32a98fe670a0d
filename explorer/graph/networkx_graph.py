"""The graph of all states of a small scope as a networkx graph, and as a file.

It is a directed multigraph. A node is a reachable state, numbered as in `graph.py`; an edge is an action
instance (an action with its arguments) that is enabled in a state and whose result is inside the budgets.
Two instances that lead to the same state are two edges, and an instance that changes nothing is a loop. So
the number of edges is the number of generated transitions, minus those cut at the budgets.

A node has `depth`, `initial`, `violates` (ids of the violated state properties), and one attribute for
each leaf of the state, named by its path and valued as in traces. An edge has `action`, `arguments`,
`label` and `violates` (ids of the violated step properties).

For the picture of a report (`small_graph`) the plain model evaluates the properties, so a search need not be compiled
with properties that only mark states.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import networkx as nx
import numpy as np

from elrcheck.explorer.graph.graph import Graph, graph_of_plain
from elrcheck.explorer.search.compiled import Search
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.lang.lowering.lowered import Lowered
from elrcheck.lang.plain import PlainModel
from elrcheck.lang.runtime import ModelConfig
from elrcheck.results.trace_view import MOST_STATES, Change, DrawnPath, DrawnState, DrawnStep, SmallGraph, Step
from elrcheck.traces.describe import arguments, leaves

LABEL_LINES = 12


@dataclass(frozen=True)
class ViolationMarks:
    """Ids of the violated properties: of each state, and of each edge in the order of the graph's edges."""

    states: list[list[str]]
    steps: list[list[str]]


def compiled_marks(graph: Graph, search: Search, lowered: Lowered, chosen: Sequence[Fn]) -> ViolationMarks:
    """Evaluate the properties with the compiled search. chosen: the checks of the search, in its order."""
    rows = search.layout.pack_rows([lowered.encode(graph.state(number)) for number in range(graph.count)])
    states: list[list[str]] = [[] for _ in range(graph.count)]
    for number, fn in enumerate(chosen):
        if fn.kind == "always" and not fn.is_step:
            for state in np.nonzero(search.state_hits(number, rows))[0]:
                states[state].append(fn.ident)
    after = search.successors(rows)
    order = np.lexsort((after.instances, after.sources))  # as the graph's edges
    steps: list[list[str]] = [[] for _ in order]
    for number, fn in enumerate(chosen):
        if fn.kind == "always" and fn.is_step:
            for edge in np.nonzero(after.hits(number)[order])[0]:
                steps[edge].append(fn.ident)
    return ViolationMarks(states, steps)


def plain_marks(graph: Graph, plain: PlainModel, chosen: Sequence[Fn]) -> ViolationMarks:
    """Evaluate the properties in plain Python, for small graphs of any engine."""
    states = [graph.state(number) for number in range(graph.count)]
    of_states = [fn for fn in chosen if fn.kind == "always" and not fn.is_step]
    of_steps = [fn for fn in chosen if fn.kind == "always" and fn.is_step]
    pairs = list(zip(graph.sources.tolist(), graph.targets.tolist(), strict=True))
    judged = {(a, b): [fn.ident for fn in of_steps if not plain.holds(fn, states[a], states[b])] for a, b in set(pairs)}
    return ViolationMarks(
        [[fn.ident for fn in of_states if not plain.holds(fn, state)] for state in states],
        [judged[pair] for pair in pairs],
    )


def state_graph(graph: Graph, model: Model, marks: ViolationMarks) -> Any:
    """Return a networkx MultiDiGraph of every state and step."""
    ty = model.state_ty
    values_of = [dict(leaves(graph.state(number), ty)) for number in range(graph.count)]
    drawing = nx.MultiDiGraph(variables=list(values_of[0]))
    depths = graph.depths.tolist()
    for number, values in enumerate(values_of):
        drawing.add_node(
            number, depth=depths[number], initial=depths[number] == 0, violates=" ".join(marks.states[number]), **values
        )
    actions = model.actions_by_name
    names = []
    for name in graph.names:
        args = arguments(actions[name.action], name.args)
        text = ", ".join(f"{a.name}={a.value}" for a in args)
        names.append((name.action, text, Step(0, name.action, args).label))
    sources, targets, labels = graph.sources.tolist(), graph.targets.tolist(), graph.labels.tolist()
    for edge, (source, target, number) in enumerate(zip(sources, targets, labels, strict=True)):
        action, argument_text, label = names[number]
        drawing.add_edge(
            source,
            target,
            key=f"e{edge}",
            action=action,
            arguments=argument_text,
            label=label,
            violates=" ".join(marks.steps[edge]),
        )
    return drawing


# ---------------------------------------------------------------------------- files


def rendered(drawing: Any, form: str) -> str:
    """Render the graph as the text of a file."""
    return WRITERS[form](drawing)


def _graphml(drawing: Any) -> str:
    plain = drawing.copy()
    plain.graph.clear()  # GraphML has no lists
    return "\n".join(nx.generate_graphml(plain, named_key_ids=False)) + "\n"


def _json(drawing: Any) -> str:
    return json.dumps(nx.node_link_data(drawing, edges="edges"), ensure_ascii=False, indent=1) + "\n"


def _dot(drawing: Any) -> str:
    """Render as DOT. A node shows how it differs from the initial state; its tooltip has the whole state."""
    paths = drawing.graph["variables"]
    start = drawing.nodes[0]
    lines = ["digraph states {", '  node [shape=box, fontname="monospace", fontsize=9];']
    lines.append("  edge [fontsize=8];")
    for number, node in drawing.nodes(data=True):
        changed = [f"{path}={node[path]}" for path in paths if node[path] != start[path]]
        if len(changed) > LABEL_LINES:
            changed = [*changed[: LABEL_LINES - 1], f"and {len(changed) - LABEL_LINES + 1} more"]
        title = [f"{number} depth {node['depth']}", *([node["violates"]] if node["violates"] else [])]
        style = "".join(
            (
                ", peripheries=2" if node["initial"] else "",
                ', style=filled, fillcolor="#f4c7c3"' if node["violates"] else "",
            )
        )
        whole = "\n".join(f"{path}={node[path]}" for path in paths)
        text = "".join(f"{_escaped(line)}\\l" for line in (*title, *changed))
        lines.append(f'  s{number} [label="{text}", tooltip="{_escaped(whole)}"{style}];')
    for source, target, edge in drawing.edges(data=True):
        style = f', color=red, tooltip="{_escaped(edge["violates"])}"' if edge["violates"] else ""
        lines.append(f'  s{source} -> s{target} [label="{_escaped(edge["label"])}"{style}];')
    return "\n".join([*lines, "}"]) + "\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


WRITERS: dict[str, Callable[[Any], str]] = {"graphml": _graphml, "dot": _dot, "json": _json}


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
