"""A report as a list of cases, which is how CI formats see the world: JUnit, SARIF, annotations, Markdown.

Every report that has such a form is turned into a `Sheet` by `report.ci.sheets`; the renderers of those
formats know nothing else.  A case is one thing that was judged: a property, a proof obligation, a hazard,
a difference from a baseline.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from elrcheck.base.errors import ExitCode
from elrcheck.results.trace_view import TraceView

Outcome: TypeAlias = Literal["passed", "failed", "undecided"]


@dataclass(frozen=True)
class Case:
    """One thing that was judged.

    id: unique in its suite, and stable: code scanning recognises a finding by it; name: for people.
    verdict: in a few words; message: one line that says what is wrong, empty if nothing is; text: the same
    at length, as `--format text` has it.  source: ``folder/file.py:line`` in the package; place: the same
    for a file of the user.  rule: what was broken, if that is not the same for every `id`.
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

    @property
    def title(self) -> str:
        return self.name if self.id == self.name else f"{self.id} {self.name}"


@dataclass(frozen=True)
class Suite:
    """The cases of one configuration. facts: what else is worth knowing, as (label, text)."""

    name: str
    cases: tuple[Case, ...]
    brokers: int = 0
    seconds: float = 0.0
    facts: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Sheet:
    """A whole report. command: what made it (`check`); notes: why it is not conclusive, if it is not."""

    command: str
    verdict: str
    summary: str
    exit_code: ExitCode
    suites: tuple[Suite, ...]
    notes: tuple[str, ...] = ()


def count(cases: tuple[Case, ...], outcome: Outcome) -> int:
    return sum(case.outcome == outcome for case in cases)


def split_place(place: str) -> tuple[str, int]:
    """``folder/file.py:12`` as its two parts; line 1 if there is none."""
    file, colon, line = place.rpartition(":")
    return (file, int(line)) if colon and line.isdigit() else (place, 1)
