"""Safety properties of the data: P-1 to P-8 and P-32 to P-34, and operators that other properties share.

A property of states is a function `(c, s)`, a property of steps `(c, s, t)` with the state before and after. Each is a
conjunction of named parts, so that a violation names the part that broke, and the broker or offset. Ids and statements
follow `docs/semantics.md`, section D.

A broker that has lost data and not registered since (`lossy`) is exempt from completeness: the controller cannot know
about the loss yet. It leaves ISR and ELR when it registers. It is not exempt if it leads before that
(`before_registration`).
"""

from __future__ import annotations

from elrcheck.lang.runtime import EMPTY, always, conj, implies, op
from elrcheck.model.broker.ghosts import contains
from elrcheck.model.broker.high_watermark import maximal_isr
from elrcheck.model.broker.logs import is_prefix
from elrcheck.model.config import Config
from elrcheck.model.min_isr import leader_min_isr
from elrcheck.model.replicas import Replica, RSet
from elrcheck.model.state import Log, Offset, Recovery, Stage, State, leads


@op
def eligible(c: Config, s: State) -> RSet:
    """The ELR; empty with a shadow ISR, which uses the same field and whose members are not electable.

    While the feature is off, the controller ignores a stored ELR, unless the variant still elects from it (F-28).
    """
    ignored = c.downgrade_ignores_elr and not s.settings.elr_enabled
    return EMPTY if c.shadow_isr or ignored else s.partition.elr


@op
def excused(c: Config, s: State) -> RSet:
    """Brokers that have lost data, have not registered since, and do not lead in between (P-1, P-2)."""
    return frozenset(b for b in s.lossy if s.broker[b].early == 0 or s.broker[b].view.leader != b)


@op
def recovering(c: Config, s: State) -> RSet:
    """With a shadow ISR: the last member, while it must copy records that it has lost."""
    owes = c.shadow_isr and s.partition.recovery == Recovery.RECOVERING
    return s.partition.isr if owes else EMPTY


@op
def candidates(c: Config, s: State) -> RSet:
    """Brokers that the controller may elect cleanly, without those that have lost data unnoticed."""
    return (s.partition.isr | eligible(c, s)) - s.lossy


@op
def leads_now(s: State, b: Replica) -> bool:
    """b leads in the controller's current leader epoch: it is not a zombie."""
    return leads(s, b) and s.broker[b].view.leader_epoch == s.partition.leader_epoch


@op
def committed_isr_is_enough(c: Config, s: State, b: Replica) -> bool:
    """The leader's committed ISR has min ISR members, so it may advance the high watermark."""
    return len(s.broker[b].view.isr) >= leader_min_isr(c, s.settings, s.broker[b], b)


# ---------------------------------------------------------------------------- the leader and the candidates


@always("P-1")
def LeaderCompleteness(c: Config, s: State) -> bool:
    """The leader the controller chose holds every committed record."""
    return conj(
        leader_holds_committed=all(
            is_prefix(s.committed, s.broker[b].log)
            for b in c.brokers - excused(c, s) - recovering(c, s)
            if s.partition.leader == b
        )
    )


@always("P-2")
def CandidateCompleteness(c: Config, s: State) -> bool:
    """Every ISR and ELR member holds every committed record."""
    return conj(
        isr_holds_committed=all(
            is_prefix(s.committed, s.broker[b].log) for b in s.partition.isr - excused(c, s) - recovering(c, s)
        ),
        elr_holds_committed=all(is_prefix(s.committed, s.broker[b].log) for b in eligible(c, s) - excused(c, s)),
    )


@always("P-3")
def ReplicationQuorumSuperset(c: Config, s: State) -> bool:
    """While a leader may commit, every broker that may be elected is in its maximal ISR."""
    return conj(
        isr_covered=all(
            s.partition.isr <= maximal_isr(s.broker[b])
            for b in c.brokers
            if leads_now(s, b) and committed_isr_is_enough(c, s, b)
        ),
        elr_covered=all(
            eligible(c, s) <= maximal_isr(s.broker[b])
            for b in c.brokers
            if leads_now(s, b) and committed_isr_is_enough(c, s, b)
        ),
    )


@always("P-3b")
def MaximalIsrShape(c: Config, s: State) -> bool:
    """The maximal ISR contains the committed ISR, and equals it without a pending proposal."""
    return conj(
        nothing_pending=all(
            implies(
                s.broker[b].alter.stage == Stage.IDLE,
                s.broker[b].alter.isr == EMPTY and maximal_isr(s.broker[b]) == s.broker[b].view.isr,
            )
            for b in c.brokers
        ),
        never_narrower=all(s.broker[b].view.isr <= maximal_isr(s.broker[b]) for b in c.brokers),
    )


@always("P-4")
def LogMatchingBelowWatermark(c: Config, s: State) -> bool:
    """Any two logs agree below both high watermarks."""
    return conj(
        same_records=all(
            all(
                all(
                    s.broker[a].log[k] == s.broker[b].log[k]
                    for k in range(min(len(s.broker[a].log), len(s.broker[b].log)))
                    if k < s.broker[a].high_watermark and k < s.broker[b].high_watermark
                )
                for b in c.brokers
            )
            for a in c.brokers
        )
    )


@op
def matches(a: Log, b: Log) -> bool:
    """If two logs have a record of the same leader epoch at an offset, they agree up to that offset."""
    return all(
        implies(a[k].epoch == b[k].epoch, all(a[j] == b[j] for j in range(k + 1))) for k in range(min(len(a), len(b)))
    )


@always("P-5")
def LogMatching(c: Config, s: State) -> bool:
    """Same leader epoch at the same offset: same record there and everywhere before (KIP-101, KIP-279)."""
    return conj(same_prefix=all(all(matches(s.broker[a].log, s.broker[b].log) for b in c.brokers) for a in c.brokers))


@always("P-6")
def ConsistentRead(c: Config, s: State) -> bool:
    """Every record a consumer could have read is still in the log of the current leader."""
    return conj(
        leader_serves_committed=all(
            is_prefix(s.committed, s.broker[b].log) for b in c.brokers - recovering(c, s) if leads_now(s, b)
        )
    )


@op
def still_leads(s: State, t: State, b: Replica) -> bool:
    """b leads the same epoch before and after the step."""
    return leads(s, b) and leads(t, b) and s.broker[b].view.leader_epoch == t.broker[b].view.leader_epoch


@always("P-7")
def LeaderWatermarkMonotonic(c: Config, s: State, t: State) -> bool:
    """A leader's high watermark never goes back within an epoch."""
    return conj(
        never_back=all(
            implies(still_leads(s, t, b), s.broker[b].high_watermark <= t.broker[b].high_watermark) for b in c.brokers
        )
    )


@always("P-7b")
def WatermarkWithinLog(c: Config, s: State) -> bool:
    """No high watermark lies beyond the log it belongs to."""
    return conj(within_log=all(s.broker[b].high_watermark <= len(s.broker[b].log) for b in c.brokers))


@op
def holds_at(log: Log, committed: Log, k: Offset) -> bool:
    return k < len(log) and log[k] == committed[k]


@op
def stored_on_replica(c: Config, s: State, k: Offset) -> bool:
    """A replica in the controller's list has the committed record at offset k."""
    return any(b in frozenset(s.partition.replicas) and holds_at(s.broker[b].log, s.committed, k) for b in c.brokers)


@always("P-8")
def NoCommittedRecordLost(c: Config, s: State) -> bool:
    """Every committed record is in the log of some replica, at its offset.

    A broker that is no longer a replica does not count, even before it has deleted its log.
    """
    return conj(kept_somewhere=all(stored_on_replica(c, s, k) for k in range(len(s.committed))))


@always("P-32")
def VisibleIsCommitted(c: Config, s: State) -> bool:
    """What consumers can read from a leader, or a zombie, is committed: no two leaders commit differently.

    `committed` is append-only, so a leader that commits other records in place of lost ones breaks this.
    """
    return conj(
        never_rewritten=all(
            is_prefix(s.broker[b].log[: s.broker[b].high_watermark], s.committed) for b in c.brokers if leads(s, b)
        )
    )


@always("P-33", bounded_only="acknowledged records are remembered only with tracks_acks")
def AcknowledgedKept(c: Config, s: State) -> bool:
    """Every acknowledged acks=all record is committed, so that P-1 and P-8 speak of it too."""
    return conj(committed=all(contains(s.committed, e) for e in s.acked))


@always("P-34", bounded_only="acknowledged records are remembered only with tracks_acks")
def LeaderHoldsAcknowledged(c: Config, s: State) -> bool:
    """The leader the controller chose holds every record that a producer with acks=all believes safe, by its answer."""
    return conj(
        leader_holds_acked=all(
            all(contains(s.broker[b].log, e) for e in s.acked)
            for b in c.brokers - s.lossy - recovering(c, s)
            if s.partition.leader == b
        )
    )
