"""The one line that a run prints about files of the store that it ignored."""

from __future__ import annotations

import contextlib
import functools
import sys
from pathlib import Path

from elrcheck.base.printable import printable


class Notice:
    """Says once in a run that something in the store was ignored: the first file stands for all."""

    def __init__(self) -> None:
        self.told = False

    def tell(self, path: Path, why: str) -> None:
        """Print one line on stderr, the first time."""
        if self.told or sys.stderr is None:
            return
        self.told = True
        with contextlib.suppress(OSError, ValueError):  # a stream that is closed or full ends no run
            sys.stderr.write(
                f"warning: {printable(str(path))} {why}: it was ignored, and its answer is computed anew. "
                "If this comes again, remove it, or let ELRCHECK_CACHE_DIR name a folder of your own\n"
            )


@functools.cache
def notice() -> Notice:
    """The notice of this run; `notice.cache_clear()` begins another run."""
    return Notice()
