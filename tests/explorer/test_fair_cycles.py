"""Fair cycles of small graphs, drawn by hand, and of random ones against a search through all subsets."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import networkx as nx
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from elrcheck.explorer.graph import components
from elrcheck.explorer.graph.fair_cycles import Claims, FairGraph
from elrcheck.explorer.graph.graph import Bools, Graph
from elrcheck.explorer.graph.lassos import Lasso, find_lasso
from elrcheck.lang.plain import Label

Edge = tuple[int, str, int]


def graph_of(edges: Sequence[Edge], count: int) -> Graph:
    """States are numbered so that a shortest way from 0 passes ascending numbers."""
    names = sorted({name for _, name, _ in edges})
    rows = sorted((a, names.index(name), b) for a, name, b in edges)
    depth = {0: 0}
    for _ in range(count):
        for a, _, b in rows:
            if a in depth:
                depth[b] = min(depth.get(b, count), depth[a] + 1)
    order = [depth[i] for i in range(count)]
    assert order == sorted(order), "levels have to be ascending"
    levels = [order.index(d) for d in range(max(order) + 1)]
    counted = np.bincount([a for a, _, _ in rows], minlength=count)
    return Graph(
        names=tuple(Label(name, ()) for name in names),
        levels=(*levels, count),
        offsets=np.concatenate([[0], np.cumsum(counted)]),
        targets=np.array([b for _, _, b in rows], np.int32),
        labels=np.array([name for _, name, _ in rows], np.int32),
        state=lambda number: number,
        ask=lambda questions: np.zeros((len(questions), count), np.bool_),
    )


def lasso_of(
    edges: Sequence[Edge],
    *,
    weak: str = "",
    strong: str = "",
    stopping: str = "",
    waits: set[int],
    ends: set[int],
    count: int,
) -> Lasso | None:
    """weak, strong: names of fair steps, one letter each; stopping: of disturbances that stop. ends: a wait is over."""
    graph = graph_of(edges, count)
    fair = [*weak, *strong]
    names = [label.action for label in graph.names]
    claim = np.array([fair.index(names[k]) if names[k] in fair else -1 for k in graph.labels], np.int32)
    stops = np.array([names[k] in stopping for k in graph.labels])
    arena = FairGraph(graph, Claims(claim, (*[False for _ in weak], *[True for _ in strong]), stops))
    return find_lasso(arena, of(waits - ends, count), ~of(ends, count))


def of(states: set[int], count: int) -> Bools:
    return np.array([i in states for i in range(count)])


def words(lasso: Lasso | None) -> tuple[str, str] | None:
    """The labels before the cycle, and those of the cycle; "" if the behaviour stops."""
    if lasso is None:
        return None
    text = "".join(label.action for label in lasso.behaviour.labels)
    return text[: lasso.behaviour.loop], text[lasso.behaviour.loop :]


TWO = [(0, "g", 1)]
TURN = [(0, "t", 1), (1, "t", 0), (0, "l", 2), (1, "l", 2)]
ONCE = [(0, "t", 1), (1, "t", 0), (0, "l", 2)]
INSIDE = [(0, "t", 1), (1, "t", 0), (0, "f", 1), (1, "f", 0)]
AROUND = [(0, "t", 1), (0, "u", 2), (1, "t", 0), (2, "u", 0), (1, "s", 3)]

CASES = {
    "fair escape": (TWO, "g", "", {0}, {1}, None),
    "unfair escape": (TWO, "", "", {0}, {1}, ("", "")),
    "nothing waits": (TWO, "", "", {1}, {1}, None),
    "always possible, never taken inside": (TURN, "l", "", {0}, {2}, None),
    "nobody has to leave": (TURN, "", "", {0}, {2}, ("", "")),
    "possible now and then, weak": (ONCE, "lt", "", {0}, {2}, ("", "tt")),
    "possible now and then, strong": (ONCE, "t", "l", {0}, {2}, None),
    "taken inside": (INSIDE, "f", "", {0}, set(), ("", "ff")),
    "no way back from the end": ([(0, "t", 1), (1, "t", 2)], "", "", {0}, {1}, ("", "")),
    "the end is passed": ([(0, "t", 1), (1, "t", 2)], "t", "", {0}, {1}, None),
    "a fair step that changes nothing": ([(0, "f", 0), (0, "g", 1)], "f", "", {0}, {1}, ("", "")),
    "terminal state on the way": ([(0, "t", 1), (1, "f", 2)], "tf", "", {0}, set(), ("tf", "")),
    "a strong step is avoided": (AROUND, "tu", "s", {0}, {3}, ("", "uu")),
    "a weak step stops the avoiding": ([*AROUND, (0, "w", 3), (2, "w", 3)], "tuw", "s", {0}, {3}, None),
}


@pytest.mark.parametrize("case", CASES)
def test_drawn_by_hand(case: str) -> None:
    edges, weak, strong, waits, ends, expected = CASES[case]
    count = 1 + max(max(a, b) for a, _, b in edges)
    lasso = lasso_of(edges, weak=weak, strong=strong, waits=waits, ends=ends, count=count)
    assert words(lasso) == expected


def test_the_nearest_wait_is_shown() -> None:
    edges = [(0, "a", 1), (0, "b", 2), (1, "t", 3), (3, "t", 5), (2, "t", 4)]
    lasso = lasso_of(edges, weak="abt", waits={1, 2}, ends=set(), count=6)
    assert lasso is not None
    assert (lasso.behaviour.states, lasso.waits, lasso.behaviour.loop) == ((0, 2, 4), 1, 2)


# ---------------------------------------------------------------------------- random graphs

pairs = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=40)


@settings(max_examples=400, deadline=None)
@given(pairs)
@example([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 3), (5, 4), (6, 6)])
def test_the_parts_are_those_of_networkx(drawn: list[tuple[int, int]]) -> None:
    sources, targets = np.array(drawn, np.int32).reshape(-1, 2).T
    parts = components.parts_of(sources, targets, 12)
    expected = nx.strongly_connected_components(nx.DiGraph(drawn))
    assert groups(parts.tolist()) == {frozenset(part) for part in expected if len(part) > 1}


def groups(part: list[int]) -> set[frozenset[int]]:
    return {frozenset(i for i, p in enumerate(part) if p == number) for number in set(part) - {-1}}


def test_parts_drawn_by_hand() -> None:
    edges = np.array([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 3), (5, 4), (6, 6)], np.int32)
    parts = components.parts_of(edges[:, 0], edges[:, 1], 7).tolist()
    assert groups(parts) == {frozenset({0, 1, 2}), frozenset({3, 4})}


SIZE = 5
edge = st.tuples(st.integers(0, SIZE - 1), st.sampled_from("abcd"), st.integers(0, SIZE - 1))
subset = st.sets(st.integers(0, SIZE - 1))


def reach(edges: Sequence[Edge], start: set[int], inside: set[int]) -> set[int]:
    seen = start & inside
    while True:
        more = {b for a, _, b in edges if a in seen and b in inside} | seen
        if more == seen:
            return seen
        seen = more


def fair_set(edges: Sequence[Edge], part: set[int], weak: str, strong: str) -> bool:
    """Whether a behaviour may visit exactly these states for ever, stopping included."""
    moves = [(a, name, b) for a, name, b in edges if a != b and a in part]
    inner = [(a, name, b) for a, name, b in moves if b in part]
    if any(reach(inner, {state}, part) != part for state in part):
        return False
    taken = {name for _, name, _ in inner}
    where = {name: {a for a, other, _ in moves if other == name} for name in weak + strong}
    return all(name in taken or where[name] != part for name in weak) and all(
        name in taken or not where[name] for name in strong
    )


@settings(max_examples=400, deadline=None)
@given(st.lists(edge, max_size=12), subset, subset, st.sampled_from(["", "ab"]), st.sampled_from(["", "c"]))
def test_the_same_as_all_subsets(drawn: list[Edge], waits: set[int], ends: set[int], weak: str, strong: str) -> None:
    edges = list({(a, name): (a, name, b) for a, name, b in drawn}.values())
    reached = reach(edges, {0}, set(range(SIZE)))
    order = sorted(reached, key=lambda s: (next(d for d in range(SIZE) if s in within(edges, d)), s))
    number = {state: i for i, state in enumerate(order)}
    edges = [(number[a], name, number[b]) for a, name, b in edges if a in reached]
    waits, ends = ({number[s] for s in group & reached} for group in (waits, ends))
    count = len(order)
    if not edges:
        return
    lasso = lasso_of(edges, weak=weak, strong=strong, waits=waits, ends=ends, count=count)
    still = set(range(count)) - ends
    near = reach(edges, waits & still, still)
    parts = (set(part) for size in range(1, count + 1) for part in itertools.combinations(sorted(near), size))
    assert (lasso is not None) == any(fair_set(edges, part, weak, strong) for part in parts)
    if lasso is not None:
        check(edges, lasso, waits, ends, weak, strong)


def within(edges: Sequence[Edge], steps: int) -> set[int]:
    seen = {0}
    for _ in range(steps):
        seen |= {b for a, _, b in edges if a in seen}
    return seen


def check(edges: Sequence[Edge], lasso: Lasso, waits: set[int], ends: set[int], weak: str, strong: str) -> None:
    """The lasso is a behaviour, waits, and gives every fair step its due."""
    labels, closed = [label.action for label in lasso.behaviour.labels], lasso.behaviour.visited
    assert closed[0] == 0
    assert all(step in edges for step in zip(closed, labels, closed[1:], strict=False))
    assert closed[lasso.waits] in waits and not ends & set(closed[lasso.waits :])
    cycle, taken = closed[lasso.behaviour.loop :], labels[lasso.behaviour.loop :]
    for name in weak + strong:
        possible = [any(a == s and other == name and b != s for a, other, b in edges) for s in cycle]
        owed = all(possible) if name in weak else any(possible)
        assert name in taken or not owed


def test_no_cycle_takes_a_step_that_stops() -> None:
    """A behaviour may take such a step before its cycle, and not in it."""
    edges = [(0, "t", 1), (1, "t", 0), (1, "u", 3), (3, "u", 1), (0, "g", 2), (1, "h", 2), (3, "g", 2)]

    def cycle_if(stopping: str) -> tuple[str, str] | None:
        return words(lasso_of(edges, weak="gh", stopping=stopping, waits={0}, ends={2}, count=4))

    assert cycle_if("") == ("", "tt")
    assert cycle_if("t") == ("t", "uu")
    assert cycle_if("tu") is None
