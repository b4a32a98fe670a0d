"""Peterson's algorithm: two processes take turns to enter a critical section.

Source: Peterson.tla of the TLA+ Examples (locks_auxiliary_vars), after G. L. Peterson, "Myths about the mutual
exclusion problem", 1981. 42 distinct states, 77 generated, diameter 11.
"""

from __future__ import annotations

import enum
from dataclasses import replace
from typing import Annotated

from elrcheck.lang.induction import Induction, WaitStage
from elrcheck.lang.load import ProtocolModel
from elrcheck.lang.marks import Fair
from elrcheck.lang.runtime import (
    LeadsTo,
    action,
    always,
    config,
    implies,
    init,
    leads_to,
    lemma,
    op,
    put,
    require,
    sometimes,
    state,
)
from elrcheck.lang.types import Per, sort

GOES_ON = Fair("a process that wants to enter does not stop")
Process = Annotated[int, sort("Process", "processes")]


class At(enum.Enum):
    """The next step of a process."""

    OUTSIDE = "outside"
    CLAIM = "claim"
    YIELD = "yield"
    WAIT = "wait"
    CRITICAL = "critical"
    LEAVE = "leave"


@config
class Config:
    """yields: a process gives the turn to the other one before it waits."""

    processes: int = 2
    yields: bool = True


@state
class State:
    """claims: the processes that want to enter. turn: the one that may enter if both do."""

    at: Annotated[tuple[At, ...], Per(Process)]
    claims: Annotated[tuple[bool, ...], Per(Process)]
    turn: Process


@init
def Init(c: Config) -> State:
    return State(
        at=tuple(At.OUTSIDE for p in range(c.processes)), claims=tuple(False for p in range(c.processes)), turn=0
    )


@action
def Want(c: Config, s: State, p: Process) -> State:
    """A process ends its other work."""
    require(s.at[p] == At.OUTSIDE, "p is outside")
    return replace(s, at=put(s.at, p, At.CLAIM))


@action(fairness=GOES_ON)
def Claim(c: Config, s: State, p: Process) -> State:
    """The process says that it wants to enter."""
    require(s.at[p] == At.CLAIM, "p claims")
    return replace(s, at=put(s.at, p, At.YIELD), claims=put(s.claims, p, True))


@action(fairness=GOES_ON)
def Yield(c: Config, s: State, p: Process, q: Process) -> State:
    """The process gives the turn to the other process."""
    require(s.at[p] == At.YIELD, "p yields")
    require(p != q, "q is the other process")
    return replace(s, at=put(s.at, p, At.WAIT), turn=q if c.yields else s.turn)


@action(fairness=GOES_ON)
def Enter(c: Config, s: State, p: Process, q: Process) -> State:
    """The process enters unless the other one wants to as well, and has the turn."""
    require(s.at[p] == At.WAIT, "p waits")
    require(p != q, "q is the other process")
    require(implies(s.claims[q], s.turn == p), "q does not want to enter, or p has the turn")
    return replace(s, at=put(s.at, p, At.CRITICAL))


@action(fairness=GOES_ON)
def Finish(c: Config, s: State, p: Process) -> State:
    """The process ends its critical section."""
    require(s.at[p] == At.CRITICAL, "p is in its critical section")
    return replace(s, at=put(s.at, p, At.LEAVE))


@action(fairness=GOES_ON)
def Leave(c: Config, s: State, p: Process) -> State:
    """The process withdraws its claim."""
    require(s.at[p] == At.LEAVE, "p leaves")
    return replace(s, at=put(s.at, p, At.OUTSIDE), claims=put(s.claims, p, False))


@lemma
def TheOtherHasTheTurn(c: Config, s: State) -> bool:
    """While one process is in its critical section, one that waits does not have the turn."""
    return all(
        p == q or s.at[p] not in (At.CRITICAL, At.LEAVE) or s.at[q] != At.WAIT or s.turn == p
        for p in range(c.processes)
        for q in range(c.processes)
    )


@always("P-1")
def MutualExclusion(c: Config, s: State) -> bool:
    """Two processes are never in their critical sections at once."""
    return all(
        p == q or not (s.at[p] in (At.CRITICAL, At.LEAVE) and s.at[q] in (At.CRITICAL, At.LEAVE))
        for p in range(c.processes)
        for q in range(c.processes)
    )


@always("P-2")
def ClaimsAreKnown(c: Config, s: State) -> bool:
    """A process has a claim from its second step to its last."""
    return all(s.claims[p] == (s.at[p] not in (At.OUTSIDE, At.CLAIM)) for p in range(c.processes))


@leads_to("V-1")
def NobodyStarves(c: Config, s: State, p: Process) -> LeadsTo:
    """A process that claims enters its critical section."""
    return LeadsTo(premise=s.at[p] in (At.YIELD, At.WAIT), conclusion=s.at[p] == At.CRITICAL)


@sometimes("W-1")
def InCriticalSection(c: Config, s: State) -> bool:
    """A process is in its critical section."""
    return any(s.at[p] == At.CRITICAL for p in range(c.processes))


# ---------------------------------------------------------------------------- why every process enters


@op
def is_next(s: State, p: Process, q: Process) -> bool:
    """p waits and has the turn."""
    return p != q and s.at[p] == At.WAIT and s.turn == p


@op
def waits_for(s: State, p: Process, q: Process, at: At) -> bool:
    """p waits, and q, which has the turn, is there."""
    return p != q and s.at[p] == At.WAIT and s.turn == q and s.at[q] == at


@op
def gets_turn(s: State, p: Process, q: Process) -> bool:
    return waits_for(s, p, q, At.YIELD)


@op
def has_no_rival(s: State, p: Process, q: Process) -> bool:
    return waits_for(s, p, q, At.OUTSIDE) or waits_for(s, p, q, At.CLAIM)


@op
def rival_leaves(s: State, p: Process, q: Process) -> bool:
    return waits_for(s, p, q, At.LEAVE)


@op
def rival_is_inside(s: State, p: Process, q: Process) -> bool:
    return waits_for(s, p, q, At.CRITICAL)


@op
def rival_is_next(s: State, p: Process, q: Process) -> bool:
    return waits_for(s, p, q, At.WAIT)


@op
def has_claimed(s: State, p: Process, q: Process) -> bool:
    return p != q and s.at[p] == At.YIELD


RIVAL = {"p": "q", "q": "p"}
WAITS = {
    NobodyStarves: (
        WaitStage(is_next, Enter),
        WaitStage(gets_turn, Yield, RIVAL),
        WaitStage(has_no_rival, Enter),
        WaitStage(rival_leaves, Leave, RIVAL),
        WaitStage(rival_is_inside, Finish, RIVAL),
        WaitStage(rival_is_next, Enter, RIVAL),
        WaitStage(has_claimed, Yield),
    )
}
MODEL = ProtocolModel(State, Config, induction=Induction(waits=WAITS))
