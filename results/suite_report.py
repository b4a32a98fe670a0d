"""The report of `elrcheck suite`: what each small configuration breaks, and whether that is explained.

A violation is expected if a file of `catalogue/suites/` says why it happens there. A run is as expected if it
breaks exactly the expected properties and reaches the witnesses without which it would show nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from elrcheck.base.kept.age import Kept
from elrcheck.base.roundtrip import Record
from elrcheck.results.any_report import Report
from elrcheck.results.trace_view import Scalar

RunVerdict: TypeAlias = Literal["holds", "violated", "walked", "inconclusive", "failed"]
SuiteVerdict: TypeAlias = Literal["expected", "unexpected", "inconclusive", "nothing"]


class SuiteViolation(Record, frozen=True):
    """A property that breaks, or that should. because: why, from the suite; finding: its id, null by design.

    found: false if the suite expects the violation and the search did not find it. depth, trace: of the
    shortest violation; trace is a file in the run folder, stored only without an explanation.
    """

    id: str
    name: str
    found: bool
    expected: bool
    depth: int | None = None
    conjunct: str | None = None
    because: str | None = None
    finding: str | None = None
    trace: str | None = None

    @property
    def explained(self) -> bool:
        return self.found and self.expected


class SuiteRun(Record, frozen=True):
    """One configuration. settings: what it adds to the scope; dead: required witnesses that are not reached.

    problems: what is not as expected, in words. recorded: the counts that a packaged configuration should
    have, in words, null if it has them or if none were compared. searched: false if the result of an earlier
    run was used, which is the one of `kept`. command: repeats the search.
    digest: of random walks, which a configuration too large to search has instead (verdict `walked`); then
    generated counts the steps that were possible, diameter those of the longest walk, no property is judged.
    """

    name: str
    verdict: RunVerdict
    as_expected: bool
    variant: str
    scope: str
    settings: Mapping[str, Scalar]
    distinct: int
    generated: int
    diameter: int
    seconds: float
    searched: bool
    violations: tuple[SuiteViolation, ...] = ()
    dead: tuple[str, ...] = ()
    unreached: tuple[str, ...] = ()
    reason: str | None = None
    recorded: str | None = None
    digest: str | None = None
    problems: tuple[str, ...] = ()
    command: str = ""
    kept: Kept | None = None


class SuiteReport(Report, frozen=True, tag="elrcheck.suite/1"):
    """The result of `elrcheck suite`. witnesses: those that no run reaches."""

    verdict: SuiteVerdict
    """unexpected if a run breaks something unexplained, no longer breaks what it should, shows nothing or has
    other counts than were recorded."""
    runs: tuple[SuiteRun, ...]
    witnesses: tuple[str, ...]
    seconds: float
    workers: int
    interrupted: bool = False
    run_dir: str | None = None
    kept: Kept | None = None
    """The oldest answer of an earlier run that was used."""

    def count(self, verdict: RunVerdict) -> int:
        return sum(run.verdict == verdict for run in self.runs)
