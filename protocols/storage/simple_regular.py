"""Processes on a ring write 1 and read their neighbour's register, which while it is written may give either value.

Source: SimpleRegular.tla of the TLA+ Examples (TeachingConcurrency), after L. Lamport, "Teaching Concurrency", 2009.
With eight processes: 277,726 distinct states, 1,454,776 generated, diameter 25.
"""

from __future__ import annotations

import enum
from dataclasses import replace
from typing import Annotated

from elrcheck.lang.load import ProtocolModel
from elrcheck.lang.runtime import action, always, config, init, op, put, require, sometimes, state
from elrcheck.lang.types import Per, sort

Process = Annotated[int, sort("Process", "processes", ordered=True)]


class At(enum.Enum):
    """The next step of a process."""

    WRITE = "write"
    WRITTEN = "written"
    READ = "read"
    DONE = "done"


class Register(enum.Enum):
    """The values that a read may return: 0, 1, or either while 1 is written."""

    ZERO = "0"
    EITHER = "0 or 1"
    ONE = "1"


@config
class Config:
    processes: int = 8


@state
class State:
    """read: whether a process has read 1."""

    at: Annotated[tuple[At, ...], Per(Process)]
    register: Annotated[tuple[Register, ...], Per(Process)]
    read: frozenset[Process]


@init
def Init(c: Config) -> State:
    return State(
        at=tuple(At.WRITE for p in range(c.processes)),
        register=tuple(Register.ZERO for p in range(c.processes)),
        read=frozenset(),
    )


@op
def before(c: Config, p: Process) -> Process:
    return c.processes - 1 if p == 0 else p - 1


@action
def BeginWrite(c: Config, s: State, p: Process) -> State:
    """A process begins to write 1."""
    require(s.at[p] == At.WRITE, "p is about to write")
    return replace(s, at=put(s.at, p, At.WRITTEN), register=put(s.register, p, Register.EITHER))


@action
def EndWrite(c: Config, s: State, p: Process) -> State:
    """The process has written 1."""
    require(s.at[p] == At.WRITTEN, "p is writing")
    return replace(s, at=put(s.at, p, At.READ), register=put(s.register, p, Register.ONE))


@action
def Read(c: Config, s: State, p: Process, one: bool) -> State:
    """The process reads the register of its neighbour."""
    require(s.at[p] == At.READ, "p has written")
    register = s.register[before(c, p)]
    require(register != (Register.ZERO if one else Register.ONE), "the register may give the value")
    return replace(s, at=put(s.at, p, At.DONE), read=s.read | {p} if one else s.read)


@action
def Stay(c: Config, s: State) -> State:
    """All are done, and nothing happens any more."""
    require(all(s.at[p] == At.DONE for p in range(c.processes)), "all are done")
    return s


@always("P-1")
def SomebodyReadsOne(c: Config, s: State) -> bool:
    """When all are done, one of them has read 1."""
    return any(s.at[p] != At.DONE for p in range(c.processes)) or len(s.read) > 0


@always("P-2")
def WrittenIsOne(c: Config, s: State) -> bool:
    """A process that has written has 1 in its register."""
    return all(s.at[p] not in (At.READ, At.DONE) or s.register[p] == Register.ONE for p in range(c.processes))


@sometimes("W-1")
def OnlyOneReadsOne(c: Config, s: State) -> bool:
    """All are done, and only one of them has read 1."""
    return all(s.at[p] == At.DONE for p in range(c.processes)) and len(s.read) == 1


MODEL = ProtocolModel(State, Config)
