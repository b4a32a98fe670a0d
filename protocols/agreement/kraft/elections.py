"""Elections: servers time out, ask for pre-votes, stand, vote, resign and restart (KIP-595, KIP-996)."""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.marks import Fair, Strength
from elrcheck.lang.runtime import EMPTY, action, put, require

from .state import (
    Config,
    Elected,
    Quorum,
    Role,
    Server,
    State,
    Vote,
    epoch_before,
    majority,
    moved,
    stood,
    unattached,
    up_to_date,
    voters_of,
)


@action
def TimeOut(c: Config, s: State, n: Server) -> State:
    """A voter hears from no leader, or gets too few votes: it stands for a new epoch, or first asks for pre-votes.

    KafkaRaftClient.pollFollowerAsVoter, pollUnattachedAsVoter, pollCandidate. A server that has resigned first leaves
    its epoch: pollResigned.
    """
    q = s.quorum[n]
    resigned = q.role == Role.RESIGNED
    require(q.role in (Role.UNATTACHED, Role.FOLLOWER, Role.CANDIDATE) or resigned, "n waits for something")
    require(n in voters_of(c, s.log[n]) or resigned, "n is a voter")
    require((c.pre_vote and not resigned) or q.epoch < c.last_epoch, "there is an epoch left")
    if resigned and (c.pre_vote or n not in voters_of(c, s.log[n])):
        return moved(c, s, n, unattached(q.epoch + 1, None))
    if c.pre_vote:
        return moved(c, s, n, replace(q, role=Role.PROSPECTIVE, granted=frozenset({n}), fetched=False))
    return stood(c, s, n)


@action
def PreVote(c: Config, s: State, n: Server, m: Server) -> State:
    """A server would vote for a prospective with an up-to-date log, unless it has a leader that answers.

    KIP-996; FollowerState.canGrantVote, QuorumState.unattachedOrProspectiveCanGrantVote.
    """
    q, p = s.quorum[n], s.quorum[m]
    require(s.cut != n and s.cut != m, "the message arrives")
    require(p.role == Role.PROSPECTIVE and n in voters_of(c, s.log[m]), "m asks n")
    require(n not in p.granted, "n has not said so")
    require(p.epoch == q.epoch, "it is about the epoch of n")
    require(q.role != Role.LEADER and not (q.role == Role.FOLLOWER and q.fetched), "n has no leader that answers")
    last = epoch_before(s.log[m], len(s.log[m]))
    require(up_to_date(last, len(s.log[m]), s.log[n]), "the log of the prospective is up to date")
    return replace(s, quorum=put(s.quorum, m, replace(p, granted=p.granted | {n})))


@action
def Stand(c: Config, s: State, n: Server) -> State:
    """A prospective hears that a majority would vote for it, and stands (KafkaRaftClient.maybeTransitionForward)."""
    q = s.quorum[n]
    require(q.role == Role.PROSPECTIVE and s.cut != n, "n asks, and the last answer arrives")
    require(majority(len(q.granted), voters_of(c, s.log[n])), "a majority would vote for n")
    require(q.epoch < c.last_epoch, "there is an epoch left")
    return stood(c, s, n)


@action(fairness=Fair("the time of an election ends", Strength.STRONG))
def GiveUp(c: Config, s: State, n: Server) -> State:
    """A prospective for whom too few would vote follows its last leader again, or no leader.

    KafkaRaftClient.maybeHandleElectionLoss, pollProspective. A vote in the epoch is remembered.
    """
    q = s.quorum[n]
    require(q.role == Role.PROSPECTIVE, "n asks")
    if q.leader is None:
        return moved(c, s, n, unattached(q.epoch, q.voted))
    return moved(c, s, n, replace(q, role=Role.FOLLOWER, granted=EMPTY, fetched=False))


@action
def LearnEpoch(c: Config, s: State, n: Server, m: Server) -> State:
    """A server hears of a later epoch, but not of its leader, from any request or answer (maybeTransition)."""
    require(s.cut != n and s.cut != m, "the message arrives")
    require(s.quorum[n].epoch < s.quorum[m].epoch, "the epoch of m is later")
    return moved(c, s, n, unattached(s.quorum[m].epoch, None))


@action
def GiveVote(c: Config, s: State, n: Server, m: Server) -> State:
    """A server votes once in an epoch, for one with an up-to-date log (KafkaRaftClient.handleVoteRequest).

    It votes even if its own voter set does not contain it (KIP-853).
    """
    p, vote = s.quorum[m], s.vote[m]
    require(n != m and s.cut != n and s.cut != m, "the message arrives")
    require(vote is not None and vote.epoch >= s.quorum[n].epoch, "it is about the epoch of n, or a later one")
    epoch = 0 if vote is None else vote.epoch
    q = s.quorum[n] if epoch == s.quorum[n].epoch else unattached(epoch, None)
    require(q.role in (Role.UNATTACHED, Role.PROSPECTIVE) and q.leader is None, "n knows no leader of the epoch")
    require(q.voted is None, "n has not voted")
    require(vote is not None and vote.last < epoch, "the request is legal")
    require(vote is not None and up_to_date(vote.last, vote.length, s.log[n]), "the log of the candidate is up to date")
    t = moved(c, s, n, replace(q, voted=m))
    if p.role == Role.CANDIDATE and p.epoch == epoch:
        return replace(t, quorum=put(t.quorum, m, replace(p, granted=p.granted | {n})))
    return t


@action(fairness=Fair("a leader tells who does not fetch: maybeSendBeginQuorumEpochRequests", Strength.STRONG))
def Follow(c: Config, s: State, n: Server, e: Elected) -> State:
    """A server learns the leader of an epoch from BeginQuorumEpoch, or from any answer (maybeTransition).

    QuorumState.transitionToFollower: it remembers its vote in the epoch.
    """
    q = s.quorum[n]
    require(e in s.elected and e.leader != n and s.cut != n, "another one leads the epoch")
    require(q.epoch < e.epoch or (q.epoch == e.epoch and q.leader is None), "that is news for n")
    voted = q.voted if q.epoch == e.epoch else None
    new = Quorum(role=Role.FOLLOWER, epoch=e.epoch, leader=e.leader, voted=voted, granted=EMPTY, fetched=False)
    return moved(c, s, n, new)


@action
def Resign(c: Config, s: State, n: Server) -> State:
    """A leader that too few fetch from, or that shuts down, resigns (KafkaRaftClient.pollLeader)."""
    require(s.quorum[n].role == Role.LEADER, "n leads")
    return moved(c, s, n, replace(s.quorum[n], role=Role.RESIGNED))


@action
def Restart(c: Config, s: State, n: Server) -> State:
    """A server restarts with its log and what quorum-state has: epoch, leader, vote (QuorumState.initialize)."""
    q = s.quorum[n]
    require(s.restarts < c.restarts, "a server restarts again")
    role = (
        Role.RESIGNED
        if q.leader == n
        else Role.CANDIDATE
        if q.voted == n and (c.stands_again or q.leader is None)
        else Role.UNATTACHED
        if q.leader is None
        else Role.FOLLOWER
    )
    me = replace(
        q,
        role=role,
        leader=None if role == Role.CANDIDATE else q.leader,
        granted=frozenset({n}) if role == Role.CANDIDATE else EMPTY,
        fetched=False,
    )
    log = s.log[n]
    vote = Vote(epoch=q.epoch, length=len(log), last=epoch_before(log, len(log)))
    return replace(
        moved(c, s, n, me),
        vote=put(s.vote, n, vote) if role == Role.CANDIDATE else s.vote,
        watermark=put(s.watermark, n, 0),
        restarts=s.restarts + 1,
    )


@action
def Cut(c: Config, s: State, n: Server) -> State:
    """A server is cut off from the others."""
    require(s.cuts < c.cuts and s.cut is None, "a server is cut off again")
    return replace(s, cut=n, cuts=s.cuts + 1)


@action
def Heal(c: Config, s: State) -> State:
    """The server is connected again."""
    require(s.cut is not None, "a server is cut off")
    return replace(s, cut=None)
