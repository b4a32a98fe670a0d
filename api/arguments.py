"""What a caller in Python may write for a setting, a name, a limit or a folder, as a request has it.

What click refuses on the command line is refused here, with the same error codes.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from enum import Enum
from pathlib import Path
from typing import TypeAlias

from elrcheck.base.errors import UsageFault, did_you_mean
from elrcheck.base.progress import Progress, open_progress
from elrcheck.base.requests import Limits, Selection

Setting: TypeAlias = bool | int | str | Enum
Settings: TypeAlias = Mapping[str, Setting]
Words: TypeAlias = str | Iterable[str]
"""One id, name or glob, or several."""
Place: TypeAlias = str | os.PathLike[str]


def selection(variant: str, scope: Place, settings: Settings | None) -> Selection:
    """The model to check. `settings` are those of `--set`, with values of Python."""
    pairs = (settings or {}).items()
    return Selection(variant, os.fspath(scope), tuple(f"{key}={setting(key, value)}" for key, value in pairs))


def setting(key: str, value: object) -> str:
    """A value as `--set` writes it."""
    match value:
        case Enum():
            return value.name
        case bool():
            return str(value).lower()
        case int() | str():
            return str(value)
    raise UsageFault("override-bad-value", f"`{key}`: expected a boolean, a number or a name, not {value!r}", where=key)


def words(value: Words) -> tuple[str, ...]:
    """One text is one word, not its letters."""
    return (value,) if isinstance(value, str) else tuple(value)


def limits(
    max_depth: int | None = None,
    max_states: int | None = None,
    time_budget: float | None = None,
    memory: int | None = None,
) -> Limits:
    """Limits of a search: levels, states, seconds, bytes."""
    at_least("max_depth", max_depth, 0)
    at_least("max_states", max_states, 1)
    more_than_nothing("time_budget", time_budget)
    at_least("memory", memory, 1)
    return Limits(max_depth, max_states, time_budget, memory)


def at_least(name: str, value: int | None, least: int) -> None:
    """Raises UsageFault for a number that is too small; None is no number."""
    if value is not None and value < least:
        raise UsageFault("usage-bad-value", f"`{name}`: expected {least} or more, not {value}", where=name)


def more_than_nothing(name: str, seconds: float | None) -> None:
    """Raises UsageFault for a time that is over before it starts."""
    if seconds is not None and not seconds > 0:
        what = f"`{name}`: expected more than 0 seconds, not {seconds}"
        raise UsageFault("usage-bad-value", what, where=name)


def one_of(name: str, value: str, choices: Iterable[str]) -> None:
    """Raises UsageFault with a suggestion unless the value is one of the choices."""
    known = tuple(choices)
    if value not in known:
        raise UsageFault(
            "usage-bad-value",
            f"`{name}`: expected one of {', '.join(known)}, not {value!r}",
            where=name,
            help=did_you_mean(str(value), known),
        )


def path(place: Place | None) -> Path | None:
    return None if place is None else Path(place)


def told(progress: bool) -> AbstractContextManager[Progress]:
    """Progress on stderr as the commands show it, or none."""
    shown = progress and sys.stderr is not None
    return open_progress(sys.stderr, os.environ, shown=shown)
