"""Atomic writes: a file is written beside its target, flushed, then renamed, so it appears whole or never.

Symbolic links are followed. Anything that is not a regular file (a pipe, `/dev/stdout`, `/dev/null`) is
written directly, because a rename would replace it with a file.
"""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path

from elrcheck.base.errors import EnvironmentFault

_NAME = 40  # characters of the target's name in a draft's name, which must fit into 255 bytes


def write_files(directory: Path, texts: Mapping[str, str | bytes], mode: int | None = None) -> None:
    """Write a group of files into a folder, creating the folder if needed.

    mode: the permissions of the files; by default those they have, and those of the umask for new ones.

    All files are complete on disk before the first one gets its name, so an error (a full disk, an
    interrupt) leaves the folder unchanged. The renames at the end follow the order of the mapping.
    Lone surrogates (from file names that are not UTF-8) are written as escapes.
    """
    waiting: list[tuple[Path, Path]] = []
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            data = text.encode("utf-8", "backslashreplace") if isinstance(text, str) else text
            before = _mode(directory / name)
            if before is not None and not stat.S_ISREG(before):
                (directory / name).write_bytes(data)
                continue
            place = Path(os.path.realpath(directory / name))
            handle, draft = tempfile.mkstemp(prefix=f".{name[:_NAME]}.", suffix=".tmp", dir=place.parent)
            waiting.append((Path(draft), place))
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            # mkstemp creates files that only the owner can read
            usual = 0o666 & ~_umask() if before is None else stat.S_IMODE(before)
            os.chmod(draft, usual if mode is None else mode)
        while waiting:
            draft_path, place = waiting[0]
            os.replace(draft_path, place)
            del waiting[0]
    except OSError as fault:
        why = fault.strerror or str(fault)
        raise EnvironmentFault("cannot-write", f"cannot write into {directory}: {why}") from fault
    finally:
        for draft_path, _ in waiting:
            with contextlib.suppress(OSError):
                draft_path.unlink()


def write_file(path: Path, text: str) -> None:
    """Write one text file atomically."""
    write_files(path.parent, {path.name: text})


def write_bytes(path: Path, data: bytes, mode: int | None = None) -> None:
    """Write one binary file atomically. mode: see `write_files`."""
    write_files(path.parent, {path.name: data}, mode)


def _mode(path: Path) -> int | None:
    """The mode of the file at a path, following links; None if there is no file."""
    try:
        return path.stat().st_mode
    except OSError:
        return None


def _umask() -> int:
    """Return the umask of this process, which can only be read by setting it."""
    current = os.umask(0)
    os.umask(current)
    return current
