"""Strongly connected parts of a graph given as arrays of edges.

Few edges go to networkx. Many are coloured: every state takes the greatest number of those it can be
reached from; the states of one colour that lead back to the state it is named after are a part. What is
left is coloured again. States are numbered level by level, so that few lower numbers are reached from
higher ones, and almost all parts are found in the first round.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]
NONE = -1
SMALL = 20_000
"""Up to this many edges the loops of networkx are quicker than passes over all states."""


def parts_of(sources: Ints, targets: Ints, count: int) -> Ints:
    """For each of `count` states the number of its part of more than one state, or -1."""
    sources, targets = trimmed(sources, targets, count)
    if len(sources) <= SMALL:
        return _small(sources, targets, count)
    return _coloured(sources, targets, count)


def trimmed(sources: Ints, targets: Ints, count: int) -> tuple[Ints, Ints]:
    """Without edges that lie on no cycle because nothing leads to them, or from them."""
    while True:
        kept = _flags(targets, count)[sources] & _flags(sources, count)[targets]
        if kept.all():
            return sources, targets
        sources, targets = sources[kept], targets[kept]


def _small(sources: Ints, targets: Ints, count: int) -> Ints:
    part: Ints = np.full(count, NONE, np.int32)
    if not len(sources):
        return part
    import networkx as nx

    graph = nx.DiGraph()
    graph.add_edges_from(zip(sources.tolist(), targets.tolist(), strict=True))
    found = sorted(sorted(states) for states in nx.strongly_connected_components(graph) if len(states) > 1)
    for number, states in enumerate(found):
        part[states] = number
    return part


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
    """The greatest number among the states from which each state can be reached, itself included."""
    colour: Ints = np.arange(count, dtype=np.int32)
    near, far = sources, targets
    while (up := colour[near] > colour[far]).any():
        np.maximum.at(colour, far[up], colour[near[up]])
        again = _flags(far[up], count)[sources]
        near, far = sources[again], targets[again]
    return colour


def _leading_back(sources: Ints, targets: Ints, colour: Ints) -> Bools:
    """The states that lead to the state their colour is named after."""
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
