"""Lays out a trace as a sequence diagram, in SVG units.

Labels stand in a column beside the lanes, so that they never cross an arrow; who talks to whom is in
the steps.  Text is monospaced, so its width is known.
"""

from __future__ import annotations

from dataclasses import dataclass

from elrcheck.report.mermaid import important, place_of
from elrcheck.results.trace_view import CONTROLLER, Step, TraceView

CHAR = 7.3
"""Width of a monospaced character at 12 px, slightly overestimated."""
ROW = 26
LINE = 16
HEAD = 40
LANE = 96
MARGIN = 12


@dataclass(frozen=True)
class Lane:
    name: str
    x: float


@dataclass(frozen=True)
class Row:
    """One step. to: None if it sends no message; tip: end of the arrow, just before the lane."""

    index: int
    label: str
    top: float
    y: float
    height: float
    at: float
    to: float | None
    tip: float
    lost: bool
    notes: tuple[tuple[float, str], ...]


@dataclass(frozen=True)
class Diagram:
    """The whole diagram. loop: top of the steps that repeat forever."""

    width: float
    height: float
    notes_x: float
    lanes: tuple[Lane, ...]
    rows: tuple[Row, ...]
    loop: float | None


def _ends(step: Step) -> tuple[str, str | None]:
    """Where the row of a step starts, and where its arrow leads if it is a message."""
    return (place_of(step), None) if step.talk is None else (step.talk.sender, step.talk.receiver)


def diagram(view: TraceView, brokers: int) -> Diagram:
    """Lays out the diagram: lanes for the controller, all brokers, and any other broker named in a step."""
    names = [CONTROLLER, *(str(b) for b in range(brokers))]
    ends = [_ends(step) for step in view.steps]
    for pair in ends:
        names += [name for name in pair if name is not None and name not in names]
    labels = [f"{step.index}. {step.label}" for step in view.steps]
    left = MARGIN + CHAR * max((len(label) for label in labels), default=0) + LANE / 2 + MARGIN
    place = {name: left + LANE * number for number, name in enumerate(names)}
    notes_x = left + LANE * (len(names) - 1) + LANE / 2 + MARGIN
    rows, top, widest = [], float(HEAD), 0.0
    for step, (sender, receiver), label in zip(view.steps, ends, labels, strict=True):
        notes = important(step)
        height = max(ROW, LINE * len(notes) + 10)
        at, to = place[sender], None if receiver is None else place[receiver]
        tip = at if to is None else to + (4 if to < at else -4)
        told = tuple((top + 17 + LINE * n, note) for n, note in enumerate(notes))
        lost = step.talk is not None and step.talk.lost
        rows.append(Row(step.index, label, top, top + 13, height, at, to, tip, lost, told))
        top += height
        widest = max([widest, *(CHAR * len(note) for note in notes)])
    loop = next((row.top for row in rows if row.index - 1 == view.loop), None)
    lanes = tuple(Lane(name if name == CONTROLLER else f"broker {name}", x) for name, x in place.items())
    return Diagram(notes_x + widest + MARGIN, top + MARGIN, notes_x, lanes, tuple(rows), loop)
