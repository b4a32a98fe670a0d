"""Renders a sweep as a matrix: two keys give rows and columns, every other varying key gives facets.

Rows are the first key with more than one value, columns the second; keys are in the order of the grid. A sign
and a word show the verdict, so nothing depends on colours.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

from elrcheck.base.roundtrip import Record
from elrcheck.report.ci.markdown import escape
from elrcheck.report.documents.suite_document import named, summary, value_text
from elrcheck.results.suite_report import ROW_VERDICTS, RowVerdict, SweepReport, SweepRow
from elrcheck.results.trace_view import Scalar

SIGNS: dict[RowVerdict, str] = {"violated": "✗", "failed": "!", "inconclusive": "?", "holds": "✓", "skipped": "–"}
MEANINGS: dict[RowVerdict, str] = {
    "violated": "a property is violated",
    "failed": "the check failed, so there is no result",
    "inconclusive": "a limit was reached, or it did not run",
    "holds": "all properties hold in every reachable state",
    "skipped": "the model refuses the configuration",
}


class SweepMatrix(Record, frozen=True):
    """One facet."""

    facet: str
    rows: str
    columns: str
    row_heads: tuple[str, ...]
    column_heads: tuple[str, ...]
    cells: tuple[tuple[SweepRow | None, ...], ...]
    """One tuple per row, None where the grid has no configuration."""


def matrices(report: SweepReport) -> tuple[SweepMatrix, ...]:
    """Return all facets, in the order of the grid."""
    values = {key: _values(report, key) for key in report.keys}
    varied = [key for key in report.keys if len(values[key]) > 1] or [report.keys[0]]
    down, across, facets = varied[0], varied[1] if len(varied) > 1 else None, varied[2:]
    by_place = {tuple(row.settings[key] for key in varied): row for row in report.rows}
    result = []
    for chosen in itertools.product(*(values[key] for key in facets)):
        columns: Sequence[Scalar] = values[across] if across is not None else [None]
        cells = tuple(
            tuple(by_place.get((row, *([] if across is None else [column]), *chosen)) for column in columns)
            for row in values[down]
        )
        if any(cell is not None for line in cells for cell in line):
            result.append(
                SweepMatrix(
                    facet=", ".join(f"{k} = {value_text(v)}" for k, v in zip(facets, chosen, strict=True)),
                    rows=down,
                    columns=across or "",
                    row_heads=tuple(value_text(value) for value in values[down]),
                    column_heads=tuple(value_text(value) for value in columns) if across else ("verdict",),
                    cells=cells,
                )
            )
    return tuple(result)


def _values(report: SweepReport, key: str) -> list[Scalar]:
    """Return the values of a key: those of its axis in their order, then others by first occurrence."""
    axis = [value for axis in report.axes if axis.key == key for value in axis.values]
    used = [row.settings[key] for row in sorted(report.rows, key=lambda row: row.number)]
    return list(dict.fromkeys([*(value for value in axis if value in used), *used]))


def detail(row: SweepRow) -> str:
    """Return the property and depth, the number of states, or the reason, by verdict."""
    match row.verdict:
        case "violated":
            depth = "" if row.depth is None else f" at depth {row.depth}"
            return f"{row.property}{depth}, {row.distinct:,} states"
        case "holds":
            return f"{row.distinct:,} states"
    return row.reason or ""


def smallest(report: SweepReport) -> str | None:
    """Return the smallest violating configuration in words; None without a violation."""
    first = report.rows[0]
    if first.verdict != "violated":
        return None
    return f"number {first.number} ({named(first, report.keys)}): {detail(first)}"


# ------------------------------------------------------------------------------------- Markdown


def sweep_markdown(report: SweepReport) -> str:
    """Render a summary, a legend, and one table per facet."""
    lines = ["# elrcheck sweep", "", f"{report.verdict}. {summary(report)}.", ""]
    first = smallest(report)
    if first is not None:
        lines += [f"Smallest breaking configuration: {escape(first)}.", ""]
    used = [verdict for verdict in ROW_VERDICTS if report.count(verdict)]
    lines += [f"- {SIGNS[verdict]} {verdict}: {MEANINGS[verdict]}" for verdict in used] + [""]
    for matrix in matrices(report):
        if matrix.facet:
            lines += [f"## {escape(matrix.facet)}", ""]
        corner = f"{matrix.rows} \\ {matrix.columns}" if matrix.columns else matrix.rows
        lines += [_line(escape(head) for head in (corner, *matrix.column_heads))]
        lines += [_line(["---"] * (1 + len(matrix.column_heads)))]
        for head, cells in zip(matrix.row_heads, matrix.cells, strict=True):
            lines.append(_line([f"**{escape(head)}**", *(escape(_text(cell)) for cell in cells)]))
        lines.append("")
    return "\n".join(lines)


def _text(row: SweepRow | None) -> str:
    return "" if row is None else ": ".join(filter(None, (f"{SIGNS[row.verdict]} {row.verdict}", detail(row))))


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"
