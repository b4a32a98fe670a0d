"""The events that budgets bound, in an operator's words: what a search tried, and what `risk` combines.

There is one event for each budget of `Config` except the records, in the order of `Config`; a test compares the two.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files

from elrcheck.base.documents import read_toml
from elrcheck.base.typed.records import Prose, read_record
from elrcheck.model.choices import BeforeRegistration, Propagation
from elrcheck.model.config import Config


@dataclass(frozen=True)
class Wording:
    """A kind of event in words, singular and plural."""

    one: Prose
    many: Prose

    def times(self, number: int) -> str:
        """Return the number of these events, in words."""
        return f"1 {self.one}" if number == 1 else f"{number} {self.many}"

    def in_prose(self, number: int) -> str:
        """Return the number of these events with an article for a single one: an orderly stop."""
        article = "an" if self.one[0] in "aeiou" else "a"
        return f"{article} {self.one}" if number == 1 else f"{number} {self.many}"


@functools.cache
def event_words() -> Mapping[str, Wording]:
    """Return budget -> the event that it bounds, in the order of `events.toml`, which is read once."""
    table = read_toml(files("elrcheck.catalogue") / "events.toml")
    return table.map(lambda node: read_record(node, Wording))


NETWORK: Mapping[str, str] = {
    "response_loss": "lost AlterPartition answers",
    "fetch_loss": "lost fetch answers",
    "metadata": "brokers that lag behind by several records",
}
"""Knob -> what it lets the network do, without a budget."""


def tried(config: Config) -> tuple[str, ...]:
    """Return the events that a search of the configuration tries, with their numbers."""
    counted = [event.times(number) for name, event in event_words().items() if (number := _most(config, name))]
    return (*counted, *(words for name, words in NETWORK.items() if _happens(config, name)))


def not_tried(config: Config, danger: Mapping[str, int]) -> tuple[str, ...]:
    """Return the events that it leaves out, the most dangerous first. danger: event -> the findings that need it."""
    left = {name: event.many for name, event in event_words().items() if not _most(config, name)}
    left |= {name: words for name, words in NETWORK.items() if not _happens(config, name)}
    return tuple(left[name] for name in sorted(left, key=lambda name: -danger.get(name, 0)))


def allowed(config: Config) -> tuple[str, ...]:
    """Return the names of the events that a search of the configuration tries."""
    return (
        *(name for name in event_words() if _most(config, name)),
        *(name for name in NETWORK if _happens(config, name)),
    )


def missing(config: Config, other: Config) -> tuple[str, ...]:
    """Return the events that the other configuration allows more often, with its numbers."""
    return tuple(
        event.times(_most(other, name))
        for name, event in event_words().items()
        if _most(other, name) > _most(config, name)
    )


def _most(config: Config, budget: str) -> int:
    """Return how often an event can happen: its budget, or 0 where a knob rules it out."""
    leads = config.before_registration == BeforeRegistration.ACTS
    possible = {
        "early_starts": config.most_early > 0,
        "early_writes": config.most_early > 0 and leads,
        "late_flushes": config.most_stray_offset > 0,
    }
    return int(getattr(config, budget)) if possible.get(budget, True) else 0


def _happens(config: Config, knob: str) -> bool:
    return config.metadata == Propagation.LOG if knob == "metadata" else bool(getattr(config, knob))
