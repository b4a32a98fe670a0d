"""A counter that converges: each node counts for itself, and takes the greater of its and another node's counts.

Source: CRDT.tla and MCCRDT.tla of the TLA+ Examples (FiniteMonotonic), by A. Helwer, after M. Shapiro and others,
"Conflict-free Replicated Data Types", 2011. With three nodes, and counts up to 3 above what all have seen: 25,000
distinct states, diameter 16. TLC generates 1,350,001 on the published module, which composes actions and counts the
steps of one node once for each other node, and 600,001 on this one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from elrcheck.lang.load import ProtocolModel
from elrcheck.lang.runtime import action, always, bound, config, init, op, put, sometimes, state
from elrcheck.lang.types import Per, nat, sort

Node = Annotated[int, sort("Node", "nodes")]
Count = Annotated[int, nat("Count", cap="cap_count")]
View = Annotated[tuple[Count, ...], Per(Node)]
Views = Annotated[tuple[View, ...], Per(Node)]


@config
class Config:
    nodes: int = 3
    most: int = 3

    @property
    def cap_count(self) -> int:
        return self.most + 1


@state
class State:
    """seen: the counts of all nodes as each node has seen them, less the least of all counts."""

    seen: Views


@init
def Init(c: Config) -> State:
    return State(seen=tuple(tuple(0 for o in range(c.nodes)) for n in range(c.nodes)))


@bound
def Bound(c: Config, s: State) -> bool:
    return all(s.seen[n][n] <= c.most for n in range(c.nodes))


@op
def reduced(c: Config, seen: Views, reduce: bool) -> Views:
    """The counts, less the least of them: a finite state stands for infinitely many."""
    least = min((min((seen[n][o] for o in range(c.nodes)), default=0) for n in range(c.nodes)), default=0)
    return tuple(tuple(seen[n][o] - (least if reduce else 0) for o in range(c.nodes)) for n in range(c.nodes))


@action
def Increment(c: Config, s: State, n: Node, reduce: bool) -> State:
    """A node counts."""
    counted = put(s.seen, n, put(s.seen[n], n, s.seen[n][n] + 1))
    return replace(s, seen=reduced(c, counted, reduce))


@action
def Gossip(c: Config, s: State, n: Node, o: Node, reduce: bool) -> State:
    """A node sends another one the counts that it has seen."""
    merged = tuple(max(s.seen[n][m], s.seen[o][m]) for m in range(c.nodes))
    return replace(s, seen=reduced(c, put(s.seen, o, merged), reduce))


@always("P-1")
def NobodyIsAhead(c: Config, s: State) -> bool:
    """No node has seen more of another one than that one has counted."""
    return all(s.seen[n][n] >= s.seen[o][n] for n in range(c.nodes) for o in range(c.nodes))


@sometimes("W-1")
def Converged(c: Config, s: State) -> bool:
    """All nodes have seen the same counts, which are not all 0."""
    same = all(s.seen[n][o] == s.seen[o][o] for n in range(c.nodes) for o in range(c.nodes))
    return same and any(s.seen[n][n] > 0 for n in range(c.nodes))


MODEL = ProtocolModel(State, Config)
