"""Termination detection with asynchronous messages: the specification of such algorithms.

Source: AsyncTerminationDetection.tla of the TLA+ Examples (ewd998), after E. W. Dijkstra's EWD998, 1987. With four
nodes and at most three messages on the way to each: 4,097 distinct states, 53,271 generated, diameter 14.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from elrcheck.lang.load import ProtocolModel
from elrcheck.lang.marks import Fair
from elrcheck.lang.runtime import (
    LeadsTo,
    action,
    always,
    bound,
    config,
    init,
    leads_to,
    op,
    put,
    require,
    sometimes,
    state,
)
from elrcheck.lang.types import Per, nat, sort

Node = Annotated[int, sort("Node", "nodes")]
Messages = Annotated[int, nat("Messages", cap="cap_pending")]
Pending = Annotated[tuple[Messages, ...], Per(Node)]


@config
class Config:
    nodes: int = 4
    most_pending: int = 3

    @property
    def cap_pending(self) -> int:
        return self.most_pending + 1


@state
class State:
    """pending: the messages on the way to a node. detected: termination has been detected."""

    active: frozenset[Node]
    pending: Pending
    detected: bool


@op
def terminated(c: Config, active: frozenset[Node], pending: Pending) -> bool:
    """No node is active, and no message is on its way."""
    return len(active) == 0 and all(pending[n] == 0 for n in range(c.nodes))


@init
def Init(c: Config, active: frozenset[Node], detected: bool) -> State:
    require(not detected or len(active) == 0, "what is detected is true")
    return State(active=active, pending=tuple(0 for n in range(c.nodes)), detected=detected)


@bound
def Bound(c: Config, s: State) -> bool:
    return all(s.pending[n] <= c.most_pending for n in range(c.nodes))


@action
def Receive(c: Config, s: State, n: Node) -> State:
    """A node receives a message and becomes active."""
    require(s.pending[n] > 0, "a message is on its way to n")
    return replace(s, active=s.active | {n}, pending=put(s.pending, n, s.pending[n] - 1))


@action
def Terminate(c: Config, s: State, n: Node, notice: bool) -> State:
    """A node becomes passive; if it was the last one, termination may be detected at once."""
    require(n in s.active, "n is active")
    rest = s.active - frozenset({n})
    quiet = terminated(c, rest, s.pending)
    require(not notice or quiet != s.detected, "there is something to notice")
    return replace(s, active=rest, detected=quiet if notice else s.detected)


@action
def Send(c: Config, s: State, n: Node, m: Node) -> State:
    """An active node sends a message to another one, or to itself."""
    require(n in s.active, "n is active")
    return replace(s, pending=put(s.pending, m, s.pending[m] + 1))


@action(fairness=Fair("the algorithm goes on"))
def DetectTermination(c: Config, s: State) -> State:
    """Termination is detected."""
    require(terminated(c, s.active, s.pending), "nothing is left to do")
    return replace(s, detected=True)


@always("P-1")
def Safe(c: Config, s: State) -> bool:
    """Termination is detected only after it."""
    return not s.detected or terminated(c, s.active, s.pending)


@always("P-2")
def Quiescent(c: Config, s: State, t: State) -> bool:
    """Where nothing is left to do, nothing happens again."""
    return not terminated(c, s.active, s.pending) or terminated(c, t.active, t.pending)


@sometimes("W-1")
def Detected(c: Config, s: State) -> bool:
    """Termination is detected."""
    return s.detected


@leads_to("V-1")
def TerminationIsDetected(c: Config, s: State) -> LeadsTo:
    """Termination is detected."""
    return LeadsTo(premise=terminated(c, s.active, s.pending), conclusion=s.detected)


MODEL = ProtocolModel(State, Config)
