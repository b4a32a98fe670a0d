"""Voting, the algorithm that Paxos implements: acceptors vote in numbered ballots, and each sees the votes of all.

Source: Voting.tla of the TLA+ Examples (PaxosHowToWinATuringAward), after L. Lamport, "The Part-Time Parliament",
1998. With three acceptors, two values and ballots 0 to 2: 6,752 distinct states, 41,017 generated, diameter 16.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from elrcheck.lang.load import ProtocolModel
from elrcheck.lang.runtime import EMPTY, action, always, config, init, lemma, op, put, record, require, sometimes, state
from elrcheck.lang.types import Per, nat, sort

Acceptor = Annotated[int, sort("Acceptor", "acceptors", symmetric=True)]
Value = Annotated[int, sort("Value", "values", symmetric=True)]
Ballot = Annotated[int, nat("Ballot", hi="last_ballot")]


@config
class Config:
    acceptors: int = 3
    values: int = 2
    last_ballot: int = 2


@record
class Vote:
    ballot: Ballot
    value: Value


@state
class State:
    """joined: the latest ballot that an acceptor takes part in; in earlier ones it casts no more votes."""

    votes: Annotated[tuple[frozenset[Vote], ...], Per(Acceptor)]
    joined: Annotated[tuple[Ballot | None, ...], Per(Acceptor)]


@op
def majority(c: Config, members: frozenset[Acceptor]) -> bool:
    return len(members) + len(members) > c.acceptors


@op
def quorum(c: Config, members: frozenset[Acceptor]) -> bool:
    """The smallest majorities; any two of them have an acceptor in common."""
    return majority(c, members) and len(members) + len(members) <= c.acceptors + 2


@op
def voted_for(s: State, a: Acceptor, b: Ballot, v: Value) -> bool:
    return Vote(ballot=b, value=v) in s.votes[a]


@op
def voted_in(s: State, a: Acceptor, b: Ballot) -> bool:
    return any(vote.ballot == b for vote in s.votes[a])


@op
def chosen(c: Config, s: State, v: Value) -> bool:
    """A quorum has voted for the value in one ballot."""
    return any(
        majority(c, frozenset(a for a in range(c.acceptors) if voted_for(s, a, b, v))) for b in range(c.last_ballot + 1)
    )


@init
def Init(c: Config) -> State:
    return State(votes=tuple(EMPTY for a in range(c.acceptors)), joined=tuple(None for a in range(c.acceptors)))


@action
def Join(c: Config, s: State, p: Acceptor, b: Ballot) -> State:
    """An acceptor takes part in a later ballot."""
    require(s.joined[p] is None or s.joined[p] < b, "the ballot is later than that which p takes part in")
    return replace(s, joined=put(s.joined, p, b))


@action
def VoteFor(
    c: Config,
    s: State,
    p: Acceptor,
    b: Ballot,
    v: Value,
    q: frozenset[Acceptor],
    last: Ballot | None,
    voter: Acceptor | None,
) -> State:
    """An acceptor votes for a value that a quorum shows to be safe.

    All of the quorum take part in this ballot or a later one. last: the latest earlier ballot in which one of them, the
    voter, has voted, for this value; none of them has voted since then. Without a last one, none has voted before.
    """
    require(s.joined[p] is None or s.joined[p] <= b, "p does not take part in a later ballot")
    require(not voted_in(s, p, b), "p has not voted in this ballot")
    others = all(vote.ballot != b or vote.value == v for other in range(c.acceptors) for vote in s.votes[other])
    require(others, "all votes of the ballot are for v")
    require(quorum(c, q), "q is a quorum")
    require(
        all(s.joined[m] is not None and s.joined[m] >= b for m in q), "all of q take part in the ballot or a later one"
    )
    require((last is None) == (voter is None), "an earlier ballot comes with its voter")
    earlier = last is None or (last < b and voter in q and voted_for(s, voter, last, v))
    require(earlier, "the voter is of q and voted for v in the last ballot before")
    silent = all(
        not voted_in(s, m, d) for m in q for d in range(c.last_ballot + 1) if d < b and (last is None or d > last)
    )
    require(silent, "none of q has voted since then")
    votes = s.votes[p] | {Vote(ballot=b, value=v)}
    return replace(s, votes=put(s.votes, p, votes), joined=put(s.joined, p, b))


@lemma
def VotesAreJoined(c: Config, s: State) -> bool:
    """An acceptor takes part in the ballots that it votes in, or in a later one."""
    return all(
        s.joined[a] is not None and vote.ballot <= s.joined[a] for a in range(c.acceptors) for vote in s.votes[a]
    )


@op
def bound_to(s: State, a: Acceptor, b: Ballot, v: Value) -> bool:
    """An acceptor has voted for the value in a ballot, or has not voted there and will not."""
    passed_by = s.joined[a] is not None and b < s.joined[a]
    return voted_for(s, a, b, v) or (passed_by and not voted_in(s, a, b))


@lemma
def VotesAreSafe(c: Config, s: State) -> bool:
    """In every ballot before a vote, no other value can be chosen any more."""
    return all(
        b >= vote.ballot or majority(c, frozenset(q for q in range(c.acceptors) if bound_to(s, q, b, vote.value)))
        for a in range(c.acceptors)
        for vote in s.votes[a]
        for b in range(c.last_ballot + 1)
    )


@always("P-1")
def OneValueChosen(c: Config, s: State) -> bool:
    """At most one value is chosen."""
    return all(v == w or not (chosen(c, s, v) and chosen(c, s, w)) for v in range(c.values) for w in range(c.values))


@always("P-2")
def OneValuePerBallot(c: Config, s: State) -> bool:
    """All votes of a ballot are for the same value."""
    return all(
        one.ballot != other.ballot or one.value == other.value
        for a in range(c.acceptors)
        for one in s.votes[a]
        for b in range(c.acceptors)
        for other in s.votes[b]
    )


@sometimes("W-1")
def SomethingChosen(c: Config, s: State) -> bool:
    """A value is chosen."""
    return any(chosen(c, s, v) for v in range(c.values))


MODEL = ProtocolModel(State, Config)
