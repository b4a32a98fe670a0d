"""Estimates the size of a configuration, well enough to start the largest first and to pack tasks.

The number of states is the product of a factor for each size and budget, fitted to the packaged scopes
(within a factor of three for those with two and three brokers). A wrong estimate only costs time: no limit
depends on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from elrcheck.model.choices import Propagation
from elrcheck.model.config import Config

N = TypeVar("N")
START_SECONDS = 1.0
"""Time to lower and compile a small model."""
STATES_PER_SECOND = 500_000
UNKNOWN = 100_000.0


def states(config: object) -> float:
    """Return the estimated number of states of a configuration; of another model than Kafka's, always the same."""
    if not isinstance(config, Config):
        return UNKNOWN
    brokers = float(config.broker_count)
    disturbed = config.disturbances + config.late_fetches + config.failovers
    proposed = config.shrinks + config.operations
    guess = 10 * brokers * brokers ** (4 * disturbed) * brokers ** (3 * proposed)
    guess *= (2 * brokers) ** max(0, config.records - 1)
    guess *= 2.0 ** (min(1, config.acks_one) + min(1, config.acks_zero))
    guess *= 2.0 ** (config.response_loss + config.fetch_loss)
    if config.metadata == Propagation.LOG:
        guess *= brokers**3
    return min(guess, 1e18)


def cost(config: object, large: int) -> float:
    """Return the estimated seconds that one thread needs, at most until it reaches `large` states."""
    return START_SECONDS + min(states(config), large) / STATES_PER_SECOND


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
