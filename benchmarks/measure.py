"""Options, child processes, tables, reports and an edited copy for the scripts, and how quiet the machine is.

This module imports only the standard library until a program is lowered: on Linux the peak memory of a
child includes what its parent held at the fork, so the measuring process must stay small.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from elrcheck.explorer.store.levels import LevelFiles
    from elrcheck.lang.load import Model
    from elrcheck.lang.lowering.program import Program

KIBIBYTE, MEBI, GIBI = 1 << 10, 1 << 20, 1 << 30
ROOT = Path(__file__).resolve().parent.parent
IGNORED = (".*", "__pycache__", "tests", "docs", "build", "*.egg-info")
GRACE = 5.0  # seconds between interrupting a child and killing it


class Missing(Exception):
    """Raised for what cannot be measured here, with the reason."""


@dataclass(frozen=True)
class Child:
    """A finished child process.

    seconds: wall time. cpu_seconds: of all its threads and children. peak_bytes: peak resident memory, the
    largest among it and its children. exit_code: None if it was stopped. mark: seconds until it printed the line
    that `run_child` was to look for; None if it did not.
    """

    seconds: float
    cpu_seconds: float
    peak_bytes: int
    exit_code: int | None
    output: str
    errors: str
    mark: float | None = None


def add_selection(parser: argparse.ArgumentParser, scope: str) -> None:
    """Add the options that choose a model and a configuration."""
    parser.add_argument("--variant", default="kip_full")
    parser.add_argument("--scope", default=scope)
    parser.add_argument("--model", type=Path, help="the file of a protocol, instead of variant and scope")
    parser.add_argument("--set", dest="overrides", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--reduce", action="store_true", help="with the reductions of docs/adr/0008 and 0009")


def selected(options: argparse.Namespace) -> tuple[Model, Any]:
    """Return the model and the configuration that the options choose."""
    from elrcheck.base.requests import Selection
    from elrcheck.console.verb import reduced
    from elrcheck.declared.select import resolve

    overrides = tuple(options.overrides)
    chosen = Selection(options.variant, options.scope, overrides)
    if options.model is not None:
        chosen = Selection(model=options.model, overrides=overrides)
    resolved = resolve(reduced(chosen, options.reduce))
    return resolved.declared.checked(), resolved.config


def lowered(options: argparse.Namespace) -> Program:
    """Return the program that the options choose, with all properties."""
    from elrcheck.lang.lowering.lower import lower

    model, config = selected(options)
    return lower(model, config, model.checks).program


class LevelFolder:
    """A keeper of a search that stores its levels in the working folder, and no manifest."""

    def files(self, words: int) -> LevelFiles:
        from elrcheck.explorer.store.levels import LevelFiles

        return LevelFiles(Path("levels"), words)

    def due(self) -> bool:
        return False

    def at_stop(self, interrupted: bool) -> bool:
        return False

    def save(self, *_: object) -> None: ...


class PrintedTable:
    """A table that is printed row by row. columns: head, width and format; the first one is aligned to the left."""

    def __init__(self, *columns: tuple[str, int, str]) -> None:
        self.columns = columns
        self._print([head for head, _, _ in columns], "")

    def row(self, *values: object, note: str = "") -> None:
        """Print a row; None leaves a cell empty. note: stands behind it."""
        cells = zip(values, self.columns, strict=True)
        self._print(["" if value is None else format(value, form) for value, (_, _, form) in cells], note)

    def _print(self, cells: Sequence[str], note: str) -> None:
        widths = [width for _, width, _ in self.columns]
        rest = "".join(f"{cell:>{width}}" for cell, width in zip(cells[1:], widths[1:], strict=True))
        print(f"{cells[0]:{widths[0]}}{rest}{note}", flush=True)


def start_control() -> float:
    """Prepare for child processes; print and return how quiet the machine is (`control`)."""
    end_children_on_sigterm()
    quiet = control()
    print(f"control: {quiet:.2f} (2.0 = two quiet cores)", flush=True)
    return quiet


def write_report(place: Path, **facts: Any) -> None:
    """Write figures as JSON, with the machine that they are from."""
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps({"machine": machine(), **facts}, indent=2) + "\n")
    print(f"written: {place}", file=sys.stderr)


def run_again(script: str, arguments: Sequence[str], child: str, folder: Path) -> tuple[Child, Any]:
    """Run this script with `--child NAME`, in a folder that is removed; return its last line of JSON, too."""
    command = [sys.executable, str(Path(script).resolve()), *arguments, "--child", child]
    with tempfile.TemporaryDirectory(dir=folder) as place:
        done = run_child(command, cwd=Path(place))
    if done.exit_code != 0:
        raise SystemExit(f"{child}: exit code {done.exit_code}\n{done.errors[-20000:]}")
    return done, json.loads(done.output.splitlines()[-1])


def work_of(levels: Iterable[dict[str, Any]]) -> dict[str, float]:
    """Add up the seconds of levels by kind of work."""
    work: dict[str, float] = {}
    for level in levels:
        for what, seconds in level["work"].items():
            work[what] = work.get(what, 0.0) + seconds
    return work


def run_child(
    command: Sequence[str],
    *,
    cwd: Path | None = None,
    timeout: float | None = None,
    environ: Mapping[str, str] | None = None,
    mark: re.Pattern[str] | None = None,
) -> Child:
    """Run a command in its own process group, which is ended after `timeout` seconds.

    The group is interrupted first, so that Spin's verifiers release their shared memory. Python may write byte code:
    a package that pip has installed has it. mark: a line of the output whose time is wanted.
    """
    environ = {name: value for name, value in (environ or os.environ).items() if name != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        started = time.perf_counter()
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=output if mark is None else subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
            text=True,
        )
        reader = _LineTimes(process, output, mark, started)
        late = threading.Event()

        def stop(number: signal.Signals) -> None:
            late.set()
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, number)

        timers = [
            threading.Timer(timeout + more, stop, (number,))
            for number, more in ((signal.SIGINT, 0.0), (signal.SIGKILL, GRACE))
            if timeout is not None
        ]
        for timer in timers:
            timer.start()
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:
            stop(signal.SIGINT)
            timers.append(threading.Timer(GRACE, stop, (signal.SIGKILL,)))
            timers[-1].start()
            process.wait()
            raise
        finally:
            for timer in timers:
                timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.perf_counter() - started
        reader.join()
        output.seek(0)
        errors.seek(0)
        return Child(
            seconds=seconds,
            cpu_seconds=usage.ru_utime + usage.ru_stime,
            peak_bytes=usage.ru_maxrss * (1 if platform.system() == "Darwin" else KIBIBYTE),
            exit_code=None if late.is_set() else process.returncode,
            output=output.read(),
            errors=errors.read(),
            mark=reader.mark,
        )


TOUCH = """
import mmap, sys
size = int(sys.argv[1])
memory = mmap.mmap(-1, size)
if hasattr(mmap, "MADV_HUGEPAGE"):
    memory.madvise(mmap.MADV_HUGEPAGE)
memory[::mmap.PAGESIZE] = bytes(size // mmap.PAGESIZE)
"""


def touch_memory(size: int) -> Child:
    """Have a process write to `size` bytes, a multiple of a page, and end; return it.

    The host of a virtual machine may take seconds to provide a GiB that no process has written to of late. Without
    this, whichever row comes first pays for it.
    """
    return run_child([sys.executable, "-c", TOUCH, str(size)])


class _LineTimes(threading.Thread):
    """Copies what a child prints into a file, and notes when the first line came that matches a pattern."""

    def __init__(self, child: subprocess.Popen[str], file: IO[str], pattern: re.Pattern[str] | None, start: float):
        super().__init__(daemon=True)
        self.child, self.file, self.pattern, self.begun = child, file, pattern, start
        self.mark: float | None = None
        self.start()

    def run(self) -> None:
        for line in self.child.stdout or ():
            if self.mark is None and self.pattern is not None and self.pattern.search(line):
                self.mark = time.perf_counter() - self.begun
            self.file.write(line)


def end_children_on_sigterm() -> None:
    """Turn SIGTERM into an exception, so that `run_child` ends its child too."""

    def leave(*_: object) -> None:
        sys.exit(128 + signal.SIGTERM)

    signal.signal(signal.SIGTERM, leave)


def _burn(_: int) -> float:
    started = time.perf_counter()
    total = 0
    for i in range(6_000_000):
        total += i * i
    return time.perf_counter() - started


def control() -> float:
    """Return the throughput of two busy processes relative to one: 2.0 means that two cores were free."""
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        alone = pool.apply(_burn, (0,))
        together = max(pool.map(_burn, range(2), chunksize=1))
    return 2 * alone / together


def machine() -> dict[str, object]:
    """Describe the machine on which the figures were measured."""
    model = ""
    info = Path("/proc/cpuinfo")
    if info.is_file():
        lines = info.read_text().splitlines()
        model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "processor": model or platform.processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_bytes": memory,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


@dataclass(frozen=True)
class SourceEdit:
    """A change of a file, described by `what`: a text that the file has once, and the text that replaces it."""

    what: str
    file: str
    old: str
    new: str


class EditedCopy:
    """A copy of the package, of which a script edits one rule at a time and runs commands.

    It is in `folder`, which must be empty, with its cache, which all runs use, beside it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.copy = folder, folder / "tree" / "elrcheck"
        shutil.copytree(ROOT, self.copy, ignore=shutil.ignore_patterns(*IGNORED))
        self._edits = 0

    @contextlib.contextmanager
    def edited(self, edit: SourceEdit) -> Iterator[None]:
        """Apply an edit, and undo it; SystemExit if the file does not have its text once."""
        place = self.copy / edit.file
        text = place.read_text(encoding="utf-8")
        if text.count(edit.old) != 1:
            raise SystemExit(f"{edit.file} has {edit.old!r} {text.count(edit.old)} times")
        self._write(place, text.replace(edit.old, edit.new))
        try:
            yield
        finally:
            self._write(place, text)

    def _write(self, place: Path, text: str) -> None:
        """Write a file with a time of its own, to the second: Python compares no more than that."""
        place.write_text(text, encoding="utf-8")
        self._edits += 1
        stamp = place.stat().st_mtime + 2 * self._edits
        os.utime(place, (stamp, stamp))

    def run(self, *arguments: str) -> Child:
        """Run elrcheck of the copy; SystemExit if it fails."""
        folders = {"PYTHONPATH": str(self.folder / "tree"), "ELRCHECK_CACHE_DIR": str(self.folder / "cache")}
        command = [sys.executable, "-m", "elrcheck", "--no-progress", *arguments]
        child = run_child(command, cwd=self.folder, environ={**os.environ, **folders})
        if child.exit_code not in (0, 1, 3):
            raise SystemExit(child.errors)
        return child
