"""Lists the runs in a folder with their status and size, and removes them.

A run is running (another process holds the lock of its folder), finished (only traces and a report are left),
resumable (a manifest records its progress), or unfinished (level files without a manifest: it was killed before its
first checkpoint, or still runs on a file system without locks).
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from elrcheck.base.errors import UsageFault
from elrcheck.base.roundtrip import Record
from elrcheck.base.run_lock import is_occupied
from elrcheck.base.typed.record_text import natural
from elrcheck.checking.runs.folders import MANIFEST, REPORT, TRACE

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
        shutil.rmtree(run.path)
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


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
    """Return variant and scope of a stored report."""
    from elrcheck.base.documents import read_json
    from elrcheck.base.strict import Codes

    report = read_json(path, Codes("report-file")).object((), None)
    variant, scope = report.get("variant").value, report.get("scope").value
    return (str(variant) if variant else None, str(scope) if scope else None)


def _files(place: Path) -> Iterator[Path]:
    return (path for path in place.rglob("*") if path.is_symlink() or not path.is_dir())


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
