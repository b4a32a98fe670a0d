"""Estimates of the time of a search, with which the longest starts first and tasks are packed.

A wrong estimate (`BeforeSearch.states`) only costs time: no limit depends on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

N = TypeVar("N")
START_SECONDS = 1.0
"""Time to lower and compile a small model."""
STATES_PER_SECOND = 500_000


def cost(states: float, large: int) -> float:
    """Estimate the seconds that one thread needs for this many states, or to stop at `large` states."""
    return START_SECONDS + min(states, large) / STATES_PER_SECOND


def pack(costs: Mapping[N, float], packs: int) -> list[list[N]]:
    """Split the keys into at most `packs` groups of similar cost, the most expensive group first.

    Assign keys by decreasing cost, each to the cheapest group so far; the mapping's order breaks ties.
    """
    groups: list[list[N]] = [[] for _ in range(min(packs, len(costs)))]
    loads = [0.0] * len(groups)
    for key in largest_first(costs):
        least = loads.index(min(loads))
        groups[least].append(key)
        loads[least] += costs[key]
    order: Sequence[int] = sorted(range(len(groups)), key=lambda k: -loads[k])
    return [groups[k] for k in order]


def largest_first(costs: Mapping[N, float]) -> Iterable[N]:
    """Return the keys by decreasing cost; the mapping's order breaks ties."""
    return sorted(costs, key=lambda key: -costs[key])
