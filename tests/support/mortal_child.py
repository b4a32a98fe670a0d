"""A process that runs `elrcheck` in children which die, or meet a full disk, at a chosen moment.

It reads jobs from stdin, a JSON object a line, and answers each with a line. A child is a fork of this
process, which has read the model already, so it starts at once; it runs the real command and is killed by a
real SIGKILL. Moments are counted: every operation that changes a file below its folder (create, write,
rename, remove, make a folder, flush), every level file that is opened or verified, and every round of the
search between native calls. Nothing in elrcheck knows of them: the child replaces what it calls.
"""

from __future__ import annotations

import builtins
import contextlib
import errno
import functools
import io
import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

from elrcheck.checking import engines
from elrcheck.checking.runs import checkpoint
from elrcheck.checking.runs.checkpoint import CheckpointFolder
from elrcheck.cli import cli
from elrcheck.console.shell import run
from elrcheck.explorer.search.compiled import Search
from elrcheck.explorer.store import levels, spilled
from elrcheck.invariants import modules

IN_MEMORY, SAVING, MOVING = "in memory", "saving a checkpoint", "moving to disk"
ON_DISK, RESUMING, FINISHING = "on disk", "resuming", "finishing"
RESUMING_TO_DISK = "resuming to disk"
PHASES = (IN_MEMORY, SAVING, MOVING, ON_DISK, RESUMING, RESUMING_TO_DISK, FINISHING)
FEW_PARTS = 4
"""Parts of a level on disk, so that a small search is not all opening and closing of files."""
NEEDS_SPACE = frozenset({"create", "write", "folder", "flush"})


class Moments:
    """The moments of one child. at: the number of the one at which `end` happens, 0 for never."""

    def __init__(self, folder: str, at: int, full: bool, log: int) -> None:
        self.folder, self.at, self.full, self.log = folder, at, full, log
        self.count, self.phases = 0, [IN_MEMORY]
        self.by_phase: list[str] = []
        self.saved = False
        self._lock = threading.Lock()

    def inside(self, path: Any, folder: int | None = None) -> bool:
        """Whether a path, or an open file, is below the folder. folder: what the path is relative to."""
        start = "" if folder is None else os.readlink(f"/proc/self/fd/{folder}")
        name = os.readlink(f"/proc/self/fd/{path}") if isinstance(path, int) else os.fspath(path)
        place = os.path.abspath(os.path.join(start, name))
        return place == self.folder or place.startswith(self.folder + os.sep)

    def pass_one(self, kind: str, half: Callable[[], object] | None = None) -> None:
        """Count a moment, and end there if it is the chosen one. half: does a part of the operation."""
        with self._lock:
            self.count += 1
            self.by_phase.append(self.phases[-1])
            if self.at == 0 or self.count < self.at:
                return
            if not self.full:
                if half is not None:
                    half()
                self.tell(kind)
                os.kill(os.getpid(), signal.SIGKILL)
        if kind in NEEDS_SPACE:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def tell(self, kind: str) -> None:
        """Write to the parent what happened so far."""
        facts = {"phase": self.phases[-1], "kind": kind, "saved": self.saved, "by_phase": self.by_phase}
        os.write(self.log, json.dumps(facts).encode())

    @contextlib.contextmanager
    def phase(self, name: str) -> Iterator[None]:
        self.phases.append(RESUMING_TO_DISK if name == MOVING and RESUMING in self.phases else name)
        try:
            yield
        finally:
            self.phases.pop()


class WatchedFile:
    """A file whose writes are moments."""

    def __init__(self, file: Any, moments: Moments) -> None:
        self._file, self._moments = file, moments

    def write(self, data: Any) -> Any:
        part = bytes(memoryview(data))[: memoryview(data).nbytes // 2] if not isinstance(data, str) else ""

        def half() -> None:
            if part:
                self._file.write(part)
            self._file.flush()

        self._moments.pass_one("write", half)
        return self._file.write(data)

    def __enter__(self) -> WatchedFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def watch_files(moments: Moments) -> None:
    """Replace the operations on files in this process."""
    real_open, real_os_open, fdopen = builtins.open, os.open, os.fdopen
    ours: set[int] = set()

    def watched_open(file: Any, mode: str = "r", *args: Any, **more: Any) -> Any:
        if isinstance(file, int) or not set(mode) & set("wax+") or not moments.inside(file):
            return real_open(file, mode, *args, **more)
        moments.pass_one("create")
        return WatchedFile(real_open(file, mode, *args, **more), moments)

    def watched_os_open(path: Any, flags: int, *args: Any, **more: Any) -> int:
        if flags & os.O_CREAT and moments.inside(path):
            moments.pass_one("create")
            number = real_os_open(path, flags, *args, **more)
            ours.add(number)
            return number
        return real_os_open(path, flags, *args, **more)

    def watched_fdopen(number: int, *args: Any, **more: Any) -> Any:
        file = fdopen(number, *args, **more)
        return WatchedFile(file, moments) if number in ours else file

    def changes(name: str, kind: str) -> None:
        real = getattr(os, name)

        @functools.wraps(real)
        def watched(path: Any, *args: Any, **more: Any) -> Any:
            if moments.inside(path, more.get("dir_fd")):
                moments.pass_one(kind)
            return real(path, *args, **more)

        setattr(os, name, watched)

    builtins.open = io.open = watched_open  # type: ignore[assignment]
    os.open, os.fdopen = watched_os_open, watched_fdopen  # type: ignore[assignment]
    for name, kind in (
        ("replace", "rename"),
        ("rename", "rename"),
        ("unlink", "remove"),
        ("rmdir", "remove"),
        ("mkdir", "folder"),
        ("fsync", "flush"),
        ("chmod", "change"),
    ):
        changes(name, kind)


def watch_search(moments: Moments, room: int | None) -> None:
    """Note the phases of a search. room: bytes for its states, instead of what --memory leaves."""

    def in_phase(owner: Any, name: str, phase: str) -> None:
        real = getattr(owner, name)

        @functools.wraps(real)
        def watched(*args: Any, **more: Any) -> Any:
            with moments.phase(phase):
                return real(*args, **more)

        setattr(owner, name, watched)

    def at_moment(owner: Any, name: str) -> None:
        real = getattr(owner, name)

        @functools.wraps(real)
        def watched(*args: Any) -> Any:
            moments.pass_one("read")
            return real(*args)

        setattr(owner, name, watched)

    for owner, name, phase in (
        (Search, "_spill", MOVING),
        (Search, "_spill_from", MOVING),
        (Search, "resume", RESUMING),
        (spilled.Spilled, "advance", ON_DISK),
        (CheckpointFolder, "save", SAVING),
        (Search, "_save", SAVING),
        (CheckpointFolder, "finish", FINISHING),
        (checkpoint, "open_folder", RESUMING),
    ):
        in_phase(owner, name, phase)
    for name in ("verify", "_parquet"):
        at_moment(levels.LevelFiles, name)
    pause, save = Search._pause, CheckpointFolder.save

    def watched_pause(self: Search) -> str | None:
        moments.pass_one("round")
        return pause(self)

    def watched_save(self: CheckpointFolder, *args: Any) -> None:
        save(self, *args)
        moments.saved = True

    Search._pause = watched_pause  # type: ignore[method-assign]
    CheckpointFolder.save = watched_save  # type: ignore[method-assign]
    levels.PARTS = spilled.PARTS = FEW_PARTS  # type: ignore[misc]
    if room is not None:
        engines._room_for_states = lambda memory: room  # type: ignore[assignment]


def child(job: dict[str, Any], log: int) -> None:
    """Run the command of a job in this process, which ends here."""
    os.chdir(job["folder"])
    for number, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644), number)
    moments = Moments(os.path.join(job["folder"], job["below"]), job["at"], job["full"], log)
    watch_files(moments)
    watch_search(moments, job["room"])
    code = run(cli, job["command"])
    moments.tell("end")
    os._exit(code)


def answer(job: dict[str, Any]) -> dict[str, Any]:
    """Run a job in a child, and return how it ended."""
    reading, log = os.pipe()
    number = os.fork()
    if number == 0:
        os.close(reading)
        try:
            child(job, log)
        finally:
            os._exit(99)
    os.close(log)
    with open(reading, "rb") as facts:
        document = json.loads(facts.read() or b"{}")
    _, status = os.waitpid(number, 0)
    return {"code": os.waitstatus_to_exitcode(status), **document}


def main() -> None:
    modules.load_model = functools.cache(modules.load_model)  # type: ignore[assignment]
    modules._load = functools.cache(modules._load)  # type: ignore[assignment]
    modules.load_whole_model()
    import pyarrow.parquet  # noqa: F401

    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
