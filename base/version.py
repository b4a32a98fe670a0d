"""The version of elrcheck: here, and not beside the exports of the package, so that every room may ask."""

from __future__ import annotations

__version__ = "0.1.0"
