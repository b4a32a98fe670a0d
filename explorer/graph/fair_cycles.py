"""Fair cycles: the strongly connected parts of a graph in which a fair behaviour can stay for ever.

A behaviour may also stop, so each single state is a part too. A part is fair if it satisfies every fairness
constraint: it takes a weakly fair step or contains a state where that step is disabled; it takes a strongly
fair step or disables it everywhere. For weak fairness the maximal parts suffice. Where a strongly fair step
is enabled but not taken, the states that enable it are removed and the rest is split into parts again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from elrcheck.explorer.graph.components import NONE, Bools, Ints, parts_of
from elrcheck.explorer.graph.graph import Graph

Longs = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Claims:
    """The fairness constraints on a graph.

    claim: for each edge, the number of the fair step that it takes, or -1. strong: for each fair step,
    whether it is strongly fair. stopping: for each edge, whether its step stops, so that no cycle takes it.
    """

    claim: Ints
    strong: tuple[bool, ...]
    stopping: Bools


class FairGraph:
    """A graph with its fairness constraints, indexed for many queries about its parts."""

    def __init__(self, graph: Graph, claims: Claims) -> None:
        self.graph, self.claims = graph, claims
        self.sources, self.targets = graph.sources, graph.targets
        moves = self.sources != self.targets
        self.claim: Ints = np.where(moves, claims.claim, NONE).astype(np.int32)
        self.lasting: Bools = moves & ~claims.stopping
        """Which edges a cycle may take."""
        self.back = _reverse(self.targets, graph.count)
        pressed = np.bincount(self.sources[self.claim != NONE], minlength=graph.count)
        self.at_rest: Bools = pressed == 0
        """Which states enable no fair step, so that a behaviour may stop there."""
        self.parts = self._parts(np.nonzero(self.lasting)[0])
        """The strongly connected part of each state, -1 for states in no part of more than one state."""

    def edges_of(self, states: Ints) -> Longs:
        """Return the edges that start in the given states."""
        first, last = self.graph.offsets[states], self.graph.offsets[states + 1]
        return _ranges(first, last)

    def reached(self, start: Bools, inside: Bools) -> Bools:
        """Return which states can be reached from `start` without leaving `inside`."""
        visited: Bools = start & inside
        frontier = np.nonzero(visited)[0].astype(np.int32)
        while len(frontier):
            near = self.targets[self.edges_of(frontier)]
            frontier = np.unique(near[inside[near] & ~visited[near]])
            visited[frontier] = True
        return visited

    def distances(self, goal: Bools, inside: Bools) -> Ints:
        """Return the distance of each state to the nearest goal within `inside`; -1 if there is no path."""
        far: Ints = np.full(self.graph.count, NONE, np.int32)
        frontier = np.nonzero(goal & inside)[0].astype(np.int32)
        steps = 0
        offsets, order = self.back
        while len(frontier):
            far[frontier] = steps
            near = self.sources[order[_ranges(offsets[frontier], offsets[frontier + 1])]]
            frontier = np.unique(near[inside[near] & (far[near] == NONE)])
            steps += 1
        return far

    def fair_parts(self, inside: Bools) -> Ints:
        """Return the fair part of each state, among parts of more than one state within `inside`; or -1."""
        fair_part: Ints = np.full(self.graph.count, NONE, np.int32)
        count = 0
        part = self._parts_inside(inside)
        while True:
            fair, rest = self._judged(part)
            numbers = np.cumsum(fair, dtype=np.int32) - 1 + count
            member = part != NONE
            member[member] = fair[part[member]]
            fair_part[member] = numbers[part[member]]
            count += int(fair.sum())
            if not rest.any():
                return fair_part
            part = self._parts(self._within(rest))

    def _parts_inside(self, inside: Bools) -> Ints:
        """Return the parts within `inside`; only those that lie partly outside are computed again."""
        in_part = self.parts != NONE
        broken = np.zeros(int(self.parts.max(initial=NONE)) + 1, np.bool_)
        broken[self.parts[in_part & ~inside]] = True
        torn = in_part & inside
        torn[torn] = broken[self.parts[torn]]
        part: Ints = np.where(in_part & inside & ~torn, self.parts, NONE).astype(np.int32)
        fresh = self._parts(self._within(torn))
        part[torn] = np.where(fresh[torn] == NONE, NONE, fresh[torn] + len(broken))
        return part

    def _judged(self, part: Ints) -> tuple[Bools, Bools]:
        """Return which parts are fair, and which states smaller fair parts may consist of."""
        kinds, parts = len(self.claims.strong), int(part.max(initial=NONE)) + 1
        strong = np.array(self.claims.strong, np.bool_)
        at = np.nonzero((self.claim != NONE) & (part[self.sources] != NONE))[0]
        cell = part[self.sources[at]].astype(np.int64) * kinds + self.claim[at]
        stays = part[self.targets[at]] == part[self.sources[at]]
        times = np.bincount(cell, minlength=parts * kinds).reshape(parts, kinds)
        missing = np.bincount(cell[stays], minlength=parts * kinds).reshape(parts, kinds) == 0
        sizes = np.bincount(part[part != NONE], minlength=parts)
        refused = (missing & ~strong & (times == sizes[:, None])).any(axis=1)
        owed = missing & strong & (times > 0)
        rest = part != NONE
        rest[rest] = ~refused[part[rest]] & owed.any(axis=1)[part[rest]]
        rest[self.sources[at[owed.ravel()[cell]]]] = False
        return (sizes > 0) & ~refused & ~owed.any(axis=1), rest

    def _within(self, states: Bools) -> Longs:
        """Return the edges between different states of a set that a cycle may take."""
        edges = self.edges_of(np.nonzero(states)[0].astype(np.int32))
        inner: Longs = edges[states[self.targets[edges]] & self.lasting[edges]]
        return inner

    def _parts(self, edges: Longs) -> Ints:
        """Number the strongly connected parts of more than one state in the graph of the given edges."""
        return parts_of(self.sources[edges], self.targets[edges], self.graph.count)


def _reverse(targets: Ints, count: int) -> tuple[Longs, Longs]:
    """Return offsets and edge numbers that list the incoming edges of each state."""
    order = np.argsort(targets, kind="stable")
    sizes = np.bincount(targets, minlength=count)
    return np.concatenate([[0], np.cumsum(sizes)]), order


def _ranges(first: Longs, last: Longs) -> Longs:
    """Return the numbers of the half-open ranges first..last, concatenated."""
    sizes = last - first
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if len(ends) else 0
    numbers: Longs = np.arange(total) + np.repeat(first - (ends - sizes), sizes)
    return numbers
