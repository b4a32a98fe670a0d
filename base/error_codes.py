"""The meaning of each error code, printed as ``error[code]``, by exit code: `error_codes.toml`.

Error codes are stable, because scripts grep for them. `elrcheck list errors` prints this catalogue, and a test compares
it with the source.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from importlib.resources import files

from elrcheck.base.errors import ExitCode


@functools.cache
def codes_by_exit() -> Mapping[ExitCode, Mapping[str, str]]:
    """Return exit code -> error code -> meaning; the table is read once."""
    tables = tomllib.loads((files("elrcheck.base") / "error_codes.toml").read_text("utf-8"))
    return {ExitCode[name]: codes for name, codes in tables.items()}


def error_codes() -> Mapping[str, str]:
    """Return error code -> meaning."""
    return {code: about for codes in codes_by_exit().values() for code, about in codes.items()}


def exit_of(code: str) -> ExitCode:
    """Return the exit code that accompanies an error code."""
    return next(exit_code for exit_code, codes in codes_by_exit().items() if code in codes)
