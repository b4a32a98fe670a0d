"""Paxos with one instance: proposers ask a majority of the acceptors what they have accepted, and propose that.

Source: Paxos.tla of the TLA+ Examples (PaxosHowToWinATuringAward), after L. Lamport, "The Part-Time Parliament", 1998.
With three acceptors, two values and ballots 0 and 1 (MCPaxosTiny): 3,921 distinct states, 23,563 generated, diameter
17.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from elrcheck.lang.load import ProtocolModel
from elrcheck.lang.runtime import EMPTY, action, always, config, init, op, put, record, require, sometimes, state
from elrcheck.lang.types import Per, nat, sort

Acceptor = Annotated[int, sort("Acceptor", "acceptors")]
Value = Annotated[int, sort("Value", "values")]
Ballot = Annotated[int, nat("Ballot", hi="last_ballot")]


@config
class Config:
    """reports: an acceptor that promises says what it has accepted."""

    acceptors: int = 3
    values: int = 2
    last_ballot: int = 1
    reports: bool = True


@record
class Promise:
    """A message of phase 1b. accepted, value: the last ballot in which its acceptor accepted, and what."""

    acceptor: Acceptor
    ballot: Ballot
    accepted: Ballot | None
    value: Value | None


@record
class Proposal:
    """A message of phase 2a."""

    ballot: Ballot
    value: Value


@record
class Acceptance:
    """A message of phase 2b."""

    acceptor: Acceptor
    ballot: Ballot
    value: Value


@state
class State:
    """promised: the latest ballot that an acceptor has heard of. prepared: the ballots of the messages of phase 1a.

    accepted, value: the last ballot in which an acceptor accepted, and what. Messages are never lost or removed.
    """

    promised: Annotated[tuple[Ballot | None, ...], Per(Acceptor)]
    accepted: Annotated[tuple[Ballot | None, ...], Per(Acceptor)]
    value: Annotated[tuple[Value | None, ...], Per(Acceptor)]
    prepared: frozenset[Ballot]
    promises: frozenset[Promise]
    proposals: frozenset[Proposal]
    acceptances: frozenset[Acceptance]


@op
def quorum(c: Config, members: frozenset[Acceptor]) -> bool:
    """The smallest majorities; any two of them have an acceptor in common."""
    twice = len(members) + len(members)
    return twice > c.acceptors and twice <= c.acceptors + 2


@op
def chosen(c: Config, s: State, v: Value) -> bool:
    """A quorum has accepted the value in one ballot."""
    return any(
        quorum(
            c, frozenset(a for a in range(c.acceptors) if Acceptance(acceptor=a, ballot=b, value=v) in s.acceptances)
        )
        for b in range(c.last_ballot + 1)
    )


@init
def Init(c: Config) -> State:
    return State(
        promised=tuple(None for a in range(c.acceptors)),
        accepted=tuple(None for a in range(c.acceptors)),
        value=tuple(None for a in range(c.acceptors)),
        prepared=EMPTY,
        promises=EMPTY,
        proposals=EMPTY,
        acceptances=EMPTY,
    )


@action
def Prepare(c: Config, s: State, b: Ballot) -> State:
    """Phase 1a: a proposer begins a ballot, or sends the message again."""
    return replace(s, prepared=s.prepared | {b})


@action
def MakePromise(c: Config, s: State, p: Acceptor, b: Ballot) -> State:
    """Phase 1b: an acceptor promises to accept nothing in earlier ballots, and says what it has accepted."""
    require(b in s.prepared, "the ballot has begun")
    require(s.promised[p] is None or s.promised[p] < b, "p has not heard of a ballot as late")
    accepted = s.accepted[p] if c.reports else None
    promise = Promise(acceptor=p, ballot=b, accepted=accepted, value=s.value[p] if c.reports else None)
    return replace(s, promised=put(s.promised, p, b), promises=s.promises | {promise})


@action
def Propose(c: Config, s: State, b: Ballot, v: Value, q: frozenset[Acceptor], by: Acceptor | None) -> State:
    """Phase 2a: a proposer that has the promises of a quorum proposes what was accepted last among them, if anything.

    by: the acceptor that accepted it, which several may have done; none if the quorum has accepted nothing.
    """
    require(all(proposal.ballot != b for proposal in s.proposals), "nothing is proposed in the ballot")
    require(quorum(c, q), "q is a quorum")
    promises = frozenset(each for each in s.promises if each.ballot == b and each.acceptor in q)
    require(len(promises) == len(q), "all of q have made their promise")
    free = all(each.accepted is None for each in promises)
    last = any(
        each.acceptor == by
        and each.accepted is not None
        and each.value == v
        and all(r.accepted is None or r.accepted <= each.accepted for r in promises)
        for each in promises
    )
    require(free if by is None else last, "v is what by accepted last, or nothing was accepted")
    return replace(s, proposals=s.proposals | {Proposal(ballot=b, value=v)})


@action
def Accept(c: Config, s: State, p: Acceptor, b: Ballot, v: Value) -> State:
    """Phase 2b: an acceptor accepts a proposal of a ballot that is not earlier than one it has heard of."""
    require(Proposal(ballot=b, value=v) in s.proposals, "v is proposed in the ballot")
    require(s.promised[p] is None or s.promised[p] <= b, "p has not heard of a later ballot")
    return replace(
        s,
        promised=put(s.promised, p, b),
        accepted=put(s.accepted, p, b),
        value=put(s.value, p, v),
        acceptances=s.acceptances | {Acceptance(acceptor=p, ballot=b, value=v)},
    )


@always("P-1")
def OneValueChosen(c: Config, s: State) -> bool:
    """At most one value is chosen."""
    return all(v == w or not (chosen(c, s, v) and chosen(c, s, w)) for v in range(c.values) for w in range(c.values))


@always("P-2")
def AcceptedIsProposed(c: Config, s: State) -> bool:
    """Only what was proposed in a ballot is accepted in it."""
    return all(Proposal(ballot=each.ballot, value=each.value) in s.proposals for each in s.acceptances)


@sometimes("W-1")
def SomethingChosen(c: Config, s: State) -> bool:
    """A value is chosen."""
    return any(chosen(c, s, v) for v in range(c.values))


MODEL = ProtocolModel(State, Config)
