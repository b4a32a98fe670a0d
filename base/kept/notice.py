"""The one line that a run prints about files of the store that it ignored.

A run may have several processes. The first one that prints the line leaves a mark in the folder for temporary
files, under a name that the processes have from the environment; the others see it and say nothing.
"""

from __future__ import annotations

import contextlib
import functools
import os
import secrets
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from elrcheck.base.printable import printable

MARK = "_ELRCHECK_NOTICE"
"""The variable of the environment with the path of the mark of this run."""


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
        with contextlib.suppress(OSError, ValueError):  # a stream that is closed or full ends no run
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
    """Within the block at most one process prints the line."""
    notice.cache_clear()
    before = os.environ.get(MARK)
    mark = Path(tempfile.gettempdir()) / f"elrcheck-notice-{secrets.token_hex(8)}"
    os.environ[MARK] = str(mark)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            mark.unlink(missing_ok=True)
        if before is None:
            os.environ.pop(MARK, None)
        else:
            os.environ[MARK] = before


def _marked_before() -> bool:
    """Return whether another process of the run has printed the line, and mark it as printed."""
    mark = os.environ.get(MARK)
    if not mark:
        return False
    try:
        os.close(os.open(mark, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        return True
    except OSError:
        return False  # better a line too many than none
    return False
