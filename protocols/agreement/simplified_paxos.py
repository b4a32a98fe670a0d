"""Paxos without leaders or learners: a process that sees the votes of a quorum decides.

Source: Paxos.tla of the TLA+ Examples (SimplifiedFastPaxos) by N. X. T. Lim and G. Gandhi, 2022. The manifest has 1,207
distinct states, 13,290 generated and diameter 22 with four replicas and three values, of which TLC searches one of each
set of symmetric states. Here every state is searched: 48,514 distinct, 491,173 generated; with `--symmetry` as
many as in the manifest.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from elrcheck.lang.load import ProtocolModel
from elrcheck.lang.runtime import EMPTY, action, always, config, init, op, put, record, require, sometimes, state
from elrcheck.lang.types import Per, nat, sort

Replica = Annotated[int, sort("Replica", "replicas", symmetric=True)]
Value = Annotated[int, sort("Value", "values", symmetric=True)]
Ballot = Annotated[int, nat("Ballot", hi="last_ballot")]


@config
class Config:
    """keeps: a proposer proposes what was accepted last, if anything."""

    replicas: int = 4
    values: int = 3
    last_ballot: int = 2
    keeps: bool = True


@record
class Promise:
    """A message of phase 1b. accepted, value: the last ballot in which its replica accepted, 0 if none, and what."""

    replica: Replica
    ballot: Ballot
    accepted: Ballot
    value: Value | None


@record
class Proposal:
    """A message of phase 2a."""

    ballot: Ballot
    value: Value


@record
class Acceptance:
    """A message of phase 2b."""

    replica: Replica
    ballot: Ballot
    value: Value


@state
class State:
    """promised: the latest ballot that a replica has heard of. prepared: the ballots of the messages of phase 1a.

    accepted, value: the last ballot in which a replica accepted, and what. Messages are never lost or removed.
    """

    promised: Annotated[tuple[Ballot, ...], Per(Replica)]
    accepted: Annotated[tuple[Ballot, ...], Per(Replica)]
    value: Annotated[tuple[Value | None, ...], Per(Replica)]
    decision: Value | None
    prepared: frozenset[Ballot]
    promises: frozenset[Promise]
    proposals: frozenset[Proposal]
    acceptances: frozenset[Acceptance]


@op
def quorum(c: Config, members: frozenset[Replica]) -> bool:
    """The smallest majorities."""
    twice = len(members) + len(members)
    return twice > c.replicas and twice <= c.replicas + 2


@init
def Init(c: Config) -> State:
    return State(
        promised=tuple(0 for n in range(c.replicas)),
        accepted=tuple(0 for n in range(c.replicas)),
        value=tuple(None for n in range(c.replicas)),
        decision=None,
        prepared=EMPTY,
        promises=EMPTY,
        proposals=EMPTY,
        acceptances=EMPTY,
    )


@action
def Prepare(c: Config, s: State, b: Ballot) -> State:
    """Phase 1a: a ballot begins, or its message is sent again."""
    require(b > 0, "ballot 0 is that in which nothing was accepted")
    return replace(s, prepared=s.prepared | {b})


@action
def MakePromise(c: Config, s: State, n: Replica, b: Ballot) -> State:
    """Phase 1b: a replica promises to accept nothing in earlier ballots, and says what it has accepted."""
    require(b in s.prepared, "the ballot has begun")
    require(s.promised[n] < b, "n has not heard of a ballot as late")
    promise = Promise(replica=n, ballot=b, accepted=s.accepted[n], value=s.value[n])
    return replace(s, promised=put(s.promised, n, b), promises=s.promises | {promise})


@action
def Propose(c: Config, s: State, b: Ballot, q: frozenset[Replica], v: Value) -> State:
    """Phase 2a: a process with the promises of a quorum proposes the value accepted last among them, else any value."""
    require(quorum(c, q), "q is a quorum")
    require(all(each.ballot != b for each in s.proposals), "nothing is proposed in the ballot")
    promises = frozenset(each for each in s.promises if each.ballot == b and each.replica in q)
    require(frozenset(each.replica for each in promises) == q, "all of q have made their promise")
    last = max((each.accepted for each in promises), default=0)
    free = not c.keeps or all(each.value is None for each in promises)
    require(free or any(each.accepted == last and each.value == v for each in promises), "v was accepted last")
    return replace(s, proposals=s.proposals | {Proposal(ballot=b, value=v)})


@action
def Accept(c: Config, s: State, n: Replica, b: Ballot, v: Value) -> State:
    """Phase 2b: a replica accepts a proposal of a ballot that is not earlier than one it has heard of."""
    require(Proposal(ballot=b, value=v) in s.proposals, "v is proposed in the ballot")
    require(s.promised[n] <= b, "n has not heard of a later ballot")
    return replace(
        s,
        promised=put(s.promised, n, b),
        accepted=put(s.accepted, n, b),
        value=put(s.value, n, v),
        acceptances=s.acceptances | {Acceptance(replica=n, ballot=b, value=v)},
    )


@action
def Decide(c: Config, s: State, b: Ballot, q: frozenset[Replica], by: Replica, v: Value) -> State:
    """The value that all of a quorum have accepted in a ballot is decided."""
    require(quorum(c, q) and by in q, "q is a quorum")
    votes = frozenset(each for each in s.acceptances if each.ballot == b and each.replica in q)
    require(frozenset(each.replica for each in votes) == q, "all of q have accepted in the ballot")
    require(Acceptance(replica=by, ballot=b, value=v) in votes, "by has accepted v")
    return replace(s, decision=v)


@always("P-1")
def DecisionIsProposed(c: Config, s: State) -> bool:
    """The decision was proposed."""
    return s.decision is None or any(each.value == s.decision for each in s.proposals)


@always("P-2")
def DecisionIsFinal(c: Config, s: State, t: State) -> bool:
    """A decision does not change."""
    return s.decision is None or s.decision == t.decision


@sometimes("W-1")
def Decided(c: Config, s: State) -> bool:
    """A value is decided."""
    return s.decision is not None


MODEL = ProtocolModel(State, Config)
