"""Termination detection on a ring, with a bag of messages for each node: the payload, all alike, and the token.

Source: EWD998PCal.tla of the TLA+ Examples, after S. Safra's algorithm in E. W. Dijkstra, EWD 998, 1987. With three
nodes, each up to two messages ahead: 321,370 distinct states, diameter 47. TLC generates 2,808,396 on the published
module, where it counts a step of the token once for each reason to take it, and 2,609,134 on this one. In `ewd998` the
payload is a number and the token has a place.
"""

from __future__ import annotations

import enum
from dataclasses import replace
from typing import Annotated

from elrcheck.lang.domains import every
from elrcheck.lang.load import ProtocolModel
from elrcheck.lang.runtime import (
    EMPTY,
    Map,
    action,
    add,
    always,
    bound,
    config,
    contents,
    init,
    op,
    put,
    record,
    remove,
    require,
    sometimes,
    state,
)
from elrcheck.lang.types import Per, nat, sort

Node = Annotated[int, sort("Node", "nodes", ordered=True)]
Copies = Annotated[int, nat("Copies", hi=7)]
Balance = Annotated[int, nat("Balance", lo=-8, hi=8)]


class Kind(enum.Enum):
    PAYLOAD = "payload"
    TOKEN = "token"


@config
class Config:
    """ahead: how many more messages a node has sent than received. blackens: a node that receives one becomes black."""

    nodes: int = 3
    ahead: int = 2
    blackens: bool = True


@record
class Message:
    """total: of the token, the sum of the balances of the nodes that it has passed; black: its color."""

    kind: Kind
    total: Balance
    black: bool


Inbox = Map[Message, Copies]
Network = Annotated[tuple[Inbox, ...], Per(Node)]


@state
class State:
    """network: the messages on their way to a node. balance: payload that it sent less what it received."""

    active: frozenset[Node]
    black: frozenset[Node]
    network: Network
    balance: Annotated[tuple[Balance, ...], Per(Node)]


@op
def payload() -> Message:
    return Message(kind=Kind.PAYLOAD, total=0, black=False)


@op
def passed(network: Network, n: Node, old: Message, m: Node, new: Message) -> Network:
    """A node takes a message, and sends another one to m."""
    taken = put(network, n, remove(network[n], old))
    return put(taken, m, add(taken[m], new))


@init
def Init(c: Config, active: frozenset[Node]) -> State:
    token = Message(kind=Kind.TOKEN, total=0, black=True)
    return State(
        active=active,
        black=frozenset(range(c.nodes)),
        network=tuple(Map({m: 1 if n == 0 and m == token else 0 for m in every(c, Message)}) for n in range(c.nodes)),
        balance=tuple(0 for n in range(c.nodes)),
    )


@bound
def Bound(c: Config, s: State) -> bool:
    return all(s.balance[n] <= c.ahead for n in range(c.nodes))


@action
def Send(c: Config, s: State, n: Node, m: Node) -> State:
    """An active node sends another one a message."""
    require(n in s.active, "n is active")
    require(n != m, "m is another node")
    network = put(s.network, m, add(s.network[m], payload()))
    return replace(s, network=network, balance=put(s.balance, n, s.balance[n] + 1))


@action
def Receive(c: Config, s: State, n: Node) -> State:
    """A message arrives, and makes the node active and black."""
    require(payload() in contents(s.network[n]), "a message is on its way to n")
    return replace(
        s,
        network=put(s.network, n, remove(s.network[n], payload())),
        balance=put(s.balance, n, s.balance[n] - 1),
        active=s.active | {n},
        black=s.black | {n} if c.blackens else s.black,
    )


@action
def Deactivate(c: Config, s: State, n: Node) -> State:
    """A node has nothing more to do."""
    return replace(s, active=s.active - frozenset({n}))


@action
def PassToken(c: Config, s: State, n: Node, token: Message) -> State:
    """A passive node passes the token on, with its balance, blackened if it is black itself."""
    require(token.kind == Kind.TOKEN and token in contents(s.network[n]), "the token is on its way to n")
    require(n != 0, "n does not initiate probes")
    require(n not in s.active, "n is passive")
    new = replace(token, total=token.total + s.balance[n], black=token.black or n in s.black)
    return replace(s, network=passed(s.network, n, token, n - 1, new), black=s.black - frozenset({n}))


@op
def proves_nothing(s: State, token: Message) -> bool:
    """The last round does not show that all nodes are passive and no message is on its way."""
    return token.black or 0 in s.black or token.total + s.balance[0] != 0


@action
def InitiateProbe(c: Config, s: State, token: Message) -> State:
    """Node 0, which has no proof of termination, sends a white token."""
    require(token.kind == Kind.TOKEN and token in contents(s.network[0]), "the token is on its way to node 0")
    require(proves_nothing(s, token), "the last round proves nothing")
    white = Message(kind=Kind.TOKEN, total=0, black=False)
    return replace(s, network=passed(s.network, 0, token, c.nodes - 1, white), black=s.black - frozenset({0}))


@op
def detected(s: State) -> bool:
    """Node 0 knows that all nodes are passive, and no message is on its way."""
    return 0 not in s.active and any(m.kind == Kind.TOKEN and not proves_nothing(s, m) for m in contents(s.network[0]))


@always("P-1")
def TerminationDetection(c: Config, s: State) -> bool:
    """Node 0 detects termination only after it."""
    nothing = all(payload() not in contents(s.network[n]) for n in range(c.nodes))
    return not detected(s) or (s.active == EMPTY and nothing)


@always("P-2")
def BalancesAddUp(c: Config, s: State) -> bool:
    """The balances of all nodes are the messages on their way."""
    return sum(s.balance[n] for n in range(c.nodes)) == sum(s.network[n][payload()] for n in range(c.nodes))


@always("P-3")
def OneToken(c: Config, s: State) -> bool:
    """There is one token."""
    tokens = sum(s.network[n][m] for n in range(c.nodes) for m in every(c, Message) if m.kind == Kind.TOKEN)
    return tokens == 1


@sometimes("W-1")
def Detected(c: Config, s: State) -> bool:
    """Node 0 detects termination."""
    return detected(s)


MODEL = ProtocolModel(State, Config, variants={"white": {"blackens": False}})
