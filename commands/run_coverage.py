"""`elrcheck runs coverage`: the combined coverage of several runs.

`check` stores its report in the run folder, if it has one; any report written with `-o FILE.json` counts too.
Runs of different variants and scopes are merged: the question is what none of them covered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from elrcheck.base.errors import NothingChecked, UsageFault
from elrcheck.base.strictjson import At, load
from elrcheck.explorer.runs.folders import REPORT
from elrcheck.results.coverage_report import (
    CoverageReport,
    CoveredAction,
    CoveredGuard,
    CoveredRun,
    CoveredWitness,
)

CODE = "report-file"
CHECK, MUTATE = "elrcheck.report/1", "elrcheck.mutate/1"


def merge(paths: Sequence[Path], strict: bool) -> CoverageReport:
    """Merge the reports in these files and run folders.

    Raises UsageFault for a path without a report, NothingChecked if there is no run.
    """
    read = [_read(_report_of(path)) for path in paths]
    if not read:
        raise NothingChecked(
            "no-report", "no run has stored a report", help="use `check --run-dir DIR`, or give files from -o"
        )
    reports = [(at, body) for at, body in read]
    actions, witnesses, guards = _actions(reports), _witnesses(reports), _guards(reports)
    whole = all(a.runs for a in actions) and all(w.reached for w in witnesses)
    return CoverageReport(
        verdict="complete" if whole and all(g.noticed for g in guards) else "gaps",
        runs=tuple(_run(at, body) for at, body in reports),
        actions=actions,
        witnesses=witnesses,
        guards=guards,
        strict=strict,
    )


def stored_reports(folder: Path) -> tuple[Path, ...]:
    """The run folders inside a folder that contain a report."""
    if not folder.is_dir():
        return ()
    return tuple(place for place in sorted(folder.iterdir()) if (place / REPORT).is_file())


def _report_of(path: Path) -> Path:
    if not path.is_dir():
        return path
    if not (path / REPORT).is_file():
        raise UsageFault(CODE, "the folder contains no report of a run", where=str(path))
    return path / REPORT


def _read(path: Path) -> tuple[At, Mapping[str, Any]]:
    raw, at = load(path, CODE)
    if not isinstance(raw, dict) or raw.get("schema") not in (CHECK, MUTATE):
        at.fail("this is not a report of `check` or `mutate`", help="write one with `-o FILE.json`")
    return at, raw


def _run(at: At, body: Mapping[str, Any]) -> CoveredRun:
    if body["schema"] == MUTATE:
        survey = body.get("survey") or {}
        return CoveredRun(at.file, "mutate", str(survey.get("variant")), str(survey.get("scope")), True)
    search = at.field("search").mapping(body.get("search"), ("complete",), body.get("search") or ())
    variant, scope = (at.field(key).text(body.get(key)) for key in ("variant", "scope"))
    return CoveredRun(at.file, "check", variant, scope, search["complete"] is True)


Read = Sequence[tuple[At, Mapping[str, Any]]]


def _rows(reports: Read, key: str, fields: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """The values of these fields, for each row of the list `key` in every report."""
    for at, body in reports:
        here = at.field(key)
        for number, row in enumerate(here.items(body.get(key, []))):
            checked = here.item(number).mapping(row, fields, row if isinstance(row, dict) else ())
            yield tuple(checked[name] for name in fields)


def _of(reports: Read, schema: str) -> Read:
    return [(at, body) for at, body in reports if body["schema"] == schema]


def _actions(reports: Read) -> tuple[CoveredAction, ...]:
    found: dict[str, list[int]] = {}
    for name, fired, cut in _rows(_of(reports, CHECK), "actions", ("name", "fired", "cut")):
        inside = _number(fired) - _number(cut)
        total = found.setdefault(str(name), [0, 0])
        total[0] += inside
        total[1] += inside > 0
    return tuple(CoveredAction(name, fired, runs) for name, (fired, runs) in found.items())


def _witnesses(reports: Read) -> tuple[CoveredWitness, ...]:
    found: dict[str, tuple[str, list[bool]]] = {}
    rows = _rows(_of(reports, CHECK), "properties", ("id", "name", "kind", "verdict"))
    for ident, name, kind, verdict in rows:
        if kind == "sometimes":
            found.setdefault(str(ident), (str(name), []))[1].append(verdict == "reached")
    return tuple(CoveredWitness(i, name, sum(hits), len(hits)) for i, (name, hits) in found.items())


def _guards(reports: Read) -> tuple[CoveredGuard, ...]:
    """A guard counts as noticed if any survey noticed its removal."""
    found: dict[tuple[str, str], str | None] = {}
    rows = _rows(_of(reports, MUTATE), "guards", ("action", "guard", "verdict", "property"))
    for action, guard, verdict, ident in rows:
        key = (str(action), str(guard))
        found[key] = found.get(key) or (str(ident) if verdict == "noticed" else None)
    return tuple(CoveredGuard(action, guard, noticed) for (action, guard), noticed in found.items())


def _number(value: Any) -> int:
    return value if isinstance(value, int) else 0
