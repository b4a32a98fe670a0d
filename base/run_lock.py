"""Locks a run folder: two processes in one folder (`check --resume` twice) would mix their files.

The lock is on the folder itself, so a killed process leaves no lock file behind. Where folders cannot be locked
(Windows, some network file systems) it has no effect.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

from elrcheck.base.atomic import writing
from elrcheck.base.errors import EnvironmentFault


@contextlib.contextmanager
def alone_in(folder: Path, needed: bool = True, optional: bool = False) -> Iterator[None]:
    """Create the folder and lock it; raise EnvironmentFault if another process holds the lock.

    needed: if False, do nothing. optional: ignore a folder that cannot be created. New folders that are still empty at
    the end are removed.
    """
    if not needed:
        yield
        return
    new_folders: list[Path] = []
    with contextlib.suppress(EnvironmentFault) if optional else in_another_folder(), writing(folder):
        new_folders = _make(folder)
    lock = _lock(folder)
    try:
        if lock is None:
            raise EnvironmentFault(
                "run-in-use",
                "another elrcheck process is using this folder",
                where=str(folder),
                help="wait until it has finished, or use another folder: --run-dir DIR",
            )
        yield
    finally:
        with contextlib.suppress(OSError):
            for each in new_folders:
                each.rmdir()
        if lock is not None and lock >= 0:
            os.close(lock)


@contextlib.contextmanager
def in_another_folder() -> Iterator[None]:
    """Add to a fault of a block that writes into a run folder the remedy that another folder is."""
    try:
        yield
    except EnvironmentFault as fault:
        another = "name another: --run-dir DIR"
        fault.help = another if fault.help is None else f"{fault.help}, or choose another --run-dir"
        raise


@contextlib.contextmanager
def in_turn(folder: Path, seconds: float = 10.0) -> Iterator[None]:
    """Admit one process at a time to a block that reads a file of the folder and writes it anew.

    seconds: how long to wait for others, such as a run that has the folder; then the block is entered all the same.
    """
    end = time.monotonic() + seconds
    while (lock := _lock(folder)) is None and time.monotonic() < end:
        time.sleep(0.01)
    try:
        yield
    finally:
        if lock is not None and lock >= 0:
            os.close(lock)


def is_occupied(folder: Path) -> bool:
    """Return whether another process, or another part of this one, holds the lock."""
    lock = _lock(folder)
    if lock is not None and lock >= 0:
        os.close(lock)
    return lock is None


def _make(folder: Path) -> list[Path]:
    """Create the folder and its parents; return those that were created, innermost first. Raise OSError."""
    missing = [folder, *folder.parents]
    missing = missing[: next((k for k, each in enumerate(missing) if each.exists()), len(missing))]
    folder.mkdir(parents=True, exist_ok=True)
    return missing


def _lock(folder: Path) -> int | None:
    """Return a descriptor that holds the lock, -1 if folders cannot be locked, None if another process holds it."""
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
