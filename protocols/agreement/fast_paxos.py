"""Fast Paxos, simplified: in a fast ballot replicas propose for themselves, and a coordinator resolves collisions.

Source: FastPaxos.tla of the TLA+ Examples (SimplifiedFastPaxos) by N. X. T. Lim and G. Gandhi, 2022, after L. Lamport,
"Fast Paxos", 2006. The manifest has 25,617 distinct states, 320,053 generated and diameter 22 with four replicas, three
values and ballots 0 to 4, of which 1 and 3 are fast; TLC searches one of each set of symmetric states. Here every state
is searched: 3,043,684 distinct, 36,868,401 generated; with `--symmetry` as many as in the manifest.
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
    replicas: int = 4
    values: int = 3
    last_ballot: int = 4


@record
class Proposal:
    """A message of phase 2a; without a value it asks for any."""

    ballot: Ballot
    value: Value | None


@record
class Acceptance:
    """A message of phase 2b."""

    replica: Replica
    ballot: Ballot
    value: Value


@state
class State:
    """heard: the latest ballot that a replica has heard of. accepted, value: the last in which it accepted, and what.

    resolved: what the coordinator has proposed. Messages are never lost or removed.
    """

    heard: Annotated[tuple[Ballot, ...], Per(Replica)]
    accepted: Annotated[tuple[Ballot, ...], Per(Replica)]
    value: Annotated[tuple[Value | None, ...], Per(Replica)]
    decision: Value | None
    resolved: Value | None
    proposals: frozenset[Proposal]
    acceptances: frozenset[Acceptance]


@op
def fast(b: Ballot) -> bool:
    return b % 2 == 1


@op
def quorum(c: Config, members: frozenset[Replica]) -> bool:
    """Three quarters of the replicas; any two of them have a majority of a third one in common."""
    missing = c.replicas - len(members)
    return missing + missing + missing + missing == c.replicas


@op
def accepted_by(s: State, b: Ballot, q: frozenset[Replica]) -> frozenset[Acceptance]:
    """The acceptances of some replicas in a ballot."""
    return frozenset(each for each in s.acceptances if each.ballot == b and each.replica in q)


@op
def complete(votes: frozenset[Acceptance], q: frozenset[Replica]) -> bool:
    """All of a quorum have voted."""
    return frozenset(each.replica for each in votes) == q


@op
def most(votes: frozenset[Acceptance], v: Value) -> bool:
    """More than half of the votes are for the value."""
    return len(votes) // 2 < sum(1 for each in votes if each.value == v)


@init
def Init(c: Config) -> State:
    return State(
        heard=tuple(0 for n in range(c.replicas)),
        accepted=tuple(0 for n in range(c.replicas)),
        value=tuple(None for n in range(c.replicas)),
        decision=None,
        resolved=None,
        proposals=EMPTY,
        acceptances=EMPTY,
    )


@action
def AskForAny(c: Config, s: State, b: Ballot) -> State:
    """Phase 2a, fast: the coordinator asks all to propose, or asks again."""
    require(fast(b), "the ballot is fast")
    return replace(s, proposals=s.proposals | {Proposal(ballot=b, value=None)})


@action
def Propose(c: Config, s: State, n: Replica, b: Ballot, v: Value) -> State:
    """Phase 2b, fast: a replica accepts its own proposal, which is what it has accepted before, if anything."""
    require(Proposal(ballot=b, value=None) in s.proposals, "the ballot asks for any value")
    require(s.heard[n] <= b, "n has not heard of a later ballot")
    require(s.value[n] is None or s.value[n] == v, "n has accepted nothing else")
    require(all(each.ballot != b or each.replica != n for each in s.acceptances), "n has not voted in the ballot")
    return replace(
        s,
        heard=put(s.heard, n, b),
        accepted=put(s.accepted, n, b),
        value=put(s.value, n, v),
        acceptances=s.acceptances | {Acceptance(replica=n, ballot=b, value=v)},
    )


@action
def DecideFast(c: Config, s: State, b: Ballot, q: frozenset[Replica], by: Replica, v: Value) -> State:
    """A quorum has accepted the same value in a fast ballot."""
    require(fast(b) and quorum(c, q) and by in q, "q is a quorum")
    votes = accepted_by(s, b, q)
    require(complete(votes, q), "all of q have voted in the ballot")
    require(all(each.value == v for each in votes), "all votes are for v")
    return replace(s, decision=v)


@action
def Resolve(c: Config, s: State, b: Ballot, before: Ballot, q: frozenset[Replica], v: Value) -> State:
    """Phase 2a, classic: the coordinator proposes what most of a quorum accepted in a fast ballot, else any of it."""
    require(not fast(b) and fast(before) and before < b, "a fast ballot was before")
    require(quorum(c, q), "q is a quorum")
    require(s.resolved is None or s.resolved == v, "the coordinator has proposed nothing else")
    require(all(each.ballot != b for each in s.proposals), "nothing is proposed in the ballot")
    votes = accepted_by(s, before, q)
    require(complete(votes, q), "all of q have voted in the fast ballot")
    require(any(one.value != other.value for one in votes for other in votes), "their votes differ")
    clear = any(most(votes, w) for w in range(c.values))
    require(
        most(votes, v) if clear else any(each.value == v for each in votes), "v is what most have accepted, or some"
    )
    return replace(s, resolved=v, proposals=s.proposals | {Proposal(ballot=b, value=v)})


@action
def Accept(c: Config, s: State, n: Replica, b: Ballot, v: Value) -> State:
    """Phase 2b, classic: a replica accepts a proposal of a ballot that is not earlier than one it has heard of."""
    require(Proposal(ballot=b, value=v) in s.proposals, "v is proposed in the ballot")
    require(s.heard[n] <= b, "n has not heard of a later ballot")
    return replace(
        s,
        heard=put(s.heard, n, b),
        accepted=put(s.accepted, n, b),
        value=put(s.value, n, v),
        acceptances=s.acceptances | {Acceptance(replica=n, ballot=b, value=v)},
    )


@action
def Decide(c: Config, s: State, b: Ballot, q: frozenset[Replica], by: Replica, v: Value) -> State:
    """A quorum has accepted in a classic ballot."""
    require(not fast(b) and quorum(c, q) and by in q, "q is a quorum")
    votes = accepted_by(s, b, q)
    require(complete(votes, q), "all of q have accepted in the ballot")
    require(Acceptance(replica=by, ballot=b, value=v) in votes, "by has accepted v")
    return replace(s, decision=v)


@always("P-1")
def DecisionIsProposed(c: Config, s: State) -> bool:
    """The decision was accepted by a replica."""
    return s.decision is None or any(each.value == s.decision for each in s.acceptances)


@always("P-2")
def DecisionIsFinal(c: Config, s: State, t: State) -> bool:
    """A decision does not change."""
    return s.decision is None or s.decision == t.decision


@sometimes("W-1")
def Decided(c: Config, s: State) -> bool:
    """A value is decided."""
    return s.decision is not None


MODEL = ProtocolModel(State, Config)
