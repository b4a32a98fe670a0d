"""The inductive invariant: what is true in every reachable state and survives every step.

The properties P-* are not inductive by themselves; these lemmas are, together, for unbounded epochs
and any number of perturbations. They follow one line of thought:

* views: a broker's view is a past controller record, and one leader epoch has one leader;
* logs: one epoch is written by one leader, so logs match up to the last common epoch;
* acknowledgements: what a follower of the same incarnation acknowledged is in its log;
* quorums: whatever a leader can still commit is held by every present and imminent candidate, because
  the leader's quorum covers them; a candidate that moved on freezes what its old leader may commit.

Words used below. *Candidates* are ISR, ELR and acceptable joiners that have not lost data. A follower
has *moved* from a leader when it can never fetch again in that leader's epoch. A leader's *ceiling* is
what the moved members of its quorum acknowledged: it can commit no more.
"""

from __future__ import annotations

from elrcheck.invariants.properties import candidates, leads_now
from elrcheck.lang.runtime import EMPTY, implies, lemma, op
from elrcheck.lang.types import Replica, RSet
from elrcheck.model.config import Config
from elrcheck.model.replica import maximal_isr
from elrcheck.model.state import (
    Error,
    Log,
    Offset,
    Stage,
    State,
    Status,
    effective_min_isr,
    is_prefix,
    leads,
)

# ---------------------------------------------------------------------------- processes


@lemma
def Processes(c: Config, s: State) -> bool:
    """A running broker is its registered incarnation; what died keeps only its log and its file."""
    return all(
        s.registration[b].epoch >= 1
        and s.broker[b].clean_file <= s.registration[b].epoch
        and implies(s.broker[b].status == Status.RUNNING, s.broker[b].epoch == s.registration[b].epoch)
        and implies(s.broker[b].status == Status.RUNNING, s.broker[b].clean_file == 0 and b not in s.lossy)
        and implies(s.broker[b].clean_file > 0, b not in s.lossy)
        and implies(
            s.broker[b].status != Status.RUNNING,
            s.broker[b].epoch == 0
            and s.broker[b].view.leader is None
            and s.broker[b].view.leader_epoch == 0
            and s.broker[b].view.partition_epoch == 0,
        )
        for b in c.brokers
    )


# ---------------------------------------------------------------------------- views


@lemma
def ViewEpochs(c: Config, s: State) -> bool:
    """Views are past records; a broker without metadata has a blank view and is fenced."""
    return (
        s.partition.leader_epoch >= 1
        and s.partition.partition_epoch >= 1
        and all(
            s.broker[b].view.leader_epoch <= s.partition.leader_epoch
            and s.broker[b].view.partition_epoch <= s.partition.partition_epoch
            and implies(
                s.broker[b].view.partition_epoch == 0,
                s.broker[b].view.leader_epoch == 0 and s.broker[b].view.leader is None,
            )
            and implies(s.broker[b].view.partition_epoch > 0, s.broker[b].view.leader_epoch > 0)
            and implies(
                s.broker[b].status == Status.RUNNING and s.broker[b].view.partition_epoch == 0,
                s.registration[b].fenced,
            )
            for b in c.brokers
        )
    )


@lemma
def ViewCurrent(c: Config, s: State) -> bool:
    """A view at the controller's epochs is the controller's record."""
    return all(
        implies(
            s.broker[b].view.partition_epoch == s.partition.partition_epoch,
            s.broker[b].view.leader_epoch == s.partition.leader_epoch,
        )
        and implies(
            s.broker[b].view.leader_epoch == s.partition.leader_epoch,
            s.broker[b].view.leader == s.partition.leader,
        )
        and implies(
            s.broker[b].view.partition_epoch == s.partition.partition_epoch and s.partition.leader == b,
            s.broker[b].view.isr == s.partition.isr,
        )
        for b in c.brokers
    )


@lemma
def ViewsAgree(c: Config, s: State) -> bool:
    """One leader for each leader epoch, one leader epoch for each partition epoch."""
    return all(
        all(
            implies(
                s.broker[a].view.leader_epoch == s.broker[b].view.leader_epoch,
                s.broker[a].view.leader == s.broker[b].view.leader,
            )
            and implies(
                s.broker[a].view.partition_epoch == s.broker[b].view.partition_epoch,
                s.broker[a].view.leader_epoch == s.broker[b].view.leader_epoch,
            )
            for b in c.brokers
        )
        for a in c.brokers
    )


# ---------------------------------------------------------------------------- AlterPartition


@lemma
def RoleShape(c: Config, s: State) -> bool:
    """Only a leader has a committed ISR, peers, an epoch start; only it, or its ghost, has a request."""
    return all(
        implies(
            s.broker[b].view.leader != b,
            s.broker[b].view.isr == EMPTY
            and s.broker[b].epoch_start == 0
            and all(
                s.broker[b].peers[f].log_end_offset is None and s.broker[b].peers[f].broker_epoch == 0
                for f in c.brokers
            )
            and (s.broker[b].alter.stage == Stage.IDLE or s.broker[b].alter.stage == Stage.SENT)
            and implies(s.broker[b].alter.stage == Stage.SENT, s.broker[b].status != Status.RUNNING),
        )
        and implies(s.broker[b].view.leader == b, b in s.broker[b].view.isr)
        for b in c.brokers
    )


@lemma
def RequestShape(c: Config, s: State) -> bool:
    """A request carries its sender's epochs; after its sender died it can still be the current one."""
    return all(
        implies(
            s.broker[b].alter.stage == Stage.SENT,
            b in s.broker[b].alter.isr
            and s.broker[b].alter.leader_epoch <= s.partition.leader_epoch
            and s.broker[b].alter.partition_epoch <= s.partition.partition_epoch
            and implies(s.broker[b].alter.leader_epoch == s.partition.leader_epoch, s.partition.leader == b)
            and implies(
                s.broker[b].view.leader == b,
                s.broker[b].alter.leader_epoch == s.broker[b].view.leader_epoch
                and s.broker[b].alter.partition_epoch == s.broker[b].view.partition_epoch
                and s.broker[b].alter.isr != s.broker[b].view.isr,
            )
            and implies(
                s.broker[b].alter.partition_epoch == s.partition.partition_epoch,
                s.broker[b].alter.isr != s.partition.isr,
            ),
        )
        for b in c.brokers
    )


@lemma
def NothingPending(c: Config, s: State) -> bool:
    """Without an exchange its fields are blank; a refused proposal waits for metadata that exists."""
    return all(
        implies(
            s.broker[b].alter.stage == Stage.IDLE,
            s.broker[b].alter.isr == EMPTY
            and all(s.broker[b].alter.member_epochs[f] == 0 for f in c.brokers),
        )
        and implies(
            s.broker[b].alter.stage == Stage.WAITING,
            s.broker[b].view.partition_epoch < s.partition.partition_epoch,
        )
        and implies(
            s.broker[b].alter.stage == Stage.ANSWERED
            and s.broker[b].alter.error != Error.NONE
            and s.broker[b].alter.error != Error.INELIGIBLE_REPLICA,
            s.broker[b].view.partition_epoch < s.partition.partition_epoch,
        )
        for b in c.brokers
    )


@op
def granted(s: State, b: Replica) -> bool:
    """The controller granted b's request and b does not know yet."""
    return s.broker[b].alter.stage == Stage.ANSWERED and s.broker[b].alter.error == Error.NONE


@lemma
def AnswerIsRecord(c: Config, s: State) -> bool:
    """A success answer is a past controller record of the sender's epoch, newer than its view."""
    return all(
        implies(
            s.broker[b].alter.stage == Stage.ANSWERED,
            b in s.broker[b].alter.isr
            and s.broker[b].alter.isr != s.broker[b].view.isr
            and s.broker[b].alter.leader_epoch == s.broker[b].view.leader_epoch,
        )
        and implies(
            s.broker[b].alter.stage == Stage.ANSWERED and not granted(s, b),
            s.broker[b].alter.partition_epoch == s.broker[b].view.partition_epoch,
        )
        and implies(
            granted(s, b),
            s.broker[b].alter.partition_epoch > s.broker[b].view.partition_epoch
            and s.broker[b].alter.partition_epoch <= s.partition.partition_epoch
            and implies(
                s.broker[b].alter.partition_epoch == s.partition.partition_epoch,
                s.partition.leader_epoch == s.broker[b].alter.leader_epoch
                and s.partition.isr == s.broker[b].alter.isr,
            )
            and all(
                implies(
                    s.broker[a].view.partition_epoch == s.broker[b].alter.partition_epoch,
                    s.broker[a].view.leader_epoch == s.broker[b].alter.leader_epoch,
                )
                and implies(
                    granted(s, a) and s.broker[a].alter.partition_epoch == s.broker[b].alter.partition_epoch,
                    a == b,
                )
                for a in c.brokers
            ),
        )
        for b in c.brokers
    )


@op
def under_way(s: State, leader: Replica) -> bool:
    """l's request is on its way, or its answer is, which may be lost and the request sent again."""
    return s.broker[leader].alter.stage == Stage.SENT or s.broker[leader].alter.stage == Stage.ANSWERED


@lemma
def MemberEpochs(c: Config, s: State) -> bool:
    """Broker epochs that a leader noted are of incarnations that registered."""
    return all(
        all(
            s.broker[leader].peers[f].broker_epoch <= s.registration[f].epoch
            and implies(
                s.broker[leader].peers[f].log_end_offset is not None,
                s.broker[leader].peers[f].broker_epoch >= 1,
            )
            and s.broker[leader].alter.member_epochs[f] <= s.registration[f].epoch
            and implies(
                under_way(s, leader) and s.broker[leader].view.leader == leader,
                s.broker[leader].alter.member_epochs[f] == s.broker[leader].epoch
                if f == leader
                else s.broker[leader].alter.member_epochs[f] <= s.broker[leader].peers[f].broker_epoch,
            )
            and implies(
                under_way(s, leader)
                and s.broker[leader].alter.leader_epoch == s.partition.leader_epoch
                and s.broker[leader].alter.partition_epoch == s.partition.partition_epoch
                and f in s.broker[leader].alter.isr
                and f not in s.partition.isr,
                s.broker[leader].alter.member_epochs[f] >= 1,
            )
            for f in c.brokers
        )
        for leader in c.brokers
    )


# ---------------------------------------------------------------------------- logs


@lemma
def LogEpochs(c: Config, s: State) -> bool:
    """Epochs in a log are positive, do not decrease, and are known to a running owner's view."""
    return all(
        all(
            s.broker[b].log[k].epoch >= 1
            and s.broker[b].log[k].epoch <= s.partition.leader_epoch
            and (
                s.broker[b].view.partition_epoch == 0
                or s.broker[b].log[k].epoch <= s.broker[b].view.leader_epoch
            )
            and all(s.broker[b].log[i].epoch <= s.broker[b].log[k].epoch for i in range(k))
            for k in range(len(s.broker[b].log))
        )
        for b in c.brokers
    )


@op
def log_matches(a: Log, b: Log) -> bool:
    """Log matching, and every epoch starts at the same offset wherever it occurs."""
    return all(
        all(
            implies(a[k].epoch == b[j].epoch and k <= j, all(a[i] == b[i] for i in range(len(a)) if i <= k))
            for j in range(len(b))
        )
        for k in range(len(a))
    )


@lemma
def LogsMatch(c: Config, s: State) -> bool:
    return all(all(log_matches(s.broker[a].log, s.broker[b].log) for b in c.brokers) for a in c.brokers)


@lemma
def LeaderOwnsEpoch(c: Config, s: State) -> bool:
    """All records of an epoch are in the log of the leader that still leads it."""
    return all(
        all(
            all(
                implies(
                    s.broker[b].log[k].epoch == s.broker[leader].view.leader_epoch,
                    k < len(s.broker[leader].log)
                    and s.broker[leader].log[k].epoch == s.broker[leader].view.leader_epoch,
                )
                for k in range(len(s.broker[b].log))
            )
            for b in c.brokers
        )
        for leader in c.brokers
        if s.broker[leader].view.leader == leader
    )


@lemma
def NewEpochUnused(c: Config, s: State) -> bool:
    """Until the elected leader has taken over, nobody has a record of its epoch."""
    return all(
        implies(
            s.partition.leader == leader
            and s.broker[leader].status == Status.RUNNING
            and s.broker[leader].view.leader_epoch < s.partition.leader_epoch,
            all(
                all(s.broker[b].log[k].epoch < s.partition.leader_epoch for k in range(len(s.broker[b].log)))
                for b in c.brokers
            ),
        )
        for leader in c.brokers
    )


@lemma
def EpochStartSplits(c: Config, s: State) -> bool:
    """A leader's epoch start separates its own records from the inherited ones."""
    return all(
        s.broker[leader].epoch_start <= len(s.broker[leader].log)
        and all(
            (s.broker[leader].log[k].epoch == s.broker[leader].view.leader_epoch)
            == (k >= s.broker[leader].epoch_start)
            for k in range(len(s.broker[leader].log))
        )
        for leader in c.brokers
        if s.broker[leader].view.leader == leader
    )


@lemma
def WatermarkCommitted(c: Config, s: State) -> bool:
    """No watermark lies beyond its log, and what lies below one is committed."""
    return all(
        s.broker[b].high_watermark <= len(s.broker[b].log)
        and is_prefix(s.broker[b].log[: s.broker[b].high_watermark], s.committed)
        for b in c.brokers
    )


# ---------------------------------------------------------------------------- acknowledgements


@op
def acked(s: State, leader: Replica, f: Replica) -> Offset:
    """What f acknowledged to leader by its last fetch; 0 if leader has heard nothing."""
    end = s.broker[leader].peers[f].log_end_offset
    return end if end is not None else 0


@op
def fresh(s: State, leader: Replica, f: Replica) -> bool:
    """What leader knows of f is from f's registered incarnation."""
    known = s.broker[leader].peers[f]
    return known.log_end_offset is not None and known.broker_epoch == s.registration[f].epoch


@op
def joiners(c: Config, s: State) -> RSet:
    """Whom a request on its way would add to the ISR if the controller handled it now."""
    return frozenset(
        f
        for f in c.brokers
        if any(
            under_way(s, leader)
            and s.broker[leader].alter.leader_epoch == s.partition.leader_epoch
            and s.broker[leader].alter.partition_epoch == s.partition.partition_epoch
            and f in s.broker[leader].alter.isr
            and f not in s.partition.isr
            and s.broker[leader].alter.member_epochs[f] == s.registration[f].epoch
            for leader in c.brokers
        )
    )


@op
def contenders(c: Config, s: State) -> RSet:
    """Present and imminent candidates that have not lost data."""
    return candidates(s) | (joiners(c, s) - s.lossy)


@lemma
def ContendersComplete(c: Config, s: State) -> bool:
    """The heart of the matter: whoever may be elected has every committed record."""
    return all(is_prefix(s.committed, s.broker[b].log) for b in contenders(c, s))


@op
def upto(a: Log, b: Log, n: Offset) -> bool:
    """The first n records of a, as far as they exist, are in b."""
    return all(k < len(b) and a[k] == b[k] for k in range(len(a)) if k < n)


@lemma
def AckWithinLog(c: Config, s: State) -> bool:
    """Nobody acknowledged more than the leader has; who acknowledged is in the epoch or beyond."""
    return all(
        all(
            implies(
                s.broker[leader].peers[f].log_end_offset is not None,
                acked(s, leader, f) <= len(s.broker[leader].log)
                and (
                    s.broker[f].view.leader_epoch >= s.broker[leader].view.leader_epoch
                    or s.broker[f].view.partition_epoch == 0
                )
                and implies(
                    fresh(s, leader, f) and s.broker[f].status == Status.RUNNING,
                    s.broker[f].view.leader_epoch >= s.broker[leader].view.leader_epoch,
                ),
            )
            for f in c.brokers
        )
        for leader in c.brokers
        if leads(s, leader)
    )


@lemma
def FreshFollows(c: Config, s: State) -> bool:
    """A follower that fetched as its present incarnation, and is still in the epoch, follows exactly."""
    return all(
        all(
            implies(
                fresh(s, leader, f)
                and f not in s.lossy
                and (
                    s.broker[f].view.leader_epoch == s.broker[leader].view.leader_epoch
                    or (s.broker[f].status != Status.RUNNING and leads_now(s, leader))
                ),
                is_prefix(s.broker[f].log, s.broker[leader].log)
                and acked(s, leader, f) <= len(s.broker[f].log),
            )
            for f in c.brokers
        )
        for leader in c.brokers
        if leads(s, leader)
    )


@lemma
def JoinersCaughtUp(c: Config, s: State) -> bool:
    """Whom a living leader proposes, and who is still that incarnation, has caught up."""
    return all(
        all(
            implies(
                f not in s.broker[leader].view.isr
                and s.broker[leader].alter.member_epochs[f] == s.registration[f].epoch,
                acked(s, leader, f) >= s.broker[leader].high_watermark
                and acked(s, leader, f) >= s.broker[leader].epoch_start
                and fresh(s, leader, f),
            )
            for f in s.broker[leader].alter.isr
        )
        for leader in c.brokers
        if leads(s, leader) and under_way(s, leader)
    )


# ---------------------------------------------------------------------------- quorums


@op
def enough(c: Config, s: State, isr: RSet) -> bool:
    return len(isr) >= effective_min_isr(c, s.partition.replicas)


@op
def may_commit(c: Config, s: State, leader: Replica) -> bool:
    """l advances its watermark, now or after it learns what was granted."""
    return leads(s, leader) and (
        enough(c, s, s.broker[leader].view.isr)
        or (granted(s, leader) and enough(c, s, s.broker[leader].alter.isr))
    )


@op
def quorum(c: Config, s: State, leader: Replica) -> RSet:
    """The least quorum leader may come to use: what was refused is out, what was granted is what counts."""
    x = s.broker[leader].alter
    if x.stage == Stage.ANSWERED and x.error == Error.INELIGIBLE_REPLICA:
        return s.broker[leader].view.isr
    if granted(s, leader) and enough(c, s, x.isr):
        return x.isr
    return maximal_isr(s.broker[leader])


@op
def moved(s: State, f: Replica, leader: Replica) -> bool:
    """f can never fetch again from leader in leader's epoch."""
    return (
        s.partition.leader_epoch > s.broker[leader].view.leader_epoch
        and s.broker[f].view.leader_epoch != s.broker[leader].view.leader_epoch
    )


@op
def frozen(c: Config, s: State, leader: Replica) -> RSet:
    """Members of the quorum whose acknowledgement can no longer grow."""
    return frozenset(f for f in quorum(c, s, leader) if f != leader and moved(s, f, leader))


@op
def ceiling(c: Config, s: State, leader: Replica) -> Offset:
    """l commits at most this; meaningful when somebody is frozen."""
    return min((acked(s, leader, f) for f in frozen(c, s, leader)), default=c.log_slots)


@lemma
def QuorumCovers(c: Config, s: State) -> bool:
    """The quorum of a leader that may commit in the present epoch covers ISR and ELR."""
    return all(
        s.partition.isr | s.partition.elr <= quorum(c, s, leader)
        for leader in c.brokers
        if may_commit(c, s, leader) and leads_now(s, leader)
    )


@lemma
def LaggingInQuorum(c: Config, s: State) -> bool:
    """A contender that has not even reached leader's epoch is in leader's quorum."""
    return all(
        all(
            implies(
                s.broker[f].view.partition_epoch > 0
                and s.broker[f].view.leader_epoch < s.broker[leader].view.leader_epoch,
                f in quorum(c, s, leader),
            )
            for f in contenders(c, s)
        )
        for leader in c.brokers
        if may_commit(c, s, leader)
    )


@op
def counted(c: Config, s: State, leader: Replica, b: Replica) -> bool:
    """b is in leader's quorum, or in a proposal that may still be sent again in the present epoch."""
    return b in quorum(c, s, leader) or (leads_now(s, leader) and b in s.broker[leader].alter.isr)


@lemma
def ContendersCover(c: Config, s: State) -> bool:
    """Whatever leader can still commit is, or will be before the commit, in every contender's log."""
    return all(
        all(
            b == leader
            or (
                upto(s.broker[leader].log, s.broker[b].log, acked(s, leader, b))
                if counted(c, s, leader, b) and not moved(s, b, leader)
                else frozen(c, s, leader) != EMPTY
                and upto(s.broker[leader].log, s.broker[b].log, ceiling(c, s, leader))
            )
            for b in contenders(c, s)
        )
        for leader in c.brokers
        if may_commit(c, s, leader)
    )


@lemma
def LaterLeaderCovers(c: Config, s: State) -> bool:
    """A later leader starts at or above everything an older leader can still commit."""
    return all(
        all(
            implies(
                leads(s, m) and s.broker[m].view.leader_epoch > s.broker[leader].view.leader_epoch,
                frozen(c, s, leader) != EMPTY
                and ceiling(c, s, leader) <= s.broker[m].epoch_start
                and upto(s.broker[leader].log, s.broker[m].log, ceiling(c, s, leader)),
            )
            for m in c.brokers
        )
        for leader in c.brokers
        if may_commit(c, s, leader)
    )


@lemma
def CommittedBelowStart(c: Config, s: State) -> bool:
    """For the present leader everything committed lies below its watermark or its epoch start."""
    return all(
        len(s.committed) <= s.broker[leader].high_watermark
        or len(s.committed) <= s.broker[leader].epoch_start
        for leader in c.brokers
        if leads_now(s, leader)
    )


@lemma
def CommitConsistent(c: Config, s: State) -> bool:
    """A leader that may commit extends what is committed, or can no longer commit beyond it."""
    return all(
        is_prefix(s.committed, s.broker[leader].log)
        or (
            frozen(c, s, leader) != EMPTY
            and ceiling(c, s, leader) <= len(s.committed)
            and upto(s.broker[leader].log, s.committed, ceiling(c, s, leader))
        )
        for leader in c.brokers
        if may_commit(c, s, leader)
    )


@lemma
def FollowedLeaderComplete(c: Config, s: State) -> bool:
    """A leader that a contender still follows has everything committed."""
    return all(
        all(
            implies(
                s.broker[f].view.leader_epoch == s.broker[leader].view.leader_epoch,
                is_prefix(s.committed, s.broker[leader].log),
            )
            for f in contenders(c, s)
        )
        for leader in c.brokers
        if leads(s, leader)
    )


@lemma
def NoStaleLeaderInIsr(c: Config, s: State) -> bool:
    """Who still leads an older epoch is no contender, unless it was re-elected and is alone."""
    return all(s.partition.leader == b or not leads(s, b) for b in s.partition.isr | joiners(c, s)) and all(
        implies(
            s.partition.leader == b and s.broker[b].view.leader_epoch < s.partition.leader_epoch,
            s.partition.isr == frozenset({b}),
        )
        for b in c.brokers
        if leads(s, b)
    )


@lemma
def AckValid(c: Config, s: State) -> bool:
    """What a contender acknowledged to leader is still there while it can follow leader."""
    return all(
        all(
            b == leader
            or moved(s, b, leader)
            or upto(s.broker[leader].log, s.broker[b].log, acked(s, leader, b))
            for b in contenders(c, s)
        )
        for leader in c.brokers
        if leads(s, leader)
    )


@lemma
def FreshCovers(c: Config, s: State) -> bool:
    """Followers that moved on kept what they acknowledged, as far as the old leader can still commit."""
    return all(
        all(
            implies(
                fresh(s, leader, b)
                and b not in s.lossy
                and s.broker[b].status == Status.RUNNING
                and moved(s, b, leader),
                upto(s.broker[leader].log, s.broker[b].log, min(acked(s, leader, b), ceiling(c, s, leader))),
            )
            for b in c.brokers
            if b != leader
        )
        for leader in c.brokers
        if may_commit(c, s, leader)
    )


# ---------------------------------------------------------------------------- controller


@lemma
def ControllerRecord(c: Config, s: State) -> bool:
    """ISR and ELR as KIP-966 wants them."""
    return (
        s.partition.isr & s.partition.elr == EMPTY
        and implies(enough(c, s, s.partition.isr), s.partition.elr == EMPTY)
        and all(not s.registration[b].fenced for b in s.partition.isr)
        and (
            s.partition.leader in s.partition.isr
            if s.partition.leader is not None
            else s.partition.isr == EMPTY
        )
        and implies(s.partition.leader is None, all(s.registration[b].fenced for b in s.partition.elr))
    )
