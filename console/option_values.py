"""Parses values of options: durations, sizes, numbers of workers, words, run folders, output files."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from elrcheck.base.common_options import FAIL_ON
from elrcheck.base.option import location
from elrcheck.report.formats import ENDINGS, EVERY, SUFFIXES

NEWEST = ".elrcheck/runs/*"
"""The value of --resume without a folder."""

_SECONDS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_LONGEST = 10_000 * _SECONDS["d"]  # waiting functions overflow beyond a few hundred years
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def duration(text: str) -> float:
    """Return the seconds of a duration such as ``90``, ``90s``, ``1.5m`` or ``1h30m``."""
    word = text.strip().lower()
    parts = re.findall(r"(\d+(?:\.\d+)?)([smhd]?)", word)
    if not parts or "".join(number + unit for number, unit in parts) != word:
        raise click.BadParameter(f"{text!r} is not a duration; write 90s, 5m or 1h30m")
    if len(parts) > 1 and any(not unit for _, unit in parts):
        raise click.BadParameter(f"{text!r}: each part needs a unit, as in 1h30m")
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in parts)
    if not 0 < seconds <= _LONGEST:
        raise click.BadParameter("a duration must be more than 0 and at most 10000d")
    return seconds


def size(text: str) -> int:
    """Return the bytes of a size such as ``4GiB``, ``512M`` or ``1000000`` (powers of 1024)."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?", text.strip().lower())
    if match is None:
        raise click.BadParameter(f"{text!r} is not a size; write 512M or 4GiB")
    number = float(match[1]) * 1024.0 ** _POWERS[match[2]]
    if not 1 <= number < 2**63:
        raise click.BadParameter("a size must be more than 0 and less than 8388608T")
    return int(number)


class Factor(click.FloatRange):
    """A number in a range. Rejects ``nan``, which no comparison excludes."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = float(super().convert(value, param, ctx))
        if math.isnan(number):
            self.fail(f"{value!r} is not a number", param, ctx)
        return number


class WorkerCount(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.3
    """A number of workers; None for ``auto``. A settings file may have the number itself."""

    name = "number of workers"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | None:
        word = str(value).strip().lower()
        if word == "auto":
            return None
        if not re.fullmatch(r"[1-9]\d{0,3}", word):
            self.fail(f"{value!r} is neither a number of workers nor auto", param, ctx)
        return int(word)


class WordList(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.3
    """A tuple of words of `FAIL_ON`, separated by commas."""

    name = "list of words"

    def __init__(self, choices: Sequence[str]) -> None:
        self.choices = choices

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        words = tuple(word.strip() for word in value.split(",")) if value else ()
        for word in words:
            if word not in self.choices:
                self.fail(f"{word!r} is not one of {', '.join(self.choices)}", param, ctx)
        return words

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
        before, comma, last = incomplete.rpartition(",")
        matches = [word for word in self.choices if word.startswith(last)]
        return [CompletionItem(before + comma + word, help=FAIL_ON[word]) for word in matches]


class RunFolder(click.Path):
    """A run folder; by default the newest that can be resumed, which a note on stderr names."""

    def __init__(self) -> None:
        super().__init__(file_okay=False, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        folder = super().convert(value, param, ctx)
        if folder != Path(NEWEST) or ctx is None or ctx.resilient_parsing:
            return folder
        from elrcheck.commands.run_list import newest_resumable

        newest = newest_resumable(Path(NEWEST).parent)
        if ctx.obj is not None:
            ctx.obj.note(f"resuming {newest}")
        return newest


class Location(click.Path):
    """A path, or the URI of a storage."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return location(str(super().convert(value, param, ctx)))


def output_file(
    forms: Sequence[str], text: str, every: Sequence[str] = EVERY, endings: Mapping[str, str] = SUFFIXES
) -> tuple[str, Path]:
    """Return (format, path) of ``FILE`` or ``FORMAT:FILE``; the folder must already exist.

    forms: the formats of this command; every: all known formats; endings: file name ending -> format. An ending that
    stands for a format of other commands is refused; any other one stands for text.
    """
    form, colon, rest = text.partition(":")
    if not colon or form not in every:
        form, rest = "", text
    path = Path(rest)
    if not rest or os.path.isdir(path):
        raise click.BadParameter(f"{text!r} is not a file name")
    if not os.path.isdir(path.parent):
        raise click.BadParameter(f"there is no folder {str(path.parent)!r}")
    form = form or endings.get(path.suffix) or ENDINGS.get(path.suffix, "text")
    if form not in forms:
        raise click.BadParameter(f"{text!r}: no format {form} here; choose from {', '.join(forms)}")
    return form, path


def as_duration(seconds: float) -> str:
    """Return a duration as a user types it: from five minutes on in minutes, else in seconds."""
    return f"{seconds / 60:g}m" if seconds >= 300 and seconds % 60 == 0 else f"{seconds:g}s"
