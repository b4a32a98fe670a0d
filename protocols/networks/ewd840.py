"""Termination detection on a ring: a token goes round, and is white if no node it has passed was woken behind it.

Source: EWD840.tla of the TLA+ Examples, after E. W. Dijkstra, W. H. J. Feijen and A. J. M. van Gasteren, "Derivation of
a termination detection algorithm for distributed computations", 1983. With three nodes: 302 distinct states, diameter
9. TLC generates 2,001 on the published module, where it counts a step of the token once for each reason to take it,
and 1,817 on this one. The manifest of the examples has a depth of 10; one worker of TLC counts 9.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from elrcheck.lang.induction import Induction, WaitStage
from elrcheck.lang.load import ProtocolModel
from elrcheck.lang.marks import Fair
from elrcheck.lang.runtime import EMPTY, LeadsTo, action, always, config, init, leads_to, op, require, sometimes, state
from elrcheck.lang.types import sort

Node = Annotated[int, sort("Node", "nodes", ordered=True)]
MOVES = Fair("a node that has the token passes it on")


@config
class Config:
    """blackens: a node that wakes one with a higher number becomes black."""

    nodes: int = 3
    blackens: bool = True


@state
class State:
    """at: the node that has the token."""

    active: frozenset[Node]
    black: frozenset[Node]
    at: Node
    token_is_black: bool


@init
def Init(c: Config, active: frozenset[Node], black: frozenset[Node], at: Node) -> State:
    return State(active=active, black=black, at=at, token_is_black=True)


@action(fairness=MOVES)
def InitiateProbe(c: Config, s: State) -> State:
    """Node 0, which has no proof of termination, sends a white token."""
    require(s.at == 0, "node 0 has the token")
    require(s.token_is_black or 0 in s.black, "the last round proves nothing")
    return replace(s, at=c.nodes - 1, token_is_black=False, black=s.black - frozenset({0}))


@action(fairness=MOVES)
def PassToken(c: Config, s: State, n: Node) -> State:
    """A passive node passes the token on, blackened if it is black itself; where the round proves nothing, any node."""
    require(n != 0 and s.at == n, "n has the token")
    require(n not in s.active or n in s.black or s.token_is_black, "n is passive, or the round proves nothing")
    return replace(s, at=n - 1, token_is_black=s.token_is_black or n in s.black, black=s.black - frozenset({n}))


@action
def Wake(c: Config, s: State, n: Node, m: Node) -> State:
    """An active node sends another one a message, which makes it active."""
    require(n in s.active, "n is active")
    require(n != m, "m is another node")
    black = s.black | {n} if m > n and c.blackens else s.black
    return replace(s, active=s.active | {m}, black=black)


@action
def Deactivate(c: Config, s: State, n: Node) -> State:
    """An active node has nothing more to do."""
    require(n in s.active, "n is active")
    return replace(s, active=s.active - frozenset({n}))


@op
def detected(s: State) -> bool:
    """Node 0 knows that all nodes are passive."""
    return s.at == 0 and not s.token_is_black and 0 not in s.black and 0 not in s.active


@always("P-1")
def TerminationDetection(c: Config, s: State) -> bool:
    """Node 0 detects termination only after it."""
    return not detected(s) or len(s.active) == 0


@always("P-2")
def DijkstrasInvariant(c: Config, s: State) -> bool:
    """The nodes that the token has passed are passive, or a black node is still before it, or it is black."""
    passive = all(n not in s.active for n in range(c.nodes) if n > s.at)
    return passive or any(n <= s.at for n in s.black) or s.token_is_black


@sometimes("W-1")
def Detected(c: Config, s: State) -> bool:
    """Node 0 detects termination."""
    return detected(s)


@leads_to("V-1")
def TerminationIsDetected(c: Config, s: State) -> LeadsTo:
    """Node 0 detects that all nodes are passive."""
    return LeadsTo(premise=len(s.active) == 0, conclusion=detected(s))


# ---------------------------------------------------------------------------- why it is detected


@op
def distance(s: State) -> Node:
    """The nodes that the token has yet to pass."""
    return s.at


@op
def passes(s: State, n: Node) -> bool:
    """All nodes are passive, and the token is on its way."""
    return s.active == EMPTY and s.at == n and n != 0


@op
def passes_last_black(s: State, n: Node) -> bool:
    """The token has passed no black node that is black now, so the round after this one has none."""
    return passes(s, n) and all(m <= n for m in s.black)


@op
def passes_white(s: State, n: Node) -> bool:
    """A white token will meet no black node."""
    return passes(s, n) and not s.token_is_black and all(m > n for m in s.black)


@op
def has_returned(s: State) -> bool:
    return s.active == EMPTY and s.at == 0


@op
def last_round_begins(s: State) -> bool:
    """Only node 0 may be black, which the next round whitens."""
    return has_returned(s) and s.black <= frozenset({0})


WAITS = {
    TerminationIsDetected: (
        WaitStage(passes_white, PassToken, measure=distance),
        WaitStage(last_round_begins, InitiateProbe),
        WaitStage(passes_last_black, PassToken, measure=distance),
        WaitStage(has_returned, InitiateProbe),
        WaitStage(passes, PassToken, measure=distance),
    )
}
MODEL = ProtocolModel(State, Config, scopes={"six": {"nodes": 6}}, induction=Induction(waits=WAITS))
