"""Files appear whole or not at all: written beside their place, flushed, then renamed.

A link is followed, and what is no file (a pipe, `/dev/stdout`, `/dev/null`) is written to: a rename would put
a file in its place.
"""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path

from elrcheck.base.errors import EnvironmentFault

_NAME = 40  # of a draft's name, which has more around it and must fit into 255 bytes


def write_files(directory: Path, texts: Mapping[str, str | bytes]) -> None:
    """Write a group of files into a folder, which is made if needed.

    All of them are complete on disk before the first one gets its name, so an error (a full disk, an
    interrupt) leaves the folder as it was; the renames at the end are in the order of the mapping.
    Half a character, as in the name of a file that is no UTF-8, is written as an escape.
    """
    waiting: list[tuple[Path, Path]] = []
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            data = text.encode("utf-8", "backslashreplace") if isinstance(text, str) else text
            mode = _mode(directory / name)
            if mode is not None and not stat.S_ISREG(mode):
                (directory / name).write_bytes(data)
                continue
            place = Path(os.path.realpath(directory / name))
            handle, draft = tempfile.mkstemp(prefix=f".{name[:_NAME]}.", suffix=".tmp", dir=place.parent)
            waiting.append((Path(draft), place))
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            # mkstemp makes files only the owner can read
            os.chmod(draft, 0o666 & ~_umask() if mode is None else stat.S_IMODE(mode))
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


def write_bytes(path: Path, data: bytes) -> None:
    """Write one binary file atomically."""
    write_files(path.parent, {path.name: data})


def _mode(path: Path) -> int | None:
    """What is there, links followed; None if nothing is."""
    try:
        return path.stat().st_mode
    except OSError:
        return None


def _umask() -> int:
    """The umask of this process; it can only be read by setting it."""
    current = os.umask(0)
    os.umask(current)
    return current
