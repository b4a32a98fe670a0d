"""Two-phase commit: resource managers agree on whether to commit a transaction, led by a transaction manager.

Source: J. Gray and L. Lamport, "Consensus on Transaction Commit", 2006, and TwoPhase.tla of the TLA+ Examples.
With three resource managers: 288 distinct states, 1,146 generated, diameter 11.
"""

from __future__ import annotations

import enum
from dataclasses import replace

from elrcheck.lang.load import ProtocolModel
from elrcheck.lang.runtime import EMPTY, Sized, action, always, bound, config, init, put, require, sometimes, state
from elrcheck.lang.types import Replica, RSet, Vec


class Manager(enum.Enum):
    """The state of a resource manager."""

    WORKING = "working"
    PREPARED = "prepared"
    COMMITTED = "committed"
    ABORTED = "aborted"


class Decision(enum.Enum):
    """What the transaction manager has decided."""

    OPEN = "open"
    COMMITTED = "committed"
    ABORTED = "aborted"


@config
class Config(Sized):
    rms: int = 3

    @property
    def broker_count(self) -> int:
        return self.rms


@state
class State:
    """prepared: the resource managers whose message the transaction manager has received.

    sent_prepared, sent_commit, sent_abort: the messages sent so far; they are never lost and never removed.
    """

    rm: Vec[Manager]
    decision: Decision
    prepared: RSet
    sent_prepared: RSet
    sent_commit: bool
    sent_abort: bool


@init
def Init(c: Config) -> State:
    return State(
        rm=tuple(Manager.WORKING for r in c.brokers),
        decision=Decision.OPEN,
        prepared=EMPTY,
        sent_prepared=EMPTY,
        sent_commit=False,
        sent_abort=False,
    )


@bound
def Bound(c: Config, s: State) -> bool:
    return True


@action
def ReceivePrepared(c: Config, s: State, r: Replica) -> State:
    """The transaction manager receives that a resource manager is prepared."""
    require(s.decision == Decision.OPEN, "nothing is decided")
    require(r in s.sent_prepared, "r has sent that it is prepared")
    return replace(s, prepared=s.prepared | {r})


@action
def Commit(c: Config, s: State) -> State:
    """The transaction manager commits, since all resource managers are prepared."""
    require(s.decision == Decision.OPEN, "nothing is decided")
    require(s.prepared == c.brokers, "all resource managers are prepared")
    return replace(s, decision=Decision.COMMITTED, sent_commit=True)


@action
def Abort(c: Config, s: State) -> State:
    """The transaction manager aborts of its own accord."""
    require(s.decision == Decision.OPEN, "nothing is decided")
    return replace(s, decision=Decision.ABORTED, sent_abort=True)


@action
def Prepare(c: Config, s: State, r: Replica) -> State:
    """A resource manager prepares, and says so."""
    require(s.rm[r] == Manager.WORKING, "r is working")
    return replace(s, rm=put(s.rm, r, Manager.PREPARED), sent_prepared=s.sent_prepared | {r})


@action
def ChooseToAbort(c: Config, s: State, r: Replica) -> State:
    """A resource manager that is not prepared aborts of its own accord, and says nothing."""
    require(s.rm[r] == Manager.WORKING, "r is working")
    return replace(s, rm=put(s.rm, r, Manager.ABORTED))


@action
def ReceiveCommit(c: Config, s: State, r: Replica) -> State:
    """A resource manager is told to commit."""
    require(s.sent_commit, "a commit was sent")
    return replace(s, rm=put(s.rm, r, Manager.COMMITTED))


@action
def ReceiveAbort(c: Config, s: State, r: Replica) -> State:
    """A resource manager is told to abort."""
    require(s.sent_abort, "an abort was sent")
    return replace(s, rm=put(s.rm, r, Manager.ABORTED))


@always("P-1")
def Consistent(c: Config, s: State) -> bool:
    """No resource manager has aborted while another has committed."""
    return not any(s.rm[p] == Manager.ABORTED and s.rm[q] == Manager.COMMITTED for p in c.brokers for q in c.brokers)


@sometimes("W-1")
def AllCommit(c: Config, s: State) -> bool:
    """All resource managers have committed."""
    return all(s.rm[r] == Manager.COMMITTED for r in c.brokers)


MODEL = ProtocolModel(State, Config, scopes={"five": {"rms": 5}}, member="manager")
