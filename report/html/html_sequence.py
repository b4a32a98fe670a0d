"""Lays out a trace as a sequence diagram, in SVG units.

Labels stand in a column beside the lanes, so that they never cross an arrow; who talks to whom is in
the steps.  What a step changed stands on the other side: the partition, and logs as boxes, before and after,
with the records that were lost.  Text is monospaced, so its width is known.
"""

from __future__ import annotations

from elrcheck.base.roundtrip import Record
from elrcheck.report.log_notes import LogChange, StepNotes, name, notes
from elrcheck.report.mermaid import important, place_of
from elrcheck.results.trace_view import CONTROLLER, Step, TraceView

CHAR = 7.3
"""Width of a monospaced character at 12 px, slightly overestimated."""
ROW = 26
LINE = 16
BOX = 22
"""Height of a line with the boxes of a log."""
HEAD = 40
LANE = 84
MARGIN = 12
SHRINKS = (640, 880)
"""Widths between which a diagram shrinks to the column that it stands in; `report.css` has the least one."""


class Lane(Record, frozen=True):
    name: str
    x: float


class Note(Record, frozen=True):
    """A line of text beside a step."""

    y: float
    text: str
    tone: str = ""
    """Failed, passed, or empty."""


class Box(Record, frozen=True):
    """A record of a log."""

    x: float
    width: float
    name: str
    record: str
    lost: bool = False
    """The record was committed, and the step took it away."""


class LogLine(Record, frozen=True):
    """The log of a broker before and after a step: boxes on both sides of an arrow, a word where it is empty."""

    y: float
    words: tuple[tuple[float, str], ...]
    """Texts with their x."""
    boxes: tuple[Box, ...]
    end: float
    summary: str
    """The same in a line."""


class Row(Record, frozen=True):
    """One step."""

    index: int
    label: str
    top: float
    y: float
    height: float
    at: float
    to: float | None
    """None if it sends no message."""
    tip: float
    """End of the arrow, just before the lane."""
    lost: bool
    notes: tuple[Note, ...]
    logs: tuple[LogLine, ...]
    broken: bool
    """A property becomes false here."""


class Diagram(Record, frozen=True):
    """The whole diagram."""

    width: float
    height: float
    notes_x: float
    lanes: tuple[Lane, ...]
    rows: tuple[Row, ...]
    loop: float | None
    """Top of the steps that repeat forever."""

    @property
    def shrinks(self) -> bool:
        """Return a little too wide to stand beside the state, and still readable when it fits."""
        return SHRINKS[0] < self.width <= SHRINKS[1]


def _ends(step: Step) -> tuple[str, str | None]:
    """Return where the row of a step starts, and where its arrow leads if it is a message."""
    return (place_of(step), None) if step.talk is None else (step.talk.sender, step.talk.receiver)


def diagram(view: TraceView, brokers: int) -> Diagram:
    """Lay out the diagram: lanes for the controller, all brokers, and any other broker named in a step."""
    names = [CONTROLLER, *(str(b) for b in range(brokers))]
    ends = [_ends(step) for step in view.steps]
    for pair in ends:
        names += [name for name in pair if name is not None and name not in names]
    labels = [f"{step.index}. {step.label}" for step in view.steps]
    left = MARGIN + CHAR * max((len(label) for label in labels), default=0) + LANE / 2 + MARGIN
    place = {name: left + LANE * number for number, name in enumerate(names)}
    notes_x = left + LANE * (len(names) - 1) + LANE / 2 + MARGIN
    rows, top, widest = [], float(HEAD), 0.0
    for step, (sender, receiver), label, step_notes in zip(view.steps, ends, labels, notes(view), strict=True):
        texts_beside = _texts(step, step_notes)
        height = max(ROW, LINE * len(texts_beside) + BOX * len(step_notes.logs) + 10)
        at, to = place[sender], None if receiver is None else place[receiver]
        tip = at if to is None else to + (4 if to < at else -4)
        logs = tuple(_log_line(change, notes_x, top + 4 + BOX * n) for n, change in enumerate(step_notes.logs))
        below = top + BOX * len(logs)
        texts = tuple(Note(below + 17 + LINE * n, text, tone) for n, (text, tone) in enumerate(texts_beside))
        lost = step.talk is not None and step.talk.lost
        broken = bool(step_notes.broken)
        rows.append(Row(step.index, label, top, top + 13, height, at, to, tip, lost, texts, logs, broken))
        top += height
        widest = max([widest, *(CHAR * len(text) for text, _ in texts_beside), *(log.end - notes_x for log in logs)])
    loop = next((row.top for row in rows if row.index - 1 == view.loop), None)
    lanes = tuple(Lane(name if name == CONTROLLER else f"broker {name}", x) for name, x in place.items())
    return Diagram(notes_x + widest + MARGIN, top + MARGIN, notes_x, lanes, tuple(rows), loop)


def _texts(step: Step, step_notes: StepNotes) -> list[tuple[str, str]]:
    """Return the texts beside a step, each with its tone."""
    texts = [(text, "") for text in important(step)]
    for word, records in (("committed", step_notes.committed), ("acknowledged", step_notes.acknowledged)):
        if records:
            texts.append((f"✓ {word}: {' '.join(map(name, records))}", "passed"))
    if step_notes.gone:
        texts.append((f"✗ no log has {' '.join(map(name, step_notes.gone))} any more", "failed"))
    return texts + [(f"✗ {truth.id} {truth.name} is false", "failed") for truth in step_notes.broken]


def _log_line(change: LogChange, x: float, y: float) -> LogLine:
    """Return both logs in a line; a committed record that is gone keeps its place, as a lost box."""
    label = f"log of {change.broker}:"
    words, boxes = [(x, label)], list[Box]()
    x += CHAR * (len(label) + 1)
    lost_boxes = tuple((record, record in change.lost) for record in change.before if record in change.lost)
    sides = ([(r, False) for r in change.before], [(r, False) for r in change.after] + list(lost_boxes))
    for number, side in enumerate(sides):
        if number:
            words.append((x, "→"))
            x += CHAR * 2
        if not side:
            words.append((x, "empty"))
            x += CHAR * 6
        for record, lost in side:
            width = CHAR * len(name(record)) + 10
            boxes.append(Box(x, width, name(record), record, lost))
            x += width + 4
        x += 4
    if lost_boxes:
        words.append((x, "lost"))
        x += CHAR * 5
    texts = [" ".join(map(name, records)) or "empty" for records in (change.before, change.after)]
    summary = f"{label} {' → '.join(texts)}" + (f", lost: {' '.join(map(name, change.lost))}" if lost_boxes else "")
    return LogLine(y, tuple(words), tuple(boxes), x, summary)
