"""Bar charts and the matrix of a proof in the HTML report; lengths are relative to the longest, rounded to be equal
on all platforms."""

from __future__ import annotations

from collections.abc import Sequence

from elrcheck.base.roundtrip import Record
from elrcheck.results.check_report import ActionReport, VariableReport
from elrcheck.results.prove_report import CellReport, ProveReport

HEIGHT = 160
WIDTH = 640


class Column(Record, frozen=True):
    """One bar of the growth chart, in SVG units."""

    depth: int
    count: int
    x: float
    y: float
    width: float
    height: float
    label: bool
    """There is room to print the depth."""


class Growth(Record, frozen=True):
    width: int
    height: int
    columns: tuple[Column, ...]
    peak: Column


class Bar(Record, frozen=True):
    """A table row with a bar."""

    name: str
    value: int
    length: float
    """0 to 100."""
    fired: int = 0
    cut: int = 0
    remark: str = ""
    """A note besides the number."""
    guards: tuple[str, ...] = ()


def growth(levels: Sequence[int]) -> Growth | None:
    """Return the new states per depth as columns; None if nothing was explored."""
    most = max(levels, default=0)
    if most == 0:
        return None
    slot = WIDTH / len(levels)
    every = -(-len(levels) // 16)
    columns = tuple(
        Column(
            depth=depth,
            count=count,
            x=round(depth * slot + slot * 0.1, 2),
            y=round(HEIGHT - count / most * HEIGHT, 2),
            width=round(slot * 0.8, 2),
            height=round(count / most * HEIGHT, 2),
            label=depth % every == 0,
        )
        for depth, count in enumerate(levels)
    )
    return Growth(WIDTH, HEIGHT, columns, next(column for column in columns if column.count == most))


def yields(actions: Sequence[ActionReport]) -> tuple[Bar, ...]:
    """Return the actions by number of new states, most first; those that never fired last."""
    most = max((action.new_states for action in actions), default=0)
    bars = [
        Bar(
            action.name,
            action.new_states,
            _length(action.new_states, most),
            action.fired,
            action.cut,
            action.remark,
            action.guards,
        )
        for action in actions
    ]
    return tuple(sorted(bars, key=lambda bar: (bool(bar.remark), -bar.value, bar.name)))


def variables(reports: Sequence[VariableReport]) -> tuple[Bar, ...]:
    """Return the number of values of each variable, most first."""
    most = max((variable.distinct for variable in reports), default=0)
    bars = [Bar(v.name, v.distinct, _length(v.distinct, most)) for v in reports]
    return tuple(sorted(bars, key=lambda bar: (-bar.value, bar.name)))


def _length(value: int, most: int) -> float:
    return round(100 * value / most, 1) if most else 0.0


PROOF_SIGNS = {"proved": "✓", "refuted": "✗", "unknown": "?"}


class ProofMatrix(Record, frozen=True):
    """A proof matrix."""

    lemmas: tuple[str, ...]
    rows: tuple[tuple[str, tuple[CellReport | None, ...]], ...]
    """An action and its cell for each lemma, None if there is no such obligation."""
    proved: int
    total: int
    seconds: float


def matrix(report: ProveReport) -> ProofMatrix | None:
    """Return the matrix; None if the proof has no cells."""
    if not report.cells:
        return None
    lemmas = tuple(dict.fromkeys(cell.lemma for cell in report.cells))
    by_action: dict[str, dict[str, CellReport]] = {}
    for cell in report.cells:
        by_action.setdefault(cell.action, {})[cell.lemma] = cell
    return ProofMatrix(
        lemmas,
        tuple((action, tuple(cells.get(lemma) for lemma in lemmas)) for action, cells in by_action.items()),
        sum(cell.verdict == "proved" for cell in report.cells),
        len(report.cells),
        sum(cell.seconds for cell in report.cells),
    )
