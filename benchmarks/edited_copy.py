"""A copy of the package, of which a script edits one rule at a time and runs commands.

Every run is a process of its own, and all use one cache folder, which is new.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from measure import Child, run_child

ROOT = Path(__file__).resolve().parent.parent
IGNORED = (".*", "__pycache__", "tests", "docs", "build", "*.egg-info")


@dataclass(frozen=True)
class SourceEdit:
    """A change of a file, described by `what`: a text that the file has once, and the text that replaces it."""

    what: str
    file: str
    old: str
    new: str


class EditedCopy:
    """The copy in `folder`, which must be empty, with its cache beside it."""

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
