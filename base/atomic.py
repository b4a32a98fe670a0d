"""Atomic writes: a file is written beside its target, flushed, then renamed, so it appears whole or never.

The folder is flushed after the rename, so that after a crash no later write survives an earlier one.
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

    file: open for writing. `complete` flushes it to disk, `publish` renames it to the target, `drop` removes an
    unpublished draft. The first two raise OSError.
    """

    def __init__(self, folder: Path, name: str, mode: int = 0o666) -> None:
        """name: that of the target, or the start of it. mode: permissions, before the umask."""
        self.folder, self.name = folder, name
        self._hidden = folder / f".{name[:_NAME]}.{secrets.token_hex(4)}.tmp"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
        self.file: BinaryIO = os.fdopen(os.open(self._hidden, flags, mode), "wb")

    def complete(self, mode: int | None = None) -> None:
        """Flush the contents to disk. mode: permissions, whatever the umask."""
        self.file.flush()
        os.fsync(self.file.fileno())
        self.file.close()
        if mode is not None:
            os.chmod(self._hidden, mode)

    def publish(self, name: str | None = None) -> None:
        """Rename a complete file to `name`, by default that of the target, replacing any file of that name."""
        os.replace(self._hidden, self.folder / (name or self.name))

    def drop(self) -> None:
        """Close and remove an unpublished file, ignoring all errors."""
        with contextlib.suppress(OSError):
            self.file.close()
        with contextlib.suppress(OSError):
            self._hidden.unlink()


def write_files(directory: Path, texts: Mapping[str, str | bytes], mode: int | None = None) -> None:
    """Write a group of files into a folder, creating the folder if needed.

    mode: the permissions of the files; by default existing files keep theirs, and the umask decides for new ones.

    All files are complete on disk before the first is renamed, so an error (a full disk, an interrupt) leaves the
    folder unchanged. The renames follow the order of the mapping. Lone surrogates (from file names that are not
    UTF-8) are written as escapes.
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
    """Move the files of a complete draft folder into another one. last: the file to move after all others.

    A process that is killed moves some of the files, but not the last one.
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
    """Append a line to a file and flush it; a full disk leaves the file unchanged, a kill at most a partial line."""
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
    """Return the fault for a file that could not be written, with a remedy if the disk is full."""
    why = fault.strerror or str(fault)
    help = FREE_SPACE if fault.errno in FULL else None
    return EnvironmentFault("cannot-write", f"cannot write {place}: {why}", help=help)


def _mode(path: Path) -> int | None:
    """Return the mode of the file at a path, following links; None if there is no file."""
    try:
        return path.stat().st_mode
    except OSError:
        return None
