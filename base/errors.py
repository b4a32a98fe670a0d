"""The errors of elrcheck, each with its exit code.

An error states what went wrong, where, and what to do about it; only `ElrError.render` renders it::

    error[config-unknown-key]: unknown key `brokerz`
      --> elrcheck.toml:4
       = help: did you mean `brokers`?

The meaning of the code in brackets never changes, because scripts may grep for it. A test compares the table of codes,
`error_codes.toml`, with the source.
"""

from __future__ import annotations

import difflib
import functools
from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import ClassVar

from elrcheck.base.printable import printable


class ExitCode(IntEnum):
    """Exit codes of the process. A search that reached a limit never passes."""

    HOLDS = 0
    FINDING = 1
    DID_NOT_RUN = 2
    INCONCLUSIVE = 3
    ENVIRONMENT = 4
    NOTHING_CHECKED = 5
    INTERNAL = 70
    INTERRUPTED = 130


class ElrError(Exception):
    """A failure that the user can act on, printed without a stack trace. Raise one of the subclasses.

    code: the stable error code. where: ``file:line`` or a field path. excerpt: source text, maybe several lines with
    an underline. help: what to try next.
    """

    exit_code: ClassVar[int] = ExitCode.DID_NOT_RUN

    def __init__(
        self, code: str, message: str, *, where: str | None = None, help: str | None = None, excerpt: str | None = None
    ) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message
        self.where = where
        self.help = help
        self.excerpt = excerpt

    def __str__(self) -> str:
        return self.message

    def render(self) -> str:
        """Return the text shown to the user: several printable lines, without a trailing newline."""
        lines = [f"error[{self.code}]: {printable(self.message)}"]
        if self.where is not None:
            lines.append(f"  --> {printable(self.where)}")
        if self.excerpt is not None:
            lines += [f"   | {printable(line.expandtabs())}" for line in self.excerpt.splitlines()]
        if self.help is not None:
            lines.append(f"   = help: {printable(self.help)}")
        return "\n".join(lines)


class UsageFault(ElrError):
    """The run did not start: a bad option, configuration, input file or model source."""

    exit_code: ClassVar[int] = ExitCode.DID_NOT_RUN


class EnvironmentFault(ElrError):
    """This machine lacks something the run needs; `elrcheck doctor` lists what is installed."""

    exit_code: ClassVar[int] = ExitCode.ENVIRONMENT


class NothingChecked(ElrError):
    """The selection is empty, so a verdict of "holds" would mislead."""

    exit_code: ClassVar[int] = ExitCode.NOTHING_CHECKED


class Interrupted(ElrError):
    """The user stopped the run; `help` says where the results so far are stored."""

    exit_code: ClassVar[int] = ExitCode.INTERRUPTED


def suggest(word: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate closest to `word`, ignoring case and `-` versus `_`; None if none is close."""
    by_key: dict[str, str] = {}
    for candidate in candidates:
        by_key.setdefault(_fold(candidate), candidate)
    near = difflib.get_close_matches(_fold(word), by_key, n=1, cutoff=0.6)
    return by_key[near[0]] if near else None


MOST_NAMES = 30
"""Number of candidates that a help line lists."""


def did_you_mean(word: str, candidates: Iterable[str]) -> str:
    """Return a help line for an unknown `word`: the closest candidate, or else all of them, up to MOST_NAMES."""
    options = list(candidates)
    near = suggest(word, options)
    if near is not None:
        return f"did you mean `{near}`?"
    if not options:
        return "there is nothing to choose from"
    names = sorted(dict.fromkeys(options))
    if len(names) > MOST_NAMES:
        return f"known: {', '.join(names[:MOST_NAMES])} and {len(names) - MOST_NAMES} more"
    return "known: " + ", ".join(names)


def _fold(word: str) -> str:
    return word.lower().replace("-", "_")


@functools.cache
def codes_by_exit() -> Mapping[ExitCode, Mapping[str, str]]:
    """Return exit code -> error code -> meaning; the table is read once. `elrcheck list errors` prints it."""
    import tomllib
    from importlib.resources import files

    tables = tomllib.loads((files("elrcheck.base") / "error_codes.toml").read_text("utf-8"))
    return {ExitCode[name]: codes for name, codes in tables.items()}


def error_codes() -> Mapping[str, str]:
    """Return error code -> meaning."""
    return {code: about for codes in codes_by_exit().values() for code, about in codes.items()}


def exit_of(code: str) -> ExitCode:
    """Return the exit code that accompanies an error code."""
    return next(exit_code for exit_code, codes in codes_by_exit().items() if code in codes)
