"""How fast a search grows, and a guess how large it would become.

Levels of a bounded scope grow, ever more slowly, and then shrink: the logarithm of the growth from one level
to the next falls nearly in a straight line. The guess prolongs that line through the last levels until a
level has less than one state. It is a guess, at first too low: never a bound, and nothing is decided by it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

LEAST = 8
"""With fewer levels nothing is guessed."""
SEEN = 8
"""How many of the last levels the line is laid through."""
FLAT = -0.002
"""A growth that falls more slowly than this could go on for ever, as far as one can see."""
MOST = 1e18


@dataclass(frozen=True)
class Projection:
    """What a search might come to: distinct states, in two digits, and levels."""

    states: int
    levels: int


def growth_of(levels: Sequence[int]) -> float | None:
    """How many times as many states the last level has as the one before; None for the first."""
    return round(levels[-1] / levels[-2], 2) if len(levels) > 1 and levels[-2] else None


def project(levels: Sequence[int], before: int = 0) -> Projection | None:
    """A guess from whole levels; None where the growth does not fall yet. before: levels left out."""
    if len(levels) < LEAST or not all(levels):
        return None
    last = levels[-SEEN - 1 :]
    logs = [math.log(after / before) for before, after in itertools.pairwise(last)]
    slope, end = _line(logs)
    if slope > FLAT:
        return None
    size, total, depth = float(levels[-1]), float(sum(levels)), before + len(levels)
    while True:
        end += slope
        size *= math.exp(end)
        if size < 1:
            return Projection(_two_digits(total), depth)
        total, depth = total + size, depth + 1
        if total > MOST:
            return None


def _line(values: Sequence[float]) -> tuple[float, float]:
    """Slope of the least-squares line, and its value at the last point."""
    middle, mean = (len(values) - 1) / 2, sum(values) / len(values)
    slope = sum((i - middle) * (v - mean) for i, v in enumerate(values))
    slope /= sum((i - middle) ** 2 for i in range(len(values)))
    return slope, mean + slope * middle


def _two_digits(number: float) -> int:
    return int(float(f"{number:.1e}"))
