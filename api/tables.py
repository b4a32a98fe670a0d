"""The tables of a report: the fields that hold tuples of records, with a column for each plain field of the record.

Columns come from the types, so that an empty table has them, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

from msgspec import Struct

from elrcheck.base.errors import EnvironmentFault, UsageFault, did_you_mean

if TYPE_CHECKING:
    from pandas import DataFrame


def tables_of(kind: type) -> Mapping[str, tuple[str, ...]]:
    """Return table -> its columns, the fields of its records that hold no records, in the order of the report."""
    tables: dict[str, tuple[str, ...]] = {}
    for name, hint in get_type_hints(kind).items():
        inner = get_args(hint)
        if get_origin(hint) is tuple and inner and _is_record(inner[0]):
            hints = get_type_hints(inner[0])
            tables[name] = tuple(field for field in inner[0].__struct_fields__ if not _holds_records(hints[field]))
    return tables


def _is_record(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, Struct)


def _holds_records(hint: Any) -> bool:
    return _is_record(hint) or any(_holds_records(inner) for inner in get_args(hint))


def rows_of(report: object, table: str) -> list[dict[str, Any]]:
    """Return the rows of a table, each as column -> value. Raises UsageFault if the report has no such table."""
    tables = tables_of(type(report))
    if table not in tables:
        raise UsageFault("usage-bad-value", f"this report has no table `{table}`", help=did_you_mean(table, tables))
    return [{name: plain(getattr(row, name)) for name in tables[table]} for row in getattr(report, table)]


def plain(value: Any) -> Any:
    """Return the value of a cell, with lists and dictionaries for tuples and mappings."""
    if isinstance(value, tuple):
        return [plain(part) for part in value]
    if isinstance(value, Mapping):
        return {key: plain(part) for key, part in value.items()}
    return value


def to_frame(rows: Iterable[Mapping[str, Any]], columns: Iterable[str]) -> DataFrame:
    """Return a data frame. Raises EnvironmentFault if pandas, an optional dependency, is not installed."""
    try:
        from pandas import DataFrame
    except ModuleNotFoundError as fault:
        raise EnvironmentFault(
            "package-missing", "pandas, which `to_pandas` needs, is not installed", help="pip install 'pandas>=2.2,<3'"
        ) from fault
    return DataFrame(list(rows), columns=list(columns))
