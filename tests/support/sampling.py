"""States to compare engines on: reachable ones, and near ones that no behaviour reaches."""

from __future__ import annotations

import contextlib
import random
from typing import Any

from elrcheck.lang.lowering.lowered import Lowered
from elrcheck.lang.plain import PlainModel


def reachable(plain: PlainModel, count: int, seed: int) -> list[Any]:
    """States along random walks."""
    rng = random.Random(seed)
    states: dict[Any, None] = {}
    while len(states) < count:
        state = plain.initial()
        for _ in range(40):
            steps = [after for _, after in plain.successors(state) if plain.within(after)]
            if not steps:
                break
            state = rng.choice(steps)
            states[state] = None
    return list(states)[:count]


def perturbed(lowered: Lowered, states: list[Any], seed: int) -> list[Any]:
    """Each state with one to three scalars set to any value that fits; canonical again by decoding.

    Left out is a state for which the program has no room all the same: where the first record of the metadata
    log never changes, for example, there is none for an empty log.
    """
    rng = random.Random(seed)
    leaves = lowered.program.leaves
    perturbations = []
    for state in states:
        values = list(lowered.encode(state))
        for _ in range(rng.randint(1, 3)):
            index = rng.randrange(len(leaves))
            values[index] = rng.randint(leaves[index].lo, leaves[index].hi)
        near = lowered.decode(values)
        with contextlib.suppress(ValueError):
            lowered.encode(near)
            perturbations.append(near)
    return perturbations
