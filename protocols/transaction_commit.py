"""Transaction commit, the specification that two-phase commit implements: each manager sees the states of all.

Source: TCommit.tla of the TLA+ Examples, after J. Gray and L. Lamport, "Consensus on Transaction Commit", 2006.
With three resource managers: 34 distinct states, 94 generated, diameter 7.
"""

from __future__ import annotations

import enum
from dataclasses import replace

from elrcheck.lang.load import ProtocolModel
from elrcheck.lang.runtime import Sized, action, always, bound, config, init, put, require, sometimes, state
from elrcheck.lang.types import Replica, Vec


class Manager(enum.Enum):
    """The state of a resource manager."""

    WORKING = "working"
    PREPARED = "prepared"
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
    rm: Vec[Manager]


@init
def Init(c: Config) -> State:
    return State(rm=tuple(Manager.WORKING for r in c.brokers))


@bound
def Bound(c: Config, s: State) -> bool:
    return True


@action
def Prepare(c: Config, s: State, r: Replica) -> State:
    """A resource manager prepares."""
    require(s.rm[r] == Manager.WORKING, "r is working")
    return replace(s, rm=put(s.rm, r, Manager.PREPARED))


@action
def Commit(c: Config, s: State, r: Replica) -> State:
    """A resource manager commits once all have prepared."""
    require(s.rm[r] == Manager.PREPARED, "r is prepared")
    ready = all(s.rm[each] in (Manager.PREPARED, Manager.COMMITTED) for each in c.brokers)
    require(ready, "every manager is prepared or has committed")
    return replace(s, rm=put(s.rm, r, Manager.COMMITTED))


@action
def Abort(c: Config, s: State, r: Replica) -> State:
    """A resource manager aborts while none has committed."""
    require(s.rm[r] in (Manager.WORKING, Manager.PREPARED), "r is working or prepared")
    require(all(s.rm[each] != Manager.COMMITTED for each in c.brokers), "no manager has committed")
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
