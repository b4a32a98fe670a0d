"""Renders a sweep report as a table of typed columns: CSV and Parquet.

One row per configuration, in the order of the report. Columns: `number`, `variant`, `scope`, every other key
that the grid varies, then `COLUMNS`. CSV joins lists with spaces and leaves missing values empty; Parquet has
lists and nulls.
"""

from __future__ import annotations

import csv
import io
from typing import Any

from elrcheck.base.typed.configuration import setting_text
from elrcheck.results.suite_report import SweepReport, SweepRow
from elrcheck.results.trace_view import Scalar

NUMBERED = ("number", "variant", "scope")
COLUMNS = {
    **dict.fromkeys(("verdict", "reason", "property"), "string"),
    "depth": "int64",
    **dict.fromkeys(("violated", "unreached"), "strings"),
    "complete": "bool_",
    **dict.fromkeys(("generated", "distinct", "diameter"), "int64"),
    "seconds": "float64",
    **dict.fromkeys(("by", "trace"), "string"),
}
"""Columns after the keys of the grid, with their types in Parquet; `strings` are lists."""


def columns(report: SweepReport) -> tuple[str, ...]:
    """Return the names of the columns, in order."""
    return (*NUMBERED, *_varied(report), *COLUMNS)


def records(report: SweepReport) -> list[dict[str, Any]]:
    """Return the rows as column -> value, with lists as lists and missing values as None."""
    varied = _varied(report)
    return [_record(row, varied) for row in report.rows]


def to_csv(report: SweepReport) -> str:
    """Render CSV as in RFC 4180, with a header, but with plain newlines."""
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, columns(report), lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _cell(value) for name, value in row.items()} for row in records(report))
    return buffer.getvalue()


def to_parquet(report: SweepReport) -> bytes:
    """Return the bytes of a Parquet file; column types do not depend on missing values."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    kinds = {"number": "int64", "variant": "string", "scope": "string", **COLUMNS}
    for key in _varied(report):
        first = next(row.settings[key] for row in report.rows if row.settings[key] is not None)
        kinds[key] = "bool_" if isinstance(first, bool) else "int64" if isinstance(first, int) else "string"
    types = {name: getattr(pa, kind)() for name, kind in kinds.items() if kind != "strings"}
    schema = pa.schema([(name, types.get(name, pa.list_(pa.string()))) for name in columns(report)])
    buffer = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist(records(report), schema), buffer)
    return buffer.getvalue()


def _varied(report: SweepReport) -> tuple[str, ...]:
    return tuple(key for key in report.keys if key not in NUMBERED)


def _record(row: SweepRow, varied: tuple[str, ...]) -> dict[str, Any]:
    record: dict[str, Any] = {"number": row.number, "variant": row.variant, "scope": row.scope}
    record.update((key, row.settings[key]) for key in varied)
    for name in COLUMNS:
        value = getattr(row, name)
        record[name] = list(value) if isinstance(value, tuple) else value
    return record


def _cell(value: Scalar | list[str]) -> str:
    match value:
        case None:
            return ""
        case list():
            return " ".join(value)
    return setting_text(value)
