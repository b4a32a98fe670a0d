"""The folder for files that elrcheck can recreate, and how they are kept there.

A kept file has a name that says all it was made from, and a checksum. It is read only if nobody else may
have written it: it belongs to this user or to root, and no other user may change it. Whatever is wrong with a
file, it is made again.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import sys
from collections.abc import Mapping
from pathlib import Path

from elrcheck.base.atomic import write_bytes
from elrcheck.base.errors import EnvironmentFault

CHECKSUM = 32


def cache_directory(environ: Mapping[str, str]) -> Path:
    """Return ELRCHECK_CACHE_DIR, else a folder in XDG_CACHE_HOME, else one in the platform's cache folder."""
    own, base = environ.get("ELRCHECK_CACHE_DIR"), environ.get("XDG_CACHE_HOME")
    if own:
        return Path(own)
    if base:
        return Path(base) / "elrcheck"
    try:
        home = Path.home()
    except RuntimeError:
        # A user without a home directory, as in a container: cache nothing. A folder that anyone could have
        # created before us is no place for machine code.
        return Path(os.devnull) / "elrcheck"
    return home / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "elrcheck"


class KeptFiles:
    """The files of one kind. magic: how they begin. If the folder cannot be written, nothing is kept."""

    def __init__(self, folder: Path, magic: bytes, suffix: str) -> None:
        self.folder, self.magic, self.suffix = folder, magic, suffix

    def load(self, name: str) -> bytes | None:
        """What was kept under a name; None if there is nothing, or it is damaged or not ours."""
        try:
            with open(self._place(name), "rb") as file:
                if not _is_ours(os.fstat(file.fileno())):
                    return None
                data = file.read()
        except OSError:
            return None
        head = len(self.magic) + CHECKSUM
        body = data[head:]
        whole = data[:head] == self.magic + hashlib.sha256(body).digest()
        return body if whole else None

    def store(self, name: str, body: bytes) -> None:
        """Keep it, for this user alone."""
        with contextlib.suppress(EnvironmentFault):
            data = self.magic + hashlib.sha256(body).digest() + body
            write_bytes(self._place(name), data, mode=stat.S_IRUSR | stat.S_IWUSR)

    def _place(self, name: str) -> Path:
        return self.folder / f"{name}{self.suffix}"


def _is_ours(status: os.stat_result) -> bool:
    """Whether nobody but this user and root can have written a file."""
    if not hasattr(os, "geteuid"):  # Windows: the folder is in the user's profile
        return True
    mine = status.st_uid in (os.geteuid(), 0)
    return mine and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
