"""The folder for files that elrcheck can recreate: compiled kernels and a Java launcher script."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path


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
