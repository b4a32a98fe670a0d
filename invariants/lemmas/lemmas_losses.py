"""Lemmas about brokers that lose records, for P-8 and P-30: the records that survive fewer losses than min ISR.

They refer to a history that is part of the proof and not of the model's state: the brokers that have ever lost records,
and those that backed the newest committed record. `seen_at_first` and `seen_after` define it from the states alone.
"""

from __future__ import annotations

from elrcheck.invariants.lemmas.lemmas_logs import acked, upto
from elrcheck.invariants.lemmas.lemmas_quorums import ceiling, may_commit
from elrcheck.invariants.operations import losses
from elrcheck.invariants.properties import leads_now
from elrcheck.lang.induction import RunHistory
from elrcheck.lang.runtime import EMPTY, implies, op, record
from elrcheck.model.absent import initial_replicas
from elrcheck.model.broker.high_watermark import maximal_isr
from elrcheck.model.broker.logs import is_prefix
from elrcheck.model.choices import Propagation
from elrcheck.model.config import Config
from elrcheck.model.min_isr import effective_min_isr
from elrcheck.model.replicas import RSet
from elrcheck.model.state import Epoch, State, leads


@record
class LossHistory:
    """The history of a run.

    lost: brokers that have ever lost records, or deleted them because they were no longer replicas.
    backers: the maximal ISR of the leader that last extended `committed`; all of its members had then acknowledged
    every committed record. If replicas may be removed, only those that were replicas; after a removal, the brokers
    that may be elected. epoch: in which that leader leads, if brokers may lag behind the metadata log.
    """

    lost: RSet
    backers: RSet
    epoch: Epoch


@op
def seen_at_first(c: Config) -> LossHistory:
    """The initial history: no broker has lost records, and every replica backs the empty committed log."""
    return LossHistory(lost=EMPTY, backers=frozenset(initial_replicas(c)), epoch=0)


@op
def deleted(c: Config, s: State, t: State) -> RSet:
    """The brokers without a replica whose log has become shorter in the step."""
    return frozenset(
        b
        for b in c.brokers
        if c.reassignments > 0
        and b
        not in (frozenset(t.partition.replicas) if c.metadata == Propagation.LATEST else t.broker[b].view.replicas)
        and len(t.broker[b].log) < len(s.broker[b].log)
    )


@op
def committed_in(c: Config, s: State, t: State) -> Epoch:
    """The epoch of the leader that has extended `committed` in the step."""
    return max(
        (
            t.broker[b].view.leader_epoch
            for b in c.brokers
            if leads(t, b) and t.broker[b].high_watermark > len(s.committed)
        ),
        default=0,
    )


@op
def seen_after(c: Config, s: State, t: State, seen: LossHistory) -> LossHistory:
    """The history after a step from s to t. A broker that loses records is lossy after it."""
    committing = frozenset(
        f
        for f in c.brokers
        if any(
            leads(t, b) and t.broker[b].high_watermark > len(s.committed) and f in maximal_isr(t.broker[b])
            for b in c.brokers
        )
    )
    grown = len(t.committed) > len(s.committed)
    replicas = frozenset(t.partition.replicas)
    return LossHistory(
        lost=seen.lost | t.lossy | deleted(c, s, t),
        backers=t.partition.isr | t.partition.elr
        if c.reassignments > 0 and not frozenset(s.partition.replicas) <= replicas
        else (committing & replicas if c.reassignments > 0 else committing)
        if grown
        else seen.backers,
        epoch=committed_in(c, s, t) if grown and c.metadata == Propagation.LOG else seen.epoch,
    )


# ---------------------------------------------------------------------------- lemmas


@op
def LostCovers(c: Config, s: State, seen: LossHistory) -> bool:
    """A broker in `lossy` is in `lost`, which has at most as many members as there were losses.

    With reassignments, brokers that are no longer replicas delete records, too.
    """
    return s.lossy <= seen.lost and (c.reassignments > 0 or len(seen.lost) <= losses(s))


@op
def BackersHold(c: Config, s: State, seen: LossHistory) -> bool:
    """Min ISR brokers acknowledged the newest committed record; those without a loss have all committed records.

    They are at least as many as each promise about that record requires (P-30), even if min ISR has changed since.
    """
    return (
        (
            c.min_isr_changes > 0
            or c.reassignments > 0
            or len(seen.backers) >= effective_min_isr(s.settings, s.partition.replicas)
        )
        and (c.reassignments > 0 or all(p.min_isr <= len(seen.backers) for p in s.promised))
        and (c.reassignments == 0 or seen.backers <= frozenset(s.partition.replicas))
        and all(is_prefix(s.committed, s.broker[b].log) for b in seen.backers - seen.lost)
    )


@op
def QuorumKeeps(c: Config, s: State, seen: LossHistory) -> bool:
    """A broker without a loss has the records that it acknowledged, up to those that the leader can still commit."""
    return all(
        all(
            b == leader or upto(s.broker[leader].log, s.broker[b].log, min(acked(s, leader, b), ceiling(c, s, leader)))
            for b in c.brokers - seen.lost
        )
        for leader in c.brokers
        if may_commit(c, s, leader) or leads_now(s, leader)
    )


@op
def BackedLeaderComplete(c: Config, s: State, seen: LossHistory) -> bool:
    """A leader that a backer follows has every committed record, unless the backer has lost records."""
    return all(
        all(
            implies(
                s.broker[b].view.leader_epoch == s.broker[leader].view.leader_epoch,
                is_prefix(s.committed, s.broker[leader].log),
            )
            for b in seen.backers - seen.lost
        )
        for leader in c.brokers
        if leads(s, leader)
    )


LEMMAS = (LostCovers, BackersHold, QuorumKeeps, BackedLeaderComplete)
HISTORY = RunHistory(LossHistory, seen_at_first, seen_after, LEMMAS)

# ---------------------------------------------------------------------------- conditions


@op
def FewLosses(c: Config, s: State, seen: LossHistory) -> bool:
    """some broker that backed the newest committed record has never lost records"""
    return not seen.backers <= seen.lost


CONDITIONS = {"P-8": FewLosses}
"""Properties that are proved only under a condition on the history."""
WITH_REASSIGNMENTS = {"P-30": FewLosses}
"""The same if replicas may be removed: `BackersHold` then does not count the backers of a promise."""

# ---------------------------------------------------------------------------- what must be possible


@op
def CrashWithoutLoss(c: Config, s: State, t: State, seen: LossHistory) -> bool:
    """a broker with records crashes and has never lost any"""
    return any(
        s.broker[b].status != t.broker[b].status
        and len(s.broker[b].log) > 0
        and b not in t.lossy
        and b not in seen.lost
        for b in c.brokers
    )


@op
def CrashWithLoss(c: Config, s: State, t: State, seen: LossHistory) -> bool:
    """a broker crashes and loses records that it has not lost before"""
    return any(b in t.lossy and b not in s.lossy and b in seen.lost for b in c.brokers)


@op
def BackedCommit(c: Config, s: State, seen: LossHistory) -> bool:
    """a record is committed, some broker has lost records, and another that backed the record has not"""
    return len(s.committed) > 0 and (c.broker_count == 1 or seen.lost != EMPTY) and FewLosses(c, s, seen)


POSSIBLE = (CrashWithoutLoss, CrashWithLoss, BackedCommit)
"""Steps and states that no lemma, history or condition may exclude; without them P-8 would be vacuous."""
ACTIONS = {CrashWithoutLoss: ("Crash",), CrashWithLoss: ("Crash",)}
"""The actions that take these steps."""
