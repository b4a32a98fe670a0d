"""The folder for files that elrcheck can recreate; `base/kept/store.py` manages them."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

NAMED_BY = "ELRCHECK_CACHE_DIR"


def cache_directory(environ: Mapping[str, str]) -> Path:
    """Return ELRCHECK_CACHE_DIR, else a folder in XDG_CACHE_HOME, else one in the platform's cache folder."""
    own, base = environ.get(NAMED_BY), environ.get("XDG_CACHE_HOME")
    if own:
        return Path(own)
    if base:
        return Path(base) / "elrcheck"
    try:
        home = Path.home()
    except RuntimeError:
        # A user without a home directory, as in a container: cache nothing, because machine code must not come
        # from a folder that anyone could have created first.
        return Path(os.devnull) / "elrcheck"
    return home / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "elrcheck"


@contextlib.contextmanager
def empty_cache() -> Iterator[None]:
    """Give this process and those that it starts an empty cache folder, removed at the end of the block."""
    with (
        tempfile.TemporaryDirectory(prefix="elrcheck-cache-", ignore_cleanup_errors=True) as folder,
        variable_set(NAMED_BY, folder),
    ):
        yield


@contextlib.contextmanager
def variable_set(name: str, value: str) -> Iterator[None]:
    """Set a variable of the environment within the block."""
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = before
