"""The state: servers with their logs, requests under way, and past leaders."""

from __future__ import annotations

import enum
from dataclasses import replace
from typing import Annotated

from elrcheck.lang.runtime import EMPTY, config, init, op, put, record, state
from elrcheck.lang.types import Per, SeqMark, nat, sort

Server = Annotated[int, sort("Server", "servers", ordered=True)]
Epoch = Annotated[int, nat("Epoch", hi="last_epoch")]
Length = Annotated[int, nat("Length", hi="longest")]
Count = Annotated[int, nat("Count", hi=3)]
Lengths = Annotated[tuple[Length, ...], Per(Server)]
Voters = frozenset[Server]


class Role(enum.Enum):
    """The classes of EpochState."""

    UNATTACHED = "unattached"
    PROSPECTIVE = "prospective"
    CANDIDATE = "candidate"
    LEADER = "leader"
    FOLLOWER = "follower"
    RESIGNED = "resigned"


@config
class Config:
    """voters: the number of voters at first. led: server 0 leads them in epoch 1, and they have its first entry;
    otherwise there is no leader and no entry. restarts, changes, cuts: how often a server restarts, voters change, and
    a server is cut off from the others.

    pre_vote: a server asks whether it would be elected before it begins an epoch (KIP-996, since Kafka 4.0). own_epoch:
    a leader commits only as far as an entry of its own epoch. waits: it has done so before it changes the voters.
    counts_voters: a leader that is no voter does not count itself (KAFKA-16530). stands_again: after a restart a server
    that has voted for itself is a candidate, even if it has followed the leader of the epoch since (Kafka 4.0 to 4.4).
    """

    servers: int = 3
    voters: int = 3
    last_epoch: int = 2
    longest: int = 2
    led: bool = True
    restarts: int = 0
    changes: int = 0
    cuts: int = 0
    pre_vote: bool = True
    own_epoch: bool = True
    waits: bool = True
    counts_voters: bool = True
    stands_again: bool = True


@record
class Entry:
    epoch: Epoch
    voters: Voters


Log = Annotated[tuple[Entry, ...], SeqMark("longest")]


@record
class Vote:
    """A request to all for their vote in this epoch. length, last: of the log, and the epoch of its last entry."""

    epoch: Epoch
    length: Length
    last: Epoch


@record
class Fetch:
    """A request to a leader for the entries behind `length` entries, the last of which is of the epoch `last`."""

    epoch: Epoch
    leader: Server
    length: Length
    last: Epoch


@record
class Elected:
    epoch: Epoch
    leader: Server


@record
class Quorum:
    """An EpochState. leader: of the epoch, if known. voted: the server that it has voted for in the epoch. granted: the
    servers that would vote for a prospective, or have voted for a candidate. fetched: the leader has answered a
    follower.
    """

    role: Role
    epoch: Epoch
    leader: Server | None
    voted: Server | None
    granted: Voters
    fetched: bool


@state
class State:
    """watermark: the number of entries that a server knows to be committed. known: the lengths of logs that a leader
    knows. vote, fetch: the last requests of a server. elected: all leaders. committed: the longest log that a leader
    ever committed.
    """

    quorum: Annotated[tuple[Quorum, ...], Per(Server)]
    log: Annotated[tuple[Log, ...], Per(Server)]
    watermark: Lengths
    known: Annotated[tuple[Lengths, ...], Per(Server)]
    vote: Annotated[tuple[Vote | None, ...], Per(Server)]
    fetch: Annotated[tuple[Fetch | None, ...], Per(Server)]
    elected: frozenset[Elected]
    committed: Log
    cut: Server | None
    restarts: Count
    changes: Count
    cuts: Count


@op
def voters_of(c: Config, log: Log) -> Voters:
    """The voters in force, committed or not (KIP-853; KRaftControlRecordStateMachine.lastVoterSet)."""
    return frozenset(n for n in range(c.servers) if n < c.voters) if len(log) == 0 else log[len(log) - 1].voters


@op
def majority(count: int, voters: Voters) -> bool:
    return count + count > len(voters)


@op
def epoch_before(log: Log, length: Length) -> int:
    """The epoch of the last of the first `length` entries; 0 for none."""
    return 0 if length == 0 else log[length - 1].epoch


@op
def end_of(log: Log, epoch: Epoch) -> int:
    """The number of entries of this epoch or earlier ones (RaftLog.endOffsetForEpoch)."""
    return sum(1 for k in range(len(log)) if log[k].epoch <= epoch)


@op
def up_to_date(last: Epoch, length: Length, log: Log) -> bool:
    """A log of this length and last epoch is at least as up to date as the other (OffsetAndEpoch.compareTo)."""
    own = epoch_before(log, len(log))
    return last > own or (last == own and length >= len(log))


@op
def settled(c: Config, log: Log, watermark: Length) -> bool:
    """The voters in force are committed."""
    return voters_of(c, log) == voters_of(c, log[:watermark])


@op
def unattached(epoch: Epoch, voted: Server | None) -> Quorum:
    return Quorum(role=Role.UNATTACHED, epoch=epoch, leader=None, voted=voted, granted=EMPTY, fetched=False)


@op
def moved(c: Config, s: State, n: Server, to: Quorum) -> State:
    """A transition of QuorumState, in which a leader forgets the lengths of other logs."""
    return replace(s, quorum=put(s.quorum, n, to), known=put(s.known, n, tuple(0 for m in range(c.servers))))


@op
def stood(c: Config, s: State, n: Server) -> State:
    """QuorumState.transitionToCandidate: it votes for itself in a new epoch, and asks all others."""
    q = s.quorum[n]
    me = Quorum(role=Role.CANDIDATE, epoch=q.epoch + 1, leader=None, voted=n, granted=frozenset({n}), fetched=False)
    vote = Vote(epoch=q.epoch + 1, length=len(s.log[n]), last=epoch_before(s.log[n], len(s.log[n])))
    return replace(moved(c, s, n, me), vote=put(s.vote, n, vote))


@init
def Init(c: Config) -> State:
    s = State(
        quorum=tuple(unattached(0, None) for n in range(c.servers)),
        log=tuple(() for n in range(c.servers)),
        watermark=tuple(0 for n in range(c.servers)),
        known=tuple(tuple(0 for m in range(c.servers)) for n in range(c.servers)),
        vote=tuple(None for n in range(c.servers)),
        fetch=tuple(None for n in range(c.servers)),
        elected=EMPTY,
        committed=(),
        cut=None,
        restarts=0,
        changes=0,
        cuts=0,
    )
    if not c.led:
        return s
    voters = voters_of(c, s.committed)
    log = (*s.committed, Entry(epoch=1, voters=voters))
    leads = Quorum(role=Role.LEADER, epoch=1, leader=0, voted=0, granted=EMPTY, fetched=False)
    follows = Quorum(role=Role.FOLLOWER, epoch=1, leader=0, voted=None, granted=EMPTY, fetched=True)
    return replace(
        s,
        quorum=tuple(leads if n == 0 else follows if n in voters else unattached(0, None) for n in range(c.servers)),
        log=tuple(log if n in voters else s.committed for n in range(c.servers)),
        watermark=tuple(1 if n in voters else 0 for n in range(c.servers)),
        elected=frozenset({Elected(epoch=1, leader=0)}),
        committed=log,
    )
