"""A barrier that can be used again, of a lock and two gates: semaphores that the last process to arrive opens for all.

Source: Barriers.tla of the TLA+ Examples, after A. B. Downey, "The Little Book of Semaphores", 2016. With six
processes: 29,279 distinct states, 104,515 generated, diameter 93.
"""

from __future__ import annotations

import enum
from dataclasses import replace
from typing import Annotated

from elrcheck.lang.load import ProtocolModel
from elrcheck.lang.runtime import action, always, config, init, op, put, require, sometimes, state
from elrcheck.lang.types import Per, nat, sort

Process = Annotated[int, sort("Process", "processes")]
Count = Annotated[int, nat("Count", hi="processes")]


class At(enum.Enum):
    """The next step of a process: those to the first gate, and behind it the same ones to the second."""

    OUTSIDE = "outside"
    LOCK = "lock"
    COUNT = "count"
    COMPARE = "compare"
    OPEN = "open"
    UNLOCK = "unlock"
    WAIT = "wait"
    LOCK_AGAIN = "lock again"
    COUNT_DOWN = "count down"
    COMPARE_AGAIN = "compare again"
    OPEN_SECOND = "open second"
    UNLOCK_AGAIN = "unlock again"
    WAIT_AGAIN = "wait again"


@config
class Config:
    processes: int = 6


@state
class State:
    """arrived: how many have counted themselves. first, second: how many may pass a gate."""

    at: Annotated[tuple[At, ...], Per(Process)]
    free: bool
    arrived: Count
    first: Count
    second: Count


@init
def Init(c: Config) -> State:
    return State(at=tuple(At.OUTSIDE for p in range(c.processes)), free=True, arrived=0, first=0, second=0)


@action
def Work(c: Config, s: State, p: Process) -> State:
    """A process ends its other work."""
    require(s.at[p] == At.OUTSIDE, "p is outside")
    return replace(s, at=put(s.at, p, At.LOCK))


@action
def Lock(c: Config, s: State, p: Process) -> State:
    """The process takes the lock."""
    require(s.at[p] in (At.LOCK, At.LOCK_AGAIN), "p wants the lock")
    require(s.free, "the lock is free")
    return replace(s, at=put(s.at, p, At.COUNT if s.at[p] == At.LOCK else At.COUNT_DOWN), free=False)


@action
def CountUp(c: Config, s: State, p: Process) -> State:
    """The process counts itself in."""
    require(s.at[p] == At.COUNT, "p counts itself in")
    return replace(s, at=put(s.at, p, At.COMPARE), arrived=s.arrived + 1)


@action
def CountDown(c: Config, s: State, p: Process) -> State:
    """The process counts itself out."""
    require(s.at[p] == At.COUNT_DOWN, "p counts itself out")
    return replace(s, at=put(s.at, p, At.COMPARE_AGAIN), arrived=s.arrived - 1)


@action
def Compare(c: Config, s: State, p: Process) -> State:
    """The process looks whether it is the last one to arrive."""
    require(s.at[p] == At.COMPARE, "p has counted itself in")
    return replace(s, at=put(s.at, p, At.OPEN if s.arrived == c.processes else At.UNLOCK))


@action
def CompareAgain(c: Config, s: State, p: Process) -> State:
    """The process looks whether it is the last one to leave."""
    require(s.at[p] == At.COMPARE_AGAIN, "p has counted itself out")
    return replace(s, at=put(s.at, p, At.OPEN_SECOND if s.arrived == 0 else At.UNLOCK_AGAIN))


@action
def OpenFirst(c: Config, s: State, p: Process) -> State:
    """The last one to arrive opens the first gate for all."""
    require(s.at[p] == At.OPEN, "p is the last one to arrive")
    return replace(s, at=put(s.at, p, At.UNLOCK), first=s.first + c.processes)


@action
def OpenSecond(c: Config, s: State, p: Process) -> State:
    """The last one to leave opens the second gate for all."""
    require(s.at[p] == At.OPEN_SECOND, "p is the last one to leave")
    return replace(s, at=put(s.at, p, At.UNLOCK_AGAIN), second=s.second + c.processes)


@action
def Unlock(c: Config, s: State, p: Process) -> State:
    """The process releases the lock."""
    require(s.at[p] in (At.UNLOCK, At.UNLOCK_AGAIN), "p has the lock and needs it no more")
    return replace(s, at=put(s.at, p, At.WAIT if s.at[p] == At.UNLOCK else At.WAIT_AGAIN), free=True)


@action
def PassFirst(c: Config, s: State, p: Process) -> State:
    """The process passes the first gate."""
    require(s.at[p] == At.WAIT, "p is at the first gate")
    require(s.first > 0, "the first gate is open")
    return replace(s, at=put(s.at, p, At.LOCK_AGAIN), first=s.first - 1)


@action
def PassSecond(c: Config, s: State, p: Process) -> State:
    """The process passes the second gate and is outside again."""
    require(s.at[p] == At.WAIT_AGAIN, "p is at the second gate")
    require(s.second > 0, "the second gate is open")
    return replace(s, at=put(s.at, p, At.OUTSIDE), second=s.second - 1)


@op
def arriving(s: State, p: Process) -> bool:
    return s.at[p] in (At.OUTSIDE, At.LOCK, At.COUNT, At.COMPARE, At.OPEN)


@op
def leaving(s: State, p: Process) -> bool:
    return s.at[p] in (At.LOCK_AGAIN, At.COUNT_DOWN, At.COMPARE_AGAIN, At.OPEN_SECOND)


@always("P-1")
def NobodyOvertakes(c: Config, s: State) -> bool:
    """No process leaves while another one has not arrived."""
    return not (any(arriving(s, p) for p in range(c.processes)) and any(leaving(s, p) for p in range(c.processes)))


@always("P-2")
def OneGateAtATime(c: Config, s: State) -> bool:
    """The two gates are never open at once."""
    return s.first == 0 or s.second == 0


@sometimes("W-1")
def AllLeave(c: Config, s: State) -> bool:
    """All processes are behind the first gate."""
    return s.second == c.processes


MODEL = ProtocolModel(State, Config)
