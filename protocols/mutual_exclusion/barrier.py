"""A barrier: no process goes on before all have arrived.

Source: Barrier.tla of the TLA+ Examples (barriers). With six processes: 64 distinct states, 194 generated, diameter 7.
"""

from __future__ import annotations

import enum
from dataclasses import replace
from typing import Annotated

from elrcheck.lang.load import ProtocolModel
from elrcheck.lang.runtime import action, always, config, init, put, require, sometimes, state
from elrcheck.lang.types import Per, sort

Process = Annotated[int, sort("Process", "processes")]


class At(enum.Enum):
    """Where a process is."""

    WORKING = "working"
    WAITING = "waiting"


@config
class Config:
    processes: int = 6


@state
class State:
    at: Annotated[tuple[At, ...], Per(Process)]


@init
def Init(c: Config) -> State:
    return State(at=tuple(At.WORKING for p in range(c.processes)))


@action
def Arrive(c: Config, s: State, p: Process) -> State:
    """A process arrives at the barrier."""
    require(s.at[p] == At.WORKING, "p is working")
    return replace(s, at=put(s.at, p, At.WAITING))


@action
def Release(c: Config, s: State) -> State:
    """All have arrived, and all go on."""
    require(all(s.at[p] == At.WAITING for p in range(c.processes)), "every process waits")
    return replace(s, at=tuple(At.WORKING for p in range(c.processes)))


@always("P-1")
def NobodyPasses(c: Config, s: State, t: State) -> bool:
    """A process goes on only when every process waits."""
    passes = any(s.at[p] == At.WAITING and t.at[p] == At.WORKING for p in range(c.processes))
    return not passes or all(s.at[p] == At.WAITING for p in range(c.processes))


@sometimes("W-1")
def AllWait(c: Config, s: State) -> bool:
    """Every process waits."""
    return all(s.at[p] == At.WAITING for p in range(c.processes))


MODEL = ProtocolModel(State, Config)
