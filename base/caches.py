"""The folder for files that elrcheck can recreate, and the one line that a run prints about those that it ignored.

`base/kept/store.py` manages the files. A run may have several processes. The first one that prints the line creates a
mark, a temporary file that all processes know by the environment; the others see the mark and stay silent.
"""

from __future__ import annotations

import contextlib
import functools
import os
import secrets
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from elrcheck.base.printable import printable

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


MARK = "_ELRCHECK_NOTICE"
"""The environment variable with the path of the mark."""


class Notice:
    """Reports once in a run that files of the store were ignored, and names the first."""

    def __init__(self) -> None:
        self.printed = False

    def tell(self, path: Path, why: str) -> None:
        """Print one line on stderr, the first time."""
        if self.printed or sys.stderr is None:
            return
        self.printed = True
        if _marked_before():
            return
        with contextlib.suppress(OSError, ValueError):  # a closed or full stream must not end the run
            sys.stderr.write(
                f"warning: {printable(str(path))} {why}: it was ignored, and its answer is computed anew. If "
                "this comes again, remove it, or let ELRCHECK_CACHE_DIR name a folder of your own\n"
            )


@functools.cache
def notice() -> Notice:
    """Return the notice of this process."""
    return Notice()


@contextlib.contextmanager
def one_notice() -> Iterator[None]:
    """Let at most one process print the line within the block."""
    notice.cache_clear()
    mark = Path(tempfile.gettempdir()) / f"elrcheck-notice-{secrets.token_hex(8)}"
    try:
        with variable_set(MARK, str(mark)):
            yield
    finally:
        with contextlib.suppress(OSError):
            mark.unlink(missing_ok=True)


def _marked_before() -> bool:
    """Create the mark; return whether another process of the run had created it."""
    mark = os.environ.get(MARK)
    if not mark:
        return False
    try:
        os.close(os.open(mark, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        return True
    except OSError:
        return False  # better two lines than none
    return False
