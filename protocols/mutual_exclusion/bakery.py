"""The bakery algorithm: a process draws a number above those that it reads, and waits for smaller ones.

Source: Bakery.tla of the TLA+ Examples, after L. Lamport, "A New Solution of Dijkstra's Concurrent Programming
Problem", 1974. Writing a number or a flag takes time: meanwhile others may read anything. The manifest of the examples
counts the states of an inductive invariant; from the initial state, with two processes and numbers up to 2, TLC counts
2,303 distinct states, 10,659 generated and a diameter of 39 on the published module, and so does this one.
"""

from __future__ import annotations

import enum
from dataclasses import replace
from typing import Annotated

from elrcheck.lang.load import ProtocolModel
from elrcheck.lang.runtime import EMPTY, action, always, config, init, op, put, require, sometimes, state
from elrcheck.lang.types import Per, nat, sort

Process = Annotated[int, sort("Process", "processes", ordered=True)]
Number = Annotated[int, nat("Number", hi="largest")]


class At(enum.Enum):
    OUTSIDE = "outside"
    RAISING = "raising"
    READING = "reading"
    DRAWING = "drawing"
    LOWERING = "lowering"
    LOOKING = "looking"
    WAITING = "waiting"
    INSIDE = "inside"
    LEAVING = "leaving"


@config
class Config:
    """waits_for_flags: a process waits until another one has drawn its number."""

    processes: int = 2
    largest: int = 2
    waits_for_flags: bool = True


@state
class State:
    """drawing: the flags. unseen: those that a process has still to read, or to wait for.

    other: the one that it waits for.
    """

    at: Annotated[tuple[At, ...], Per(Process)]
    number: Annotated[tuple[Number, ...], Per(Process)]
    drawing: frozenset[Process]
    unseen: Annotated[tuple[frozenset[Process], ...], Per(Process)]
    highest: Annotated[tuple[Number, ...], Per(Process)]
    other: Annotated[tuple[Process, ...], Per(Process)]


@init
def Init(c: Config) -> State:
    return State(
        at=tuple(At.OUTSIDE for p in range(c.processes)),
        number=tuple(0 for p in range(c.processes)),
        drawing=EMPTY,
        unseen=tuple(EMPTY for p in range(c.processes)),
        highest=tuple(0 for p in range(c.processes)),
        other=tuple(0 for p in range(c.processes)),
    )


@op
def others(c: Config, p: Process) -> frozenset[Process]:
    return frozenset(range(c.processes)) - frozenset({p})


@op
def flipped(s: State, p: Process) -> frozenset[Process]:
    return s.drawing - frozenset({p}) if p in s.drawing else s.drawing | {p}


@action
def Want(c: Config, s: State, p: Process) -> State:
    """A process wants to enter."""
    require(s.at[p] == At.OUTSIDE, "p is outside")
    return replace(s, at=put(s.at, p, At.RAISING))


@action
def FlickerUp(c: Config, s: State, p: Process) -> State:
    """While the flag is raised, it may read as anything."""
    require(s.at[p] == At.RAISING, "p raises its flag")
    return replace(s, drawing=flipped(s, p))


@action
def Raise(c: Config, s: State, p: Process) -> State:
    """The flag is raised."""
    require(s.at[p] == At.RAISING, "p raises its flag")
    return replace(
        s,
        at=put(s.at, p, At.READING),
        drawing=s.drawing | {p},
        unseen=put(s.unseen, p, others(c, p)),
        highest=put(s.highest, p, 0),
    )


@action
def Read(c: Config, s: State, p: Process, q: Process) -> State:
    """A process reads the number of another one."""
    require(s.at[p] == At.READING and q in s.unseen[p], "p has not read the number of q")
    highest = max(s.highest[p], s.number[q])
    unseen = put(s.unseen, p, s.unseen[p] - frozenset({q}))
    return replace(s, unseen=unseen, highest=put(s.highest, p, highest))


@action
def Draw(c: Config, s: State, p: Process) -> State:
    """A process has read all numbers."""
    require(s.at[p] == At.READING and s.unseen[p] == EMPTY, "p has read all numbers")
    return replace(s, at=put(s.at, p, At.DRAWING))


@action
def FlickerNumber(c: Config, s: State, p: Process, n: Number) -> State:
    """While a number is written, it may read as anything."""
    require(s.at[p] == At.DRAWING or s.at[p] == At.LEAVING, "p writes its number")
    return replace(s, number=put(s.number, p, n))


@action
def Take(c: Config, s: State, p: Process, n: Number) -> State:
    """A process takes a number above all that it read."""
    require(s.at[p] == At.DRAWING, "p draws a number")
    require(n > s.highest[p], "the number is above all that p read")
    return replace(s, at=put(s.at, p, At.LOWERING), number=put(s.number, p, n))


@action
def FlickerDown(c: Config, s: State, p: Process) -> State:
    """While the flag is lowered, it may read as anything."""
    require(s.at[p] == At.LOWERING, "p lowers its flag")
    return replace(s, drawing=flipped(s, p))


@action
def Lower(c: Config, s: State, p: Process) -> State:
    """The flag is lowered."""
    require(s.at[p] == At.LOWERING, "p lowers its flag")
    return replace(
        s, at=put(s.at, p, At.LOOKING), drawing=s.drawing - frozenset({p}), unseen=put(s.unseen, p, others(c, p))
    )


@action
def LookAt(c: Config, s: State, p: Process, q: Process) -> State:
    """A process sees that another one does not draw a number."""
    require(s.at[p] == At.LOOKING and q in s.unseen[p], "p has not waited for q")
    require(q not in s.drawing or not c.waits_for_flags, "the flag of q is down")
    return replace(s, at=put(s.at, p, At.WAITING), other=put(s.other, p, q))


@action
def Pass(c: Config, s: State, p: Process) -> State:
    """Another process wants nothing, or comes later."""
    q = s.other[p]
    require(s.at[p] == At.WAITING, "p waits for q")
    later = s.number[p] < s.number[q] or (s.number[p] == s.number[q] and p < q)
    require(s.number[q] == 0 or later, "q wants nothing, or comes later")
    return replace(s, at=put(s.at, p, At.LOOKING), unseen=put(s.unseen, p, s.unseen[p] - frozenset({q})))


@action
def Enter(c: Config, s: State, p: Process) -> State:
    """A process has waited for all."""
    require(s.at[p] == At.LOOKING and s.unseen[p] == EMPTY, "p has waited for all")
    return replace(s, at=put(s.at, p, At.INSIDE))


@action
def Leave(c: Config, s: State, p: Process) -> State:
    """A process leaves, and begins to write its number."""
    require(s.at[p] == At.INSIDE, "p is inside")
    return replace(s, at=put(s.at, p, At.LEAVING))


@action
def GiveBack(c: Config, s: State, p: Process) -> State:
    """A process has given its number back."""
    require(s.at[p] == At.LEAVING, "p leaves")
    return replace(s, at=put(s.at, p, At.OUTSIDE), number=put(s.number, p, 0))


@always("P-1")
def MutualExclusion(c: Config, s: State) -> bool:
    """Two processes are never inside at once."""
    return all(
        p == q or s.at[p] != At.INSIDE or s.at[q] != At.INSIDE for p in range(c.processes) for q in range(c.processes)
    )


@sometimes("W-1")
def SameNumber(c: Config, s: State) -> bool:
    """Two processes have drawn the same number."""
    return any(
        p != q and s.at[p] == At.WAITING and s.at[q] == At.WAITING and s.number[p] == s.number[q]
        for p in range(c.processes)
        for q in range(c.processes)
    )


MODEL = ProtocolModel(State, Config, variants={"rash": {"waits_for_flags": False}})
