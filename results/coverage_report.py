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
    """Steps within the budgets in all runs."""
    runs: int
    """Number of runs in which it fired."""


class CoveredWitness(Record, frozen=True):
    """A witness."""

    id: str
    name: str
    reached: int
    """Number of runs that reached it."""
    runs: int
    """Number of runs that looked for it."""


class CoveredGuard(Record, frozen=True):
    """A guard that a survey (`mutate --guards`) removed."""

    action: str
    guard: str
    noticed: str | None
    """The property that noticed the removal first."""


class CoverageReport(Report, frozen=True, tag="elrcheck.coverage/1"):
    """The result of `elrcheck runs coverage`."""

    verdict: Literal["complete", "gaps"]
    """complete: every action fired, every witness was reached, the removal of every guard was noticed."""
    runs: tuple[CoveredRun, ...]
    actions: tuple[CoveredAction, ...]
    witnesses: tuple[CoveredWitness, ...]
    guards: tuple[CoveredGuard, ...]
    strict: bool = False

    @property
    def exit_code(self) -> ExitCode:
        return ExitCode.FINDING if self.strict and self.verdict == "gaps" else super().exit_code
