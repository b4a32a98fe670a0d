"""Two-phase commit: resource managers agree on whether to commit a transaction, led by a transaction manager.

Source: J. Gray and L. Lamport, "Consensus on Transaction Commit", 2006, and TwoPhase.tla of the TLA+ Examples.
With three resource managers: 288 distinct states, 1,146 generated, diameter 11.
"""

from __future__ import annotations

import enum
from dataclasses import replace
from typing import Annotated

from elrcheck.lang.load import ProtocolModel
from elrcheck.lang.runtime import EMPTY, action, always, config, init, lemma, put, require, sometimes, state
from elrcheck.lang.types import Per, sort

Manager = Annotated[int, sort("Manager", "rms", symmetric=True)]


class Status(enum.Enum):
    """The state of a resource manager."""

    WORKING = "working"
    PREPARED = "prepared"
    COMMITTED = "committed"
    ABORTED = "aborted"


class Decision(enum.Enum):
    """The decision of the transaction manager."""

    OPEN = "open"
    COMMITTED = "committed"
    ABORTED = "aborted"


@config
class Config:
    rms: int = 3


@state
class State:
    """prepared: the resource managers whose message the transaction manager has received.

    sent_prepared, sent_commit, sent_abort: the messages sent so far; they are never lost and never removed.
    """

    rm: Annotated[tuple[Status, ...], Per(Manager)]
    decision: Decision
    prepared: frozenset[Manager]
    sent_prepared: frozenset[Manager]
    sent_commit: bool
    sent_abort: bool


@init
def Init(c: Config) -> State:
    return State(
        rm=tuple(Status.WORKING for r in range(c.rms)),
        decision=Decision.OPEN,
        prepared=EMPTY,
        sent_prepared=EMPTY,
        sent_commit=False,
        sent_abort=False,
    )


@action
def ReceivePrepared(c: Config, s: State, r: Manager) -> State:
    """The transaction manager receives the message that a resource manager is prepared."""
    require(s.decision == Decision.OPEN, "nothing is decided")
    require(r in s.sent_prepared, "r has sent that it is prepared")
    return replace(s, prepared=s.prepared | {r})


@action
def Commit(c: Config, s: State) -> State:
    """The transaction manager commits, since all resource managers are prepared."""
    require(s.decision == Decision.OPEN, "nothing is decided")
    require(s.prepared == frozenset(range(c.rms)), "all resource managers are prepared")
    return replace(s, decision=Decision.COMMITTED, sent_commit=True)


@action
def Abort(c: Config, s: State) -> State:
    """The transaction manager aborts of its own accord."""
    require(s.decision == Decision.OPEN, "nothing is decided")
    return replace(s, decision=Decision.ABORTED, sent_abort=True)


@action
def Prepare(c: Config, s: State, r: Manager) -> State:
    """A resource manager prepares, and sends a message."""
    require(s.rm[r] == Status.WORKING, "r is working")
    return replace(s, rm=put(s.rm, r, Status.PREPARED), sent_prepared=s.sent_prepared | {r})


@action
def ChooseToAbort(c: Config, s: State, r: Manager) -> State:
    """A resource manager that is not prepared aborts of its own accord, without a message."""
    require(s.rm[r] == Status.WORKING, "r is working")
    return replace(s, rm=put(s.rm, r, Status.ABORTED))


@action
def ReceiveCommit(c: Config, s: State, r: Manager) -> State:
    """A resource manager receives the message to commit."""
    require(s.sent_commit, "a commit was sent")
    return replace(s, rm=put(s.rm, r, Status.COMMITTED))


@action
def ReceiveAbort(c: Config, s: State, r: Manager) -> State:
    """A resource manager receives the message to abort."""
    require(s.sent_abort, "an abort was sent")
    return replace(s, rm=put(s.rm, r, Status.ABORTED))


@lemma
def DecisionIsSent(c: Config, s: State) -> bool:
    """The transaction manager has sent its decision, and no other one."""
    return s.sent_commit == (s.decision == Decision.COMMITTED) and s.sent_abort == (s.decision == Decision.ABORTED)


@lemma
def CommitNeedsAll(c: Config, s: State) -> bool:
    """The transaction manager commits only if all are prepared, and counts only those that have sent a message."""
    all_prepared = s.prepared == frozenset(range(c.rms))
    return s.prepared <= s.sent_prepared and (s.decision != Decision.COMMITTED or all_prepared)


@lemma
def ManagersFollow(c: Config, s: State) -> bool:
    """A manager commits only on a message; once it has sent that it is prepared, it also aborts only on a message."""
    return all(
        (s.rm[r] != Status.COMMITTED or s.sent_commit)
        and (r not in s.sent_prepared or (s.rm[r] != Status.WORKING and (s.rm[r] != Status.ABORTED or s.sent_abort)))
        for r in range(c.rms)
    )


@always("P-1")
def Consistent(c: Config, s: State) -> bool:
    """No resource manager has aborted while another has committed."""
    return not any(
        s.rm[p] == Status.ABORTED and s.rm[q] == Status.COMMITTED for p in range(c.rms) for q in range(c.rms)
    )


@sometimes("W-1")
def AllCommit(c: Config, s: State) -> bool:
    """All resource managers have committed."""
    return all(s.rm[r] == Status.COMMITTED for r in range(c.rms))


MODEL = ProtocolModel(State, Config, scopes={"five": {"rms": 5}})
