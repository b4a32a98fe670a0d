"""Renders a trace as a Mermaid sequence diagram with the controller and every broker as participants.

Notes show the partition's changes, and the log of a broker before and after a step, so the diagram shows where a
committed record is lost. A frame marks the steps at which a property becomes false.
"""

from __future__ import annotations

from elrcheck.base.printable import printable
from elrcheck.report.log_notes import StepNotes, name, notes
from elrcheck.results.trace_view import CONTROLLER, Step, TraceView

PLACES = ("b", "leader")
"""Arguments that name the broker of an action without a message."""
FRAME = "rgba(200, 30, 30, 0.15)"
"""Behind the steps at which a property becomes false; transparent, for light and dark pages."""
_ENTITIES = {"#": "#35;", ";": "#59;", "<": "#lt;", ">": "#gt;"}


def mermaid(trace: TraceView, brokers: int) -> str:
    """Render the diagram, without a code fence.  brokers: number of lanes, including idle brokers."""
    lines = ["sequenceDiagram", f"    participant {CONTROLLER}"]
    lines += [f"    participant B{b} as broker {b}" for b in range(brokers)]
    for step, step_notes in zip(trace.steps, notes(trace), strict=True):
        if step.index - 1 == trace.loop:
            lines.append("    loop forever")
        if step_notes.broken:
            lines.append(f"    rect {FRAME}")
        lines.append(f"    {_line(step)}")
        lines += [f"    Note over {_name(place)}: {text}" for place, text in _notes(step, step_notes)]
        if step_notes.broken:
            lines.append("    end")
    if trace.loop is not None and trace.loop < len(trace.steps):
        lines.append("    end")
    return "\n".join(lines) + "\n"


def _notes(step: Step, step_notes: StepNotes) -> list[tuple[str, str]]:
    """Return the notes below a step, each with the place it stands over."""
    at: dict[str, list[str]] = {}
    for change in step_notes.logs:
        at.setdefault(change.broker, []).append(f"log: {_log(change.before)} → {_log(change.after)}")
    for word, entries in (("committed", step_notes.committed), ("acknowledged", step_notes.acknowledged)):
        if entries:
            at.setdefault(step_notes.at, []).append(f"{word}: {' '.join(entries)}")
    at.setdefault(CONTROLLER, [])[:0] = important(step)
    for change in step_notes.logs:
        if change.lost:
            at[change.broker].append(f"✗ loses committed {' '.join(map(name, change.lost))}")
    if step_notes.gone:
        at[CONTROLLER].append(f"✗ no log has {' '.join(map(name, step_notes.gone))} any more")
    at[CONTROLLER] += [f"✗ {truth.id} {truth.name} is false" for truth in step_notes.broken]
    return [(place, "<br/>".join(map(safe, texts))) for place, texts in at.items() if texts]


def _log(records: tuple[str, ...]) -> str:
    return f"[{' '.join(records)}]"


def _line(step: Step) -> str:
    label = safe(f"{step.index}. {step.label}")
    if (talk := step.talk) is None:
        return f"Note over {_name(place_of(step))}: {label}"
    return f"{_name(talk.sender)}{'-x' if talk.lost else '->>'}{_name(talk.receiver)}: {label}"


def _name(place: str) -> str:
    return CONTROLLER if place == CONTROLLER else f"B{place}"


def place_of(step: Step) -> str:
    """Return the broker, or CONTROLLER, of a step without a message."""
    arguments = {a.name: a.value for a in step.arguments}
    return next((arguments[name] for name in PLACES if name in arguments), CONTROLLER)


def important(step: Step) -> tuple[str, ...]:
    """Return the changes of the partition's state."""
    return tuple(
        f"{c.path.removeprefix('partition.')}: {c.old} → {c.new}"
        for c in step.changes
        if c.path.startswith("partition.")
    )


def safe(text: str) -> str:
    """Return the text escaped for Mermaid: `#` and `;` would end it, `<` would begin a tag."""
    return "".join(_ENTITIES.get(char, char) for char in printable(text))


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
