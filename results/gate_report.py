"""The report of `elrcheck gate`: the differences from a committed baseline.

An entry of the baseline is one configuration with its results. The gate runs it again, as `check` and `prove`
do, and compares.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from elrcheck.base.kept.age import Kept
from elrcheck.base.requests import GateFailOn
from elrcheck.base.roundtrip import Record
from elrcheck.results.any_report import Report
from elrcheck.results.check_report import CheckReport
from elrcheck.results.controller_report import ControllerReport
from elrcheck.results.mutation_report import MutateReport
from elrcheck.results.prove_report import ProveReport
from elrcheck.results.suite_report import SuiteReport

DifferenceKind: TypeAlias = Literal[
    "violated", "inconclusive", "proof", "verdict", "witness", "coverage", "guard", "teeth", "count", "new"
]
EntryVerdict: TypeAlias = Literal["same", "drift", "tolerated", "inconclusive"]
GateVerdict: TypeAlias = Literal["same", "drift", "tolerated", "inconclusive", "updated"]


class Difference(Record, frozen=True):
    """One result that differs from the baseline, or that `--fail-on` rejects.

    subject: the id of a property, action, obligation or count; what: the same in words. kind: violated (a
    property), inconclusive, proof (an obligation), verdict (a property, improved), witness (reached or not),
    coverage (an action fires or not), guard (an action gained or lost a guard), teeth (which property notices
    the removal of a guard), count (of states, or of firings of an action), new (the entry has no expected
    results yet). worse: the result is worse than expected. fails: `--fail-on` makes it a failure.
    """

    subject: str
    what: str
    expected: str
    found: str
    kind: DifferenceKind
    worse: bool
    fails: bool = False


class EntryReport(Record, frozen=True):
    """One entry. place: where it is in the baseline, ``file:line``.

    renamed: guards that the baseline knows by a name of the release before, `Action: old name`.
    """

    name: str
    place: str
    verdict: EntryVerdict
    differences: tuple[Difference, ...]
    check: CheckReport
    """As `elrcheck check --format json`."""
    proof: ProveReport | None = None
    """As `elrcheck prove --format json`."""
    mutations: MutateReport | None = None
    """As `elrcheck mutate --guards --format json`."""
    controller: ControllerReport | None = None
    """As `elrcheck prove --controller --format json`."""
    renamed: tuple[str, ...] = ()
    """Guards that the baseline names by an earlier name, as `Action: name`."""


class GatedSuite(Record, frozen=True):
    """Part of a suite. place: where it is in the baseline; the subject of a difference is a configuration."""

    name: str
    place: str
    verdict: EntryVerdict
    differences: tuple[Difference, ...]
    suite: SuiteReport
    """As `elrcheck suite --format json`."""


class GateReport(Report, frozen=True, tag="elrcheck.gate/1"):
    """The result of `elrcheck gate`. written: the baseline was updated with the results."""

    verdict: GateVerdict
    """tolerated: there are differences, but none that --fail-on names."""
    baseline: str
    fail_on: tuple[GateFailOn, ...]
    seconds: float
    entries: tuple[EntryReport, ...]
    written: bool = False
    suites: tuple[GatedSuite, ...] = ()
    kept: Kept | None = None
    """The answers of earlier runs that were used, with `--kept` only; the time is that of the oldest."""

    @property
    def parts(self) -> tuple[EntryReport | GatedSuite, ...]:
        return (*self.entries, *self.suites)
