"""How large a configuration may be: good enough to start the largest first and to pack tasks.

States are the product of what each size and budget multiplies them by, with factors read off the
packaged scopes (of those with two and three brokers within a factor of three). A wrong guess costs
time and no more: no limit depends on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from elrcheck.model.config import Config, Propagation

N = TypeVar("N")
START_SECONDS = 1.0
"""Lowering and compiling a small model."""
STATES_PER_SECOND = 500_000


def states(config: Config) -> float:
    """About how many states a configuration has."""
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


def cost(config: Config, large: int) -> float:
    """About how many seconds one thread needs, at most until it has seen `large` states."""
    return START_SECONDS + min(states(config), large) / STATES_PER_SECOND


def pack(costs: Mapping[N, float], packs: int) -> list[list[N]]:
    """The keys in at most `packs` groups of about the same cost, the most expensive group first.

    The longest goes first, each to the group with the least so far; ties by the order of the mapping.
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
    """The keys by cost, the greatest first; ties in the order of the mapping."""
    return sorted(costs, key=lambda key: -costs[key])
