"""Termination detection on a ring with messages that take time: the token adds up what was sent and not received.

Source: EWD998PCal.tla of the TLA+ Examples, after S. Safra's algorithm in E. W. Dijkstra, EWD 998, 1987. With three
nodes, each up to two messages ahead: 321,370 distinct states, diameter 47. TLC generates 2,808,396 on the published
module, where it counts a step of the token once for each reason to take it, and 2,609,134 on this one. The published
module has bags of messages; here a node has a number of them, because all but the token are equal.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from elrcheck.lang.load import ProtocolModel
from elrcheck.lang.runtime import EMPTY, action, always, bound, config, init, op, put, require, sometimes, state
from elrcheck.lang.types import Per, nat, sort

Node = Annotated[int, sort("Node", "nodes", ordered=True)]
Pending = Annotated[int, nat("Pending", cap="cap_pending")]
Balance = Annotated[int, nat("Balance", lo=-20, hi=20)]


@config
class Config:
    """ahead: how many more messages a node has sent than received. blackens: a node that receives one becomes black."""

    nodes: int = 3
    ahead: int = 2
    blackens: bool = True

    @property
    def cap_pending(self) -> int:
        return self.nodes * (self.ahead + 1)


@state
class State:
    """pending: messages on their way to a node. balance: those that it sent less those that it received.

    at: the node that has the token; total: the sum of the balances of the nodes that it has passed.
    """

    active: frozenset[Node]
    black: frozenset[Node]
    pending: Annotated[tuple[Pending, ...], Per(Node)]
    balance: Annotated[tuple[Balance, ...], Per(Node)]
    at: Node
    total: Balance
    token_is_black: bool


@init
def Init(c: Config, active: frozenset[Node]) -> State:
    return State(
        active=active,
        black=frozenset(range(c.nodes)),
        pending=tuple(0 for n in range(c.nodes)),
        balance=tuple(0 for n in range(c.nodes)),
        at=0,
        total=0,
        token_is_black=True,
    )


@bound
def Bound(c: Config, s: State) -> bool:
    return all(s.balance[n] <= c.ahead for n in range(c.nodes))


@action
def Send(c: Config, s: State, n: Node, m: Node) -> State:
    """An active node sends another one a message."""
    require(n in s.active, "n is active")
    require(n != m, "m is another node")
    return replace(s, pending=put(s.pending, m, s.pending[m] + 1), balance=put(s.balance, n, s.balance[n] + 1))


@action
def Receive(c: Config, s: State, n: Node) -> State:
    """A message arrives, and makes the node active and black."""
    require(s.pending[n] > 0, "a message is on its way to n")
    return replace(
        s,
        pending=put(s.pending, n, s.pending[n] - 1),
        balance=put(s.balance, n, s.balance[n] - 1),
        active=s.active | {n},
        black=s.black | {n} if c.blackens else s.black,
    )


@action
def Deactivate(c: Config, s: State, n: Node) -> State:
    """A node has nothing more to do."""
    return replace(s, active=s.active - frozenset({n}))


@action
def PassToken(c: Config, s: State, n: Node) -> State:
    """A passive node passes the token on, with its balance, blackened if it is black itself."""
    require(n != 0 and s.at == n, "n has the token")
    require(n not in s.active, "n is passive")
    return replace(
        s,
        at=n - 1,
        total=s.total + s.balance[n],
        token_is_black=s.token_is_black or n in s.black,
        black=s.black - frozenset({n}),
    )


@op
def proves_nothing(s: State) -> bool:
    """The last round does not show that all nodes are passive and no message is on its way."""
    return s.token_is_black or 0 in s.black or s.total + s.balance[0] != 0


@action
def InitiateProbe(c: Config, s: State) -> State:
    """Node 0, which has no proof of termination, sends a white token."""
    require(s.at == 0, "node 0 has the token")
    require(proves_nothing(s), "the last round proves nothing")
    return replace(s, at=c.nodes - 1, total=0, token_is_black=False, black=s.black - frozenset({0}))


@op
def detected(s: State) -> bool:
    """Node 0 knows that all nodes are passive, and no message is on its way."""
    return s.at == 0 and 0 not in s.active and not proves_nothing(s)


@always("P-1")
def TerminationDetection(c: Config, s: State) -> bool:
    """Node 0 detects termination only after it."""
    return not detected(s) or (s.active == EMPTY and all(s.pending[n] == 0 for n in range(c.nodes)))


@always("P-2")
def BalancesAddUp(c: Config, s: State) -> bool:
    """The balances of all nodes are the messages on their way."""
    return sum(s.balance[n] for n in range(c.nodes)) == sum(s.pending[n] for n in range(c.nodes))


@sometimes("W-1")
def Detected(c: Config, s: State) -> bool:
    """Node 0 detects termination."""
    return detected(s)


MODEL = ProtocolModel(State, Config, variants={"white": {"blackens": False}})
