"""Building blocks of every HTML page: parts, one per configuration or phase of a proof."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import field

from elrcheck.base.roundtrip import Record
from elrcheck.report.document import THIN_SPACE, Block, Case, Document, Headline, Labelled
from elrcheck.report.html.html_card import Card
from elrcheck.report.html.html_charts import Bar, Growth, ProofMatrix
from elrcheck.report.html.html_lanes import LanePicture
from elrcheck.report.html.html_states import Picture
from elrcheck.report.html.html_trace import TraceBlock
from elrcheck.results.gate_report import Difference
from elrcheck.results.trace_reports import Explained


class Charts(Record, frozen=True):
    """Results of a search besides verdicts."""

    growth: Growth | None
    yields: tuple[Bar, ...]
    variables: tuple[Bar, ...]
    idle: tuple[str, ...]
    """Actions that never fired."""
    degrees: tuple[tuple[int, int], ...] = ()
    """Pairs of an out-degree and the number of states with it."""


class Grid(Record, frozen=True):
    """A plain table: every row has one text per column in `head`."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    """A sentence above the table."""
    commands: tuple[str, ...] = ()
    """Commands to copy, below the table."""
    defines: bool = False
    """Its rows describe findings, whose ids stand in the first column: other mentions on the page link to them."""


class NameList(Record, frozen=True):
    """A folded list of names, one in a line."""

    title: str
    names: tuple[str, ...]


class PagePart(Record, frozen=True):
    """One part of a page."""

    key: str
    name: str
    facts: tuple[tuple[str, str], ...] = ()
    cases: tuple[Case, ...] = ()
    hidden: int = 0
    """Number of passed cases left out."""
    differences: tuple[Difference, ...] = ()
    charts: Charts | None = None
    matrix: ProofMatrix | None = None
    settings: tuple[tuple[str, str], ...] = ()
    traces: tuple[TraceBlock, ...] = ()
    worst_first: bool = False
    """The traces are in the order of the report, whose first is the worst; else the shortest comes first."""
    unshown: int = 0
    states: Picture | None = None
    no_states: str = ""
    """Why no graph is drawn."""
    grids: tuple[Grid, ...] = ()
    lists: tuple[NameList, ...] = ()
    explained: tuple[Explained, ...] = ()
    lanes: tuple[LanePicture, ...] = ()
    folded: bool = False
    """It needs no attention, while other parts do, or is one of too many that do."""
    brief: str = ""
    """What to attend to in a folded part."""

    @property
    def cases_by_need(self) -> tuple[tuple[str, bool, tuple[Case, ...]], ...]:
        """Return outcome, whether it is unfolded, and its cases, failures first; only the first group is unfolded."""
        words = ("failed", "undecided", "passed")
        groups = [(word, tuple(case for case in self.cases if case.outcome == word)) for word in words]
        unreached = {"unreached"}
        named = [
            ("not reached" if {case.verdict for case in cases} == unreached else word, cases) for word, cases in groups
        ]
        filled = [(word, cases) for word, cases in named if cases]
        return tuple((word, number == 0, cases) for number, (word, cases) in enumerate(filled))

    @property
    def differences_by_need(self) -> tuple[tuple[Difference, ...], tuple[Difference, ...]]:
        """Return the differences to read, and the counts that only follow from them."""
        read = tuple(one for one in self.differences if one.kind != "count")
        if not read:
            return self.differences, ()
        return read, tuple(one for one in self.differences if one.kind == "count")

    @property
    def failing_traces(self) -> tuple[TraceBlock, ...]:
        """Return the traces of unexpected violations; the first is shown unfolded."""
        failing = [trace for trace in self.traces if trace.shows_violation and not trace.expected]
        return tuple(failing if self.worst_first else sorted(failing, key=lambda trace: len(trace.view.steps)))

    @property
    def expected_traces(self) -> tuple[TraceBlock, ...]:
        return tuple(trace for trace in self.traces if trace.expected)

    @property
    def other_traces(self) -> tuple[TraceBlock, ...]:
        """Return the traces without a violation, such as the accepted prefix of a replay."""
        return tuple(trace for trace in self.traces if not trace.shows_violation)

    @property
    def worst(self) -> int:
        """Return 0 if something failed, 1 if something is undecided, else 2."""
        words = {case.outcome for case in self.cases}
        if "failed" in words or self.failing_traces or any(one.fails for one in self.differences):
            return 0
        return 1 if "undecided" in words or self.differences else 2

    @property
    def counts(self) -> tuple[tuple[str, int], ...]:
        words = [case.outcome for case in self.cases] + ["passed"] * self.hidden
        return tuple((word, words.count(word)) for word in ("passed", "failed", "undecided") if word in words)


class HtmlPage(Record, frozen=True):
    """A whole page."""

    command: str
    verdict: str
    tone: str
    """Passed, failed or undecided, according to the exit code of the command."""
    summary: str
    notes: tuple[str, ...]
    parts: tuple[PagePart, ...]
    card: Card = field(default_factory=Card)
    links: tuple[tuple[str, str], ...] = ()
    """Address and text of links to neighbouring pages."""

    @property
    def defined(self) -> frozenset[str]:
        """Return the ids of the findings that the page describes."""
        grids = (grid for part in self.parts for grid in part.grids if grid.defines)
        return frozenset(row[0] for grid in grids for row in grid.rows)


def labelled(blocks: Iterable[Block]) -> tuple[tuple[str, str], ...]:
    """Return the labelled lines among the blocks as (label, text), as a page shows facts."""
    lines = (block for block in blocks if isinstance(block, Labelled))
    return tuple((line.label, line.text.replace(THIN_SPACE, ",")) for line in lines if line.text)


def facts_of(document: Document) -> tuple[tuple[str, str], ...]:
    """Return the labelled lines below the verdict."""
    last = max(place for place, block in enumerate(document.blocks) if isinstance(block, Headline))
    return labelled(document.blocks[last:])
