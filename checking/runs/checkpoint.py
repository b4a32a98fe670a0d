"""Resumable runs: the manifest `run.json` beside the level files of a search.

The manifest records what is searched (variant, scope, every value of the configuration, properties, a
digest of the lowered model), the completed levels with the length and SHA-256 of every file, and the counts
up to the end of the last level. It is written atomically, after the files it names, and carries its own
checksum. No file that it names is changed or removed while it exists (`levels`). So whenever the process is killed or
the disk is full, the folder holds the run as of some level. Nothing in a checkpoint is executed: it consists of
strictly read JSON and packed states.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from msgspec import structs

from elrcheck.base.atomic import FREE_SPACE, FULL, cannot_write, sync_folder, write_file
from elrcheck.base.documents import read_json
from elrcheck.base.errors import EnvironmentFault, UsageFault
from elrcheck.base.requests import CheckRequest, Fingerprint
from elrcheck.base.roundtrip import Record, from_data, to_data
from elrcheck.base.strict import Codes
from elrcheck.base.typed.configuration import config_values
from elrcheck.base.version import __version__
from elrcheck.checking.runs.folders import MANIFEST, REPORT, RUNS, TRACE
from elrcheck.declared.select import Selected
from elrcheck.explorer.kernel.word_layout import make_layout
from elrcheck.explorer.search.tally import SavedTally, Tally
from elrcheck.explorer.store.levels import LevelFiles, SavedLevel, damaged
from elrcheck.explorer.store.spilled import forget_candidates
from elrcheck.lang.ir import Fn
from elrcheck.lang.lowering.program import Program
from elrcheck.lang.lowering.program_digest import numbered_digest

SCHEMA = "elrcheck.run/3"
LEVELS = "levels"


class Identity(Record, frozen=True):
    """The search of a run. config: every knob and budget as plain values. model: `numbered_digest`.

    lasting: the user chose the folder, so the traces of witnesses are stored too.
    """

    variant: str
    scope: str
    overrides: tuple[str, ...]
    config: dict[str, bool | int | str]
    properties: tuple[str, ...]
    fingerprint: int
    stop: str
    model: str
    lasting: bool
    symmetry: bool = False


class RunManifest(Record, frozen=True):
    """The contents of `run.json` except its checksum. elrcheck: the version that wrote it."""

    schema: str
    elrcheck: str
    run: Identity
    storage: str | None
    levels: tuple[SavedLevel, ...]
    tally: SavedTally


@dataclass(frozen=True)
class Saved:
    """The contents of a manifest. storage: location of the level files, None if they are beside it."""

    identity: Identity
    levels: list[SavedLevel]
    tally: Tally
    storage: str | None = None

    @property
    def distinct(self) -> int:
        return sum(level.rows for level in self.levels)


class CheckpointFolder:
    """The folder of one run; the `Keeper` of its search.

    identity: called only when a checkpoint is saved, because the digest of a model takes a while. every: seconds
    between checkpoints. lasting: see `Identity`. storage: location of the level files, None if they are in the folder.

    An interrupted run is saved; one stopped by a limit, if its folder is lasting or already holds a checkpoint. A run
    whose folder could not be created goes on in memory, and is not saved; nor is one that cannot be resumed.
    """

    def __init__(
        self, folder: Path, identity: Callable[[], Identity], every: float, lasting: bool, storage: str | None = None
    ) -> None:
        self.folder, self.every, self.lasting, self.storage = folder, every, lasting, storage
        self.resumable = True
        self._identity = identity
        self._levels: LevelFiles | None = None
        self._last = time.monotonic()
        self.saved = False

    def files(self, words: int) -> LevelFiles:
        if self._levels is not None:
            return self._levels
        if self.storage is None:
            self._levels = LevelFiles(self.folder / LEVELS, words)
        else:
            from elrcheck.explorer.store.stored_levels import level_files

            self._levels = level_files(self.storage, words)
        return self._levels

    def due(self) -> bool:
        return time.monotonic() - self._last >= self.every and self.folder.is_dir()

    def at_stop(self, interrupted: bool) -> bool:
        return (interrupted and self.folder.is_dir()) or self.lasting or self.saved

    def save(self, written: Sequence[SavedLevel], tally: Tally) -> None:
        if not self.resumable:
            return
        manifest = RunManifest(SCHEMA, __version__, self._identity(), self.storage, tuple(written), tally.saved())
        body = to_data(manifest)
        if self._levels is not None:
            self._levels.sync()
        write_file(self.folder / MANIFEST, json.dumps({**body, "sha256": _checksum(body)}, indent=1) + "\n")
        self._last, self.saved = time.monotonic(), True
        if self._levels is not None:
            self._levels.named_by_checkpoint(written)

    @contextlib.contextmanager
    def kept_if_saved(self) -> Iterator[None]:
        """If the block fails, remove the folder unless it has a checkpoint, to which the error then refers.

        Levels without a manifest are useless.
        """
        try:
            yield
        except BaseException as fault:
            if not self.saved:
                self.finish()
            if isinstance(fault, OSError) and fault.errno in FULL:
                full = cannot_write(fault.filename or self.folder, fault)
                full.help = self._help(full)
                raise full from fault
            if isinstance(fault, EnvironmentFault):
                fault.help = self._help(fault)
            raise

    def _help(self, fault: EnvironmentFault) -> str | None:
        """Return how the user can continue after a failure of the run."""
        if self.saved:
            way = f"resume with `elrcheck check --resume {self.folder}`"
            return way if fault.help is None else f"{fault.help}, then {way}"
        if fault.help == FREE_SPACE and str(self.folder) in fault.message:
            return f"{FREE_SPACE}, or choose another --run-dir"
        return fault.help

    @contextlib.contextmanager
    def closing(self) -> Iterator[None]:
        """Remove the checkpoint of a completed search after the block that reports it, unless the block fails."""
        with self.kept_if_saved():
            yield
        self.finish()

    def finish(self) -> None:
        """Remove the checkpoint, and the folder if it is empty."""
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):  # a folder that could not be created
            (self.folder / MANIFEST).unlink()
        with contextlib.suppress(OSError):
            sync_folder(self.folder)  # before anything that the manifest names goes
        if self._levels is not None:
            forget_candidates(self.folder / LEVELS)
            self._levels.remove()
        for name in (MANIFEST, REPORT, f"*{TRACE}"):
            for draft in self.folder.glob(f".{name}.*.tmp"):  # left by a killed process
                draft.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            self.folder.rmdir()
            if self.folder.parent == RUNS:
                RUNS.rmdir()
                RUNS.parent.rmdir()


def open_folder(
    program: Program, place: Path, selected: Selected, chosen: Sequence[Fn], request: CheckRequest, saved: Saved | None
) -> CheckpointFolder:
    """Open the folder of a search; raise UsageFault if it holds another run or a damaged file."""
    lasting = request.run_dir is not None

    @functools.cache
    def identity() -> Identity:
        return Identity(
            selected.variant,
            selected.scope,
            request.selection.overrides,
            config_values(selected.config),
            tuple(fn.ident for fn in chosen),
            request.fingerprint,
            "first" if request.stop_at_first else "complete",
            numbered_digest(program),
            lasting,
            request.symmetry,
        )

    storage = None if saved is None else saved.storage
    if saved is None and request.spark.storage is not None:
        storage = f"{request.spark.storage.rstrip('/')}/{place.name}"
    folder = CheckpointFolder(place, identity, request.checkpoint_every, lasting, storage)
    folder.resumable = all(fn.kind != "leads_to" for fn in chosen)
    if saved is None:
        if (place / MANIFEST).exists():
            raise UsageFault(
                "run-dir-taken",
                "the folder already holds a resumable run",
                where=str(place),
                help=f"resume it with `elrcheck check --resume {place}`, or choose another --run-dir",
            )
        return folder
    reject_other(saved.identity, identity(), place)
    files = folder.files(make_layout(program.leaves).words)
    for level in saved.levels:
        files.verify(level)
    files.named_by_checkpoint(saved.levels)
    if storage is None:
        forget_candidates(files.folder)
    files.remove_others()
    folder.saved = True
    return folder


def as_saved(request: CheckRequest, saved: Saved) -> CheckRequest:
    """Return the request, with the options that it leaves open taken from the run it resumes."""
    run = saved.identity
    if not request.selected:
        recorded = replace(request.selection, variant=run.variant, scope=run.scope, overrides=run.overrides)
        request = replace(request, selection=recorded)
    return replace(
        request,
        properties=request.properties or run.properties,
        fingerprint=request.fingerprint or cast(Fingerprint, run.fingerprint),
        stop_at_first=request.stop_at_first or run.stop == "first",
        symmetry=request.symmetry or run.symmetry,
        run_dir=request.resume if run.lasting else None,
    )


def read_run(folder: Path) -> Saved:
    """Read the run in a folder; raise UsageFault if there is no run or its manifest is damaged."""
    place = folder / MANIFEST
    if not place.is_file():
        raise UsageFault(
            "no-checkpoint",
            f"there is no run to resume in {folder}",
            where=str(place),
            help="a run can be resumed if it was interrupted or stopped by a limit",
        )
    top = read_json(place, Codes("checkpoint-damaged"))
    body = top.object(("schema", "sha256"), None).value
    if body["schema"] != SCHEMA:
        top["schema"].expected(SCHEMA, f"it was written by elrcheck {body.get('elrcheck')}")
    rest = {key: value for key, value in body.items() if key != "sha256"}
    if body["sha256"] != _checksum(rest):
        raise damaged(place, "its contents differ from what was written (SHA-256)")
    try:
        manifest = from_data(rest, RunManifest)
        levels = [_beside_manifest(level) for level in manifest.levels]
        return Saved(manifest.run, levels, Tally.restored(manifest.tally), manifest.storage)
    except (ValueError, OverflowError) as fault:
        raise damaged(place, f"unexpected contents ({fault})") from fault


def reject_other(saved: Identity, requested: Identity, place: Path) -> None:
    """Raise UsageFault, naming the first field that differs, if the saved run is not the requested one."""
    have, want = structs.asdict(saved), structs.asdict(requested)
    for name in ("scope", "overrides", "lasting"):  # `config` holds what the first two stand for
        have.pop(name), want.pop(name)
    models = have.pop("model"), want.pop("model")
    before, now = have.pop("config"), want.pop("config")
    for name in sorted({*before, *now}):
        have[name], want[name] = before.get(name), now.get(name)
    have["model"], want["model"] = models  # last: it depends on all the others
    for name in have:
        if have[name] != want[name]:
            detail = (
                "the model has changed since"
                if name == "model"
                else f"`{name}` was {_format_value(have[name])} and is now {_format_value(want[name])}"
            )
            raise UsageFault(
                "resume-mismatch",
                f"the folder holds a different run: {detail}",
                where=str(place),
                help="leave out the options that choose the model, or start again with another --run-dir",
            )


def _format_value(value: object) -> str:
    return repr(list(value) if isinstance(value, tuple) else value)


def _checksum(body: dict[str, object]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def _beside_manifest(level: SavedLevel) -> SavedLevel:
    """Return the level with all directories removed from its file names."""
    return structs.replace(level, files=tuple(structs.replace(file, name=Path(file.name).name) for file in level.files))
