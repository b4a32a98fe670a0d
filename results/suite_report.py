"""The report of `elrcheck suite`: which properties each small configuration breaks, and whether that is explained.

A violation is expected if a file of `catalogue/suites/` says why it happens there. A run is as expected if it
breaks exactly the expected properties and reaches the witnesses without which it would show nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from elrcheck.base.kept.age import KeptOrigin
from elrcheck.base.roundtrip import Record
from elrcheck.results.any_report import Report
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
