"""The report of `elrcheck gate`: the differences from a committed baseline.

An entry of the baseline is one configuration with its results. The gate runs it again, as `check` and `prove` do.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from elrcheck.base.kept.age import KeptOrigin
from elrcheck.base.requests import GateFailOn
from elrcheck.base.roundtrip import Record
from elrcheck.results.any_report import Report
from elrcheck.results.check_report import CheckReport
from elrcheck.results.mutation_report import MutateReport
from elrcheck.results.proofs.controller_report import ControllerReport
from elrcheck.results.prove_report import ProveReport
from elrcheck.results.suite_report import SuiteReport

DifferenceKind: TypeAlias = Literal[
    "violated", "inconclusive", "proof", "verdict", "witness", "coverage", "guard", "teeth", "count", "new"
]
EntryVerdict: TypeAlias = Literal["same", "drift", "tolerated", "inconclusive"]
GateVerdict: TypeAlias = Literal["same", "drift", "tolerated", "inconclusive", "updated"]


class Difference(Record, frozen=True):
    """One result that differs from the baseline, or that `--fail-on` rejects."""

    subject: str
    """The id of a property, action, obligation or count."""
    what: str
    """The subject in words."""
    expected: str
    found: str
    kind: DifferenceKind
    """Violated (a property), inconclusive, proof (an obligation), verdict (a property, improved), witness (reached or
    not), coverage (an action fires or not), guard (an action gained or lost a guard), teeth (which property notices
    the removal of a guard), count (of states, or of firings of an action), new (the entry has no expected results
    yet)."""
    worse: bool
    """The result is worse than expected."""
    fails: bool = False
    """`--fail-on` rejects it."""


class EntryReport(Record, frozen=True):
    """One entry of the baseline."""

    name: str
    place: str
    """Where it is in the baseline, ``file:line``."""
    verdict: EntryVerdict
    differences: tuple[Difference, ...]
    check: CheckReport
    """The result of the search, as `elrcheck check --format json` prints it."""
    proof: ProveReport | None = None
    """The result of the proof, as `elrcheck prove --format json` prints it."""
    mutations: MutateReport | None = None
    """The result of removing guards, as `elrcheck mutate --guards --format json` prints it."""
    controller: ControllerReport | None = None
    """The proof of controller steps, as `elrcheck prove --controller --format json` prints it."""
    model_changed: bool | None = None
    """The files of the model differ from the recorded ones; null for Kafka's partition and a new entry."""


class GatedSuite(Record, frozen=True):
    """Part of a suite."""

    name: str
    place: str
    """Where it is in the baseline; the subject of a difference is a configuration."""
    verdict: EntryVerdict
    differences: tuple[Difference, ...]
    suite: SuiteReport
    """The result of the suite, as `elrcheck suite --format json` prints it."""


class GateReport(Report, frozen=True, tag="elrcheck.gate/1"):
    """The result of `elrcheck gate`."""

    verdict: GateVerdict
    """tolerated: there are differences, but --fail-on names none of them."""
    baseline: str
    fail_on: tuple[GateFailOn, ...]
    seconds: float
    entries: tuple[EntryReport, ...]
    written: bool = False
    """The baseline was updated with the results."""
    suites: tuple[GatedSuite, ...] = ()
    kept: KeptOrigin | None = None
    """The answers of earlier runs that were used, with `--kept` only; the time is that of the oldest."""

    @property
    def parts(self) -> tuple[EntryReport | GatedSuite, ...]:
        return (*self.entries, *self.suites)
