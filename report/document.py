"""A report as a document: blocks to read from top to bottom, and the judgements that CI formats list.

A module of `documents/` makes the document of a report. Renderers know only documents: text prints the blocks; JUnit,
SARIF, GitHub annotations and Markdown list the cases of the suites.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

from elrcheck.base.errors import ExitCode, UsageFault
from elrcheck.base.roundtrip import Record
from elrcheck.report.plain_words import some_of
from elrcheck.results.any_report import Report
from elrcheck.results.trace_view import TraceView

THIN_SPACE = "\u202f"
"""Separates groups of three digits in the numbers of a document; a renderer may replace it."""


MOST_NAMED = 20
"""Cases that a line about all of them names."""


class Number(str):
    """A number as text, for a column that is aligned on the right."""


Cell: TypeAlias = str | int | None


class Line(Record, frozen=True):
    """A line of text."""

    text: str = ""
    style: str = ""
    hang: int | None = None
    """Indent of continuation lines on a narrow terminal."""


class Headline(Record, frozen=True):
    """A line that begins with a verdict, in capitals and in its colour."""

    word: str
    text: str


class Labelled(Record, frozen=True):
    """A label and a text, printed only if the text is not empty."""

    label: str
    text: str | None
    indent: int = 6


class Table(Record, frozen=True):
    """A table with a header, printed only if it has rows. Columns with numbers are right-aligned."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]


Block: TypeAlias = Line | Headline | Labelled | Table

Outcome: TypeAlias = Literal["passed", "failed", "undecided"]
CaseLevel: TypeAlias = Literal["error", "warning", "note"]


class Case(Record, frozen=True):
    """One judgement: a property, a proof obligation, a hazard, a difference from a baseline."""

    id: str
    """Unique in its suite, and stable: code scanning recognises a finding by it."""
    name: str
    outcome: Outcome
    verdict: str
    """A few words."""
    message: str = ""
    """One line about the failure; empty without a failure."""
    text: str | Sequence[Block] = ""
    """The full description, as lines or as blocks."""
    source: str | None = None
    """``folder/file.py:line`` in the package."""
    place: str | None = None
    """``file:line`` of the user."""
    trace: TraceView | None = None
    seconds: float = 0.0
    rule: str = ""
    """The broken rule, if that is not `id`."""
    level: CaseLevel = "error"
    """Severity of a failure."""
    advisory: bool = False
    """A failure that the command lists and does not exit with 1 for."""
    byte: int | None = None
    """Position in the binary file `place`."""
    about: str = ""
    """The subject of the case, if it is not a file."""
    facts: tuple[tuple[str, str | int | None], ...] = ()
    help: str = ""
    """What to do about a failure of this rule."""
    page: str = ""
    """Its page below ``docs/``."""

    @property
    def title(self) -> str:
        return self.name if self.id == self.name else f"{self.id} {self.name}"

    @property
    def fails(self) -> bool:
        """Return whether the command fails for it."""
        return self.outcome == "failed" and not self.advisory


class Suite(Record, frozen=True):
    """The cases of one configuration."""

    name: str
    cases: tuple[Case, ...]
    brokers: int = 0
    seconds: float = 0.0
    facts: tuple[tuple[str, str], ...] = ()
    """Further information, as (label, text)."""

    def count(self, outcome: Outcome) -> int:
        return sum(case.outcome == outcome for case in self.cases)


class Sample(Record, frozen=True):
    """One value of a gauge. labels: pairs of name and text; together they are unique in the gauge."""

    labels: tuple[tuple[str, str], ...]
    value: int


class Gauge(Record, frozen=True):
    """A number for a monitor. name: without the prefix of the program; help: a sentence."""

    name: str
    help: str
    samples: tuple[Sample, ...]


class Sheet(Record, frozen=True):
    """The judgements of a report."""

    summary: str
    """The result in one line."""
    suites: tuple[Suite, ...] = ()
    notes: tuple[str, ...] = ()
    """Reasons why the report is inconclusive."""
    gauges: tuple[Gauge, ...] = ()
    """Numbers for a monitor."""
    judges: bool = True
    """False for a report that judges nothing, and has only a summary."""
    unread: tuple[str, ...] = ()
    """Parts of the input that were not read, ``file, line 3: reason`` if the place is known."""
    word: str = ""
    """The verdict as people read it, if that is another word than the report's own."""

    @property
    def remarks(self) -> tuple[str, ...]:
        """Return the notes, and one for each part that was not read."""
        return (*self.notes, *(f"Not read: {line}" for line in self.unread))


class Document(Record, frozen=True):
    """A whole report."""

    command: str
    """The command that produced it (`check`)."""
    verdict: str
    exit_code: ExitCode
    blocks: Sequence[Block]
    """The text, from top to bottom."""
    sheet: Sheet
    exit_zero: bool = False
    """The command exits with 0 for a finding."""

    @property
    def word(self) -> str:
        """Return the verdict as people read it, in lower case."""
        return (self.sheet.word or self.verdict).replace("_", " ")

    @property
    def failing(self) -> tuple[Case, ...]:
        """Return the cases that the command fails for."""
        return tuple(case for suite in self.sheet.suites for case in suite.cases if case.fails)

    @property
    def outcome(self) -> str:
        """Return in a line whether the command fails, and what it fails for."""
        if self.exit_code is ExitCode.HOLDS:
            return "passes"
        if self.exit_code is ExitCode.FINDING and self.exit_zero:
            return "passes with --exit-zero"
        what = [case.title for case in self.failing]
        if self.exit_code is ExitCode.INCONCLUSIVE:
            what = [f"not read: {part}" for part in self.sheet.unread] or ["inconclusive, which is not a pass"]
        named = ": " + some_of(what, MOST_NAMED) if what else ""
        return f"fails with exit code {int(self.exit_code)}{named}"


def grouped(number: int) -> str:
    """Return an integer in groups of three digits."""
    return f"{number:,}".replace(",", THIN_SPACE)


def split_place(place: str) -> tuple[str, int]:
    """Return file and line of ``folder/file.py:12``; line 1 if the text names none."""
    file, colon, line = place.rpartition(":")
    return (file, int(line)) if colon and line.isdigit() else (place, 1)


def path_below(folder: Path, place: str) -> str | None:
    """Return an absolute path, with or without a line, relative to a folder that it is below; None for any other."""
    path, root = Path(place), folder.resolve()
    return str(path.relative_to(root)) if path.is_absolute() and path.is_relative_to(root) else None


def path_in(root: Path, file: str) -> str | None:
    """Return the path of a file from a folder that it is in, None for one that is elsewhere or missing.

    A relative path begins in the working directory, or else in the folder.
    """
    with contextlib.suppress(OSError):  # the working directory is gone
        for path in (Path(file), root / file):
            if path.is_file() and (place := path.parent.resolve()).is_relative_to(root.resolve()):
                return (place / path.name).relative_to(root.resolve()).as_posix()
    return None


class ReportKind(Record, frozen=True):
    """How the document of a kind of report is made."""

    command: str
    """A command that reports it."""
    blocks: Callable[[Any, int], Iterable[Block]]
    """Blocks of a report for a detail: below 0 only findings and the verdict, above 0 everything."""
    sheet: Callable[[Any], Sheet] | None = None
    """Null for a report that has text and JSON only."""


ReportKinds: TypeAlias = Mapping[type[Report], ReportKind]
"""The kinds of report of which a module in `documents/` makes documents."""


MODULES: Mapping[str, str] = {
    "elrcheck.report/1": "check_document",
    "elrcheck.prove/1": "proof_document",
    "elrcheck.controller/1": "controller_document",
    "elrcheck.certificate-check/1": "certificate_document",
    "elrcheck.conform/1": "conform_document",
    "elrcheck.audit/1": "audit_document",
    "elrcheck.reproduce/1": "reproduction_document",
    "elrcheck.upstream/1": "reproduction_document",
    "elrcheck.risk/1": "risk_document",
    "elrcheck.assess/1": "assess_document",
    "elrcheck.tlc/1": "trace_document",
    "elrcheck.scenario/1": "scenario_document",
    "elrcheck.mutate/1": "mutation_document",
    "elrcheck.simulation/1": "exploration_document",
    "elrcheck.exploration/1": "exploration_document",
    "elrcheck.sweep/1": "suite_document",
    "elrcheck.suite/1": "suite_document",
    "elrcheck.gate/1": "gate_document",
    "elrcheck.coverage/1": "exploration_document",
    "elrcheck.replay/1": "trace_document",
    "elrcheck.trace-view/1": "trace_document",
    "elrcheck.trace-diff/1": "trace_document",
    "elrcheck.model-diff/1": "trace_document",
    "elrcheck.explain/1": "explain_document",
}
"""Schema of a report -> module of `report/documents/`, whose `KINDS` has the class."""


def every_kind() -> ReportKinds:
    """Return class -> kind of every report, in the order of the table. Imports all modules."""
    return {cls: kind for module in dict.fromkeys(MODULES.values()) for cls, kind in _kinds(module).items()}


def kind_of(report: Report) -> ReportKind:
    """Return the kind of a report; a result of the Python API is a report, too."""
    kinds = _kinds(MODULES[report.schema])
    return next(kinds[base] for base in type(report).__mro__ if base in kinds)


def _kinds(module: str) -> ReportKinds:
    kinds: ReportKinds = importlib.import_module(f"elrcheck.report.documents.{module}").KINDS
    return kinds


def document_of(report: Report) -> Document:
    """Return the document of a report."""
    kind = kind_of(report)
    sheet = Sheet("", judges=False) if kind.sheet is None else kind.sheet(report)
    return Document(kind.command, report.verdict, report.exit_code, tuple(kind.blocks(report, 0)), sheet)


def judged(report: Report) -> Document:
    """Return the document of a report; raise UsageFault if it judges nothing."""
    document = document_of(report)
    if not document.sheet.judges:
        help = "use text, json or jsonl"
        raise UsageFault("usage-format", f"this format does not support {report.schema}", help=help)
    return document
