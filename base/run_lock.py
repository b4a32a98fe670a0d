"""One process at a time in the folder of a run: `check --resume` twice would mix two searches' files.

The folder itself is locked, so a process that is killed leaves nothing behind that had to be removed. Where
folders cannot be locked (Windows, some network file systems) nobody is kept out.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from elrcheck.base.errors import EnvironmentFault


@contextlib.contextmanager
def alone_in(folder: Path, wanted: bool = True) -> Iterator[None]:
    """Makes the folder and keeps other processes out; EnvironmentFault if one is there.

    wanted: otherwise nothing is done. A folder made for this that is still empty in the end is removed.
    """
    if not wanted:
        yield
        return
    made = _make(folder)
    lock = _lock(folder)
    try:
        if lock is None:
            raise EnvironmentFault(
                "run-in-use", "another elrcheck is at work in this folder", where=str(folder),
                help="wait until it has ended, or use another folder: --run-dir DIR",
            )  # fmt: skip
        yield
    finally:
        with contextlib.suppress(OSError):
            for each in made:
                each.rmdir()
        if lock is not None and lock >= 0:
            os.close(lock)


def is_occupied(folder: Path) -> bool:
    """Whether another process, or another part of this one, is at work there."""
    lock = _lock(folder)
    if lock is not None and lock >= 0:
        os.close(lock)
    return lock is None


def _make(folder: Path) -> list[Path]:
    """Makes the folder and those above it; which were made, the innermost first."""
    missing = [folder, *folder.parents]
    missing = missing[: next((k for k, each in enumerate(missing) if each.exists()), len(missing))]
    folder.mkdir(parents=True, exist_ok=True)
    return missing


def _lock(folder: Path) -> int | None:
    """A descriptor that holds the lock, -1 where there are none, None if somebody else holds it."""
    try:
        import fcntl
    except ImportError:
        return -1
    try:
        number = os.open(folder, os.O_RDONLY)
    except OSError:
        return -1
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(number)
        return None
    except OSError:
        os.close(number)
        return -1
    return number
