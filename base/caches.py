"""Where elrcheck keeps what it can make again: compiled searches, a shim for Java."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path


def cache_directory(environ: Mapping[str, str]) -> Path:
    """ELRCHECK_CACHE_DIR, else a folder in XDG_CACHE_HOME, else in the platform's usual place."""
    own, base = environ.get("ELRCHECK_CACHE_DIR"), environ.get("XDG_CACHE_HOME")
    if own:
        return Path(own)
    if base:
        return Path(base) / "elrcheck"
    try:
        home = Path.home()
    except RuntimeError:
        # A user without a home, as in a container: nothing is kept. A folder that everybody could make before
        # us is no place for machine code.
        return Path(os.devnull) / "elrcheck"
    return home / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "elrcheck"
