"""Nodes agree on an order by a growing graph: in each round a node adds a vertex that refers to those it was delivered.

Source: Sailfish.tla of the TLA+ Examples (dag-consensus), by G. Losa, after N. Shrestha and others, "Sailfish: Towards
Improving the Latency of DAG-based BFT", 2025. As in its TLCSailfish1: three nodes, one of them Byzantine, five rounds,
synchronous from the third one on: 109,604 distinct states, diameter 16. TLC generates 314,144 on the published module,
where it counts a step once for each way to satisfy its conditions (13,652 more), and 300,492 on this one.

A vertex is a node and a round; the one that the first round refers to is not stored. A log is stored as the rounds of
the leaders that it is cut at: what is between two of them is what the later refers to, in any fixed order.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from elrcheck.lang.domains import every
from elrcheck.lang.load import ProtocolModel
from elrcheck.lang.runtime import EMPTY, Map, action, always, config, init, op, put, require, sometimes, state
from elrcheck.lang.types import Per, nat, sort

Node = Annotated[int, sort("Node", "nodes", ordered=True)]
Round = Annotated[int, nat("Round", lo=0, hi="rounds")]
Vertex = tuple[Node, Round]


@config
class Config:
    """synchronous: from this round on, a correct node waits for all correct ones."""

    nodes: int = 3
    rounds: int = 5
    synchronous: int = 3


@state
class State:
    """parents: the nodes to whose vertices of the round before a vertex refers.

    ordered: the rounds of the leaders in the log that a vertex extends. log: the same of what a node has committed.
    """

    vertices: frozenset[Vertex]
    parents: Map[Vertex, frozenset[Node]]
    ordered: Map[Vertex, frozenset[Round]]
    round: Annotated[tuple[Round, ...], Per(Node)]
    log: Annotated[tuple[frozenset[Round], ...], Per(Node)]


@op
def is_correct(n: Node) -> bool:
    """Node 0 is the Byzantine one."""
    return n != 0


@op
def is_quorum(c: Config, nodes: frozenset[Node]) -> bool:
    """Any two of them have a correct node in common: the last one."""
    return c.nodes - 1 in nodes and len(nodes) > 1


@op
def leader(c: Config, r: Round) -> Node:
    return (r + c.nodes - 1) % c.nodes


@op
def at(c: Config, s: State, r: Round) -> frozenset[Node]:
    """The nodes with a vertex of a round."""
    return frozenset(n for n in range(c.nodes) if (n, r) in s.vertices)


@op
def without_vote(c: Config, s: State, r: Round, nodes: frozenset[Node]) -> frozenset[Node]:
    """The nodes whose vertices of a round do not refer to the leader of the round before."""
    return frozenset(n for n in nodes if leader(c, r - 1) not in s.parents[(n, r)])


@op
def extended(c: Config, s: State, r: Round, delivered: frozenset[Node]) -> frozenset[Round]:
    """The log of the latest leader that is reachable from these vertices of a round."""
    if leader(c, r) in delivered:
        return s.ordered[(leader(c, r), r)] | {r}
    last = max((k for n in delivered for k in s.ordered[(n, r)]), default=0)
    return EMPTY if last == 0 else s.ordered[(leader(c, last), last)] | {last}


@op
def with_vertex(c: Config, s: State, v: Vertex, delivered: frozenset[Node]) -> State:
    return replace(
        s,
        vertices=s.vertices | {v},
        parents=put(s.parents, v, delivered),
        ordered=put(s.ordered, v, extended(c, s, v[1] - 1, delivered)),
    )


@init
def Init(c: Config) -> State:
    return State(
        vertices=EMPTY,
        parents=Map({v: EMPTY for v in every(c, Vertex)}),
        ordered=Map({v: EMPTY for v in every(c, Vertex)}),
        round=tuple(0 for n in range(c.nodes)),
        log=tuple(EMPTY for n in range(c.nodes)),
    )


@action
def Begin(c: Config, s: State, n: Node) -> State:
    """A correct node starts the first round."""
    require(is_correct(n), "n is correct")
    require(s.round[n] == 0, "n has not started")
    return replace(s, vertices=s.vertices | {(n, 1)}, round=put(s.round, n, 1))


@action
def Enter(c: Config, s: State, n: Node, r: Round, delivered: frozenset[Node]) -> State:
    """A correct node starts a later round with what it was delivered of the one before, and may commit a leader."""
    require(is_correct(n), "n is correct")
    require(r > s.round[n] > 0, "the round is later than that of n")
    require(delivered <= at(c, s, r - 1), "the vertices are there")
    require(is_quorum(c, delivered), "a quorum is delivered")
    require(
        r < c.synchronous or all(m in delivered for m in range(c.nodes) if is_correct(m)),
        "the round is asynchronous, or all correct nodes are delivered",
    )
    last = leader(c, r - 1)
    require(
        r == 2
        or last not in delivered
        or leader(c, r - 2) in s.parents[(last, r - 1)]
        or is_quorum(c, without_vote(c, s, r - 1, delivered)),
        "the leader delivered refers to the one before it, or that one cannot be committed",
    )
    require(
        n != leader(c, r) or last in delivered or is_quorum(c, without_vote(c, s, r, at(c, s, r)) | {n}),
        "n is not a leader, or has the leader before it, or knows that it cannot be committed",
    )
    new = replace(with_vertex(c, s, (n, r), delivered), round=put(s.round, n, r))
    if r > 2 and is_quorum(c, delivered - without_vote(c, s, r - 1, delivered)):
        committed = s.ordered[(leader(c, r - 2), r - 2)] | {r - 2}
        return replace(new, log=put(s.log, n, committed))
    return new


@action
def Invent(c: Config, s: State, r: Round, delivered: frozenset[Node]) -> State:
    """The Byzantine node adds a vertex to any round, but only one, and one that others do not ignore."""
    require(r > 0, "the round is one of those after the start")
    require((0, r) not in s.vertices, "the Byzantine node has no vertex in the round")
    if r == 1:
        require(delivered == EMPTY, "nothing is there to refer to")
        return replace(s, vertices=s.vertices | {(0, 1)})
    require(delivered <= at(c, s, r - 1), "the vertices are there")
    require(is_quorum(c, delivered), "the vertices are a quorum's")
    return with_vertex(c, s, (0, r), delivered)


@action
def Stay(c: Config, s: State) -> State:
    """All correct nodes are in the last round, and nothing needs to happen any more."""
    require(all(s.round[n] == c.rounds for n in range(c.nodes) if is_correct(n)), "all are in the last round")
    return s


@always("P-1")
def Agreement(c: Config, s: State) -> bool:
    """Of the logs of two correct nodes, one begins with the other."""
    return all(
        all((r in s.log[n]) == (r in s.log[m]) for r in range(1, c.rounds + 1) if r <= least(s.log[n], s.log[m]))
        for n in range(c.nodes)
        for m in range(c.nodes)
    )


@op
def least(a: frozenset[Round], b: frozenset[Round]) -> int:
    """The last round of the log that ends first."""
    return min(max((r for r in a), default=0), max((r for r in b), default=0))


@always("P-2")
def CorrectLeadersAreCommitted(c: Config, s: State) -> bool:
    """Once the network is synchronous, a correct leader is committed two rounds later."""
    return all(
        r in s.log[n]
        for r in range(1, c.rounds - 1)
        if r >= c.synchronous and is_correct(leader(c, r))
        for n in range(c.nodes)
        if is_correct(n) and s.round[n] >= r + 2
    )


@sometimes("W-1")
def LeaderIsSkipped(c: Config, s: State) -> bool:
    """A log goes on without the leader of the first round, who is Byzantine."""
    return any(3 in s.log[n] and 1 not in s.log[n] for n in range(c.nodes))


MODEL = ProtocolModel(State, Config)
