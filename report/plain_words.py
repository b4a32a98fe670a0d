"""Words that several renderers need: numbers with a noun, and the letters of a guard."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from elrcheck.base.kept.age import KeptOrigin
from elrcheck.results.any_report import OfModel
from elrcheck.results.trace_view import Scalar

LETTERS: Mapping[str, str] = {"b": "the broker", "f": "the follower"}
"""Parameters of actions whose name is a letter -> who that is, where no step says which one."""


def several(number: int, one: str, more: str = "", written: str = "") -> str:
    """Return a number and its noun. more: the plural, if an s is not enough; written: the number as it is printed."""
    return f"{written or number} {one if number == 1 else more or f'{one}s'}"


def from_store(origin: KeptOrigin | None, now: datetime | None = None) -> str | None:
    """Return how old an answer is that was not computed now. now: by default the present."""
    if origin is None:
        return None
    seconds = ((now or datetime.now(UTC)) - datetime.fromisoformat(origin.when)).total_seconds()
    return f"answer {_age(seconds) or f'of {origin.when}'}, from the store"


def from_store_of(parts: Sequence[KeptOrigin]) -> str | None:
    """Return how many answers were not computed now, and how old the oldest is."""
    oldest = from_store(KeptOrigin.oldest(parts))
    if oldest is None or len(parts) < 2:
        return oldest
    return f"{len(parts)} answers from the store, the oldest an {oldest.removesuffix(', from the store')}"


def _age(seconds: float) -> str:
    """Return about how long ago; empty for a time in the future, by this machine's clock."""
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            return f"of {several(int(seconds // size), unit)} ago"
    return "of less than a minute ago" if seconds >= 0 else ""


def unbound(guard: str) -> str:
    """Return a guard as it is about any broker: `b is running` tells only those who know the source."""
    return re.sub(rf"\b[{''.join(LETTERS)}]\b", lambda match: LETTERS[match[0]], guard)


def settings_of(config: Mapping[str, Scalar]) -> tuple[tuple[str, str], ...]:
    """Return the settings of a run as (name, text)."""
    return tuple((name, str(value)) for name, value in config.items())


def broker_count(config: Mapping[str, Scalar]) -> int:
    """Return the number of brokers of a run; 0 for a model without brokers."""
    number = config.get("broker_count")
    return number if isinstance(number, int) else 0


def source_of(report: OfModel) -> tuple[str | None, str | None]:
    """Return the files of `of_model` in a report."""
    return report.model, None if report.patch is None else report.patch.file


def of_model(command: str, model: str | None, patch: str | None = None) -> str:
    """Return a command that continues a run, with the options that name the run's model."""
    options = {"--model": model, "--patch": patch}
    return " ".join((command, *(f"{name} {shlex.quote(file)}" for name, file in options.items() if file is not None)))
