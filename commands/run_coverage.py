"""`elrcheck runs coverage`: the combined coverage of several runs.

A report is in the run folder of `check`, or in a file of `-o FILE.json`. Runs of different variants and scopes are
merged: the question is what no run covered.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from elrcheck.base.documents import read_json
from elrcheck.base.errors import NothingChecked, UsageFault
from elrcheck.base.strict import Codes, Node
from elrcheck.checking.runs.folders import REPORT
from elrcheck.results.coverage_report import CoverageReport, CoveredAction, CoveredGuard, CoveredRun, CoveredWitness

CODES = Codes("report-file")
CHECK, MUTATE = "elrcheck.report/1", "elrcheck.mutate/1"


def merge(paths: Sequence[Path], strict: bool) -> CoverageReport:
    """Return the combined coverage of the reports in these files and run folders.

    Raises UsageFault if a file is not a report, NothingChecked without any path.
    """
    reports = [_read(_report_of(path)) for path in paths]
    if not reports:
        raise NothingChecked(
            "no-report", "no run has stored a report", help="use `check --run-dir DIR`, or give files from -o"
        )
    actions, witnesses, guards = _actions(reports), _witnesses(reports), _guards(reports)
    whole = all(a.runs for a in actions) and all(w.reached for w in witnesses)
    return CoverageReport(
        verdict="complete" if whole and all(g.noticed for g in guards) else "gaps",
        runs=tuple(_run(report) for report in reports),
        actions=actions,
        witnesses=witnesses,
        guards=guards,
        strict=strict,
    )


def stored_reports(folder: Path) -> tuple[Path, ...]:
    """Return the run folders with a report inside a folder."""
    if not folder.is_dir():
        return ()
    return tuple(place for place in sorted(folder.iterdir()) if (place / REPORT).is_file())


def _report_of(path: Path) -> Path:
    if not path.is_dir():
        return path
    if not (path / REPORT).is_file():
        raise UsageFault(CODES.bad_value, "the folder has no report of a run", where=str(path))
    return path / REPORT


def _read(path: Path) -> Node:
    root = read_json(path, CODES)
    if not isinstance(root.value, dict) or root.value.get("schema") not in (CHECK, MUTATE):
        root.fail("this is not a report of `check` or `mutate`", "write one with `-o FILE.json`")
    return root


def _run(report: Node) -> CoveredRun:
    if report["schema"].value == MUTATE:
        survey = report.get("survey", None)
        surveyed = {} if survey.value is None else survey.object((), None).value
        variant, scope = str(surveyed.get("variant")), str(surveyed.get("scope"))
        return CoveredRun(report.source.name, "mutate", variant, scope, True)
    complete = report["search"].object(("complete",), None)["complete"].value is True
    variant, scope = report["variant"].text(), report["scope"].text()
    return CoveredRun(report.source.name, "check", variant, scope, complete)


def _rows(reports: Sequence[Node], key: str, fields: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """Yield the values of these fields for each row of one list, of every report."""
    for report in reports:
        for row in report.get(key, []).items():
            row.object(fields, None)
            yield tuple(row[name].value for name in fields)


def _of(reports: Sequence[Node], schema: str) -> list[Node]:
    return [report for report in reports if report["schema"].value == schema]


def _actions(reports: Sequence[Node]) -> tuple[CoveredAction, ...]:
    totals: dict[str, list[int]] = {}
    for name, fired, cut in _rows(_of(reports, CHECK), "actions", ("name", "fired", "cut")):
        inside = _number(fired) - _number(cut)
        total = totals.setdefault(str(name), [0, 0])
        total[0] += inside
        total[1] += inside > 0
    return tuple(CoveredAction(name, fired, runs) for name, (fired, runs) in totals.items())


def _witnesses(reports: Sequence[Node]) -> tuple[CoveredWitness, ...]:
    hits_of: dict[str, tuple[str, list[bool]]] = {}
    rows = _rows(_of(reports, CHECK), "properties", ("id", "name", "kind", "verdict"))
    for ident, name, kind, verdict in rows:
        if kind == "sometimes":
            hits_of.setdefault(str(ident), (str(name), []))[1].append(verdict == "reached")
    return tuple(CoveredWitness(i, name, sum(hits), len(hits)) for i, (name, hits) in hits_of.items())


def _guards(reports: Sequence[Node]) -> tuple[CoveredGuard, ...]:
    """Merge the guards of all surveys; one counts as noticed if any survey noticed it."""
    properties: dict[tuple[str, str], str | None] = {}
    rows = _rows(_of(reports, MUTATE), "guards", ("action", "guard", "verdict", "property"))
    for action, guard, verdict, ident in rows:
        key = (str(action), str(guard))
        properties[key] = properties.get(key) or (str(ident) if verdict == "noticed" else None)
    return tuple(CoveredGuard(action, guard, noticed) for (action, guard), noticed in properties.items())


def _number(value: Any) -> int:
    return value if isinstance(value, int) else 0
