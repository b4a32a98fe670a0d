"""Safety properties of ISR and ELR, P-10 to P-14 and P-17 to P-20: membership and leadership.

The states before and after a step identify it, without the rules of the model.
"""

from __future__ import annotations

from elrcheck.invariants.properties import eligible
from elrcheck.lang.runtime import EMPTY, always, conj, implies, op
from elrcheck.model.broker.logs import is_prefix
from elrcheck.model.change_record import unclean_election_allowed
from elrcheck.model.config import Config
from elrcheck.model.kafka_error import Error
from elrcheck.model.min_isr import effective_min_isr
from elrcheck.model.replicas import Replica, RSet
from elrcheck.model.replication_control import active, has_online_directory, may_lead
from elrcheck.model.state import LogDir, Recovery, Stage, State, Status, hosts


@always("P-10")
def IsrElrDisjoint(c: Config, s: State) -> bool:
    """No broker is in the ISR and in the ELR."""
    return conj(disjoint=s.partition.isr & s.partition.elr == EMPTY)


@always("P-11")
def ElrOnlyBelowMinIsr(c: Config, s: State) -> bool:
    """The ELR exists only while the ISR is below min ISR."""
    return conj(
        below_min_isr=implies(
            eligible(c, s) != EMPTY, len(s.partition.isr) < effective_min_isr(s.settings, s.partition.replicas)
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
    """b has no proof that its registered incarnation shut down cleanly and with all its data."""
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
    lost = not hosts(before) and not hosts(after) and before.status == after.status  # a registration ends it too
    return sent and (dead or lost)


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
def chosen_uncleanly(c: Config, s: State, t: State) -> bool:
    """The partition gets a leader by an unclean election, which marks it RECOVERING.

    An operator requests one only without a leader. A configured one is in the same record that removes the last leader
    (generateLeaderAndIsrUpdates, PartitionChangeBuilder.electAnyLeader).
    """
    marked = t.partition.recovery == Recovery.RECOVERING and t.partition.elr == EMPTY
    alone = len(t.partition.isr) == 1 and t.partition.leader in t.partition.isr
    led = s.partition.leader is not None and s.partition.leader in may_lead(c, t.registration)
    return marked and alone and (s.partition.leader is None or (unclean_election_allowed(c, s.settings) and not led))


@always("P-14")
def UncleanBrokerExcluded(c: Config, s: State, t: State) -> bool:
    """After an unclean registration a broker is not a candidate until AlterPartition adds it again.

    An unclean election, which an operator must request or configure, may also bring it back (P-28).
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
        or chosen_uncleanly(c, s, t),
    )


@always("P-17")
def LeaderInIsr(c: Config, s: State) -> bool:
    """A partition's leader is in its ISR."""
    return conj(leader_in_isr=implies(s.partition.leader is not None, s.partition.leader in s.partition.isr))


@op
def offline(c: Config, s: State) -> RSet:
    """Brokers whose log directory is offline at the controller, so that they are not electable."""
    return frozenset(b for b in c.brokers if not has_online_directory(s.registration[b]))


@always("P-18")
def LeaderlessIffIsrEmpty(c: Config, s: State) -> bool:
    """With ELR on, the partition is leaderless exactly when the ISR is empty.

    A member whose log directory is offline at the controller cannot lead and does not count.
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
    """ISR members are unfenced; with ELR off, the last one may stay in a leaderless partition (KIP-841)."""
    return conj(
        isr_active=s.partition.isr <= active(c, s.registration)
        or (not s.settings.elr_enabled and s.partition.leader is None and len(s.partition.isr) == 1)
    )


@always("P-20")
def NoNeedlessStall(c: Config, s: State) -> bool:
    """No partition is leaderless while an eligible replica is active.

    An ISR member, even one whose log directory is offline, prevents an election from the ELR.
    """
    return conj(
        elected_from_elr=implies(
            s.partition.leader is None and s.partition.isr & offline(c, s) == EMPTY,
            eligible(c, s) & may_lead(c, s.registration) == EMPTY,
        )
    )
