"""A model with a unified diff applied: a copy of its source files, in a folder named by their digest.

The diff is applied strictly: each hunk must fit exactly at its line, without fuzz or offset.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from elrcheck.base.atomic import write_file
from elrcheck.base.caches import cache_directory
from elrcheck.base.common_options import ModelSource, PatchedModel
from elrcheck.base.documents import read_text
from elrcheck.base.errors import UsageFault
from elrcheck.base.strict import Codes
from elrcheck.results.any_report import PatchApplied

MAKE = "make it with `git diff` or `diff -ruN OLD NEW`"
NOWHERE = "/dev/null"
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_UNSUPPORTED = ("rename from ", "rename to ", "copy from ", "copy to ", "GIT binary patch", "Binary files ")
_NO_NEWLINE = "\\"
_MISSING = re.compile(r"\t(1970-01-01|1969-12-31) ")
"""The date that `diff -N` writes after a file that one of the folders lacks, in any time zone."""


@dataclass(frozen=True)
class _Hunk:
    """One hunk. at: its line in the diff; first: the line of the file, from 1, where it begins, or after which it
    inserts if `old` is empty; old, new: the lines before and after, with their line ends."""

    at: int
    first: int
    old: tuple[str, ...]
    new: tuple[str, ...]


@dataclass
class _Change:
    """The hunks of one file. at: line of the diff."""

    at: int
    old: str
    new: str
    hunks: list[_Hunk] = field(default_factory=list)


def apply_diff(diff: str, name: str, texts: Mapping[str, str]) -> dict[str, str]:
    """Return path -> text after a unified diff, without the texts that it deletes.

    name: the file of the diff, for errors. Paths in the diff may have a prefix, such as `a/`. Raise UsageFault, with
    the line of the diff, for a malformed diff, a path outside the model, or a line that does not match.
    """
    after = dict(texts)
    changes = list(_DiffReader(diff, name).changes())
    if not changes:
        raise UsageFault("patch-not-diff", "not a unified diff: it has no hunk", where=name, help=MAKE)
    for change in changes:
        place = f"{name}:{change.at}"
        path = _path(change, texts, place)
        if change.old == NOWHERE and path in after:
            raise UsageFault("patch-mismatch", f"the diff creates {path}, which exists already", where=place)
        lines = _lines(after.get(path, ""))
        changed = _applied(change, lines, path, name)
        if change.new != NOWHERE:
            after[path] = "".join(changed)
        elif changed:
            raise UsageFault("patch-mismatch", f"the diff deletes {path}, but not all of its lines", where=place)
        else:
            del after[path]
    return after


def _lines(text: str) -> list[str]:
    """Return the lines with their line ends; only a line feed ends a line."""
    return [line for line in re.split(r"(?<=\n)", text) if line]


def _applied(change: _Change, lines: list[str], path: str, name: str) -> list[str]:
    """Return the lines of a file after its hunks, which must be in order and must not overlap."""
    changed: list[str] = []
    reached = 0
    for number, hunk in enumerate(change.hunks, start=1):
        start = hunk.first - 1 if hunk.old else hunk.first
        where, what = f"{name}:{hunk.at}", f"hunk {number} of {path}"
        if start < reached:
            raise UsageFault("patch-mismatch", f"{what} begins before the end of the one above", where=where)
        for k, line in enumerate(hunk.old):
            there = lines[start + k] if start + k < len(lines) else None
            if there != line:
                says = "the file ends before it" if there is None else f"the file has `{_quoted(there)}`"
                message = f"{what} does not fit: line {start + k + 1} should be `{_quoted(line)}`, and {says}"
                help = f"it is for another version: {MAKE}"
                if there is not None and there.rstrip("\r\n") == line.rstrip("\r\n"):
                    message = f"{what} does not fit: line {start + k + 1} has another line end in the file"
                    help = "one of them has the line ends of Windows: convert it, as dos2unix does"
                raise UsageFault("patch-mismatch", message, where=where, help=help)
        if start > len(lines):
            raise UsageFault("patch-mismatch", f"{what} is beyond the end of the file", where=where)
        changed += lines[reached:start]
        changed += hunk.new
        reached = start + len(hunk.old)
    return changed + lines[reached:]


def _quoted(line: str) -> str:
    text = line.rstrip("\r\n")
    if text != line:
        return text
    return f"{text} (without an end of line)"


def _path(change: _Change, texts: Mapping[str, str], place: str) -> str:
    """Return the path of the changed file among the texts, without the prefix of the diff.

    As in patch(1), the old name counts, so that `diff -u lock.py copy.py` fits lock.py.
    """
    written = change.new if change.old == NOWHERE else change.old
    parts = written.split("/")
    if written.startswith("/") or "\\" in written or ".." in parts:
        message = f"`{written}` is not a path inside the model's folder"
        raise UsageFault("patch-outside", message, where=place, help=MAKE)
    rests = _rests(written)
    if change.old == NOWHERE:
        folders = {"", *(path[:k] for path in texts for k, letter in enumerate(path) if letter == "/")}
        inside = (rest for rest in rests if rest.rpartition("/")[0] in folders and rest not in ("", parts[-1]))
        return next(inside, "/".join(parts[1:]) or parts[0])
    path = next((rest for rest in rests if rest in texts), None)
    if path is None:
        raise UsageFault("patch-no-file", f"the model has no file `{written}`", where=place, help=MAKE)
    other = next((rest for rest in _rests(change.new) if rest in texts), path)
    if other != path:
        message = f"the diff turns {path} into {other}, and the model has both"
        raise UsageFault("patch-not-diff", message, where=place, help=MAKE)
    return path


def _rests(written: str) -> list[str]:
    """Return a path with fewer and fewer of its first folders."""
    parts = written.split("/")
    return ["/".join(parts[k:]) for k in range(len(parts))]


class _DiffReader:
    """Reads the changes of a diff, line by line."""

    def __init__(self, diff: str, name: str) -> None:
        self.lines = _lines(diff)
        self.name = name
        self.next = 0

    def changes(self) -> Iterator[_Change]:
        """Yield the change of each file; skip lines between them, such as git's headers."""
        while self.next < len(self.lines):
            line = self.lines[self.next]
            if line.startswith(_UNSUPPORTED):
                self._refuse(f"`{line.split()[0]} ..` is not supported: a diff changes, adds or deletes text files")
            if line.startswith("@@"):
                self._refuse("a hunk without the names of its file above it")
            if not line.startswith("--- ") or not self._peek(1).startswith("+++ "):
                self.next += 1
                continue
            change = _Change(self.next + 1, _named(line), _named(self._peek(1)))
            self.next += 2
            while self._peek().startswith("@@"):
                change.hunks.append(self._hunk())
            if not change.hunks:
                self._refuse("no hunk below the names of a file")
            yield change

    def _hunk(self) -> _Hunk:
        at, head = self.next + 1, _HUNK.match(self._peek())
        if head is None:
            self._refuse("no head of a hunk: @@ -FIRST,COUNT +FIRST,COUNT @@")
        first, left, added = int(head[1]), int(head[2] or 1), int(head[4] or 1)
        self.next += 1
        old: list[str] = []
        new: list[str] = []
        while len(old) < left or len(new) < added:
            line = self._peek()
            mark, text = line[:1] or " ", line[1:]
            if not line or mark not in " +-\n\r":
                self._refuse(f"the hunk of line {at} ends early: {left} lines before and {added} after are announced")
            if mark in "\n\r":  # an empty line of context whose blank an editor has removed
                mark, text = " ", line
            self.next += 1
            if self._peek().startswith(_NO_NEWLINE):
                text = text.rstrip("\r\n")
                self.next += 1
            old += [text] if mark in " -" else []
            new += [text] if mark in " +" else []
        if len(old) > left or len(new) > added:
            self._refuse(f"the hunk of line {at} is longer than announced")
        return _Hunk(at, first, tuple(old), tuple(new))

    def _peek(self, further: int = 0) -> str:
        """Return the next line, or one further on; empty after the last one."""
        place = self.next + further
        return self.lines[place] if place < len(self.lines) else ""

    def _refuse(self, message: str) -> NoReturn:
        raise UsageFault("patch-not-diff", message, where=f"{self.name}:{min(self.next + 1, len(self.lines))}")


def _named(line: str) -> str:
    """Return the path in a `---` or `+++` line, without a time after a tab; NOWHERE for no file."""
    return NOWHERE if _MISSING.search(line) else line[4:].split("\t")[0].strip().strip('"')


CODES = Codes("patch-not-diff", unreadable="patch-unreadable")
LIMIT = 2**22
"""Limit of a diff, in bytes."""
FOLDER = "patched"


def patched_file(source: PatchedModel, texts: Mapping[str, str]) -> Path:
    """Write the texts of the base with the diff applied, and return the file or folder of that model.

    texts: path -> text. Raise UsageFault for a diff that does not fit.
    """
    after = apply_diff(read_text(source.patch, CODES, LIMIT), str(source.patch), texts)
    digest = hashlib.sha256(repr(sorted(after.items())).encode()).hexdigest()[:16]
    folder = _place(digest) / (source.patch if source.base is None else source.base.resolve()).stem.replace(".", "_")
    for path, text in after.items():
        place = folder / path
        if place.is_file() and place.read_bytes() == text.encode():
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        write_file(place, text)
    return folder / source.base.name if source.base is not None and source.base.is_file() else folder


def _place(digest: str) -> Path:
    """Create and return a folder in the cache folder, or a temporary one if that cannot be written."""
    place = cache_directory(os.environ) / FOLDER / digest
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError:
        place = Path(tempfile.mkdtemp(prefix=f"elrcheck-{FOLDER}-"))
        atexit.register(shutil.rmtree, place, ignore_errors=True)
    return place


def patch_applied(source: ModelSource) -> PatchApplied | None:
    """Return the diff of a model, for reports; None for a model without one."""
    if not isinstance(source, PatchedModel):
        return None
    text = read_text(source.patch, CODES, LIMIT)
    return PatchApplied(str(source.patch), hashlib.sha256(text.encode()).hexdigest())
