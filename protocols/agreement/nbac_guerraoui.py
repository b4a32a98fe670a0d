"""Non-blocking atomic commitment that aborts when a failure is suspected: only the numbers of votes are counted.

Source: nbacg_guer01.tla of the TLA+ Examples, after R. Guerraoui, "On the hardness of failure-sensitive agreement
problems", 2001. With three processes: 24,922 distinct states, 159,538 generated, diameter 16.
"""

from __future__ import annotations

import enum
from dataclasses import replace
from typing import Annotated

from elrcheck.lang.load import ProtocolModel
from elrcheck.lang.runtime import action, always, config, init, op, put, require, sometimes, state
from elrcheck.lang.types import Per, nat, sort

Process = Annotated[int, sort("Process", "processes")]
Votes = Annotated[int, nat("Votes", hi="processes")]


class At(enum.Enum):
    """The vote that a process is about to send, or its state afterwards."""

    YES = "yes"
    NO = "no"
    SENT = "sent"
    COMMITTED = "committed"
    ABORTED = "aborted"
    CRASHED = "crashed"


@config
class Config:
    processes: int = 3


@state
class State:
    """yes, no: the number of votes sent; yes_crashed, no_crashed: of votes that a process sends while it crashes.

    suspects: the processes whose failure detectors suspect a failure.
    """

    at: Annotated[tuple[At, ...], Per(Process)]
    suspects: frozenset[Process]
    yes: Votes
    no: Votes
    yes_crashed: Votes
    no_crashed: Votes
    got_yes: Annotated[tuple[Votes, ...], Per(Process)]
    got_no: Annotated[tuple[Votes, ...], Per(Process)]


@init
def Init(c: Config, no: frozenset[Process], suspects: frozenset[Process]) -> State:
    return State(
        at=tuple(At.NO if p in no else At.YES for p in range(c.processes)),
        suspects=suspects,
        yes=0,
        no=0,
        yes_crashed=0,
        no_crashed=0,
        got_yes=tuple(0 for p in range(c.processes)),
        got_no=tuple(0 for p in range(c.processes)),
    )


@action
def Crash(c: Config, s: State, p: Process) -> State:
    """A process crashes; if it was about to vote, the vote may still arrive."""
    require(s.at[p] != At.CRASHED, "p has not crashed")
    return replace(
        s,
        at=put(s.at, p, At.CRASHED),
        yes_crashed=s.yes_crashed + (1 if s.at[p] == At.YES else 0),
        no_crashed=s.no_crashed + (1 if s.at[p] == At.NO else 0),
    )


@action
def ReceiveYes(c: Config, s: State, p: Process) -> State:
    """A process receives a yes."""
    require(s.at[p] == At.SENT, "p has voted")
    require(s.got_yes[p] < s.yes + s.yes_crashed, "a yes is on its way to p")
    return replace(s, got_yes=put(s.got_yes, p, s.got_yes[p] + 1))


@action
def ReceiveNo(c: Config, s: State, p: Process) -> State:
    """A process receives a no."""
    require(s.at[p] == At.SENT, "p has voted")
    require(s.got_no[p] < s.no + s.no_crashed, "a no is on its way to p")
    return replace(s, got_no=put(s.got_no, p, s.got_no[p] + 1))


@action
def ReceiveNothing(c: Config, s: State, p: Process) -> State:
    """Nothing is left to receive."""
    require(s.at[p] == At.SENT, "p has voted")
    require(s.got_yes[p] == s.yes + s.yes_crashed and s.got_no[p] == s.no + s.no_crashed, "p has received all votes")
    return s


@action
def SendYes(c: Config, s: State, p: Process) -> State:
    """A process that suspects no failure votes yes."""
    require(s.at[p] == At.YES, "p is about to vote yes")
    require(p not in s.suspects, "p suspects no failure")
    return replace(s, at=put(s.at, p, At.SENT), yes=s.yes + 1)


@action
def SendNo(c: Config, s: State, p: Process) -> State:
    """A process that suspects no failure votes no."""
    require(s.at[p] == At.NO, "p is about to vote no")
    require(p not in s.suspects, "p suspects no failure")
    return replace(s, at=put(s.at, p, At.SENT), no=s.no + 1)


@action
def AbortAtOnce(c: Config, s: State, p: Process) -> State:
    """A process that suspects a failure aborts without a vote."""
    require(p in s.suspects, "p suspects a failure")
    require(s.at[p] in (At.YES, At.NO), "p is about to vote")
    return replace(s, at=put(s.at, p, At.ABORTED))


@action
def Abort(c: Config, s: State, p: Process) -> State:
    """A process that has received a no aborts."""
    require(s.at[p] == At.SENT, "p has voted")
    require(s.got_no[p] > 0, "p has received a no")
    return replace(s, at=put(s.at, p, At.ABORTED))


@action
def Commit(c: Config, s: State, p: Process) -> State:
    """A process that has received a yes from all commits."""
    require(s.at[p] == At.SENT, "p has voted")
    require(s.got_no[p] == 0 and s.got_yes[p] >= c.processes, "p has received a yes from all")
    return replace(s, at=put(s.at, p, At.COMMITTED))


@action
def Stay(c: Config, s: State, p: Process) -> State:
    """Nothing happens."""
    return s


@op
def somebody(c: Config, s: State, at: At) -> bool:
    return any(s.at[p] == at for p in range(c.processes))


@always("P-1")
def Agreement(c: Config, s: State) -> bool:
    """No process commits while another aborts."""
    return not (somebody(c, s, At.COMMITTED) and somebody(c, s, At.ABORTED))


@sometimes("W-1")
def Commits(c: Config, s: State) -> bool:
    """A process commits although another one has crashed."""
    return somebody(c, s, At.COMMITTED) and somebody(c, s, At.CRASHED)


MODEL = ProtocolModel(State, Config)
