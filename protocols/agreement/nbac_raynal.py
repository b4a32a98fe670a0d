"""Non-blocking atomic commitment with a failure detector: all vote, and commit if all votes are yes.

Source: nbacc_ray97.tla of the TLA+ Examples, after M. Raynal, "A case study of agreement problems in distributed
systems: non-blocking atomic commitment", 1997. With two processes: 3,016 distinct states, 49,592 generated, diameter 7.
"""

from __future__ import annotations

import enum
from dataclasses import replace
from typing import Annotated

from elrcheck.lang.load import ProtocolModel
from elrcheck.lang.runtime import EMPTY, action, always, config, init, op, put, record, require, sometimes, state
from elrcheck.lang.types import Per, sort

Process = Annotated[int, sort("Process", "processes")]


class At(enum.Enum):
    """The vote that a process is about to send, or its state afterwards."""

    YES = "yes"
    NO = "no"
    SENT = "sent"
    COMMITTED = "committed"
    ABORTED = "aborted"
    CRASHED = "crashed"


@config
class Config:
    processes: int = 2


@record
class Vote:
    voter: Process
    yes: bool


@state
class State:
    """suspects: the processes whose failure detectors suspect a failure, rightly or wrongly."""

    at: Annotated[tuple[At, ...], Per(Process)]
    sent: frozenset[Vote]
    received: Annotated[tuple[frozenset[Vote], ...], Per(Process)]
    suspects: frozenset[Process]


@init
def Init(c: Config, no: frozenset[Process], suspects: frozenset[Process]) -> State:
    return State(
        at=tuple(At.NO if p in no else At.YES for p in range(c.processes)),
        sent=EMPTY,
        received=tuple(EMPTY for p in range(c.processes)),
        suspects=suspects,
    )


@op
def informed(s: State, p: Process, got: frozenset[Vote], suspicion: bool) -> State:
    """In every step, a process may receive votes and its failure detector may change its mind."""
    suspects = s.suspects | {p} if suspicion else s.suspects - frozenset({p})
    return replace(s, received=put(s.received, p, got), suspects=suspects)


@op
def receivable(s: State, p: Process, got: frozenset[Vote]) -> bool:
    return got <= s.sent and s.received[p] <= got


@action
def SendVote(c: Config, s: State, p: Process, got: frozenset[Vote], suspicion: bool) -> State:
    """A process sends its vote to all."""
    require(s.at[p] in (At.YES, At.NO), "p is about to vote")
    require(receivable(s, p, got), "the votes have been sent")
    vote = Vote(voter=p, yes=s.at[p] == At.YES)
    return replace(informed(s, p, got, suspicion), at=put(s.at, p, At.SENT), sent=s.sent | {vote})


@action
def Crash(c: Config, s: State, p: Process, got: frozenset[Vote], suspicion: bool) -> State:
    """A process crashes."""
    require(s.at[p] != At.CRASHED, "p has not crashed")
    require(receivable(s, p, got), "the votes have been sent")
    return replace(informed(s, p, got, suspicion), at=put(s.at, p, At.CRASHED))


@action
def AbortOnSuspicion(c: Config, s: State, p: Process, got: frozenset[Vote]) -> State:
    """A process that suspects another one aborts."""
    require(s.at[p] == At.SENT, "p has voted")
    require(receivable(s, p, got), "the votes have been sent")
    return replace(informed(s, p, got, True), at=put(s.at, p, At.ABORTED))


@action
def AbortOnNo(c: Config, s: State, p: Process, got: frozenset[Vote], suspicion: bool, voter: Process) -> State:
    """A process that has received a no aborts."""
    require(s.at[p] == At.SENT, "p has voted")
    require(receivable(s, p, got), "the votes have been sent")
    require(Vote(voter=voter, yes=False) in s.received[p], "p has received the no of the voter")
    return replace(informed(s, p, got, suspicion), at=put(s.at, p, At.ABORTED))


@action
def Commit(c: Config, s: State, p: Process, got: frozenset[Vote]) -> State:
    """A process that suspects no failure and has received a yes from all commits."""
    require(s.at[p] == At.SENT, "p has voted")
    require(receivable(s, p, got), "the votes have been sent")
    require(all(Vote(voter=q, yes=True) in got for q in range(c.processes)), "all have voted yes")
    return replace(informed(s, p, got, False), at=put(s.at, p, At.COMMITTED))


@action
def Wait(c: Config, s: State, p: Process, got: frozenset[Vote], suspicion: bool) -> State:
    """A process only receives votes, and changes its mind about the others."""
    require(receivable(s, p, got), "the votes have been sent")
    return informed(s, p, got, suspicion)


@always("P-1")
def CommittedIsUnanimous(c: Config, s: State) -> bool:
    """A process commits only if all have voted yes."""
    committed = any(s.at[p] == At.COMMITTED for p in range(c.processes))
    return not committed or all(Vote(voter=q, yes=True) in s.sent for q in range(c.processes))


@sometimes("W-1")
def Disagreement(c: Config, s: State) -> bool:
    """A process commits while another aborts: its failure detector was wrong."""
    committed = any(s.at[p] == At.COMMITTED for p in range(c.processes))
    return committed and any(s.at[p] == At.ABORTED for p in range(c.processes))


MODEL = ProtocolModel(State, Config)
