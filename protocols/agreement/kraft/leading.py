"""A leader: it writes, answers fetches, commits, and changes the voters (KIP-595, KIP-853)."""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.marks import Fair, Strength
from elrcheck.lang.runtime import EMPTY, action, op, put, require

from .state import (
    Config,
    Elected,
    Entry,
    Fetch,
    Length,
    Lengths,
    Log,
    Role,
    Server,
    State,
    end_of,
    epoch_before,
    majority,
    moved,
    settled,
    voters_of,
)


@op
def agreed(c: Config, log: Log, n: Server, lengths: Lengths) -> int:
    """The length of a leader's log that a majority of its voters has (LeaderState.maybeUpdateHighWatermark)."""
    voters = voters_of(c, log)
    counted = voters if c.counts_voters else voters | {n}
    return max(
        (
            k
            for k in range(1, c.longest + 1)
            if k <= len(log) and majority(sum(1 for m in counted if m == n or lengths[m] >= k), voters)
        ),
        default=0,
    )


@op
def advanced(c: Config, s: State, n: Server) -> State:
    """A leader commits the length that a majority has, if its last entry is of the leader's epoch.

    LeaderState.maybeUpdateHighWatermark. A leader that is no voter in the committed log resigns: RemoveVoterHandler.
    """
    log = s.log[n]
    k = agreed(c, log, n, s.known[n])
    if k > s.watermark[n] and (not c.own_epoch or epoch_before(log, k) == s.quorum[n].epoch):
        committed = log[:k] if k > len(s.committed) else s.committed
        t = replace(s, watermark=put(s.watermark, n, k), committed=committed)
        if n not in voters_of(c, log) and settled(c, log, k):
            return moved(c, t, n, replace(s.quorum[n], role=Role.RESIGNED))
        return t
    return s


@action
def Lead(c: Config, s: State, n: Server) -> State:
    """A candidate with a majority leads, with an entry of its epoch, and without the watermark that it had.

    KafkaRaftClient.onBecomeLeader, QuorumState.transitionToLeader.
    """
    q, log = s.quorum[n], s.log[n]
    voters = voters_of(c, log)
    require(q.role == Role.CANDIDATE, "n stands")
    require(majority(len(q.granted & voters), voters), "a majority has voted for n")
    require(len(log) < c.longest, "the log has room")
    t = replace(
        moved(c, s, n, replace(q, role=Role.LEADER, leader=n, granted=EMPTY)),
        log=put(s.log, n, (*log, Entry(epoch=q.epoch, voters=voters))),
        watermark=put(s.watermark, n, 0),
        elected=s.elected | {Elected(epoch=q.epoch, leader=n)},
    )
    return advanced(c, t, n)


@action
def Write(c: Config, s: State, n: Server) -> State:
    """A leader writes a record of a client."""
    q, log = s.quorum[n], s.log[n]
    require(q.role == Role.LEADER, "n leads")
    require(len(log) < c.longest, "the log has room")
    entry = Entry(epoch=q.epoch, voters=voters_of(c, log))
    return advanced(c, replace(s, log=put(s.log, n, (*log, entry))), n)


@action(fairness=Fair("a follower asks its leader again and again", Strength.STRONG))
def Ask(c: Config, s: State, n: Server) -> State:
    """A follower asks its leader for more: a voter, or an observer (KafkaRaftClient.buildFetchRequest)."""
    q, log = s.quorum[n], s.log[n]
    require(q.role == Role.FOLLOWER, "n follows")
    leader = q.leader
    require(leader is not None, "n follows somebody")
    fetch = Fetch(
        epoch=q.epoch, leader=0 if leader is None else leader, length=len(log), last=epoch_before(log, len(log))
    )
    require(s.fetch[n] != fetch, "n has not asked this")
    return replace(s, fetch=put(s.fetch, n, fetch))


@op
def answers(c: Config, s: State, n: Server, m: Server, gets: Length | None) -> bool:
    """The answer is not lost."""
    return gets is not None


@action(fairness=Fair("a follower asks until its leader answers", Strength.STRONG, when=answers))
def Answer(c: Config, s: State, n: Server, m: Server, gets: Length | None) -> State:
    """A leader answers a fetch: with further entries, so that n has `gets` entries, or with the place where the logs
    diverge; None if the answer is lost. The request tells the leader the length of n's log.

    KafkaRaftClient.tryCompleteFetchRequest and handleFetchResponse, RaftLog.validateOffsetAndEpoch and
    truncateToEndOffset.
    """
    q, fetch, log, mine = s.quorum[n], s.fetch[n], s.log[m], s.log[n]
    require(s.cut != n and s.cut != m, "the message arrives")
    require(fetch is not None and fetch.leader == m, "n has asked m")
    length = 0 if fetch is None else fetch.length
    last = 0 if fetch is None else fetch.last
    epoch = 0 if fetch is None else fetch.epoch
    require(s.quorum[m].role == Role.LEADER and s.quorum[m].epoch == epoch, "m leads the epoch in which n has asked")
    expects = (
        q.role == Role.FOLLOWER
        and q.epoch == epoch
        and q.leader == m
        and len(mine) == length
        and epoch_before(mine, length) == last
    )
    require(gets is None or expects, "n expects the answer, if it arrives")
    end = end_of(log, last)
    valid = length == 0 or (epoch_before(log, end) == last and length <= end)
    parts = epoch_before(log, end)
    own = end_of(mine, parts)
    shorter = min(own, end) if parts == 0 or epoch_before(mine, own) == parts else own
    if gets is None:
        require(valid, "the answer tells the leader something")
        return advanced(c, replace(s, known=put(s.known, m, put(s.known[m], n, length))), m)
    quorum = put(s.quorum, n, replace(q, fetched=True))
    if not valid:
        require(gets == shorter, "n cuts its log where they part")
        return replace(s, quorum=quorum, log=put(s.log, n, mine[:gets]))
    require(gets > length or (gets == length and length == len(log)), "n gets something, if there is something")
    require(gets <= len(log), "m has so much")
    t = advanced(c, replace(s, quorum=quorum, known=put(s.known, m, put(s.known[m], n, length))), m)
    watermark = t.watermark[m]
    return replace(
        t,
        log=put(s.log, n, mine + log[:gets][length:]),
        watermark=put(t.watermark, n, min(watermark, gets) if watermark > 0 else t.watermark[n]),
    )


@action
def AddVoter(c: Config, s: State, n: Server, m: Server) -> State:
    """A leader adds a voter: AddVoterHandler, without its wait for m to catch up, which concerns availability."""
    q, log = s.quorum[n], s.log[n]
    voters = voters_of(c, log)
    require(s.changes < c.changes, "voters change again")
    require(q.role == Role.LEADER and len(log) < c.longest, "n leads, and the log has room")
    require(not c.waits or s.watermark[n] > 0, "n has committed in its epoch")
    require(settled(c, log, s.watermark[n]), "no change is pending")
    require(m not in voters, "m is not a voter")
    entry = Entry(epoch=q.epoch, voters=voters | {m})
    return advanced(c, replace(s, log=put(s.log, n, (*log, entry)), changes=s.changes + 1), n)


@action
def RemoveVoter(c: Config, s: State, n: Server, m: Server) -> State:
    """A leader removes a voter, perhaps itself: RemoveVoterHandler."""
    q, log = s.quorum[n], s.log[n]
    voters = voters_of(c, log)
    require(s.changes < c.changes, "voters change again")
    require(q.role == Role.LEADER and len(log) < c.longest, "n leads, and the log has room")
    require(not c.waits or s.watermark[n] > 0, "n has committed in its epoch")
    require(settled(c, log, s.watermark[n]), "no change is pending")
    require(m in voters and len(voters) > 1, "m is a voter, and not the last one")
    entry = Entry(epoch=q.epoch, voters=voters - {m})
    return advanced(c, replace(s, log=put(s.log, n, (*log, entry)), changes=s.changes + 1), n)
