"""A trace in the HTML report: tables of the state, the truth of every property, and data for the stepper."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from elrcheck.base.roundtrip import Record
from elrcheck.report.html.html_sequence import SequenceDiagram, diagram
from elrcheck.report.html.page_template import packaged, source
from elrcheck.report.log_notes import loss_in_words
from elrcheck.results.trace_view import DrawnFields, DrawnPartition, RefusedAction, Scene, TraceView, Truth

MARKS = {"acknowledged": "★", "committed": "✓", "other": "✗", "open": "", "missing": ""}
DESCRIPTIONS = {
    "acknowledged": "acknowledged to its producer",
    "committed": "committed",
    "other": "not the record that was committed at this offset",
    "open": "not committed",
    "missing": "committed, and not in this log",
}
CHANGES = {"new": "new in this step", "gone": "gone in this step", "": ""}
TONES = {"leader": "leader", "ISR": "isr", "ELR": "elr", "LastKnownELR": "known", "replica": "replica"}
CHANGED = "<li>Yellow: the last step changed it.</li>"


def picture_of(drawn: DrawnFields | DrawnPartition) -> str:
    """Return the picture as a fragment of HTML with all texts escaped; its classes are in `partition.css`."""
    if isinstance(drawn, DrawnFields):
        return packaged("fields.html.j2").render(picture=drawn)
    partition = packaged("partition.html.j2")
    return partition.render(picture=drawn, marks=MARKS, said=DESCRIPTIONS, changes=CHANGES, tones=TONES)


def legend_of(drawn: DrawnFields | DrawnPartition) -> str:
    """Return what the signs of a picture mean, as the items of a list in HTML."""
    return CHANGED if isinstance(drawn, DrawnFields) else source("partition_legend.html")


MOST_CALLS = 4
"""Arguments of a refused action that are named."""
_INDEXED = re.compile(r"(.*?)\[(\d+)\]\.?(.*)")


class LeafCell(Record, frozen=True):
    """One cell of a state table, after the last step."""

    path: str
    value: str
    changes: bool
    """True if any step of the trace changes it."""
    was: str | None = None
    """The value before the last step, if that changed it."""


class LeafRow(Record, frozen=True):
    name: str
    cells: tuple[LeafCell | None, ...]

    @property
    def changes(self) -> bool:
        return any(cell is not None and cell.changes for cell in self.cells)


class LeafTable(Record, frozen=True):
    """A table of leaves: one column per broker (`columns`: their numbers), or a single column."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[LeafRow, ...]

    @property
    def changes(self) -> bool:
        return any(row.changes for row in self.rows)


class TruthRow(Record, frozen=True):
    """A property that is hit somewhere."""

    id: str
    name: str
    kind: str
    marks: tuple[bool | None, ...]
    """True for each state that hits it, None if not evaluated."""


class TraceBlock(Record, frozen=True):
    """A trace with everything the page shows of it."""

    key: str
    """Unique on the page."""
    title: str
    message: str
    view: TraceView
    source: str
    place: str
    groups: tuple[LeafTable, ...]
    truths: tuple[TruthRow, ...]
    quiet: Mapping[str, tuple[str, ...]]
    """Properties never hit."""
    sequence: SequenceDiagram
    data: Mapping[str, Any]
    word: str = "Counterexample"
    """Kind of trace."""
    shows_violation: bool = True
    plain: str = ""
    """`message` in plain words."""
    expected: bool = False
    """A baseline expects the violation."""
    picture: str = ""
    """The last state as HTML; empty if the states are not available."""
    legend: str = ""


def trace_block(
    key: str,
    title: str,
    message: str,
    view: TraceView,
    brokers: int,
    source: str = "",
    place: str = "",
    word: str = "Counterexample",
    shows_violation: bool = True,
    plain: str = "",
) -> TraceBlock:
    """Return the block of a trace. place: path of the stored trace."""
    scenes: tuple[Scene, ...] = () if view.drawn is None else view.drawn.scenes()
    pictures = [picture_of(scene.drawn) for scene in scenes]
    states = len(view.steps) + 1
    hit = tuple(_truth(truth, states) for truth in view.truths if truth.hits)
    quiet = {
        kind: tuple(f"{t.id} {t.name}" for t in view.truths if t.kind == kind and not t.hits)
        for kind in ("always", "sometimes")
    }
    return TraceBlock(
        key,
        title,
        message,
        view,
        source,
        place,
        groups(view),
        hit,
        quiet,
        diagram(view, brokers, [scene.sentence for scene in scenes]),
        _data(view) | _scene_data(view, scenes, pictures),
        word,
        shows_violation,
        plain or loss_in_words(view),
        picture=pictures[-1] if pictures else "",
        legend=legend_of(scenes[-1].drawn) if scenes else "",
    )


def groups(view: TraceView) -> tuple[LeafTable, ...]:
    """Return the leaves of the state as tables, in the order of the model."""
    moved = {change.path for step in view.steps for change in step.changes}
    last = {change.path: change.new for step in view.steps for change in step.changes}
    was = {change.path: change.old for step in view.steps[-1:] for change in step.changes}
    tables: dict[str, dict[str, dict[str, LeafCell]]] = {}
    for path, value in _every_leaf(view).items():
        name, row, column = _split(path)
        leaf = LeafCell(path, last.get(path, value), path in moved, was.get(path))
        tables.setdefault(name, {}).setdefault(row, {})[column] = leaf
    return tuple(_group(name, rows) for name, rows in tables.items())


def _every_leaf(view: TraceView) -> dict[str, str]:
    """Return the leaves of the first state, plus those that only later steps mention."""
    leaves = dict(view.initial)
    for step in view.steps:
        for change in step.changes:
            leaves.setdefault(change.path, change.old)
    return leaves


def _split(path: str) -> tuple[str, str, str]:
    """Return the table, row and column of a leaf; the column is empty in a table with a single column."""
    match = _INDEXED.fullmatch(path)
    if match is not None:
        return match[1], match[3] or "value", match[2]
    head, dot, rest = path.partition(".")
    return (head, rest, "") if dot else ("cluster", path, "")


def _group(name: str, rows: dict[str, dict[str, LeafCell]]) -> LeafTable:
    columns = tuple(dict.fromkeys(column for cells in rows.values() for column in cells))
    listed = (LeafRow(row, tuple(cells.get(column) for column in columns)) for row, cells in rows.items())
    return LeafTable(name, columns if any(columns) else (), tuple(listed))


def _truth(truth: Truth, states: int) -> TruthRow:
    hits = set(truth.hits)
    marks = tuple(None if truth.step and n == 0 else n in hits for n in range(states))
    return TruthRow(truth.id, truth.name, truth.kind, marks)


def _data(view: TraceView) -> dict[str, Any]:
    """Return the data from which the stepper computes the values after any step."""
    return {
        "initial": _every_leaf(view),
        "steps": [
            {
                "label": step.label,
                "action": step.action,
                "because": step.because,
                "source": step.source,
                "changes": [[change.path, change.old, change.new] for change in step.changes],
            }
            for step in view.steps
        ],
        "loop": view.loop,
        "truths": [[t.id, t.name, t.kind, list(t.hits)] for t in view.truths if t.hits],
        "judged": len(view.truths),
    }


def _scene_data(view: TraceView, scenes: Sequence[Scene], pictures: Sequence[str]) -> dict[str, Any]:
    """Return pictures, enabled and refused actions by line number, each distinct line once: states share most lines."""
    lines: dict[str, int] = {}

    def numbers(texts: Iterable[str]) -> list[int]:
        return [lines.setdefault(text, len(lines)) for text in texts]

    described = [
        {
            "sentence": scene.sentence,
            "picture": numbers(picture.splitlines()),
            "enabled": numbers(scene.enabled),
            "refused": numbers(map(refusal_in_words, scene.refused)),
        }
        for scene, picture in zip(scenes, pictures, strict=True)
    ]
    return {"scenes": described, "lines": list(lines), "rules": dict(view.drawn.rules()) if scenes else {}}


def refusal_in_words(refused: RefusedAction) -> str:
    """Return an action, its first arguments and the guard, on a line."""
    more = len(refused.calls) - MOST_CALLS
    calls = " ".join(f"({call})" for call in refused.calls[:MOST_CALLS] if call)
    return f"{refused.action} {calls}{f' and {more} more' if more > 0 else ''}\t{refused.guard}"
