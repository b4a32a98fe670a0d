"""Paxos Commit: each resource manager's vote is agreed on by an instance of Paxos, so that no single process can block.

Source: J. Gray and L. Lamport, "Consensus on Transaction Commit", 2006, and PaxosCommit.tla of the TLA+ Examples. With
two resource managers, three acceptors and ballots 0 and 1: 1,321,761 distinct states, diameter 28. TLC generates
16,959,159 on the published module, where it counts a decision once for each way to reach it, and 15,439,235 on this
one.
"""

from __future__ import annotations

import enum
from dataclasses import replace
from typing import Annotated

from elrcheck.lang.load import ProtocolModel
from elrcheck.lang.runtime import EMPTY, action, always, config, init, op, put, record, require, sometimes, state
from elrcheck.lang.types import Per, nat, sort

Manager = Annotated[int, sort("Manager", "rms")]
Acceptor = Annotated[int, sort("Acceptor", "acceptors")]
Ballot = Annotated[int, nat("Ballot", hi="last_ballot")]


class Status(enum.Enum):
    """The state of a resource manager."""

    WORKING = "working"
    PREPARED = "prepared"
    COMMITTED = "committed"
    ABORTED = "aborted"


class Outcome(enum.Enum):
    """The vote of a resource manager."""

    COMMIT = "commit"
    ABORT = "abort"


@config
class Config:
    rms: int = 2
    acceptors: int = 3
    last_ballot: int = 1


@record
class Accepted:
    """The last ballot in which an acceptor has accepted a vote, and the vote."""

    ballot: Ballot | None
    vote: Outcome | None


@record
class Register:
    """Of an acceptor in the instance of a manager. promised: the latest ballot that it has heard of."""

    promised: Ballot
    accepted: Accepted


@record
class Question:
    """A message of phase 1a."""

    manager: Manager
    ballot: Ballot


@record
class Promise:
    """A message of phase 1b."""

    manager: Manager
    acceptor: Acceptor
    ballot: Ballot
    accepted: Accepted


@record
class Proposal:
    """A message of phase 2a."""

    manager: Manager
    ballot: Ballot
    vote: Outcome


@record
class Acceptance:
    """A message of phase 2b."""

    manager: Manager
    acceptor: Acceptor
    ballot: Ballot
    vote: Outcome


@state
class State:
    """Messages are never lost or removed."""

    rm: Annotated[tuple[Status, ...], Per(Manager)]
    registers: Annotated[tuple[Annotated[tuple[Register, ...], Per(Acceptor)], ...], Per(Manager)]
    questions: frozenset[Question]
    promises: frozenset[Promise]
    proposals: frozenset[Proposal]
    acceptances: frozenset[Acceptance]
    commit: bool
    abort: bool


@op
def majority(c: Config, members: frozenset[Acceptor]) -> bool:
    return len(members) + len(members) > c.acceptors


@op
def decided(c: Config, s: State, r: Manager, vote: Outcome) -> bool:
    """A majority has accepted the vote of a manager in one ballot."""
    return any(
        majority(
            c,
            frozenset(
                x for x in range(c.acceptors) if Acceptance(manager=r, acceptor=x, ballot=b, vote=vote) in s.acceptances
            ),
        )
        for b in range(c.last_ballot + 1)
    )


@init
def Init(c: Config) -> State:
    fresh = Register(promised=0, accepted=Accepted(ballot=None, vote=None))
    return State(
        rm=tuple(Status.WORKING for r in range(c.rms)),
        registers=tuple(tuple(fresh for x in range(c.acceptors)) for r in range(c.rms)),
        questions=EMPTY,
        promises=EMPTY,
        proposals=EMPTY,
        acceptances=EMPTY,
        commit=False,
        abort=False,
    )


@action
def Vote(c: Config, s: State, r: Manager, vote: Outcome) -> State:
    """A resource manager prepares or aborts, and proposes that in ballot 0, which is its own."""
    require(s.rm[r] == Status.WORKING, "r is working")
    proposal = Proposal(manager=r, ballot=0, vote=vote)
    status = Status.PREPARED if vote == Outcome.COMMIT else Status.ABORTED
    return replace(s, rm=put(s.rm, r, status), proposals=s.proposals | {proposal})


@action
def ReceiveCommit(c: Config, s: State, r: Manager) -> State:
    """A resource manager receives the message to commit."""
    require(s.commit, "a commit was sent")
    return replace(s, rm=put(s.rm, r, Status.COMMITTED))


@action
def ReceiveAbort(c: Config, s: State, r: Manager) -> State:
    """A resource manager receives the message to abort."""
    require(s.abort, "an abort was sent")
    return replace(s, rm=put(s.rm, r, Status.ABORTED))


@action
def Ask(c: Config, s: State, b: Ballot, r: Manager) -> State:
    """Phase 1a: a leader begins a ballot in the instance of a manager."""
    require(b > 0, "ballot 0 is that of the manager")
    return replace(s, questions=s.questions | {Question(manager=r, ballot=b)})


@action
def MakePromise(c: Config, s: State, x: Acceptor, r: Manager, b: Ballot) -> State:
    """Phase 1b: an acceptor promises to accept nothing in earlier ballots, and says what it has accepted."""
    require(Question(manager=r, ballot=b) in s.questions, "the ballot has begun")
    own = s.registers[r][x]
    require(own.promised < b, "x has not heard of a ballot as late")
    promise = Promise(manager=r, acceptor=x, ballot=b, accepted=own.accepted)
    registers = put(s.registers, r, put(s.registers[r], x, replace(own, promised=b)))
    return replace(s, registers=registers, promises=s.promises | {promise})


@action
def Propose(c: Config, s: State, b: Ballot, r: Manager, q: frozenset[Acceptor]) -> State:
    """Phase 2a: a leader that has the promises of a quorum proposes what was accepted, or else to abort."""
    require(b > 0, "ballot 0 is that of the manager")
    require(all(each.ballot != b or each.manager != r for each in s.proposals), "nothing is proposed in the ballot")
    require(majority(c, q) and len(q) + len(q) <= c.acceptors + 2, "q is a quorum: one of the smallest majorities")
    promises = frozenset(each for each in s.promises if each.manager == r and each.ballot == b and each.acceptor in q)
    require(len(promises) == len(q), "all of q have made their promise")
    last = max((each.accepted.ballot + 1 for each in promises if each.accepted.ballot is not None), default=0)
    prepared = any(
        each.accepted.vote == Outcome.COMMIT and each.accepted.ballot + 1 == last
        for each in promises
        if each.accepted.ballot is not None
    )
    vote = Outcome.COMMIT if prepared else Outcome.ABORT
    return replace(s, proposals=s.proposals | {Proposal(manager=r, ballot=b, vote=vote)})


@action
def Accept(c: Config, s: State, x: Acceptor, r: Manager, b: Ballot, vote: Outcome) -> State:
    """Phase 2b: an acceptor accepts a proposal of a ballot that is not earlier than one it has heard of."""
    require(Proposal(manager=r, ballot=b, vote=vote) in s.proposals, "the vote is proposed in the ballot")
    require(s.registers[r][x].promised <= b, "x has not heard of a later ballot")
    own = Register(promised=b, accepted=Accepted(ballot=b, vote=vote))
    acceptance = Acceptance(manager=r, acceptor=x, ballot=b, vote=vote)
    registers = put(s.registers, r, put(s.registers[r], x, own))
    return replace(s, registers=registers, acceptances=s.acceptances | {acceptance})


@action
def Commit(c: Config, s: State) -> State:
    """All votes are agreed on, and all are to commit."""
    require(all(decided(c, s, r, Outcome.COMMIT) for r in range(c.rms)), "it is decided that all have prepared")
    return replace(s, commit=True)


@action
def Abort(c: Config, s: State, r: Manager) -> State:
    """The vote of a manager to abort is agreed on."""
    require(decided(c, s, r, Outcome.ABORT), "it is decided that r has aborted")
    return replace(s, abort=True)


@always("P-1")
def Consistent(c: Config, s: State) -> bool:
    """No resource manager has aborted while another has committed."""
    aborted = any(s.rm[r] == Status.ABORTED for r in range(c.rms))
    committed = any(s.rm[r] == Status.COMMITTED for r in range(c.rms))
    return not (aborted and committed)


@sometimes("W-1")
def AllCommit(c: Config, s: State) -> bool:
    """All resource managers have committed."""
    return all(s.rm[r] == Status.COMMITTED for r in range(c.rms))


MODEL = ProtocolModel(State, Config)
