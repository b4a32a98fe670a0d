"""Lays out a trace as a sequence diagram, in SVG units.

Labels have a column of their own beside the lanes, so they never cross an arrow; `report.mermaid` determines
senders and receivers.  Text is monospaced, so its width is known.
"""

from __future__ import annotations

from dataclasses import dataclass

from elrcheck.report.mermaid import CONTROLLER, important, talk_of
from elrcheck.results.trace_view import TraceView

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


def diagram(view: TraceView, brokers: int) -> Diagram:
    """Lays out the diagram: lanes for the controller, all brokers, and any other broker named in a step."""
    names = [CONTROLLER, *(str(b) for b in range(brokers))]
    talks = [talk_of(step) for step in view.steps]
    for talk in talks:
        names += [name for name in (talk.sender, talk.receiver) if name is not None and name not in names]
    labels = [f"{step.index}. {step.label}" for step in view.steps]
    left = MARGIN + CHAR * max((len(label) for label in labels), default=0) + LANE / 2 + MARGIN
    place = {name: left + LANE * number for number, name in enumerate(names)}
    notes_x = left + LANE * (len(names) - 1) + LANE / 2 + MARGIN
    rows, top, widest = [], float(HEAD), 0.0
    for step, talk, label in zip(view.steps, talks, labels, strict=True):
        notes = important(step)
        height = max(ROW, LINE * len(notes) + 10)
        at, to = place[talk.sender], None if talk.receiver is None else place[talk.receiver]
        tip = at if to is None else to + (4 if to < at else -4)
        texts = tuple((top + 17 + LINE * n, note) for n, note in enumerate(notes))
        rows.append(Row(step.index, label, top, top + 13, height, at, to, tip, talk.lost, texts))
        top += height
        widest = max([widest, *(CHAR * len(note) for note in notes)])
    loop = next((row.top for row in rows if row.index - 1 == view.loop), None)
    lanes = tuple(Lane(name if name == CONTROLLER else f"broker {name}", x) for name, x in place.items())
    return Diagram(notes_x + widest + MARGIN, top + MARGIN, notes_x, lanes, tuple(rows), loop)
