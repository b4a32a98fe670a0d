"""What every page of the HTML report is made of: parts, one for a configuration or a phase of a proof."""

from __future__ import annotations

from dataclasses import dataclass

from elrcheck.report.ci.sheet import Case
from elrcheck.report.html.html_charts import Bar, Growth
from elrcheck.report.html.html_matrix import Matrix
from elrcheck.report.html.html_states import Picture
from elrcheck.report.html.html_trace import TraceBlock
from elrcheck.results.gate_report import Difference
from elrcheck.results.trace_reports import Explained


@dataclass(frozen=True)
class Charts:
    """What a search found besides verdicts. idle: actions that never fired.

    degrees: a number of steps from a state, and how many states have so many.
    """

    growth: Growth | None
    yields: tuple[Bar, ...]
    variables: tuple[Bar, ...]
    idle: tuple[str, ...]
    degrees: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Grid:
    """A plain table: every row has a text for each of `head`. note: a sentence above it."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


@dataclass(frozen=True)
class Part:
    """hidden: passed cases that the table leaves out; no_states: why there is no picture of the states."""

    key: str
    name: str
    facts: tuple[tuple[str, str], ...] = ()
    cases: tuple[Case, ...] = ()
    hidden: int = 0
    differences: tuple[Difference, ...] = ()
    charts: Charts | None = None
    matrix: Matrix | None = None
    settings: tuple[tuple[str, str], ...] = ()
    traces: tuple[TraceBlock, ...] = ()
    unshown: int = 0
    states: Picture | None = None
    no_states: str = ""
    grids: tuple[Grid, ...] = ()
    explained: tuple[Explained, ...] = ()

    @property
    def counts(self) -> tuple[tuple[str, int], ...]:
        words = [case.outcome for case in self.cases] + ["passed"] * self.hidden
        return tuple((word, words.count(word)) for word in ("passed", "failed", "undecided") if word in words)


@dataclass(frozen=True)
class HtmlPage:
    """tone: passed, failed or undecided, by the exit code of the command."""

    command: str
    verdict: str
    tone: str
    summary: str
    notes: tuple[str, ...]
    parts: tuple[Part, ...]
