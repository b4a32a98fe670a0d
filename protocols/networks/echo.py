"""The echo algorithm: a wave runs through a network and comes back, and leaves a tree that spans it.

Source: Echo.tla of the TLA+ Examples, after E. J. H. Chang, "Echo algorithms: depth parallel operations on general
graphs", 1982. With three nodes that are all neighbours: 75 distinct states, 116 generated, diameter 16.
"""

from __future__ import annotations

import enum
from dataclasses import replace
from typing import Annotated

from elrcheck.lang.load import ProtocolModel
from elrcheck.lang.runtime import EMPTY, action, always, config, init, op, put, record, require, sometimes, state
from elrcheck.lang.types import Per, nat, sort

Node = Annotated[int, sort("Node", "nodes")]
Received = Annotated[int, nat("Received", hi="nodes")]


class Step(enum.Enum):
    """The next step of a node."""

    BEGIN = "begin"
    RECEIVE = "receive"
    ANSWER = "answer"
    DONE = "done"


@config
class Config:
    """Every two nodes are neighbours; node 0 is the initiator."""

    nodes: int = 3


@record
class Message:
    """answers: the sender has been reached by way of the receiver, and so have all that it has reached."""

    sender: Node
    answers: bool


Inboxes = Annotated[tuple[frozenset[Message], ...], Per(Node)]


@state
class State:
    step: Annotated[tuple[Step, ...], Per(Node)]
    inbox: Inboxes
    parent: Annotated[tuple[Node | None, ...], Per(Node)]
    children: Annotated[tuple[frozenset[Node], ...], Per(Node)]
    received: Annotated[tuple[Received, ...], Per(Node)]


@init
def Init(c: Config) -> State:
    return State(
        step=tuple(Step.BEGIN for n in range(c.nodes)),
        inbox=tuple(EMPTY for n in range(c.nodes)),
        parent=tuple(None for n in range(c.nodes)),
        children=tuple(EMPTY for n in range(c.nodes)),
        received=tuple(0 for n in range(c.nodes)),
    )


@op
def sent_on(c: Config, inbox: Inboxes, n: Node, but: Node | None) -> Inboxes:
    """The wave goes from a node to all its neighbours but one."""
    message = Message(sender=n, answers=False)
    return tuple(inbox[m] if m in (n, but) else inbox[m] | {message} for m in range(c.nodes))


@action
def Begin(c: Config, s: State, n: Node) -> State:
    """A node begins; the initiator sends the wave to all neighbours."""
    require(s.step[n] == Step.BEGIN, "n has not begun")
    inbox = sent_on(c, s.inbox, n, None) if n == 0 else s.inbox
    return replace(s, step=put(s.step, n, Step.RECEIVE), inbox=inbox)


@action
def Receive(c: Config, s: State, n: Node, message: Message) -> State:
    """A node receives a message. The first one tells it its parent, and it sends the wave on."""
    require(s.step[n] == Step.RECEIVE and s.received[n] < c.nodes - 1, "n waits for a neighbour")
    require(message in s.inbox[n], "the message has arrived at n")
    first = n != 0 and s.received[n] == 0
    taken = put(s.inbox, n, s.inbox[n] - frozenset({message}))
    children = s.children[n] | {message.sender} if message.answers else s.children[n]
    return replace(
        s,
        inbox=sent_on(c, taken, n, message.sender) if first else taken,
        received=put(s.received, n, s.received[n] + 1),
        parent=put(s.parent, n, message.sender) if first else s.parent,
        children=put(s.children, n, children),
    )


@action
def Complete(c: Config, s: State, n: Node) -> State:
    """A node has heard from all neighbours."""
    require(s.step[n] == Step.RECEIVE and s.received[n] == c.nodes - 1, "n has heard from all neighbours")
    return replace(s, step=put(s.step, n, Step.ANSWER))


@action
def Answer(c: Config, s: State, n: Node) -> State:
    """A node answers its parent and is done."""
    require(s.step[n] == Step.ANSWER, "n is about to answer")
    to = s.parent[n] if s.parent[n] is not None else n
    message = Message(sender=n, answers=True)
    inbox = put(s.inbox, to, s.inbox[to] | {message}) if n != 0 else s.inbox
    return replace(s, step=put(s.step, n, Step.DONE), inbox=inbox)


@action
def Stay(c: Config, s: State) -> State:
    """All are done, and nothing happens any more."""
    require(all(s.step[n] == Step.DONE for n in range(c.nodes)), "all are done")
    return s


@always("P-1")
def ChildrenHaveTheirParent(c: Config, s: State) -> bool:
    """A node's child has it as its parent; once a node is done, all that have it as their parent are its children."""
    return all(
        (child not in s.children[n] or s.parent[child] == n)
        and (s.parent[child] != n or s.step[n] != Step.DONE or child in s.children[n])
        for n in range(c.nodes)
        for child in range(c.nodes)
    )


@always("P-2")
def EveryNodeIsReached(c: Config, s: State) -> bool:
    """When the initiator is done, every other node has a parent."""
    return s.step[0] != Step.DONE or all(n == 0 or s.parent[n] is not None for n in range(c.nodes))


@sometimes("W-1")
def Chain(c: Config, s: State) -> bool:
    """The tree is a chain, although all nodes are neighbours."""
    return s.step[0] == Step.DONE and len(s.children[0]) == 1


MODEL = ProtocolModel(State, Config, scopes={"four": {"nodes": 4}})
