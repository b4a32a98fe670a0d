"""The report of `elrcheck suite`: which properties each small configuration breaks, and whether that is explained.

A violation is expected if a file of `catalogue/suites/` says why it happens there. A run is as expected if it
breaks exactly the expected properties and reaches the witnesses without which it would show nothing.

The report of `elrcheck sweep`: one row per configuration, the smallest violating one first. Rows are sorted by verdict
(violated, failed, inconclusive, holds, skipped), then by the number of distinct states, then by the depth of the
shortest violation, then by number. The size of a search that a limit stopped is meaningless, so inconclusive rows are
in the order of the grid.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, TypeAlias

from elrcheck.base.kept.age import KeptOrigin
from elrcheck.base.roundtrip import Record
from elrcheck.results.any_report import ModelReport, Report
from elrcheck.results.check_report import PropertyOutcome
from elrcheck.results.trace_view import Scalar

RunVerdict: TypeAlias = Literal["holds", "violated", "walked", "inconclusive", "failed"]
SuiteVerdict: TypeAlias = Literal["expected", "unexpected", "inconclusive", "nothing"]


class SuiteViolation(Record, frozen=True):
    """A property that breaks, or that is expected to."""

    id: str
    name: str
    found: bool
    """False if the suite expects the violation and the search did not find it."""
    expected: bool
    depth: int | None = None
    """Depth of the shortest violation."""
    conjunct: str | None = None
    because: str | None = None
    """Why, from the suite."""
    finding: str | None = None
    """Id of the finding that explains it; null if it is by design."""
    trace: str | None = None
    """File in the run folder, stored only without an explanation."""

    @property
    def explained(self) -> bool:
        return self.found and self.expected


class SuiteRun(Record, frozen=True):
    """One configuration."""

    name: str
    verdict: RunVerdict
    as_expected: bool
    variant: str
    scope: str
    settings: Mapping[str, Scalar]
    """Its settings beyond the scope."""
    distinct: int
    generated: int
    diameter: int
    seconds: float
    searched: bool
    """False if the result comes from an earlier run, `kept`."""
    violations: tuple[SuiteViolation, ...] = ()
    dead: tuple[str, ...] = ()
    """Required witnesses that are not reached."""
    unreached: tuple[str, ...] = ()
    reason: str | None = None
    recorded: str | None = None
    """The recorded counts of a packaged configuration, in words, if the run has others."""
    digest: str | None = None
    """Digest of the random walks of a configuration too large to search (verdict `walked`); `generated` then counts
    the possible steps, `diameter` those of the longest walk, and no property is judged."""
    problems: tuple[str, ...] = ()
    """What is not as expected, in words."""
    command: str = ""
    """The command that repeats the search."""
    kept: KeptOrigin | None = None


class SuiteReport(Report, frozen=True, tag="elrcheck.suite/1"):
    """The result of `elrcheck suite`."""

    verdict: SuiteVerdict
    """unexpected if a run has an unexplained violation, lacks an expected one, shows nothing or has other counts than
    recorded."""
    runs: tuple[SuiteRun, ...]
    witnesses: tuple[str, ...]
    """Witnesses that no run reaches."""
    seconds: float
    workers: int
    interrupted: bool = False
    run_dir: str | None = None
    kept: KeptOrigin | None = None
    """The oldest answer of an earlier run that was used."""

    def count(self, verdict: RunVerdict) -> int:
        return sum(run.verdict == verdict for run in self.runs)


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
