"""Lays out a trace as a sequence diagram: a row for each step, with a strip of lanes and what the step did.

A strip is as wide as its column, with its lanes at percentages of the width, so that a diagram fits any screen; the
texts beside it, or below it on a phone, wrap.
"""

from __future__ import annotations

from collections.abc import Sequence

from elrcheck.base.roundtrip import Record
from elrcheck.report.html.page_template import packaged
from elrcheck.report.log_notes import LogChange, StepNotes, name, notes
from elrcheck.report.trace_diagrams import important, place_of
from elrcheck.results.trace_view import CONTROLLER, Change, Step, TraceView


class Lane(Record, frozen=True):
    """x: in percent of the width."""

    name: str
    x: float


class Note(Record, frozen=True):
    """A line of text beside a step."""

    text: str
    tone: str = ""
    """Failed, passed, or empty."""


class Box(Record, frozen=True):
    """A record of a log."""

    name: str
    record: str
    lost: bool = False
    """The record was committed, and the step removed it."""


class LogLine(Record, frozen=True):
    """The log of a broker before and after a step; a committed record that is gone keeps its place."""

    broker: str
    before: tuple[Box, ...]
    after: tuple[Box, ...]


class Row(Record, frozen=True):
    """One step, or with index 0 the first state."""

    index: int
    label: str
    at: float | None = None
    """The lane where it happens, or where its arrow starts, in percent of the width."""
    to: float | None = None
    """The lane where its arrow ends; None if it sends no message."""
    where: str = ""
    """Both in words."""
    lost: bool = False
    sentence: str = ""
    because: str = ""
    source: str = ""
    notes: tuple[Note, ...] = ()
    logs: tuple[LogLine, ...] = ()
    changes: tuple[Change, ...] = ()
    broken: bool = False
    """A property becomes false here."""
    repeats: bool = False
    """This step and those after it repeat forever."""


class SequenceDiagram(Record, frozen=True):
    """The whole diagram."""

    lanes: tuple[Lane, ...]
    rows: tuple[Row, ...]


def diagram(view: TraceView, brokers: int, sentences: Sequence[str] = ()) -> SequenceDiagram:
    """Return the diagram, with lanes for the controller, all brokers, and any other broker named in a step.

    sentences: what the step into each state does; empty for the first state.
    """
    names = [CONTROLLER, *(str(b) for b in range(brokers))]
    ends = [_ends(step) for step in view.steps]
    for pair in ends:
        names += [end for end in pair if end is not None and end not in names]
    lanes = lanes_of([end if end == CONTROLLER else f"broker {end}" for end in names])
    place = {end: lane.x for end, lane in zip(names, lanes, strict=True)}
    rows = [Row(0, "The first state", broken=any(t.kind == "always" and 0 in t.hits for t in view.truths))]
    for step, (start, end), step_notes in zip(view.steps, ends, notes(view), strict=True):
        lost = step.talk is not None and step.talk.lost
        sentence = sentences[step.index] if step.index < len(sentences) else ""
        rows.append(
            Row(
                index=step.index,
                label=step.label,
                at=place[start],
                to=None if end is None else place[end],
                where=start if end is None else f"{start} to {end}{', lost' if lost else ''}",
                lost=lost,
                sentence=sentence,
                because=step.because,
                source=step.source,
                notes=tuple(_notes(step, step_notes)),
                logs=tuple(map(_log_line, step_notes.logs)),
                changes=step.changes,
                broken=bool(step_notes.broken),
                repeats=view.loop == step.index - 1,
            )
        )
    return SequenceDiagram(lanes, tuple(rows))


def lanes_of(names: Sequence[str]) -> tuple[Lane, ...]:
    """Return lanes at equal distances."""
    return tuple(Lane(one, round(100 * (number + 0.5) / len(names), 2)) for number, one in enumerate(names))


def sequence_html(sequence: SequenceDiagram, key: str, last: int | None = None) -> str:
    """Return the diagram as a fragment of HTML. key: prefix of the links of its rows; last: the current step."""
    module = packaged("sequence.html.j2").make_module()
    return str(module.sequence(sequence, key, last))  # type: ignore[attr-defined]


def _ends(step: Step) -> tuple[str, str | None]:
    """Return where the row of a step starts, and where its arrow leads if it is a message."""
    return (place_of(step), None) if step.talk is None else (step.talk.sender, step.talk.receiver)


def _notes(step: Step, step_notes: StepNotes) -> list[Note]:
    """Return the texts beside a step, each with its tone."""
    texts = [Note(text) for text in important(step)]
    for word, records in (("committed", step_notes.committed), ("acknowledged", step_notes.acknowledged)):
        if records:
            texts.append(Note(f"✓ {word}: {' '.join(map(name, records))}", "passed"))
    if step_notes.gone:
        texts.append(Note(f"✗ no log has {' '.join(map(name, step_notes.gone))} any more", "failed"))
    return texts + [Note(f"✗ {truth.id} {truth.name} is false", "failed") for truth in step_notes.broken]


def _log_line(change: LogChange) -> LogLine:
    lost = tuple(Box(name(record), record, True) for record in change.before if record in change.lost)
    before, after = (tuple(Box(name(record), record) for record in side) for side in (change.before, change.after))
    return LogLine(change.broker, before, after + lost)
