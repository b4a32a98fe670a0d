"""The suites of a baseline: which configurations to run, and what each of them broke when last accepted.

[suite.pairs]
only = ["pairs/elect+*/crash"]      # names, families or globs, as in `elrcheck suite --only`

[suite.pairs.expected]
"pairs/elect+unregister/crash" = { verdict = "holds", generated = 30, distinct = 10, diameter = 4 }
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

from elrcheck.base.requests import SuiteRequest
from elrcheck.base.strict import Node
from elrcheck.results.suite_report import RunVerdict, SuiteReport, SuiteRun

RUN_COUNTS = ("generated", "distinct", "diameter")
VERDICTS: tuple[RunVerdict, ...] = get_args(RunVerdict)


@dataclass(frozen=True)
class ExpectedRun:
    """One configuration. violated: property -> depth of its shortest violation."""

    verdict: str
    counts: Mapping[str, int]
    violated: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class SuiteEntry:
    """Part of a suite. only, files, deep, sample: as of `elrcheck suite`; files from the baseline's folder.

    expected: by the names of the configurations, None in a new entry. place: ``file:line``.
    """

    name: str
    only: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    deep: bool = False
    sample: int | None = None
    expected: Mapping[str, ExpectedRun] | None = None
    place: str = ""

    def request(self, baseline: Path, workers: int | None) -> SuiteRequest:
        files = tuple(baseline.parent / file for file in self.files)
        return SuiteRequest(self.only, files, self.deep, self.sample, workers=workers)


def read_suite(name: str, table: Node) -> SuiteEntry:
    table.object((), ("only", "files", "deep", "sample", "expected"))
    return SuiteEntry(
        name=name,
        only=table.maybe("only", Node.texts, ()),
        files=table.maybe("files", Node.texts, ()),
        deep=table.maybe("deep", Node.boolean, False),
        sample=table.maybe("sample", Node.positive, None),
        expected=table.maybe("expected", lambda runs: runs.map(_expected), None),
        place=table.where,
    )


def _expected(table: Node) -> ExpectedRun:
    table.object(("verdict", *RUN_COUNTS), ("violated",))
    return ExpectedRun(
        verdict=table["verdict"].choice(VERDICTS),
        counts={name: table[name].natural() for name in RUN_COUNTS},
        violated=table.get("violated", {}).map(Node.natural),
    )


def found_in_suite(report: SuiteReport) -> dict[str, ExpectedRun]:
    """The results that a baseline records."""
    return {run.name: _found(run) for run in report.runs}


def _found(run: SuiteRun) -> ExpectedRun:
    violated = {one.id: one.depth or 0 for one in run.violations if one.found}
    return ExpectedRun(run.verdict, {name: getattr(run, name) for name in RUN_COUNTS}, violated)


def words_of(run: ExpectedRun) -> Iterator[str]:
    """The fields of a run as TOML, in the one order in which they are written."""
    yield f'verdict = "{run.verdict}"'
    yield from (f"{name} = {run.counts[name]}" for name in RUN_COUNTS)
    if run.violated:
        parts = (f"{ident} = {depth}" for ident, depth in run.violated.items())
        yield f"violated = {{ {', '.join(parts)} }}"
