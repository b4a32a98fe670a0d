"""The version of elrcheck; not beside the exports of the package, so that every room may import it."""

from __future__ import annotations

__version__ = "0.1.0"
