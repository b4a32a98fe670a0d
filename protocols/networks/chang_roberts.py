"""Leader election on a ring: numbers travel round, and only the least comes back to its node.

Source: ChangRoberts.tla of the TLA+ Examples, after E. Chang and R. Roberts, "An improved algorithm for decentralized
extrema-finding in circular configurations of processes", 1979. With three nodes: 137 distinct states, 227 generated,
diameter 10.
"""

from __future__ import annotations

import enum
from dataclasses import replace
from typing import Annotated

from elrcheck.lang.load import ProtocolModel
from elrcheck.lang.marks import Fair
from elrcheck.lang.runtime import (
    EMPTY,
    LeadsTo,
    action,
    always,
    config,
    init,
    leads_to,
    lemma,
    op,
    put,
    require,
    sometimes,
    state,
)
from elrcheck.lang.types import Per, sort

Node = Annotated[int, sort("Node", "nodes", ordered=True)]
GOES_ON = Fair("a node that can take a step takes it")


class Status(enum.Enum):
    CANDIDATE = "candidate"
    LOST = "lost"
    WON = "won"


@config
class Config:
    """drops: a candidate drops a number greater than its own; the number of a node is its place on the ring."""

    nodes: int = 3
    drops: bool = True


@state
class State:
    """inbox: the numbers on their way to a node. started: the nodes that have sent theirs, if they are initiators."""

    initiators: frozenset[Node]
    inbox: Annotated[tuple[frozenset[Node], ...], Per(Node)]
    status: Annotated[tuple[Status, ...], Per(Node)]
    started: frozenset[Node]


@op
def next_to(c: Config, n: Node) -> Node:
    return 0 if n == c.nodes - 1 else n + 1


@init
def Init(c: Config, initiators: frozenset[Node]) -> State:
    return State(
        initiators=initiators,
        inbox=tuple(EMPTY for n in range(c.nodes)),
        status=tuple(Status.CANDIDATE if n in initiators else Status.LOST for n in range(c.nodes)),
        started=EMPTY,
    )


@action(fairness=GOES_ON)
def Begin(c: Config, s: State, n: Node) -> State:
    """A node begins; an initiator sends its number to the next node."""
    require(n not in s.started, "n has not begun")
    to = next_to(c, n)
    inbox = put(s.inbox, to, s.inbox[to] | {n}) if n in s.initiators else s.inbox
    return replace(s, inbox=inbox, started=s.started | {n})


@action(fairness=GOES_ON)
def Receive(c: Config, s: State, n: Node, number: Node) -> State:
    """A node that has lost passes the number on; a candidate passes a lesser number on, and has lost."""
    require(n in s.started, "n has begun")
    require(number in s.inbox[n], "the number has arrived at n")
    to = next_to(c, n)
    taken = put(s.inbox, n, s.inbox[n] - frozenset({number}))
    passed = put(taken, to, taken[to] | {number})
    if s.status[n] == Status.LOST:
        return replace(s, inbox=passed)
    if number < n:
        return replace(s, inbox=passed, status=put(s.status, n, Status.LOST))
    if number == n:
        return replace(s, inbox=taken, status=put(s.status, n, Status.WON))
    return replace(s, inbox=taken if c.drops else passed)


@op
def beaten(s: State, m: Node, by: Node) -> bool:
    return s.status[m] == Status.LOST and (m not in s.initiators or m > by)


@op
def passed(m: Node, k: Node, n: Node) -> bool:
    """A number on the way from m to n passes k; from m to m, it passes all others."""
    return (m < k and k < n) if m < n else (k > m or k < n)


@lemma
def OnlyInitiatorsTakePart(c: Config, s: State) -> bool:
    """Numbers are those of initiators, and a node that is not an initiator has lost."""
    return all(s.inbox[n] <= s.initiators and (n in s.initiators or s.status[n] == Status.LOST) for n in range(c.nodes))


@lemma
def LostToALesser(c: Config, s: State) -> bool:
    """An initiator has lost only if it is not the least one."""
    return all(
        s.status[n] != Status.LOST or n not in s.initiators or min((m for m in s.initiators), default=n) < n
        for n in range(c.nodes)
    )


@lemma
def PassedHaveLost(c: Config, s: State) -> bool:
    """A number that is under way has passed only nodes that have lost."""
    return all(
        not passed(m, k, n) or s.status[k] == Status.LOST
        for n in range(c.nodes)
        for m in s.inbox[n]
        for k in range(c.nodes)
    )


@always("P-1")
def TheLeastWins(c: Config, s: State) -> bool:
    """A node that has won is the least initiator, and all others have lost."""
    return all(
        s.status[n] != Status.WON or (n in s.initiators and all(beaten(s, m, n) for m in range(c.nodes) if m != n))
        for n in range(c.nodes)
    )


@sometimes("W-1")
def SomebodyWins(c: Config, s: State) -> bool:
    """A node wins."""
    return any(s.status[n] == Status.WON for n in range(c.nodes))


@leads_to("V-1")
def CandidatesElectALeader(c: Config, s: State) -> LeadsTo:
    """While there is a candidate, a node will win."""
    waiting = any(s.status[n] == Status.CANDIDATE for n in range(c.nodes))
    return LeadsTo(premise=waiting, conclusion=any(s.status[n] == Status.WON for n in range(c.nodes)))


MODEL = ProtocolModel(State, Config, scopes={"five": {"nodes": 5}})
