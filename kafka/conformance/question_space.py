"""A finite set of questions, numbered, so that a run can ask all of them or an even sample.

A space is a product of axes; some of its points are not well formed and have no question. `shuffled` visits
every point once in an order that a seed decides, so that the first N points are a sample of the whole.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Generic, TypeVar

Q = TypeVar("Q")


@dataclass(frozen=True)
class Space(Generic[Q]):
    """All choices of one option for each axis. question: returns the question of a choice, None for a malformed one."""

    name: str
    axes: tuple[tuple[object, ...], ...]
    question: Callable[..., Q | None]

    @property
    def size(self) -> int:
        """The number of points, well formed or not."""
        return math.prod(len(axis) for axis in self.axes)

    def at(self, number: int) -> Q | None:
        """Return the question at a point."""
        chosen = []
        for axis in self.axes:
            number, digit = divmod(number, len(axis))
            chosen.append(axis[digit])
        return self.question(*chosen)


def shuffled(size: int, seed: int, start: int, stop: int) -> Iterator[int]:
    """Return the points number `start` to `stop` of a permutation of range(size)."""
    choice = random.Random(f"{seed}/{size}")
    stride = choice.randrange(size // 3 + 1, size + 1) if size > 3 else 1
    while math.gcd(stride, size) != 1:
        stride += 1
    offset = choice.randrange(size)
    for number in range(start, min(stop, size)):
        yield (offset + number * stride) % size


def subsets(members: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Return every subset, each ascending."""
    return tuple(chosen for k in range(len(members) + 1) for chosen in combinations(members, k))
