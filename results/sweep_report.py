"""The report of `elrcheck sweep`: one row per configuration, the smallest violating one first.

Rows are sorted by verdict (violated, failed, inconclusive, holds, skipped), then by the number of distinct states, then
by the depth of the shortest violation, then by number. The size of a search that a limit stopped is meaningless, so
inconclusive rows are in the order of the grid.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, TypeAlias

from elrcheck.base.roundtrip import Record
from elrcheck.results.any_report import ModelReport
from elrcheck.results.check_report import PropertyOutcome
from elrcheck.results.trace_view import Scalar

RowVerdict: TypeAlias = Literal["violated", "failed", "inconclusive", "holds", "skipped"]
Searcher: TypeAlias = Literal["process", "task", "whole"]
SweepVerdict: TypeAlias = Literal["violated", "inconclusive", "holds", "nothing"]
ROW_VERDICTS: tuple[RowVerdict, ...] = ("violated", "failed", "inconclusive", "holds", "skipped")


class SweepAxis(Record, frozen=True):
    """A key that the grid varies, and its values as reports show them."""

    key: str
    values: tuple[Scalar, ...]


class SweepRow(Record, frozen=True):
    """One configuration. The counts are those of a check, null without one."""

    number: int
    """Position in the grid."""
    settings: Mapping[str, Scalar]
    """The values that the grid varies."""
    variant: str
    scope: str
    verdict: RowVerdict
    reason: str | None = None
    """Why it was skipped, failed, or is inconclusive."""
    property: str | None = None
    """The violated property with the shortest trace."""
    depth: int | None = None
    """Depth of that violation."""
    violated: tuple[str, ...] = ()
    unreached: tuple[str, ...] = ()
    complete: bool | None = None
    generated: int | None = None
    distinct: int | None = None
    diameter: int | None = None
    seconds: float | None = None
    by: Searcher | None = None
    """What searched it: a process of the pool, a Spark task, or the whole engine."""
    trace: str | None = None
    """File of that violation in the run folder."""
    properties: tuple[PropertyOutcome, ...] = ()
    config: Mapping[str, Scalar] | None = None
    """Every size, knob and budget; null if the model refuses the configuration."""


class SweepEngine(Record, frozen=True):
    """The engine of the sweep: processes on this machine or tasks on Spark."""

    name: Literal["local", "spark"]
    workers: int
    """Processes, or slots of the cluster; 0 if nothing was left to run."""
    large: int
    """Number of states beyond which a configuration gets the whole engine."""
    detail: str | None = None


class SweepReport(ModelReport, frozen=True, tag="elrcheck.sweep/1"):
    """The result of `elrcheck sweep`."""

    verdict: SweepVerdict
    """violated if any row is; inconclusive if any row is inconclusive or failed; nothing if all are skipped."""
    axes: tuple[SweepAxis, ...]
    keys: tuple[str, ...]
    """The keys of `settings` in the rows, the axes first."""
    rows: tuple[SweepRow, ...]
    """The smallest violating configuration first (`in_order`)."""
    excluded: int
    """Number of points that the grid file excludes."""
    seconds: float
    engine: SweepEngine
    interrupted: bool = False
    resumed: int = 0
    """Rows that an earlier run of the sweep had finished."""
    run_dir: str | None = None

    def count(self, verdict: RowVerdict) -> int:
        return sum(row.verdict == verdict for row in self.rows)


def in_order(rows: Iterable[SweepRow]) -> tuple[SweepRow, ...]:
    """Return the rows in the order of the report."""
    return tuple(sorted(rows, key=_place))


def _place(row: SweepRow) -> tuple[int, int, int, int]:
    sized = row.verdict in ("violated", "holds")
    size = row.distinct if sized and row.distinct is not None else 0
    depth = row.depth if sized and row.depth is not None else 0
    return ROW_VERDICTS.index(row.verdict), size, depth, row.number


def verdict_of(rows: Iterable[SweepRow]) -> SweepVerdict:
    """Return the verdict of all rows."""
    verdicts = {row.verdict for row in rows}
    if "violated" in verdicts:
        return "violated"
    if verdicts & {"failed", "inconclusive"}:
        return "inconclusive"
    return "holds" if "holds" in verdicts else "nothing"
