"""Words that several renderers need: numbers with a noun, lists that end early, ages, commands."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from elrcheck.base.kept.age import KeptOrigin
from elrcheck.results.any_report import OfModel
from elrcheck.results.trace_view import Scalar

LETTERS: Mapping[str, str] = {"b": "the broker", "f": "the follower"}
"""One-letter parameters of actions -> what to print if no step binds them."""


def several(number: int, one: str, more: str = "", written: str = "") -> str:
    """Return a number and its noun. more: the plural, if an s is not enough; written: the number as it is printed."""
    return f"{written or number} {one if number == 1 else more or f'{one}s'}"


def some_of(names: Sequence[str], most: int) -> str:
    """Return the first `most` names, and how many more there are."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more:,} more" if more > 0 else "")


def with_reason(text: str, conjunct: str | None, witness: str | None) -> str:
    """Return a text about a broken property, followed by the conjunct that is false and the values for which it is."""
    why = " ".join(filter(None, (conjunct, witness and f"for {witness}")))
    return f"{text}: {why}" if why else text


def stored_at(run_dir: str | None, trace: str | None) -> str | None:
    """Return the path of a trace in the run folder; None if it was not stored."""
    return None if trace is None else "/".join(filter(None, (run_dir, trace)))


def from_store(origin: KeptOrigin | None, now: datetime | None = None) -> str | None:
    """Return the age of a stored answer; None if it was computed now. now: for tests."""
    if origin is None:
        return None
    seconds = ((now or datetime.now(UTC)) - datetime.fromisoformat(origin.when)).total_seconds()
    return f"answer {_age(seconds) or f'of {origin.when}'}, from the store"


def from_store_of(parts: Sequence[KeptOrigin]) -> str | None:
    """Return the number of stored answers and the age of the oldest; None if there are none."""
    oldest = from_store(KeptOrigin.oldest(parts))
    if oldest is None or len(parts) < 2:
        return oldest
    return f"{len(parts)} answers from the store, the oldest an {oldest.removesuffix(', from the store')}"


def _age(seconds: float) -> str:
    """Return a rough age; empty for a time in the future, by this machine's clock."""
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            return f"of {several(int(seconds // size), unit)} ago"
    return "of less than a minute ago" if seconds >= 0 else ""


def unbound(guard: str) -> str:
    """Return a guard with its letters spelled out: "b is running" becomes "the broker is running"."""
    return re.sub(rf"\b[{''.join(LETTERS)}]\b", lambda match: LETTERS[match[0]], guard)


def settings_of(config: Mapping[str, Scalar]) -> tuple[tuple[str, str], ...]:
    """Return the settings of a run as (name, text)."""
    return tuple((name, str(value)) for name, value in config.items())


def broker_count(config: Mapping[str, Scalar]) -> int:
    """Return the number of brokers of a run; 0 for a model without brokers."""
    number = config.get("broker_count")
    return number if isinstance(number, int) else 0


def source_of(report: OfModel) -> tuple[str | None, str | None]:
    """Return the model and the patch of a report, as `of_model` takes them."""
    return report.model, None if report.patch is None else report.patch.file


def of_model(command: str, model: str | None, patch: str | None = None) -> str:
    """Return a command with the options that name a run's model and patch."""
    options = {"--model": model, "--patch": patch}
    return " ".join((command, *(f"{name} {shlex.quote(file)}" for name, file in options.items() if file is not None)))
