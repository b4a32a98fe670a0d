"""The report of `elrcheck runs coverage`: the combined coverage of several runs."""

from __future__ import annotations

from typing import Literal

from elrcheck.base.errors import ExitCode
from elrcheck.base.roundtrip import Record
from elrcheck.results.any_report import Report


class CoveredRun(Record, frozen=True):
    """A stored report."""

    path: str
    command: Literal["check", "mutate"]
    variant: str
    scope: str
    complete: bool
    """Everything within its budgets was explored; always true for `mutate`."""


class CoveredAction(Record, frozen=True):
    """An action."""

    name: str
    fired: int
    """Steps within the budgets, over all runs."""
    runs: int
    """Number of runs in which it fired."""


class CoveredWitness(Record, frozen=True):
    """A witness, and how many of the runs that looked for it reached it."""

    id: str
    name: str
    reached: int
    runs: int
    """Runs that looked for it."""


class CoveredGuard(Record, frozen=True):
    """A guard that a survey (`mutate --guards`) removed, and the property that noticed first."""

    action: str
    guard: str
    noticed: str | None
    """The property that noticed when it was left out."""


class CoverageReport(Report, frozen=True, tag="elrcheck.coverage/1"):
    """complete: every action fired, every witness was reached, the removal of every guard was noticed."""

    verdict: Literal["complete", "gaps"]
    """complete: nothing below is 0, false or null."""
    runs: tuple[CoveredRun, ...]
    actions: tuple[CoveredAction, ...]
    witnesses: tuple[CoveredWitness, ...]
    guards: tuple[CoveredGuard, ...]
    strict: bool = False

    @property
    def exit_code(self) -> ExitCode:
        return ExitCode.FINDING if self.strict and self.verdict == "gaps" else super().exit_code
