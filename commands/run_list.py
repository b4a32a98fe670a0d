"""The runs in a folder of runs: what each one is, how large, and which can be removed.

A run is running: another process is at work in its folder; finished: traces and a report are all there is;
resumable: a manifest says how far it came; or unfinished: it has level files and no manifest, so it was
killed before it saved anything, or goes on where folders cannot be locked.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from elrcheck.base.errors import UsageFault
from elrcheck.base.run_lock import is_occupied
from elrcheck.explorer.runs.folders import MANIFEST, REPORT

TRACE = ".trace.json"
STATES = (".parquet", ".rows", ".whos")
"""Endings of level files, and of candidates that did not fit the memory."""
RunKind: TypeAlias = Literal["running", "finished", "resumable", "unfinished", "damaged"]


@dataclass(frozen=True)
class StoredRun:
    """One run. variant and scope are None where no file of it says so.

    violated, reached: properties and witnesses with a stored trace. states: distinct ones of a resumable run,
    depth: the last level of it. age: seconds since something was written; storage: where its level files are,
    if not in the folder; trouble: what cannot be read; foreign: a file that is not elrcheck's.
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
    """Every run below the folder, by name; none if there is no such folder. now: in seconds, as of `time`.

    A folder without any file that a run writes is no run.
    """
    if not folder.is_dir():
        return ()
    places = sorted(place for place in folder.iterdir() if place.is_dir() and not place.is_symlink())
    return tuple(
        _run(place, now) for place in places if any(_ours(p.relative_to(place)) for p in _files(place))
    )


def newest_resumable(folder: Path) -> Path:
    """The run to which something was saved last. UsageFault if none can be gone on with."""
    manifests = [place / MANIFEST for place in folder.iterdir()] if folder.is_dir() else []
    found = [manifest for manifest in manifests if manifest.is_file() and not is_occupied(manifest.parent)]
    if not found:
        raise UsageFault(
            "no-checkpoint", f"there is no run to go on with in {folder}",
            help="`elrcheck runs` lists what is there; --resume DIR names another folder",
        )  # fmt: skip
    return max(found, key=lambda manifest: manifest.stat().st_mtime).parent


def removable(run: StoredRun, older_than: float, every: bool) -> bool:
    """Whether `runs clean` removes it; every: also what could be gone on with, or is unfinished."""
    if run.foreign is not None or run.kind == "running":
        return False
    return run.age >= older_than and (every or run.kind == "finished")


def remove(runs: Sequence[StoredRun], folder: Path) -> None:
    """Removes folders of runs, and the folder that held them if nothing is left in it."""
    for run in runs:
        shutil.rmtree(run.path)
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


def _run(place: Path, now: float) -> StoredRun:
    files = sorted(_files(place))
    traces = [path for path in files if path.parent == place and path.name.endswith(TRACE)]
    idents = sorted((path.name.removesuffix(TRACE) for path in traces), key=_in_order)
    has_levels = any(path.parent != place for path in files)
    kind: RunKind = "unfinished" if has_levels else "finished"
    variant = scope = storage = trouble = None
    states = depth = None
    try:
        if (place / MANIFEST).is_file():
            from elrcheck.explorer.runs.checkpoint import read_run

            saved = read_run(place)
            kind, states, depth = "resumable", saved.distinct, len(saved.levels) - 1
            variant, scope, storage = saved.identity.variant, saved.identity.scope, saved.storage
        elif traces:
            from elrcheck.traces.tracefile import stored_origin

            origin = stored_origin(traces[0])
            variant, scope = origin.variant, origin.scope
        elif (place / REPORT).is_file():
            variant, scope = _reported(place / REPORT)
    except UsageFault as fault:
        kind, trouble = "damaged", fault.message
    if is_occupied(place):
        kind, trouble = "running", None  # what is there is half written now and then
    stats = [path.lstat() for path in files]
    newest = max((stat.st_mtime for stat in stats), default=place.lstat().st_mtime)
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
    """Variant and scope of a stored report."""
    from elrcheck.base.documents import read_json
    from elrcheck.base.strict import Codes

    report = read_json(path, Codes("report-file")).object((), None)
    variant, scope = report.get("variant").value, report.get("scope").value
    return (str(variant) if variant else None, str(scope) if scope else None)


def _in_order(ident: str) -> tuple[str, int, str]:
    """P-2 stands before P-14."""
    head, _, rest = ident.partition("-")
    digits = rest[: len(rest) - len(rest.lstrip("0123456789"))]
    return head, int(digits or 0), rest


def _files(place: Path) -> Iterator[Path]:
    return (path for path in place.rglob("*") if path.is_symlink() or not path.is_dir())


def _foreign(place: Path, files: Sequence[Path]) -> str | None:
    """A file that no run writes, or a link: something in the folder is somebody else's."""
    for path in files:
        inside = path.relative_to(place)
        if path.is_symlink() or not _ours(inside):
            return str(inside)
    return None


def _ours(inside: Path) -> bool:
    """Whether a run writes files of this name there."""
    name = inside.name
    if name.startswith(".") and name.endswith(".tmp"):
        return True
    if len(inside.parts) == 1:
        return name in (MANIFEST, REPORT) or name.endswith(TRACE) or name.startswith("bug-report-")
    return inside.parts[0] == "levels" and name.endswith(STATES)
