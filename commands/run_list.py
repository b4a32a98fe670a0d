"""`elrcheck runs`: lists the runs in a folder with their status and size, removes them, and combines their coverage.

A run is running (another process holds the lock of its folder), finished (only traces and a report are left),
resumable (a manifest records its progress), or unfinished (level files without a manifest: it was killed before its
first checkpoint, or still runs on a file system without locks).

For coverage, a report is in the run folder of `check`, or in a file of `-o FILE.json`. Runs of different variants and
scopes are merged: the question is what no run covered.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, TypeAlias

from elrcheck.base.documents import read_json
from elrcheck.base.errors import NothingChecked, UsageFault
from elrcheck.base.roundtrip import Record
from elrcheck.base.run_lock import is_occupied
from elrcheck.base.strict import Codes, Node
from elrcheck.base.typed.records import natural
from elrcheck.checking.runs.folders import MANIFEST, REPORT, TRACE
from elrcheck.results.exploration_report import CoverageReport, CoveredAction, CoveredGuard, CoveredRun, CoveredWitness

STATES = (".parquet", ".rows", ".whos")
"""Extensions of level files and of spilled candidates."""
RunKind: TypeAlias = Literal["running", "finished", "resumable", "unfinished", "damaged"]


class StoredRun(Record, frozen=True):
    """One run. variant, scope: None if no file of the run names them.

    violated, reached: properties and witnesses with a stored trace. states, depth: distinct states and last level of a
    resumable run. age: seconds since the last write. storage: location of the level files outside the folder. trouble:
    why it is damaged. foreign: a file that elrcheck did not write.
    """

    path: str
    kind: RunKind
    variant: str | None
    scope: str | None
    violated: tuple[str, ...]
    reached: tuple[str, ...]
    states: int | None
    depth: int | None
    age: float
    size: int
    storage: str | None = None
    trouble: str | None = None
    foreign: str | None = None


def list_runs(folder: Path, now: float) -> tuple[StoredRun, ...]:
    """Return every run in the folder, by name; empty if the folder does not exist. now: seconds since 1970."""
    if not folder.is_dir():
        return ()
    places = sorted(place for place in folder.iterdir() if place.is_dir() and not place.is_symlink())
    return tuple(_run(place, now) for place in places if any(_ours(p.relative_to(place)) for p in _files(place)))


def newest_resumable(folder: Path) -> Path:
    """Return the resumable run with the latest checkpoint. Raises UsageFault if no run is resumable."""
    manifests = [place / MANIFEST for place in folder.iterdir()] if folder.is_dir() else []
    resumable = [manifest for manifest in manifests if manifest.is_file() and not is_occupied(manifest.parent)]
    if not resumable:
        raise UsageFault(
            "no-checkpoint",
            f"there is no resumable run in {folder}",
            help="`elrcheck runs` lists the runs; --resume DIR names another folder",
        )
    return max(resumable, key=lambda manifest: manifest.stat().st_mtime).parent


def removable(run: StoredRun, older_than: float, every: bool) -> bool:
    """Return whether `runs clean` removes the run. older_than: seconds; every: also resumable and unfinished runs."""
    if run.foreign is not None or run.kind == "running":
        return False
    return run.age >= older_than and (every or run.kind == "finished")


def remove(runs: Sequence[StoredRun], folder: Path) -> None:
    """Remove run folders, and then their parent folder if it is empty."""
    for run in runs:
        shutil.rmtree(run.path, onerror=_unless_gone)
    with suppress(OSError):  # it is not empty, or another process has removed it
        folder.rmdir()


def _unless_gone(_: object, path: str, fault: tuple[Any, BaseException, Any]) -> None:
    """Raise the error of a file that could not be removed, unless another process has removed it."""
    if not isinstance(fault[1], FileNotFoundError):
        raise fault[1]


def _run(place: Path, now: float) -> StoredRun:
    files = sorted(_files(place))
    traces = [path for path in files if path.parent == place and path.name.endswith(TRACE)]
    idents = sorted((path.name.removesuffix(TRACE) for path in traces), key=natural)
    has_levels = any(path.parent != place for path in files)
    kind: RunKind = "unfinished" if has_levels else "finished"
    variant = scope = storage = trouble = None
    states = depth = None
    try:
        if (place / MANIFEST).is_file():
            from elrcheck.checking.runs.checkpoint import read_run

            saved = read_run(place)
            kind, states, depth = "resumable", saved.distinct, len(saved.levels) - 1
            variant, scope, storage = saved.identity.variant, saved.identity.scope, saved.storage
        elif traces:
            from elrcheck.stored_traces.tracefile import stored_origin

            origin = stored_origin(traces[0])
            variant, scope = origin.variant, origin.scope
        elif (place / REPORT).is_file():
            variant, scope = _reported(place / REPORT)
    except UsageFault as fault:
        kind, trouble = "damaged", fault.message
    if is_occupied(place):
        kind, trouble = "running", None  # its files may be half written at this moment
    stats = []
    for path in files:
        with suppress(FileNotFoundError):  # another process has renamed or removed it
            stats.append(path.lstat())
    newest = max((stat.st_mtime for stat in stats), default=now)
    return StoredRun(
        path=str(place),
        kind=kind,
        variant=variant,
        scope=scope,
        violated=tuple(ident for ident in idents if not ident.startswith("W-")),
        reached=tuple(ident for ident in idents if ident.startswith("W-")),
        states=states,
        depth=depth,
        age=max(0.0, round(now - newest, 1)),
        size=sum(stat.st_size for stat in stats),
        storage=storage,
        trouble=trouble,
        foreign=_foreign(place, files),
    )


def _reported(path: Path) -> tuple[str | None, str | None]:
    """Return variant and scope of a stored report."""
    report = read_json(path, Codes("report-file")).object((), None)
    variant, scope = report.get("variant").value, report.get("scope").value
    return (str(variant) if variant else None, str(scope) if scope else None)


def _files(place: Path) -> Iterator[Path]:
    """Yield the files and links in a folder; one that vanishes meanwhile is no error."""
    for folder, folders, names in os.walk(place):
        links = [name for name in folders if Path(folder, name).is_symlink()]
        yield from (Path(folder, name) for name in (*names, *links))


def _foreign(place: Path, files: Sequence[Path]) -> str | None:
    """Return a file in the folder that elrcheck did not write, or a link; None if there is no such file."""
    for path in files:
        inside = path.relative_to(place)
        if path.is_symlink() or not _ours(inside):
            return str(inside)
    return None


def _ours(inside: Path) -> bool:
    """Return whether a run writes a file of this name at this place."""
    name = inside.name
    if name.startswith(".") and name.endswith(".tmp"):
        return True
    if len(inside.parts) == 1:
        return name in (MANIFEST, REPORT) or name.endswith(TRACE) or name.startswith("bug-report-")
    return inside.parts[0] == "levels" and name.endswith(STATES)


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
        runs=tuple(_covered_run(report) for report in reports),
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


def _covered_run(report: Node) -> CoveredRun:
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
