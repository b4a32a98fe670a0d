"""The suites of a baseline: configurations to run, and the violations last accepted for each.

[suite.pairs]
only = ["pairs/elect+*/crash"]      # names, families or globs, as in `elrcheck suite --only`

[suite.pairs.expected]
"pairs/elect+unregister/crash" = { verdict = "holds", generated = 30, distinct = 10, diameter = 4 }
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, TypeAlias

from elrcheck.base.requests import Selection, SuiteRequest
from elrcheck.base.strict import Node
from elrcheck.base.typed.records import From, Natural, NodeReader, Positive, SameTable, prose
from elrcheck.results.suite_report import RunVerdict, SuiteReport


def _path(node: Node) -> Path:
    text = prose(node)
    if "\0" in text:
        node.bad("no path can hold a NUL")
    return Path(text)


WrittenPath: TypeAlias = Annotated[Path, NodeReader(_path)]
"""A path relative to the folder of the baseline."""


@dataclass(frozen=True)
class RunCounts:
    """The size of a search."""

    generated: Natural
    distinct: Natural
    diameter: Natural

    def checked(self, node: Node) -> Mapping[str, int]:
        return vars(self)


RUN_COUNTS = tuple(part.name for part in fields(RunCounts))


@dataclass(frozen=True)
class ExpectedRun:
    """The results of one configuration. violated: property -> depth of its shortest violation."""

    verdict: RunVerdict
    counts: Annotated[Mapping[str, int], SameTable(RunCounts)]
    violated: Mapping[str, Natural] = field(default_factory=dict)


@dataclass(frozen=True)
class SuiteEntry:
    """Part of a suite. only, files, deep, sample: as of `elrcheck suite`; files relative to the baseline's folder.

    model: as of an entry. expected: by the names of the configurations, None in a new entry. place: ``file:line``.
    """

    name: Annotated[str, From.ELSEWHERE]
    only: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    deep: bool = False
    sample: Positive | None = None
    expected: Mapping[str, ExpectedRun] | None = None
    place: Annotated[str, From.PLACE] = ""
    model: WrittenPath | None = None

    def request(self, baseline: Path, workers: int | None, patch: Path | None = None) -> SuiteRequest:
        """Return the request for `run_suite`. patch: a diff of the model."""
        files = tuple(baseline.parent / file for file in self.files)
        selection = Selection(model=self.model, patch=patch)
        return SuiteRequest(self.only, self.deep, self.sample, files, workers=workers, selection=selection)


def recorded_runs(report: SuiteReport) -> dict[str, ExpectedRun]:
    """Return the results of a report that a baseline records, by configuration."""
    runs = {}
    for run in report.runs:
        violated = {one.id: one.depth or 0 for one in run.violations if one.found}
        runs[run.name] = ExpectedRun(run.verdict, {name: getattr(run, name) for name in RUN_COUNTS}, violated)
    return runs
