"""A log that nodes write to and execute, each at its own pace; a node that has executed all of it may append.

Source: ReplicatedLog.tla and MCReplicatedLog.tla of the TLA+ Examples (FiniteMonotonic), by A. Helwer. What all nodes
have executed may be cut off, so that a finite state stands for infinitely many. With three nodes, two transactions and
up to four of them in the log: 1,363 distinct states, diameter 13. TLC generates 17,425 on the published module, which
composes a step with the cut and counts both, and 11,617 on this one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from elrcheck.lang.load import ProtocolModel
from elrcheck.lang.runtime import action, always, bound, config, init, op, put, require, sometimes, state
from elrcheck.lang.types import Per, SeqMark, nat, sort

Node = Annotated[int, sort("Node", "nodes")]
Transaction = Annotated[int, sort("Transaction", "transactions")]
Log = Annotated[tuple[Transaction, ...], SeqMark("slots")]
Count = Annotated[int, nat("Count", hi="slots")]
Counts = Annotated[tuple[Count, ...], Per(Node)]


@config
class Config:
    """waits: a node appends only when it has executed the whole log."""

    nodes: int = 3
    transactions: int = 2
    most: int = 4
    waits: bool = True

    @property
    def slots(self) -> int:
        return self.most + 1


@state
class State:
    """executed: the length of the log that each node has executed."""

    log: Log
    executed: Counts


@init
def Init(c: Config) -> State:
    return State(log=(), executed=tuple(0 for n in range(c.nodes)))


@bound
def Bound(c: Config, s: State) -> bool:
    return len(s.log) <= c.most


@op
def reduced(c: Config, s: State, reduce: bool) -> State:
    """The state without the entries that all nodes have executed."""
    least = min((s.executed[n] for n in range(c.nodes)), default=0)
    cut = least if reduce else 0
    return replace(s, log=s.log[cut:], executed=tuple(s.executed[n] - cut for n in range(c.nodes)))


@action
def Write(c: Config, s: State, n: Node, t: Transaction, reduce: bool) -> State:
    """A node that has executed the whole log appends a transaction, and has executed it."""
    require(s.executed[n] == len(s.log) or not c.waits, "n has executed the whole log")
    written = replace(s, log=(*s.log, t), executed=put(s.executed, n, s.executed[n] + 1))
    return reduced(c, written, reduce)


@action
def Execute(c: Config, s: State, n: Node, reduce: bool) -> State:
    """A node executes the next transaction."""
    require(s.executed[n] < len(s.log), "n has not executed the whole log")
    return reduced(c, replace(s, executed=put(s.executed, n, s.executed[n] + 1)), reduce)


@always("P-1")
def NobodyIsAhead(c: Config, s: State) -> bool:
    """No node has executed more than the log."""
    return all(s.executed[n] <= len(s.log) for n in range(c.nodes))


@always("P-2")
def AppendingNodeIsCurrent(c: Config, s: State, t: State) -> bool:
    """While the log grows, some node has executed all of it."""
    return len(t.log) <= len(s.log) or any(t.executed[n] == len(t.log) for n in range(c.nodes))


@sometimes("W-1")
def Apart(c: Config, s: State) -> bool:
    """A node has executed nothing of a long log."""
    return len(s.log) == c.most and any(s.executed[n] == 0 for n in range(c.nodes))


MODEL = ProtocolModel(State, Config, variants={"hasty": {"waits": False}})
