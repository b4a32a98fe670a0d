"""Renders a trace as a chain of nodes in DOT, for Graphviz."""

from __future__ import annotations

from elrcheck.base.printable import printable
from elrcheck.results.trace_view import TraceView


def dot(trace: TraceView) -> str:
    """Render the trace with one node per state, labelled with the changes of the step to it."""
    lines = [
        "digraph trace {",
        "    rankdir=TB;",
        '    node [shape=box, fontname="monospace"];',
        '    s0 [label="start"];',
    ]
    closes = trace.loop is not None and trace.loop < len(trace.steps)
    for step in trace.steps:
        if closes and step is trace.steps[-1]:
            lines.append(f'    s{step.index - 1} -> s{trace.loop} [label="{_quoted(step.label)}"];')
            continue
        changed = "\\l".join(_quoted(f"{c.path}: {c.old} -> {c.new}") for c in step.changes)
        lines.append(f'    s{step.index} [label="{changed}\\l"];')
        lines.append(f'    s{step.index - 1} -> s{step.index} [label="{_quoted(step.label)}"];')
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(text: str) -> str:
    """Return a text within a quoted label, on one line and shown as it is."""
    return printable(text).replace("\\", "\\\\").replace('"', "'")
