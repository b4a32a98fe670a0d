"""Layered graph layout: few crossings, and each node near its neighbours.

The method of Sugiyama, Tagawa and Toda (1981): it orders each layer by the barycenters of the nodes' neighbours, in
alternating downward and upward sweeps, keeps the order with the fewest crossings, then moves nodes towards their
neighbours without changing the order. It is deterministic.
"""

from __future__ import annotations

import itertools
from bisect import bisect_right, insort
from collections.abc import Mapping, Sequence

SWEEPS = 24
"""Number of sweeps; 16 already find the best order for every scope tried."""
MOVES = 12


def layered(depths: Sequence[int], joined: Sequence[tuple[int, int]]) -> tuple[float, ...]:
    """Return the horizontal position of each node, in units of the minimum distance; the smallest is 0.

    depths: layer of each node. joined: edges; only those between neighbouring layers matter.
    """
    near: dict[int, tuple[list[int], list[int]]] = {node: ([], []) for node in range(len(depths))}
    for a, b in dict.fromkeys((min(pair), max(pair)) for pair in joined):
        above, below = (a, b) if depths[a] < depths[b] else (b, a)
        if depths[below] - depths[above] == 1:
            near[above][1].append(below)
            near[below][0].append(above)
    layers: list[list[int]] = [[] for _ in range(max(depths, default=-1) + 1)]
    for node, depth in enumerate(depths):
        layers[depth].append(node)
    layers = _ordered(layers, near)
    places = {node: at - (len(layer) - 1) / 2 for layer in layers for at, node in enumerate(layer)}
    for move in range(MOVES):
        for layer in layers if move % 2 == 0 else reversed(layers):
            _settle(layer, places, near)
    least = min(places.values(), default=0.0)
    return tuple(round(places[node] - least, 3) for node in range(len(depths)))


Near = Mapping[int, tuple[Sequence[int], Sequence[int]]]
"""For each node its neighbours in the layer above, and in the layer below."""


def _ordered(layers: list[list[int]], near: Near) -> list[list[int]]:
    best, fewest = [list(layer) for layer in layers], crossings(layers, near)
    for sweep in range(SWEEPS):
        side = sweep % 2
        for layer in layers[1:] if side == 0 else layers[-2::-1]:
            other = {node: at for at, node in enumerate(_beside(layers, layer, side))}
            now = {node: at for at, node in enumerate(layer)}
            means = {node: _mean([other[n] for n in near[node][side]], now[node]) for node in layer}
            layer.sort(key=lambda node, means=means, now=now: (means[node], now[node]))  # type: ignore[misc]
        count = crossings(layers, near)
        if count < fewest:
            best, fewest = [list(layer) for layer in layers], count
    return best


def _beside(layers: Sequence[list[int]], layer: list[int], side: int) -> list[int]:
    at = next(number for number, one in enumerate(layers) if one is layer)
    return layers[at - 1 if side == 0 else at + 1]


def _mean(values: Sequence[float], without: float) -> float:
    return sum(values) / len(values) if values else without


def crossings(layers: Sequence[Sequence[int]], near: Near) -> int:
    """Return the number of pairs of edges between neighbouring layers that cross."""
    total = 0
    for upper, lower in itertools.pairwise(layers):
        place = {node: at for at, node in enumerate(lower)}
        seen: list[int] = []
        for node in upper:
            ends = sorted(place[other] for other in near[node][1])
            # Count the edges of earlier nodes that end further right than this one.
            total += sum(len(seen) - bisect_right(seen, end) for end in ends)
            for end in ends:
                insort(seen, end)
    return total


def _settle(layer: Sequence[int], places: dict[int, float], near: Near) -> None:
    """Move each node towards the mean of its neighbours, keeping the order and a distance of at least 1."""
    means = [_mean([places[n] for side in near[node] for n in side], places[node]) for node in layer]
    right = list(means)
    for at in range(1, len(right)):
        right[at] = max(right[at], right[at - 1] + 1)
    left = list(means)
    for at in range(len(left) - 2, -1, -1):
        left[at] = min(left[at], left[at + 1] - 1)
    for node, a, b in zip(layer, right, left, strict=True):
        places[node] = (a + b) / 2
