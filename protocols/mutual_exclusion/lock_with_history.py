"""A lock with two auxiliary variables, a history and a stuttering one, so that each step stands for one of Peterson's.

Source: Lock.tla and LockHS.tla of the TLA+ Examples (locks_auxiliary_vars), after L. Lamport and S. Merz, "Auxiliary
Variables in TLA+", 2017. 28 distinct states, 41 generated, diameter 10.
"""

from __future__ import annotations

import enum
from dataclasses import replace
from typing import Annotated

from elrcheck.lang.load import ProtocolModel
from elrcheck.lang.runtime import action, always, config, init, put, require, sometimes, state
from elrcheck.lang.types import Per, nat, sort

Pause = Annotated[int, nat("Pause", hi=2)]
Process = Annotated[int, sort("Process", "processes")]


class At(enum.Enum):
    """The next step of a process."""

    OUTSIDE = "outside"
    WAIT = "wait"
    CRITICAL = "critical"
    LEAVE = "leave"


@config
class Config:
    processes: int = 2


@state
class State:
    """turn: as in Peterson's algorithm. pauses: the remaining steps in which nothing else happens.

    pausing: the process that makes them.
    """

    at: Annotated[tuple[At, ...], Per(Process)]
    free: bool
    turn: Process
    pauses: Pause
    pausing: Process | None


@init
def Init(c: Config) -> State:
    return State(at=tuple(At.OUTSIDE for p in range(c.processes)), free=True, turn=0, pauses=0, pausing=None)


@action
def Want(c: Config, s: State, p: Process) -> State:
    """A process ends its other work."""
    require(s.pauses == 0, "no process pauses")
    require(s.at[p] == At.OUTSIDE, "p is outside")
    return replace(s, at=put(s.at, p, At.WAIT))


@action
def Take(c: Config, s: State, p: Process) -> State:
    """The process takes the lock; two pauses follow."""
    require(s.pauses == 0, "no process pauses")
    require(s.at[p] == At.WAIT, "p waits")
    require(s.free, "the lock is free")
    return replace(s, at=put(s.at, p, At.CRITICAL), free=False, pauses=2, pausing=p)


@action
def Turn(c: Config, s: State, p: Process, q: Process) -> State:
    """The first pause, in which Peterson's algorithm gives the turn away."""
    require(s.pauses == 2 and s.pausing == p, "p makes its first pause")
    require(p != q, "q is the other process")
    return replace(s, turn=q, pauses=1)


@action
def Pass(c: Config, s: State) -> State:
    """The second pause."""
    require(s.pauses == 1, "there is one pause left")
    return replace(s, pauses=0, pausing=None)


@action
def Finish(c: Config, s: State, p: Process) -> State:
    """The process ends its critical section."""
    require(s.pauses == 0, "no process pauses")
    require(s.at[p] == At.CRITICAL, "p is in its critical section")
    return replace(s, at=put(s.at, p, At.LEAVE))


@action
def Release(c: Config, s: State, p: Process) -> State:
    """The process releases the lock."""
    require(s.pauses == 0, "no process pauses")
    require(s.at[p] == At.LEAVE, "p leaves")
    return replace(s, at=put(s.at, p, At.OUTSIDE), free=True)


@always("P-1")
def MutualExclusion(c: Config, s: State) -> bool:
    """Two processes are never in their critical sections at once."""
    return all(
        p == q or not (s.at[p] in (At.CRITICAL, At.LEAVE) and s.at[q] in (At.CRITICAL, At.LEAVE))
        for p in range(c.processes)
        for q in range(c.processes)
    )


@sometimes("W-1")
def InCriticalSection(c: Config, s: State) -> bool:
    """A process is in its critical section."""
    return any(s.at[p] == At.CRITICAL for p in range(c.processes))


MODEL = ProtocolModel(State, Config)
