"""A trace as a Mermaid sequence diagram or as a DOT chain: text that other tools draw."""

from __future__ import annotations

from elrcheck.report.model import Step, TraceView

CONTROLLER = "Controller"
# Actions that are a message: (argument naming the sender, or the controller, then the receiver).
MESSAGES = {
    "Fetch": ("follower", "f", "leader"),
    "ExpandIsr": ("leader", "", CONTROLLER),
    "ShrinkIsr": ("leader", "", CONTROLLER),
    "ControllerAlters": (CONTROLLER, "", "leader"),
    "Register": ("b", "", CONTROLLER),
    "ApplyMetadata": (CONTROLLER, "", "b"),
    "Unfence": ("b", "", CONTROLLER),
}


def mermaid(trace: TraceView, brokers: int) -> str:
    """A sequence diagram with the controller and every broker."""
    lines = ["sequenceDiagram", f"    participant {CONTROLLER}"]
    lines += [f"    participant B{b} as broker {b}" for b in range(brokers)]
    for step in trace.steps:
        if step.index - 1 == trace.loop:
            lines.append("    loop for ever")
        lines.append(f"    {_arrow(step)}")
        important = [c for c in step.changes if c.path.startswith(("partition.", "committed"))]
        if important:
            text = "<br/>".join(f"{c.path.removeprefix('partition.')}: {c.old} → {c.new}" for c in important)
            lines.append(f"    Note over {CONTROLLER}: {_safe(text)}")
    if trace.loop is not None and trace.loop < len(trace.steps):
        lines.append("    end")
    return "\n".join(lines) + "\n"


def _arrow(step: Step) -> str:
    given = {a.name: a.value for a in step.arguments}
    label = _safe(f"{step.index}. {step.label}")
    roles = MESSAGES.get(step.action)
    if roles is None:
        place = next((f"B{value}" for name, value in given.items() if name in ("b", "leader")), CONTROLLER)
        return f"Note over {place}: {label}"

    def place_of(role: str, other: str = "") -> str:
        value = given.get(role, given.get(other, ""))
        return CONTROLLER if role == CONTROLLER or not value else f"B{value}"

    return f"{place_of(roles[0], roles[1])}->>{place_of(roles[2])}: {label}"


def _safe(text: str) -> str:
    return text.replace(";", ",").replace("#", "")


def dot(trace: TraceView) -> str:
    """One node for each state, labelled with what changed on the way to it."""
    lines = [
        "digraph trace {",
        "    rankdir=TB;",
        '    node [shape=box, fontname="monospace"];',
        '    s0 [label="start"];',
    ]
    closes = trace.loop is not None and trace.loop < len(trace.steps)
    for step in trace.steps:
        if closes and step is trace.steps[-1]:
            lines.append(f'    s{step.index - 1} -> s{trace.loop} [label="{step.label}"];')
            continue
        changed = "\\l".join(f"{c.path}: {c.old} -> {c.new}".replace('"', "'") for c in step.changes)
        lines.append(f'    s{step.index} [label="{changed}\\l"];')
        lines.append(f'    s{step.index - 1} -> s{step.index} [label="{step.label}"];')
    return "\n".join([*lines, "}"]) + "\n"
