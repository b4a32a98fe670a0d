"""Files appear whole or not at all: written beside their place, flushed, then renamed."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from elrcheck.errors import EnvironmentFault


def write_files(directory: Path, texts: Mapping[str, str | bytes]) -> None:
    """Write a group of files into a folder, which is made if needed.

    All of them are complete on disk before the first one gets its name, so an error (a full disk, an
    interrupt) leaves the folder as it was; the renames at the end are in the order of the mapping.
    """
    waiting: list[tuple[Path, Path]] = []
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            handle, draft = tempfile.mkstemp(prefix=f".{name}.", suffix=".tmp", dir=directory)
            waiting.append((Path(draft), directory / name))
            with os.fdopen(handle, "wb") as file:
                file.write(text.encode("utf-8") if isinstance(text, str) else text)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(draft, 0o666 & ~_umask())  # mkstemp makes files only the owner can read
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


def _umask() -> int:
    """The umask of this process; it can only be read by setting it."""
    current = os.umask(0)
    os.umask(current)
    return current
