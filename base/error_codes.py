"""The meaning of each error code, printed as ``error[code]``, by exit code: `error_codes.toml`.

Error codes are stable, because scripts grep for them. `elrcheck list errors` prints this catalogue, and a test compares
it with the source.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib.resources import files

from elrcheck.base.errors import ExitCode

_TABLES = tomllib.loads((files("elrcheck.base") / "error_codes.toml").read_text("utf-8"))
BY_EXIT: Mapping[ExitCode, Mapping[str, str]] = {ExitCode[name]: codes for name, codes in _TABLES.items()}
CODES: Mapping[str, str] = {word: about for codes in BY_EXIT.values() for word, about in codes.items()}


def exit_of(code: str) -> ExitCode:
    """Return the exit code that accompanies an error code."""
    return next(exit_code for exit_code, codes in BY_EXIT.items() if code in codes)
