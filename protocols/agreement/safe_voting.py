"""Voting in which a majority shows a value to be safe, by its votes in an earlier ballot where the value is safe.

Source: VoteProof.tla of the TLA+ Examples (byzpaxos), after L. Lamport, "Byzantizing Paxos by Refinement", 2011. With
three acceptors, two values and ballots 0 to 2: 6,962 distinct states, 27,727 generated, diameter 14. The
manifest has 318,877 generated, for TLC counts each way in which a recursive function shows a value to be safe, which
is one condition here, and depth 15; one worker of TLC counts 14 for the module exported from here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from elrcheck.lang.domains import every
from elrcheck.lang.load import ProtocolModel
from elrcheck.lang.runtime import EMPTY, action, always, config, init, op, put, record, require, sometimes, state
from elrcheck.lang.types import Per, nat, sort

Acceptor = Annotated[int, sort("Acceptor", "acceptors")]
Value = Annotated[int, sort("Value", "values")]
Ballot = Annotated[int, nat("Ballot", hi=2)]


@config
class Config:
    acceptors: int = 3
    values: int = 2


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
def quorums(c: Config) -> frozenset[frozenset[Acceptor]]:
    """The majorities."""
    return frozenset(q for q in every(c, frozenset[Acceptor]) if len(q) + len(q) > c.acceptors)


@op
def takes_part(s: State, a: Acceptor, b: Ballot) -> bool:
    """An acceptor takes part in the ballot or a later one."""
    return s.joined[a] is not None and s.joined[a] >= b


@op
def chosen(c: Config, s: State, v: Value) -> bool:
    """A majority has voted for the value in one ballot."""
    return any(all(Vote(ballot=b, value=v) in s.votes[a] for a in q) for b in range(3) for q in quorums(c))


@op
def silent(c: Config, s: State, b: Ballot) -> bool:
    """A majority takes part in the ballot, and has not voted before."""
    return any(all(takes_part(s, a, b) and all(vote.ballot >= b for vote in s.votes[a]) for a in q) for q in quorums(c))


@op
def shown_by(c: Config, s: State, b: Ballot, v: Value, d: Ballot) -> bool:
    """A majority takes part in the ballot, has voted for no other value in ballot d, and for nothing since then."""
    return any(
        all(
            takes_part(s, a, b)
            and all(
                vote.ballot < d or vote.ballot >= b or (vote.ballot == d and vote.value == v) for vote in s.votes[a]
            )
            for a in q
        )
        for q in quorums(c)
    )


@op
def safe(c: Config, s: State, b: Ballot, v: Value) -> bool:
    """No other value can be chosen in an earlier ballot. Every value is safe in ballot 0."""
    in_one = silent(c, s, 1) or shown_by(c, s, 1, v, 0)
    in_two = silent(c, s, 2) or shown_by(c, s, 2, v, 0) or (in_one and shown_by(c, s, 2, v, 1))
    return b == 0 or (b == 1 and in_one) or (b == 2 and in_two)


@init
def Init(c: Config) -> State:
    return State(votes=tuple(EMPTY for a in range(c.acceptors)), joined=tuple(None for a in range(c.acceptors)))


@action
def Join(c: Config, s: State, p: Acceptor, b: Ballot) -> State:
    """An acceptor takes part in a later ballot."""
    require(s.joined[p] is None or s.joined[p] < b, "the ballot is later than that which p takes part in")
    return replace(s, joined=put(s.joined, p, b))


@action
def VoteFor(c: Config, s: State, p: Acceptor, b: Ballot, v: Value) -> State:
    """An acceptor votes for a safe value."""
    require(s.joined[p] is None or s.joined[p] <= b, "p does not take part in a later ballot")
    require(all(vote.ballot != b for vote in s.votes[p]), "p has not voted in this ballot")
    others = all(vote.ballot != b or vote.value == v for other in range(c.acceptors) for vote in s.votes[other])
    require(others, "all votes of the ballot are for v")
    require(safe(c, s, b, v), "v is safe")
    votes = s.votes[p] | {Vote(ballot=b, value=v)}
    return replace(s, votes=put(s.votes, p, votes), joined=put(s.joined, p, b))


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


@always("P-3")
def VotesAreSafe(c: Config, s: State) -> bool:
    """Every value is safe in the ballots in which it was voted for."""
    return all(safe(c, s, vote.ballot, vote.value) for a in range(c.acceptors) for vote in s.votes[a])


@sometimes("W-1")
def SomethingChosen(c: Config, s: State) -> bool:
    """A value is chosen."""
    return any(chosen(c, s, v) for v in range(c.values))


MODEL = ProtocolModel(State, Config)
