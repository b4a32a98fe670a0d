"""A tree that spans a graph: every node learns its distance from the root, and which neighbour is nearer to it.

Source: SpanTree.tla of the TLA+ Examples, by L. Lamport. With five nodes and seven edges: 1,236 distinct states, 10,278
generated, diameter 5. The manifest of the examples has a depth of 6; one worker of TLC counts 5.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from elrcheck.lang.load import ProtocolModel
from elrcheck.lang.runtime import action, always, config, init, op, put, require, sometimes, state
from elrcheck.lang.types import Per, nat, sort

Node = Annotated[int, sort("Node", "nodes", ordered=True)]
Distance = Annotated[int, nat("Distance", hi="far")]


@config
class Config:
    """far: the distance of a node that knows of no way to the root. Neighbours are at most two places apart."""

    nodes: int = 5
    far: int = 6


@state
class State:
    towards: Annotated[tuple[Node, ...], Per(Node)]
    distance: Annotated[tuple[Distance, ...], Per(Node)]


@op
def neighbours(m: Node, n: Node) -> bool:
    return m != n and m <= n + 2 and n <= m + 2


@init
def Init(c: Config) -> State:
    distance = tuple(0 if n == 0 else c.far for n in range(c.nodes))
    return State(towards=tuple(n for n in range(c.nodes)), distance=distance)


@action
def Learn(c: Config, s: State, n: Node, m: Node, d: Distance) -> State:
    """A node learns of a shorter way by a neighbour; how short it takes it to be may be wrong."""
    require(neighbours(m, n), "n and m are neighbours")
    require(s.distance[m] < d and d < s.distance[n], "the way is shorter, and longer than that of m")
    return replace(s, distance=put(s.distance, n, d), towards=put(s.towards, n, m))


@op
def settled(c: Config, s: State) -> bool:
    """No node can learn of a shorter way."""
    return all(
        not neighbours(m, n) or s.distance[m] + 1 >= s.distance[n] for m in range(c.nodes) for n in range(c.nodes)
    )


@always("P-1")
def TreeInTheEnd(c: Config, s: State) -> bool:
    """When nothing is left to learn, every node is one farther away than the neighbour nearer to the root."""
    return not settled(c, s) or all(s.distance[n] == s.distance[s.towards[n]] + 1 for n in range(c.nodes) if n > 0)


@always("P-2")
def TheRootStays(c: Config, s: State) -> bool:
    """The root is at distance 0."""
    return s.distance[0] == 0 and s.towards[0] == 0


@sometimes("W-1")
def Settled(c: Config, s: State) -> bool:
    """Nothing is left to learn."""
    return settled(c, s)


MODEL = ProtocolModel(State, Config)
