"""The inductive invariant: lemmas that hold in the initial state and that every step preserves.

The properties P-* are not inductive by themselves; together with these lemmas they are, for unbounded epochs and any
number of disturbances. The argument has four parts:

* views: a broker's view is a past controller record, and a leader epoch has one leader;
* logs: one leader writes the records of an epoch, so logs match up to the last common epoch;
* acknowledgements: the records that a follower's current incarnation acknowledged are in its log;
* quorums: every current and imminent candidate has every record that a leader can still commit, because the leader's
  quorum contains all candidates; a candidate that has moved on bounds what its old leader may commit.

Terms: *candidates* (or *contenders*) are members of ISR and ELR and acceptable joiners that have not lost data. A
follower has *moved* from a leader if it can never fetch again in that leader's epoch. A leader's *ceiling* is the
offset that the moved members of its quorum acknowledged: the leader cannot commit beyond it.
"""

from __future__ import annotations

from elrcheck.invariants.lemmas.lemmas_logs import acked, contenders, fresh, registered_epoch, upto
from elrcheck.invariants.lemmas.lemmas_views import counts, granted, takes_for_enough
from elrcheck.invariants.properties import eligible, leads_now
from elrcheck.lang.runtime import EMPTY, implies, lemma, op
from elrcheck.model.broker.high_watermark import maximal_isr
from elrcheck.model.broker.logs import is_prefix
from elrcheck.model.choices import Propagation
from elrcheck.model.config import Config
from elrcheck.model.kafka_error import Error
from elrcheck.model.replicas import Replica, RSet
from elrcheck.model.state import Epoch, Offset, Stage, State, Status, leads

# ---------------------------------------------------------------------------- quorums


@op
def may_commit(c: Config, s: State, leader: Replica) -> bool:
    """The leader may advance its watermark, now or after the response to a granted proposal."""
    return leads(s, leader) and (
        takes_for_enough(c, s, leader, s.broker[leader].view.isr)
        or (granted(s, leader) and takes_for_enough(c, s, leader, s.broker[leader].alter.isr))
    )


@op
def quorum(c: Config, s: State, leader: Replica) -> RSet:
    """The smallest quorum that leader may use: it drops a rejected proposal, and a granted one takes effect."""
    x = s.broker[leader].alter
    if x.stage == Stage.ANSWERED and x.error == Error.INELIGIBLE_REPLICA:
        return s.broker[leader].view.isr
    if granted(s, leader) and takes_for_enough(c, s, leader, x.isr):
        return x.isr
    return maximal_isr(s.broker[leader])


@op
def earliest_epoch(c: Config, s: State, f: Replica) -> Epoch:
    """The earliest leader epoch in which f is, or may be once it applies more metadata."""
    broker = s.broker[f]
    if broker.view.partition_epoch > 0:
        return broker.view.leader_epoch
    return registered_epoch(s, f) if broker.status == Status.RUNNING else s.partition.leader_epoch


@op
def moved(c: Config, s: State, f: Replica, leader: Replica) -> bool:
    """f can never fetch again from leader in leader's epoch; if it applies the newest record only, after it."""
    own = s.broker[leader].view.leader_epoch
    if c.metadata == Propagation.LOG:
        return earliest_epoch(c, s, f) > own
    return s.partition.leader_epoch > own and s.broker[f].view.leader_epoch != own


@op
def frozen(c: Config, s: State, leader: Replica) -> RSet:
    """The members of the quorum whose acknowledged offset can no longer grow."""
    return frozenset(f for f in quorum(c, s, leader) if f != leader and moved(c, s, f, leader))


@op
def ceiling(c: Config, s: State, leader: Replica) -> Offset:
    """The offset up to which the leader can commit; meaningful only if some member is frozen."""
    return min((acked(s, leader, f) for f in frozen(c, s, leader)), default=c.log_slots)


@lemma
def QuorumCovers(c: Config, s: State) -> bool:
    """The quorum of a leader that may commit in the current epoch contains ISR and ELR."""
    return all(
        s.partition.isr | eligible(c, s) <= quorum(c, s, leader)
        for leader in c.brokers
        if may_commit(c, s, leader) and leads_now(s, leader)
    )


@lemma
def LaggingInQuorum(c: Config, s: State) -> bool:
    """A contender that has not read leader's epoch yet is in leader's quorum."""
    return all(
        all(
            implies(
                earliest_epoch(c, s, f) < s.broker[leader].view.leader_epoch
                if c.metadata == Propagation.LOG
                else s.broker[f].view.partition_epoch > 0
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
    """b is in leader's quorum, or in a proposal that may still be retried in the current epoch."""
    retried = leads_now(s, leader) and counts(s, leader) and b in s.broker[leader].alter.isr
    return b in quorum(c, s, leader) or retried


@op
def covered(c: Config, s: State, leader: Replica, b: Replica) -> bool:
    """Every record that leader can still commit is in b's log, or will be before the commit."""
    return b == leader or (
        upto(s.broker[leader].log, s.broker[b].log, acked(s, leader, b))
        if counted(c, s, leader, b) and not moved(c, s, b, leader)
        else frozen(c, s, leader) != EMPTY and upto(s.broker[leader].log, s.broker[b].log, ceiling(c, s, leader))
    )


@lemma
def ContendersCover(c: Config, s: State) -> bool:
    """Every record that leader can still commit is in every contender's log, or will be before the commit."""
    return all(
        all(covered(c, s, leader, b) for b in contenders(c, s)) for leader in c.brokers if may_commit(c, s, leader)
    )


@lemma
def LaterLeaderCovers(c: Config, s: State) -> bool:
    """A later leader's epoch starts at or above every offset that an older leader can still commit."""
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
    """Every committed record is below the current leader's high watermark or its epoch start."""
    return all(
        len(s.committed) <= s.broker[leader].high_watermark or len(s.committed) <= s.broker[leader].epoch_start
        for leader in c.brokers
        if leads_now(s, leader)
    )


@lemma
def CommitConsistent(c: Config, s: State) -> bool:
    """A leader that may commit has every committed record, or cannot commit beyond them."""
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
    """A leader that a contender still follows has every committed record."""
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
def AckValid(c: Config, s: State) -> bool:
    """A contender has the records that it acknowledged to the current leader, or to a leader that it follows and that
    may commit.
    """
    return all(
        all(
            b == leader or moved(c, s, b, leader) or upto(s.broker[leader].log, s.broker[b].log, acked(s, leader, b))
            for b in contenders(c, s)
        )
        for leader in c.brokers
        if leads_now(s, leader) or may_commit(c, s, leader)
    )


@lemma
def FreshCovers(c: Config, s: State) -> bool:
    """Followers that have moved on retain the acknowledged records that the old leader can still commit.

    With reassignments, a broker outside ISR and ELR may have ceased to be a replica and deleted its log.
    """
    return all(
        all(
            implies(
                fresh(s, leader, b)
                and b not in s.lossy
                and s.broker[b].status == Status.RUNNING
                and moved(c, s, b, leader)
                and (c.reassignments == 0 or b in s.partition.isr | s.partition.elr),
                upto(s.broker[leader].log, s.broker[b].log, min(acked(s, leader, b), ceiling(c, s, leader))),
            )
            for b in c.brokers
            if b != leader
        )
        for leader in c.brokers
        if may_commit(c, s, leader)
    )
