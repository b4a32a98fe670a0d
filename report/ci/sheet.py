"""A report as a list of cases, the form that CI formats need: JUnit, SARIF, annotations, Markdown.

`report.ci.sheets` turns every suitable report into a `Sheet`, the only input of the renderers of those
formats.  A case is one judgement: a property, a proof obligation, a hazard, a difference from a baseline.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from elrcheck.base.errors import ExitCode
from elrcheck.results.trace_view import TraceView

Outcome: TypeAlias = Literal["passed", "failed", "undecided"]
Level: TypeAlias = Literal["error", "warning", "note"]


@dataclass(frozen=True)
class Case:
    """One judgement.

    id: unique in its suite, and stable: code scanning recognises a finding by it; name: for people.
    verdict: a few words; message: one line about the failure, empty if there is none; text: the full
    description, as in `--format text`.  source: ``folder/file.py:line`` in the package; place: likewise for
    a file of the user.  rule: the broken rule, if it does not follow from `id`.  level: how bad a failure is.
    byte: where it stands in a binary file, `place`.  about: what it is about, if that is no file.  facts:
    further information.  help: what to do about a failure of this rule.
    """

    id: str
    name: str
    outcome: Outcome
    verdict: str
    message: str = ""
    text: str = ""
    source: str | None = None
    place: str | None = None
    trace: TraceView | None = None
    seconds: float = 0.0
    rule: str = ""
    level: Level = "error"
    byte: int | None = None
    about: str = ""
    facts: tuple[tuple[str, str | int | None], ...] = ()
    help: str = ""

    @property
    def title(self) -> str:
        return self.name if self.id == self.name else f"{self.id} {self.name}"


@dataclass(frozen=True)
class Suite:
    """The cases of one configuration. facts: further information, as (label, text)."""

    name: str
    cases: tuple[Case, ...]
    brokers: int = 0
    seconds: float = 0.0
    facts: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Sheet:
    """A whole report. command: the command that produced it (`check`); notes: why it is inconclusive."""

    command: str
    verdict: str
    summary: str
    exit_code: ExitCode
    suites: tuple[Suite, ...]
    notes: tuple[str, ...] = ()


def count(cases: tuple[Case, ...], outcome: Outcome) -> int:
    return sum(case.outcome == outcome for case in cases)


def split_place(place: str) -> tuple[str, int]:
    """Splits ``folder/file.py:12`` into file and line; line 1 if there is none."""
    file, colon, line = place.rpartition(":")
    return (file, int(line)) if colon and line.isdigit() else (place, 1)
