"""Strongly connected components ("parts") of a graph given as arrays of edges.

States are coloured: the colour of a state is the greatest number among the states that reach it; the states of a
colour that lead back to the state with that number form a part. The other states are coloured again. States are
numbered level by level, so higher numbers seldom lead to lower ones, and the first round finds almost all parts.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]
NONE = -1


def parts_of(sources: Ints, targets: Ints, count: int) -> Ints:
    """Return the part of each of `count` states; -1 for states in no part of more than one state."""
    part: Ints = np.full(count, NONE, np.int32)
    sources, targets = trimmed(sources, targets, count)
    used = _flags(sources, count)
    number = np.cumsum(used, dtype=np.int32) - 1  # of the few states that are left
    part[used] = _coloured(number[sources], number[targets], int(used.sum()))
    return part


def trimmed(sources: Ints, targets: Ints, count: int) -> tuple[Ints, Ints]:
    """Drop edges that cannot lie on a cycle, because no edge leads to their source or from their target."""
    while True:
        on_path = _flags(targets, count)[sources] & _flags(sources, count)[targets]
        if on_path.all():
            return sources, targets
        sources, targets = sources[on_path], targets[on_path]


def _coloured(sources: Ints, targets: Ints, count: int) -> Ints:
    part: Ints = np.full(count, NONE, np.int32)
    while len(sources):
        colour = _colours(sources, targets, count)
        settled = _leading_back(sources, targets, colour)
        part[settled] = colour[settled]
        left = ~settled[sources] & ~settled[targets]
        sources, targets = trimmed(sources[left], targets[left], count)
    sizes = np.bincount(part[part != NONE], minlength=count)
    part[part != NONE] = np.where(sizes > 1, np.cumsum(sizes > 1) - 1, NONE)[part[part != NONE]]
    return part


def _colours(sources: Ints, targets: Ints, count: int) -> Ints:
    """Return, for each state, the greatest number among the states that reach it, itself included."""
    colour: Ints = np.arange(count, dtype=np.int32)
    near, far = sources, targets
    while (up := colour[near] > colour[far]).any():
        np.maximum.at(colour, far[up], colour[near[up]])
        again = _flags(far[up], count)[sources]
        near, far = sources[again], targets[again]
    return colour


def _leading_back(sources: Ints, targets: Ints, colour: Ints) -> Bools:
    """Return which states lead, within their colour, to the state with the colour's number."""
    same = colour[sources] == colour[targets]
    near, far = sources[same], targets[same]
    reached: Bools = _flags(sources, len(colour)) & (colour == np.arange(len(colour)))
    while (new := reached[far] & ~reached[near]).any():
        reached[near[new]] = True
    return reached


def _flags(states: Ints, count: int) -> Bools:
    flags: Bools = np.zeros(count, np.bool_)
    flags[states] = True
    return flags
