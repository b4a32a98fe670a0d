"""Transaction commit, the specification that two-phase commit implements: each manager sees the states of all.

Source: TCommit.tla of the TLA+ Examples, after J. Gray and L. Lamport, "Consensus on Transaction Commit", 2006.
With three resource managers: 34 distinct states, 94 generated, diameter 7.
"""

from __future__ import annotations

import enum
from dataclasses import replace
from typing import Annotated

from elrcheck.lang.load import ProtocolModel
from elrcheck.lang.runtime import action, always, config, init, put, require, sometimes, state
from elrcheck.lang.types import Per, sort

Manager = Annotated[int, sort("Manager", "rms")]


class Status(enum.Enum):
    """The state of a resource manager."""

    WORKING = "working"
    PREPARED = "prepared"
    COMMITTED = "committed"
    ABORTED = "aborted"


@config
class Config:
    rms: int = 3


@state
class State:
    rm: Annotated[tuple[Status, ...], Per(Manager)]


@init
def Init(c: Config) -> State:
    return State(rm=tuple(Status.WORKING for r in range(c.rms)))


@action
def Prepare(c: Config, s: State, r: Manager) -> State:
    """A resource manager prepares."""
    require(s.rm[r] == Status.WORKING, "r is working")
    return replace(s, rm=put(s.rm, r, Status.PREPARED))


@action
def Commit(c: Config, s: State, r: Manager) -> State:
    """A resource manager commits once all have prepared."""
    require(s.rm[r] == Status.PREPARED, "r is prepared")
    ready = all(s.rm[each] in (Status.PREPARED, Status.COMMITTED) for each in range(c.rms))
    require(ready, "every manager is prepared or has committed")
    return replace(s, rm=put(s.rm, r, Status.COMMITTED))


@action
def Abort(c: Config, s: State, r: Manager) -> State:
    """A resource manager aborts while none has committed."""
    require(s.rm[r] in (Status.WORKING, Status.PREPARED), "r is working or prepared")
    require(all(s.rm[each] != Status.COMMITTED for each in range(c.rms)), "no manager has committed")
    return replace(s, rm=put(s.rm, r, Status.ABORTED))


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
