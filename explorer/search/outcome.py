"""The common result of all engines: counts by action, first hits and traces by property."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from elrcheck.explorer.search.growth import project
from elrcheck.results.exploration_report import Projection

if TYPE_CHECKING:
    pass


@dataclass
class Outcome:
    """The result of an engine. traces: plain states, initial first, by property id.

    enabled, new_states, beyond: by action; `beyond` counts the enabled steps that left the budgets.
    waiting: for each `leads_to` property, the number of states in which its conclusion is awaited.
    """

    complete: bool
    reason: str | None
    generated: int
    distinct: int
    levels: tuple[int, ...]
    seconds: float
    bytes_per_state: int = 0
    workers: int = 1
    detail: str | None = None
    cut: int = 0
    deadlocks: int = 0
    enabled: dict[str, int] = field(default_factory=dict)
    new_states: dict[str, int] = field(default_factory=dict)
    beyond: dict[str, int] = field(default_factory=dict)
    variables: dict[str, int] = field(default_factory=dict)
    overflow: dict[str, int] = field(default_factory=dict)
    first: dict[str, int] = field(default_factory=dict)
    traces: dict[str, tuple[object, ...]] = field(default_factory=dict)
    waiting: dict[str, int] = field(default_factory=dict)
    fingerprint_bits: int | None = None
    collision_probability: float = 0.0
    spilled: bool = False
    peak_bytes: int = 0
    resumable: str | None = None


def projection_of(outcome: Outcome) -> Projection | None:
    """Estimate the final size of an incomplete search from its finished levels; the last may be partial."""
    if outcome.complete:
        return None
    whole = outcome.levels if (outcome.reason or "").startswith("--max-depth") else outcome.levels[:-1]
    guess = project(whole)
    if guess is None or guess.states <= outcome.distinct:
        return None
    return Projection(guess.states, guess.levels)




