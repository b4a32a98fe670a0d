"""The common result of all engines: counts by action, first hits and traces by property; and how a search grows.

The levels of a bounded scope grow ever more slowly and then shrink: the logarithm of the growth from one
level to the next falls almost linearly. The estimate extrapolates that line from the last levels until a level has
less than one state. It is not a bound, and decides nothing. Early estimates are a fraction of the truth, so none is
given before it has settled.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING

from elrcheck.base.kept.age import KeptOrigin
from elrcheck.base.progress import LevelDone, Progress
from elrcheck.explorer.search.result import SearchCounts, SearchResult
from elrcheck.results.check_report import Projection

if TYPE_CHECKING:
    from elrcheck.lang.lowering.program import Program


LEAST = 8
"""Minimum number of levels for an estimate."""
FITTED = 8
"""Number of last levels to which the line is fitted."""
FLAT = -0.002
"""Slope above which the growth falls too slowly to tell whether the search ends."""
MOST = 1e18
SETTLED = 3
"""Number of last estimates that must agree."""
AGREE = 0.8
"""Estimates agree if the smallest is at least this share of the largest."""


class LevelProgress:
    """Reports the levels of a search, each with its growth and an estimate of the final size of the search."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.sizes: dict[int, int] = {}

    def tell(self, level: LevelDone) -> None:
        """Report a level; a long one is reported several times."""
        self.sizes[level.depth] = level.frontier
        frontiers = tuple(self.sizes.values())
        guess = project(frontiers)
        projected = None if guess is None else max(guess.states, level.distinct)
        self.progress.tell(replace(level, growth=growth_of(frontiers), projected=projected))


def growth_of(levels: Sequence[int]) -> float | None:
    """Return the size of the last level relative to the one before; None for the first level."""
    return round(levels[-1] / levels[-2], 2) if len(levels) > 1 and levels[-2] else None


def project(levels: Sequence[int], before: int = 0) -> Projection | None:
    """Estimate the final size from finished levels; None while growth does not fall, or the estimate changes.

    before: number of earlier levels missing from `levels`.
    """
    estimates = [_estimate(tuple(levels[: len(levels) - back]), before) for back in range(SETTLED)]
    sizes = [guess.states for guess in estimates if guess is not None]
    settled = len(sizes) == SETTLED and min(sizes) >= AGREE * max(sizes)
    return estimates[0] if settled else None


@functools.lru_cache(2 * SETTLED)  # the next level needs all but the oldest again
def _estimate(levels: tuple[int, ...], before: int) -> Projection | None:
    if len(levels) < LEAST or not all(levels):
        return None
    last = levels[-FITTED - 1 :]
    logs = [math.log(after / before) for before, after in itertools.pairwise(last)]
    slope, end = _line(logs)
    if slope > FLAT:
        return None
    size, total, depth = float(levels[-1]), float(sum(levels)), before + len(levels)
    while True:
        end += slope
        size *= math.exp(end)
        if size < 1:
            return Projection(int(float(f"{total:.1e}")), depth)
        total, depth = total + size, depth + 1
        if total > MOST:
            return None


def _line(values: Sequence[float]) -> tuple[float, float]:
    """Return the slope of the least-squares line, and its value at the last point."""
    middle, mean = (len(values) - 1) / 2, sum(values) / len(values)
    slope = sum((i - middle) * (v - mean) for i, v in enumerate(values))
    slope /= sum((i - middle) ** 2 for i in range(len(values)))
    return slope, mean + slope * middle


@dataclass
class SearchOutcome(SearchCounts):
    """The result of an engine. traces: plain states, initial first, by property id.

    enabled, new_states, beyond: by action; `beyond` counts the enabled steps that left the budgets. waiting: for each
    `leads_to` property, the number of states in which its conclusion is awaited. kept: the origin of an answer that
    an earlier search of the same program has stored.
    """

    detail: str | None = None
    cut: int = 0
    enabled: dict[str, int] = field(default_factory=dict)
    new_states: dict[str, int] = field(default_factory=dict)
    beyond: dict[str, int] = field(default_factory=dict)
    variables: dict[str, int] = field(default_factory=dict)
    overflow: dict[str, int] = field(default_factory=dict)
    first: dict[str, int] = field(default_factory=dict)
    traces: dict[str, tuple[object, ...]] = field(default_factory=dict)
    waiting: dict[str, int] = field(default_factory=dict)
    resumable: str | None = None
    kept: KeptOrigin | None = None


def projection_of(outcome: SearchOutcome) -> Projection | None:
    """Estimate the final size of an incomplete search from its finished levels; the last may be partial."""
    if outcome.complete:
        return None
    whole = outcome.levels if (outcome.reason or "").startswith("--max-depth") else outcome.levels[:-1]
    guess = project(whole)
    return guess if guess is not None and guess.states > outcome.distinct else None


def outcome_of(program: Program, result: SearchResult, detail: str | None = None) -> SearchOutcome:
    """Return the counts and first hits of a search, by names of the model; without traces."""
    enabled: dict[str, int] = {}
    fresh: dict[str, int] = {}
    beyond: dict[str, int] = {}
    for k, instance in enumerate(program.instances):
        if program.switched_off(instance):
            continue
        for total, counts in ((enabled, result.enabled), (fresh, result.new_states), (beyond, result.cut)):
            total[instance.action] = total.get(instance.action, 0) + counts[k]
    return SearchOutcome(
        **{part.name: getattr(result, part.name) for part in fields(SearchCounts)},
        detail=detail,
        cut=sum(result.cut),
        enabled=enabled,
        new_states=fresh,
        beyond=beyond,
        variables={
            leaf.path: result.leaf_values[k] for k, leaf in enumerate(program.leaves) if k not in program.parameters
        },
        overflow={program.leaves[leaf].path: n for leaf, n in result.overflow.items()},
        first={program.checks[check].name: depth for check, depth in result.first.items()},
    )
