"""Renders a trace as a Mermaid sequence diagram with the controller and every broker as participants."""

from __future__ import annotations

from elrcheck.results.trace_view import CONTROLLER, Step, TraceView

PLACES = ("b", "leader")
"""Arguments that name the broker of an action that sends no message."""
_ENTITIES = {"#": "#35;", ";": "#59;", "<": "#lt;", ">": "#gt;", "\n": " ", "\r": " "}


def mermaid(trace: TraceView, brokers: int) -> str:
    """Renders the diagram, without a code fence.  brokers: number of lanes, including idle brokers."""
    lines = ["sequenceDiagram", f"    participant {CONTROLLER}"]
    lines += [f"    participant B{b} as broker {b}" for b in range(brokers)]
    for step in trace.steps:
        if step.index - 1 == trace.loop:
            lines.append("    loop forever")
        lines.append(f"    {_line(step)}")
        if notes := important(step):
            lines.append(f"    Note over {CONTROLLER}: {'<br/>'.join(safe(note) for note in notes)}")
    if trace.loop is not None and trace.loop < len(trace.steps):
        lines.append("    end")
    return "\n".join(lines) + "\n"


def _line(step: Step) -> str:
    label = safe(f"{step.index}. {step.label}")
    if (talk := step.talk) is None:
        return f"Note over {_name(place_of(step))}: {label}"
    return f"{_name(talk.sender)}{'-x' if talk.lost else '->>'}{_name(talk.receiver)}: {label}"


def _name(place: str) -> str:
    return CONTROLLER if place == CONTROLLER else f"B{place}"


def place_of(step: Step) -> str:
    """Where a step happens that is no message."""
    given = {a.name: a.value for a in step.arguments}
    return next((given[name] for name in PLACES if name in given), CONTROLLER)


def important(step: Step) -> tuple[str, ...]:
    """The important changes of a step: the partition's state and the committed records."""
    return tuple(
        f"{c.path.removeprefix('partition.')}: {c.old} → {c.new}"
        for c in step.changes
        if c.path.startswith(("partition.", "committed"))
    )


def safe(text: str) -> str:
    """Escapes text so that Mermaid shows it literally: `#` and `;` would end it, `<` would begin a tag."""
    return "".join(_ENTITIES.get(char, char) for char in text)
