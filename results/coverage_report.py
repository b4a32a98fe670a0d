"""The report of `elrcheck runs coverage`: what several runs together have put to use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from elrcheck.base.errors import ExitCode


@dataclass(frozen=True)
class CoveredRun:
    """A stored report. complete: everything within its budgets was explored; of `mutate` always true."""

    path: str
    command: Literal["check", "mutate"]
    variant: str
    scope: str
    complete: bool


@dataclass(frozen=True)
class CoveredAction:
    """fired: steps within the budgets, over all runs; runs: in how many of them there were any."""

    name: str
    fired: int
    runs: int


@dataclass(frozen=True)
class CoveredWitness:
    """A situation that should be reached, and how many runs reached it of those that looked for it."""

    id: str
    name: str
    reached: int
    runs: int
    """Runs that looked for it."""


@dataclass(frozen=True)
class CoveredGuard:
    """A guard that a survey (`mutate --guards`) left out, and which property noticed first."""

    action: str
    guard: str
    noticed: str | None
    """The property that noticed when it was left out."""


@dataclass(frozen=True)
class CoverageReport:
    """complete: every action fired somewhere, every witness was reached, every guard left out was noticed."""

    verdict: Literal["complete", "gaps"]
    """complete: nothing below is 0, false or null."""
    runs: tuple[CoveredRun, ...]
    actions: tuple[CoveredAction, ...]
    witnesses: tuple[CoveredWitness, ...]
    guards: tuple[CoveredGuard, ...]
    strict: bool = False
    schema: Literal["elrcheck.coverage/1"] = "elrcheck.coverage/1"

    @property
    def exit_code(self) -> ExitCode:
        return ExitCode.FINDING if self.strict and self.verdict == "gaps" else ExitCode.HOLDS
