"""Atomic writes: a file is written beside its target, flushed, then renamed, so it appears whole or never.

The folder is flushed after the rename, so that what is written later never outlives what was written before.
Symbolic links are followed. Anything that is not a regular file (a pipe, `/dev/stdout`, `/dev/null`) is
written directly, because a rename would replace it with a file.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from elrcheck.base.errors import EnvironmentFault

FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
"""Error numbers of a full disk or an exhausted quota."""
FREE_SPACE = "free some space on its disk"
_NAME = 40  # characters of the target's name in a draft's name, which must fit into 255 bytes
_CANNOT_SYNC = frozenset({errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.EACCES})


class FileDraft:
    """A file that is being written beside its target, under a hidden name.

    file: open for writing. `complete` flushes it to disk, `publish` gives it its name, `drop` removes a draft
    without a name. They raise OSError.
    """

    def __init__(self, folder: Path, name: str, mode: int = 0o666) -> None:
        """name: that of the target, or the start of it. mode: permissions, from which the umask takes."""
        self.folder, self.name = folder, name
        self._hidden = folder / f".{name[:_NAME]}.{secrets.token_hex(4)}.tmp"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
        self.file: BinaryIO = os.fdopen(os.open(self._hidden, flags, mode), "wb")

    def complete(self, mode: int | None = None) -> None:
        """Put the contents on disk. mode: permissions that the umask does not change."""
        self.file.flush()
        os.fsync(self.file.fileno())
        self.file.close()
        if mode is not None:
            os.chmod(self._hidden, mode)

    def publish(self, name: str | None = None) -> None:
        """Give a complete file its name, and replace a file that has it. name: by default the draft's own."""
        os.replace(self._hidden, self.folder / (name or self.name))

    def drop(self) -> None:
        """Close and remove a file that was not published; ignore all errors."""
        with contextlib.suppress(OSError):
            self.file.close()
        with contextlib.suppress(OSError):
            self._hidden.unlink()


def write_files(directory: Path, texts: Mapping[str, str | bytes], mode: int | None = None) -> None:
    """Write a group of files into a folder, creating the folder if needed.

    mode: the permissions of the files; by default those they have, and those of the umask for new ones.

    All files are complete on disk before the first one gets its name, so an error (a full disk, an
    interrupt) leaves the folder unchanged. The renames at the end follow the order of the mapping.
    Lone surrogates (from file names that are not UTF-8) are written as escapes.
    """
    waiting: list[FileDraft] = []
    place = directory
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            place = directory / name
            data = text.encode("utf-8", "backslashreplace") if isinstance(text, str) else text
            before = _mode(place)
            if before is not None and not stat.S_ISREG(before):
                place.write_bytes(data)
                continue
            target = Path(os.path.realpath(place))
            usual = mode if before is None or mode is not None else stat.S_IMODE(before)
            draft = FileDraft(target.parent, target.name, 0o666 if usual is None else usual)
            waiting.append(draft)
            draft.file.write(data)
            draft.complete(usual)
        folders = {draft.folder for draft in waiting}
        while waiting:
            place = waiting[0].folder / waiting[0].name
            waiting[0].publish()
            del waiting[0]
        place = directory
        for folder in folders:
            sync_folder(folder)
    except OSError as fault:
        raise cannot_write(place, fault) from fault
    finally:
        for draft in waiting:
            draft.drop()


def write_file(path: Path, text: str) -> None:
    """Write one text file atomically."""
    write_files(path.parent, {path.name: text})


def write_bytes(path: Path, data: bytes, mode: int | None = None) -> None:
    """Write one binary file atomically. mode: see `write_files`."""
    write_files(path.parent, {path.name: data}, mode)


def move_into(folder: Path, draft: Path, last: str) -> None:
    """Move the files of a complete draft folder into another one. last: the file that goes after all others.

    A process that is killed leaves some of the files, but not the last.
    """
    files = sorted(path.relative_to(draft) for path in draft.rglob("*") if path.is_file())
    place = folder
    try:
        for inside in sorted(files, key=lambda inside: inside == Path(last)):
            place = folder / inside
            place.parent.mkdir(parents=True, exist_ok=True)
            if inside == Path(last):
                for each in {(folder / other).parent for other in files} | {folder}:
                    sync_folder(each)
            os.replace(draft / inside, place)
        sync_folder(folder)
    except OSError as fault:
        raise cannot_write(place, fault) from fault


def append_line(path: Path, line: str) -> None:
    """Append a line to a file and flush it; a full disk leaves the file as it was.

    A process that is killed leaves a part of the line at most.
    """
    data = memoryview(line.encode() + b"\n")
    with writing(path), open(path, "ab", buffering=0) as file:
        whole = file.seek(0, os.SEEK_END)
        try:
            while data:
                data = data[file.write(data) :]
            os.fsync(file.fileno())
        except OSError:
            with contextlib.suppress(OSError):
                file.truncate(whole)
            raise


def sync_folder(folder: Path) -> None:
    """Flush the entries of a folder to disk, so that they survive a loss of power. Raise OSError.

    Where folders cannot be opened or flushed (Windows, some network file systems), do nothing.
    """
    try:
        number = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(number)
    except OSError as fault:
        if fault.errno not in _CANNOT_SYNC:
            raise
    finally:
        os.close(number)


@contextlib.contextmanager
def writing(place: Path | str) -> Iterator[None]:
    """Convert an OSError of a block that writes this file to EnvironmentFault."""
    try:
        yield
    except OSError as fault:
        raise cannot_write(place, fault) from fault


def cannot_write(place: Path | str, fault: OSError) -> EnvironmentFault:
    """Return the fault of a file that could not be written, with the reason, and a remedy for a full disk."""
    why = fault.strerror or str(fault)
    help = FREE_SPACE if fault.errno in FULL else None
    return EnvironmentFault("cannot-write", f"cannot write {place}: {why}", help=help)


def _mode(path: Path) -> int | None:
    """Return the mode of the file at a path, following links; None if there is no file."""
    try:
        return path.stat().st_mode
    except OSError:
        return None
