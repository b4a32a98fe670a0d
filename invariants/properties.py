"""The safety properties P-1 to P-27 of this part of the protocol.

A property of states is a function `(c, s)`, a property of steps `(c, s, t)` with the state before and
after. Each is a conjunction of named parts, so that a violation names the part that broke and the
broker or offset it broke for. Ids and statements follow `docs/semantics.md`, section D.

A broker that lost data and has not registered since (`lossy`) is exempt from completeness: the
controller cannot know about the loss yet. It leaves ISR and ELR when it registers.
"""

from __future__ import annotations

from elrcheck.lang.runtime import EMPTY, always, conj, implies, op
from elrcheck.lang.types import Replica, RSet
from elrcheck.model.broker.ghosts import contains
from elrcheck.model.broker.high_watermark import maximal_isr
from elrcheck.model.broker.logs import is_prefix
from elrcheck.model.config import Config
from elrcheck.model.min_isr import effective_min_isr, leader_min_isr
from elrcheck.model.replication_control import active, has_online_directory, may_lead
from elrcheck.model.state import Error, Log, LogDir, Offset, Recovery, Stage, State, Status, hosts, leads


@op
def eligible(c: Config, s: State) -> RSet:
    """The ELR; empty with a shadow ISR, which is stored in its place and never elects a member.

    While the feature is off a stored ELR is ignored, unless the variant still elects from it (F-28).
    """
    ignored = c.downgrade_ignores_elr and not s.settings.elr_enabled
    return EMPTY if c.shadow_isr or ignored else s.partition.elr


@op
def recovering(c: Config, s: State) -> RSet:
    """With a shadow ISR: the last member, while it is known to have lost records that it must copy."""
    owes = c.shadow_isr and s.partition.recovery == Recovery.RECOVERING
    return s.partition.isr if owes else EMPTY


@op
def candidates(s: State) -> RSet:
    """Brokers that the controller may elect cleanly and that have not lost data without its knowledge."""
    return (s.partition.isr | s.partition.elr) - s.lossy


@op
def leads_now(s: State, b: Replica) -> bool:
    """b leads in the controller's current leader epoch: it is not a zombie."""
    return leads(s, b) and s.broker[b].view.leader_epoch == s.partition.leader_epoch


@op
def committed_isr_is_enough(c: Config, s: State, b: Replica) -> bool:
    """The leader's committed ISR has min ISR members, so it may advance the high watermark."""
    return len(s.broker[b].view.isr) >= leader_min_isr(c, s.settings, s.broker[b], b)


# ---------------------------------------------------------------------------- data


@always("P-1")
def LeaderCompleteness(c: Config, s: State) -> bool:
    """The leader the controller chose holds every committed record."""
    return conj(
        leader_holds_committed=all(
            is_prefix(s.committed, s.broker[b].log)
            for b in c.brokers - s.lossy - recovering(c, s)
            if s.partition.leader == b
        )
    )


@always("P-2")
def CandidateCompleteness(c: Config, s: State) -> bool:
    """Every ISR and ELR member holds every committed record."""
    return conj(
        isr_holds_committed=all(
            is_prefix(s.committed, s.broker[b].log) for b in s.partition.isr - s.lossy - recovering(c, s)
        ),
        elr_holds_committed=all(is_prefix(s.committed, s.broker[b].log) for b in eligible(c, s) - s.lossy),
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
        implies(a[k].epoch == b[k].epoch, all(a[j] == b[j] for j in range(k + 1)))
        for k in range(min(len(a), len(b)))
    )


@always("P-5")
def LogMatching(c: Config, s: State) -> bool:
    """Same leader epoch at the same offset: same record there and everywhere before (KIP-101, KIP-279)."""
    return conj(
        same_prefix=all(all(matches(s.broker[a].log, s.broker[b].log) for b in c.brokers) for a in c.brokers)
    )


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
            implies(still_leads(s, t, b), s.broker[b].high_watermark <= t.broker[b].high_watermark)
            for b in c.brokers
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
def kept_by_replica(c: Config, s: State, k: Offset) -> bool:
    """A replica, as the controller lists them, has the committed record at offset k."""
    return any(
        b in frozenset(s.partition.replicas) and holds_at(s.broker[b].log, s.committed, k) for b in c.brokers
    )


@always("P-8", bounded_only="holds while fewer than min ISR brokers lose data, which only a budget can say")
def NoCommittedRecordLost(c: Config, s: State) -> bool:
    """Every committed record is in the log of some replica, at its offset.

    A broker that is no replica any more does not count, even before it has deleted its log.
    """
    return conj(kept_somewhere=all(kept_by_replica(c, s, k) for k in range(len(s.committed))))


@always("P-32")
def VisibleIsCommitted(c: Config, s: State) -> bool:
    """What consumers can read from a leader, or a zombie, is committed: no two leaders commit differently.

    `committed` is only appended to, so a leader that commits other records in the place of lost ones shows.
    """
    return conj(
        never_rewritten=all(
            is_prefix(s.broker[b].log[: s.broker[b].high_watermark], s.committed)
            for b in c.brokers
            if leads(s, b)
        )
    )


@always("P-33", bounded_only="acknowledged records are remembered only with tracks_acks")
def AcknowledgedKept(c: Config, s: State) -> bool:
    """Every acknowledged acks=all record is committed, so that P-1 and P-8 speak of it too."""
    return conj(committed=all(contains(s.committed, e) for e in s.acked))


@always("P-34", bounded_only="acknowledged records are remembered only with tracks_acks")
def LeaderHoldsAcknowledged(c: Config, s: State) -> bool:
    """The leader the controller chose holds every record that a producer with acks=all was told is safe."""
    return conj(
        leader_holds_acked=all(
            all(contains(s.broker[b].log, e) for e in s.acked)
            for b in c.brokers - s.lossy - recovering(c, s)
            if s.partition.leader == b
        )
    )


# ---------------------------------------------------------------------------- ISR and ELR


@always("P-10")
def IsrElrDisjoint(c: Config, s: State) -> bool:
    """No broker is in the ISR and in the ELR."""
    return conj(disjoint=s.partition.isr & s.partition.elr == EMPTY)


@always("P-11")
def ElrOnlyBelowMinIsr(c: Config, s: State) -> bool:
    """The ELR exists only while the ISR is below min ISR."""
    return conj(
        below_min_isr=implies(
            eligible(c, s) != EMPTY,
            len(s.partition.isr) < effective_min_isr(s.settings, s.partition.replicas),
        )
    )


@always("P-12")
def MembersAreReplicas(c: Config, s: State) -> bool:
    """ISR, ELR and LastKnownELR name replicas only."""
    return conj(
        isr=s.partition.isr <= frozenset(s.partition.replicas),
        elr=s.partition.elr <= frozenset(s.partition.replicas),
        last_known_elr=s.partition.last_known_elr <= frozenset(s.partition.replicas),
    )


@always("P-13")
def ElrHoldsCommitted(c: Config, s: State) -> bool:
    """An eligible replica has every record below the highest watermark."""
    return conj(elr_complete=all(is_prefix(s.committed, s.broker[b].log) for b in eligible(c, s) - s.lossy))


@op
def registered_anew(s: State, t: State, b: Replica) -> bool:
    """The step is a registration of a new incarnation of b."""
    return s.registration[b].epoch != t.registration[b].epoch


@op
def uncleanly(s: State, b: Replica) -> bool:
    """b presents no proof that its registered incarnation shut down cleanly and with all its data."""
    broker = s.broker[b]
    lost = broker.log_dir != LogDir.PRESENT and broker.log_dir != LogDir.MOVED
    return lost or broker.clean_file != s.registration[b].epoch


@op
def granted_now(s: State, t: State, leader: Replica) -> bool:
    """In this step the controller applies leader's AlterPartition, which may complete a reassignment."""
    x = t.broker[leader].alter
    sent = s.broker[leader].alter.stage == Stage.SENT and x.stage == Stage.ANSWERED
    return sent and (x.error == Error.NONE or x.error == Error.NEW_LEADER_ELECTED)


@op
def sender_died(s: State, t: State, leader: Replica) -> bool:
    """The controller handled an AlterPartition whose sender is dead, or has lost its replica."""
    before = s.broker[leader]
    after = t.broker[leader]
    sent = before.alter.stage == Stage.SENT and after.alter.stage == Stage.IDLE
    dead = before.status != Status.RUNNING and after.status != Status.RUNNING
    return sent and (dead or (not hosts(before) and not hosts(after)))


@op
def proposed_now(c: Config, s: State, t: State) -> RSet:
    """The members of the AlterPartition that the controller may have applied in this step."""
    return frozenset(
        b
        for b in c.brokers
        if any(
            (granted_now(s, t, leader) or sender_died(s, t, leader)) and b in s.broker[leader].alter.isr
            for leader in c.brokers
        )
    )


@op
def chosen_uncleanly(s: State, t: State) -> bool:
    """A leaderless partition gets a leader by an unclean election, which marks it RECOVERING."""
    marked = t.partition.recovery == Recovery.RECOVERING and t.partition.elr == EMPTY
    alone = len(t.partition.isr) == 1 and t.partition.leader in t.partition.isr
    return s.partition.leader is None and marked and alone


@always("P-14")
def UncleanBrokerExcluded(c: Config, s: State, t: State) -> bool:
    """After an unclean registration a broker is no candidate until AlterPartition adds it again.

    An unclean election, which must be requested or configured, may also bring it back (P-28).
    """
    return conj(
        removed_at_registration=all(
            implies(registered_anew(s, t, b) and uncleanly(s, b), b not in t.partition.isr | eligible(c, t))
            for b in c.brokers
        ),
        not_leading=all(
            implies(registered_anew(s, t, b) and uncleanly(s, b), t.partition.leader != b) for b in c.brokers
        ),
        back_by_alter_partition_only=t.partition.isr | eligible(c, t)
        <= s.partition.isr | eligible(c, s) | proposed_now(c, s, t)
        or chosen_uncleanly(s, t),
    )


@always("P-17")
def LeaderInIsr(c: Config, s: State) -> bool:
    """A partition's leader is in its ISR."""
    return conj(leader_in_isr=implies(s.partition.leader is not None, s.partition.leader in s.partition.isr))


@op
def offline(c: Config, s: State) -> RSet:
    """Brokers whose log directory is offline, as far as the controller knows: they cannot be elected."""
    return frozenset(b for b in c.brokers if not has_online_directory(s.registration[b]))


@always("P-18")
def LeaderlessIffIsrEmpty(c: Config, s: State) -> bool:
    """With ELR on, the partition is leaderless exactly when the ISR is empty.

    A member whose log directory is offline, as far as the controller knows, cannot lead and does not count.
    """
    return conj(
        leaderless_iff_empty=implies(
            s.settings.elr_enabled and s.partition.isr & offline(c, s) == EMPTY,
            (s.partition.leader is None) == (s.partition.isr == EMPTY),
        ),
        leaderless_iff_offline=implies(
            s.settings.elr_enabled and s.partition.isr & offline(c, s) != EMPTY,
            (s.partition.leader is None) == (s.partition.isr <= offline(c, s)),
        ),
    )


@always("P-19")
def IsrMembersActive(c: Config, s: State) -> bool:
    """ISR members are unfenced; with ELR off, the last one may stay without a leader (KIP-841)."""
    return conj(
        isr_active=s.partition.isr <= active(c, s.registration)
        or (not s.settings.elr_enabled and s.partition.leader is None and len(s.partition.isr) == 1)
    )


@always("P-20")
def NoNeedlessStall(c: Config, s: State) -> bool:
    """No partition is leaderless while an eligible replica is active.

    An ISR member, even one whose log directory is offline, keeps the ELR from being asked.
    """
    return conj(
        elected_from_elr=implies(
            s.partition.leader is None and s.partition.isr & offline(c, s) == EMPTY,
            eligible(c, s) & may_lead(c, s.registration) == EMPTY,
        )
    )


# ---------------------------------------------------------------------------- epochs and metadata


@always("P-21")
def EpochsMonotonic(c: Config, s: State, t: State) -> bool:
    """Epochs never go back, and every record of the partition bumps the partition epoch by one.

    A change is one record, but for those that a stale entry in the index of ELR members repeats.
    """
    return conj(
        leader_epoch_never_back=s.partition.leader_epoch <= t.partition.leader_epoch,
        leader_change_moves_leader_epoch=implies(
            s.partition.leader != t.partition.leader, s.partition.leader_epoch < t.partition.leader_epoch
        ),
        every_change_is_one_partition_epoch=s.partition == t.partition
        or t.partition.partition_epoch == s.partition.partition_epoch + 1
        or any(
            s.registration[b] != t.registration[b]
            and s.partition.partition_epoch < t.partition.partition_epoch
            and t.partition.partition_epoch
            <= s.partition.partition_epoch + 1 + s.registration[b].stale_entries
            for b in c.brokers
        ),
        broker_epochs_never_back=all(s.registration[b].epoch <= t.registration[b].epoch for b in c.brokers),
    )


@always("P-22")
def OneLeaderPerEpoch(c: Config, s: State) -> bool:
    """At most one broker leads in a leader epoch."""
    return conj(
        one_leader=all(
            all(
                implies(
                    leads(s, a)
                    and leads(s, b)
                    and s.broker[a].view.leader_epoch == s.broker[b].view.leader_epoch,
                    a == b,
                )
                for b in c.brokers
            )
            for a in c.brokers
        )
    )


@always("P-23")
def MetadataLogMatching(c: Config, s: State) -> bool:
    """Brokers apply prefixes of one metadata log: equal partition epochs mean equal records."""
    return conj(
        not_ahead=all(
            s.broker[b].view.partition_epoch <= s.partition.partition_epoch
            and s.broker[b].view.leader_epoch <= s.partition.leader_epoch
            for b in c.brokers
        ),
        newest_is_controllers=all(
            implies(
                s.broker[b].view.partition_epoch == s.partition.partition_epoch,
                s.broker[b].view.leader == s.partition.leader
                and s.broker[b].view.leader_epoch == s.partition.leader_epoch,
            )
            for b in c.brokers
        ),
        equal_epoch_equal_record=all(
            all(
                implies(
                    s.broker[a].view.partition_epoch == s.broker[b].view.partition_epoch,
                    s.broker[a].view.leader == s.broker[b].view.leader
                    and s.broker[a].view.leader_epoch == s.broker[b].view.leader_epoch,
                )
                for b in c.brokers
            )
            for a in c.brokers
        ),
    )
