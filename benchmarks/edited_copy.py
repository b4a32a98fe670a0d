"""A copy of the package, of which a script edits one rule at a time and runs commands.

Every run is a process of its own, and all use one cache folder, which is new.
"""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Run:
    """A finished command. seconds: of the clock; processor: of the processor, its workers included."""

    code: int
    output: str
    errors: str
    seconds: float
    processor: float


class EditedCopy:
    """The copy in `folder`, which must be empty, with its cache beside it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.copy = folder, folder / "tree" / "elrcheck"
        ignored = shutil.ignore_patterns(".*", "__pycache__", "tests", "docs", "build", "*.egg-info")
        shutil.copytree(ROOT, self.copy, ignore=ignored)
        self._edits = 0

    @contextlib.contextmanager
    def edited(self, file: str, old: str, new: str) -> Iterator[None]:
        """Replace a text that the file has once, and put it back; SystemExit if it is not there."""
        place = self.copy / file
        text = place.read_text(encoding="utf-8")
        if text.count(old) != 1:
            raise SystemExit(f"{file} has {old!r} {text.count(old)} times")
        self._write(place, text.replace(old, new))
        try:
            yield
        finally:
            self._write(place, text)

    def _write(self, place: Path, text: str) -> None:
        """Each edit has another time, to the second: Python compares no more than that."""
        place.write_text(text, encoding="utf-8")
        self._edits += 1
        stamp = place.stat().st_mtime + 2 * self._edits
        os.utime(place, (stamp, stamp))

    def run(self, *arguments: str) -> Run:
        """Run elrcheck of the copy."""
        environ = {
            **os.environ,
            "PYTHONPATH": str(self.folder / "tree"),
            "ELRCHECK_CACHE_DIR": str(self.folder / "cache"),
        }
        command = [sys.executable, "-m", "elrcheck", "--no-progress", *arguments]
        before, started = _processor(), time.perf_counter()
        done = subprocess.run(command, env=environ, cwd=self.folder, capture_output=True, text=True, check=False)
        seconds = time.perf_counter() - started
        return Run(done.returncode, done.stdout, done.stderr, seconds, _processor() - before)


def _processor() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
