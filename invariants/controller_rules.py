"""The rules CT-1 to CT-20 of one controller step: what every event must preserve and what it may change.

A rule is a function `(c, s, e, t)`: configuration, situation before, event, situation after. CT-1 to CT-11
define a legal situation; a proof assumes nothing but these of the situation before the event
(`controller_legal.legal`). The other rules compare before and after. No rule is about reachable states.
"""

from __future__ import annotations

from dataclasses import replace

from elrcheck.invariants.controller_events import AnyEvent, EventKind
from elrcheck.invariants.controller_legal import (
    assignment_is_legal,
    elr_is_below_min_isr,
    enough,
    isr_is_legal,
    last_known_is_legal,
    leader_is_legal,
    leaderless_iff_isr_empty,
    leaderless_is_legal,
    members,
    members_are_replicas,
    nobody_waits,
    settings_are_legal,
)
from elrcheck.lang.runtime import EMPTY, conj, implies, op, rule
from elrcheck.model.change_record import unclean_election_allowed
from elrcheck.model.choices import LastKnownLeader, LklStorage
from elrcheck.model.config import Config
from elrcheck.model.control_plane.reassignment import is_reassigning
from elrcheck.model.replicas import Replica, RSet
from elrcheck.model.replication_control import Controller, active, may_lead, registered
from elrcheck.model.state import Recovery

# ---------------------------------------------------------------------------- vocabulary


@op
def just(r: Replica | None) -> RSet:
    """The set with that broker; empty for None."""
    return frozenset({r}) if r is not None else EMPTY


@op
def asked_isr(s: Controller, e: AnyEvent) -> RSet:
    """The ISR from which an election chooses: that of an AlterPartition, else the current one."""
    return e.request.isr if e.kind == EventKind.ALTER_PARTITION else s.partition.isr


@op
def eligible(s: Controller, e: AnyEvent) -> RSet:
    """The clean candidates; while ELR is off, a stored ELR does not count (C-30)."""
    return asked_isr(s, e) | (s.partition.elr if s.settings.elr_enabled else EMPTY)


@op
def registers(e: AnyEvent) -> bool:
    return e.kind == EventKind.REGISTER_CLEAN or e.kind == EventKind.REGISTER_UNCLEAN


@op
def elects(s: Controller, t: Controller) -> bool:
    """The event elects a different leader, or a leader of a leaderless partition."""
    return t.partition.leader is not None and t.partition.leader != s.partition.leader


@op
def elects_uncleanly(s: Controller, e: AnyEvent, t: Controller) -> bool:
    """The new leader was neither in the ISR nor in the ELR."""
    created = e.kind == EventKind.CREATE_PARTITION
    return elects(s, t) and t.partition.leader not in eligible(s, e) and not created


# ---------------------------------------------------------------------------- what stays legal


@rule("CT-1", "B.9, KAFKA-16540")
def SettingsLegal(c: Config, s: Controller, e: AnyEvent, t: Controller) -> bool:
    """Every min ISR is 1 or more, and with ELR on, no broker has its own."""
    return settings_are_legal(c, t)


@rule("CT-2", "B.7, PartitionReassignmentReplicas")
def AssignmentLegal(c: Config, s: Controller, e: AnyEvent, t: Controller) -> bool:
    """Replicas are distinct; adding and removing replicas are disjoint, and some replica remains."""
    return assignment_is_legal(t)


@rule("CT-3", "P-17, PartitionRegistration")
def LeaderIsMember(c: Config, s: Controller, e: AnyEvent, t: Controller) -> bool:
    """A leader is in the ISR; a leaderless partition has at most one ISR member, and then no ELR."""
    return conj(leader=leader_is_legal(t), leaderless=leaderless_is_legal(c, t))


@rule("CT-4", "P-18, KIP-966")
def LeaderlessIffEmpty(c: Config, s: Controller, e: AnyEvent, t: Controller) -> bool:
    """With ELR on, the partition is leaderless exactly when the ISR is empty, if it was so before."""
    before = s.settings.elr_enabled and leaderless_iff_isr_empty(s)
    return implies(before and t.settings.elr_enabled, leaderless_iff_isr_empty(t))


@rule("CT-5", "P-19, KIP-841")
def IsrActive(c: Config, s: Controller, e: AnyEvent, t: Controller) -> bool:
    """ISR members are active; only the last member in a leaderless partition may be fenced."""
    return isr_is_legal(c, t)


@rule("CT-6", "P-10, KIP-966")
def MembersDisjoint(c: Config, s: Controller, e: AnyEvent, t: Controller) -> bool:
    """No broker is in both the ISR and the ELR."""
    return t.partition.isr & t.partition.elr == EMPTY


@rule("CT-7", "P-11, KIP-966")
def ElrBelowMinIsr(c: Config, s: Controller, e: AnyEvent, t: Controller) -> bool:
    """The ELR is empty unless the ISR is below min ISR."""
    return elr_is_below_min_isr(c, t)


@rule("CT-8", "P-12, KIP-966 on reassignment")
def ReplicasOnly(c: Config, s: Controller, e: AnyEvent, t: Controller) -> bool:
    """ISR, ELR and LastKnownELR contain only replicas."""
    return members_are_replicas(t)


@rule("CT-9", "B.3, F-21")
def ElrRegistered(c: Config, s: Controller, e: AnyEvent, t: Controller) -> bool:
    """ELR members are registered: an id that returns with an empty disk is not eligible."""
    return t.partition.elr <= registered(c, t.registration)


@rule("CT-10", "P-20, KIP-966")
def NobodyWaits(c: Config, s: Controller, e: AnyEvent, t: Controller) -> bool:
    """No partition is leaderless while an ISR or ELR member is active, with its log directory online."""
    return nobody_waits(c, t)


@rule("CT-11", "B.1 step 8, C-1, C-2")
def LastKnownLegal(c: Config, s: Controller, e: AnyEvent, t: Controller) -> bool:
    """Last known leader and LastKnownELR are kept only without a leader, and never name a candidate."""
    return last_known_is_legal(c, t)


# ---------------------------------------------------------------------------- who may lead


@op
def unclean_is_permitted(c: Config, s: Controller, e: AnyEvent, leader: Replica | None) -> bool:
    """The request or the topic's settings permit an election that may lose data."""
    if e.kind == EventKind.ELECT_UNCLEAN:
        return True
    if e.kind == EventKind.DESIGNATE or e.kind == EventKind.FINISH_RECOVERY:
        return leader == e.broker
    if e.kind == EventKind.ELECT_PREFERRED or e.kind == EventKind.BALANCE_PREFERRED or e.kind == EventKind.REASSIGN:
        return False
    return unclean_election_allowed(c, s.settings)


@op
def last_known_is_permitted(c: Config, s: Controller, e: AnyEvent, t: Controller) -> bool:
    """The last known leader, once ISR and ELR are empty; never by a preferred election (C-5, C-8)."""
    p = s.partition
    stored = just(p.last_known_leader) if c.lkl_storage == LklStorage.SEPARATE else p.last_known_elr
    gone = just(e.broker) if registers(e) or e.kind == EventKind.UNREGISTER else EMPTY
    preferred = e.kind == EventKind.ELECT_PREFERRED or e.kind == EventKind.BALANCE_PREFERRED
    return (
        c.last_known_leader != LastKnownLeader.NEVER
        and s.settings.elr_enabled
        and not preferred
        and t.partition.leader in stored
        and (eligible(s, e) & frozenset(t.partition.replicas)) - gone == EMPTY
    )


@rule("CT-12", "B.2, C-3 to C-8, C-30")
def LeaderAllowed(c: Config, s: Controller, e: AnyEvent, t: Controller) -> bool:
    """A new leader is from the ISR, else the ELR, else from a permitted unclean or last known election."""
    leader = t.partition.leader
    free = may_lead(c, t.registration) & frozenset(t.partition.replicas)
    from_isr = leader in asked_isr(s, e)
    from_elr = leader in eligible(s, e) and asked_isr(s, e) & free == EMPTY
    uncleanly = unclean_is_permitted(c, s, e, leader) and eligible(s, e) & free == EMPTY
    created = e.kind == EventKind.CREATE_PARTITION and leader in t.partition.isr
    return implies(elects(s, t), from_isr or from_elr or uncleanly or last_known_is_permitted(c, s, e, t) or created)


@rule("CT-13", "B.2, KAFKA-19522")
def LeaderAlive(c: Config, s: Controller, e: AnyEvent, t: Controller) -> bool:
    """A leader elected by the event is registered, unfenced and not shutting down."""
    return implies(t.partition.leader is not None, t.partition.leader in active(c, t.registration))


# ---------------------------------------------------------------------------- epochs


@rule("CT-14", "B.1 epoch table")
def LeaderEpochTable(c: Config, s: Controller, e: AnyEvent, t: Controller) -> bool:
    """The leader epoch is bumped iff the leader changes, a replica leaves or (before 3.6) the ISR shrinks."""
    p = s.partition
    q = t.partition
    moved = p.leader != q.leader
    removed = not frozenset(p.replicas) <= frozenset(q.replicas)
    shrank = c.bump_leader_epoch_on_isr_shrink and not p.isr <= q.isr
    if e.kind == EventKind.CREATE_PARTITION:
        return q.leader_epoch == 0
    return q.leader_epoch == (p.leader_epoch + 1 if moved or removed or shrank else p.leader_epoch)


@rule("CT-15", "B.1 epoch table")
def PartitionEpochTable(c: Config, s: Controller, e: AnyEvent, t: Controller) -> bool:
    """The partition epoch is bumped iff a change is recorded; directory changes always are."""
    p = s.partition
    q = t.partition
    changed = replace(q, partition_epoch=p.partition_epoch) != p
    directories = e.kind == EventKind.ASSIGN_DIRECTORIES or e.kind == EventKind.DIRECTORY_MOVED
    written = e.kind == EventKind.MIN_ISR_TOPIC or e.kind == EventKind.MIN_ISR_CLUSTER
    min_isr = written or e.kind == EventKind.MIN_ISR_DELETED
    recorded = changed or directories or (min_isr and c.min_isr_change_bumps_partition_epoch)
    if e.kind == EventKind.CREATE_PARTITION:
        return q.partition_epoch == 0
    return q.partition_epoch == (p.partition_epoch + 1 if recorded else p.partition_epoch)


# ---------------------------------------------------------------------------- who is a candidate


@rule("CT-16", "B.1, P-14, KIP-966")
def NobodyAdded(c: Config, s: Controller, e: AnyEvent, t: Controller) -> bool:
    """Only AlterPartition adds candidates, besides an unclean winner and one in a forced cancellation."""
    added = members(t.partition) - members(s.partition)
    alone = t.partition.isr == just(t.partition.leader) and added <= t.partition.isr
    forced = unclean_election_allowed(c, s.settings) and len(added) <= 1 and added <= t.partition.isr
    if e.kind == EventKind.CREATE_PARTITION:
        return members(t.partition) <= active(c, s.registration)
    if e.kind == EventKind.ALTER_PARTITION:
        return added <= e.request.isr
    if e.kind == EventKind.CANCEL_REASSIGNMENT and forced:
        return True
    return added == EMPTY or (elects(s, t) and alone)


@rule("CT-17", "B.1 step 2, P-9, KIP-966")
def CandidatesKept(c: Config, s: Controller, e: AnyEvent, t: Controller) -> bool:
    """Below min ISR, replicas in ISR or ELR stay there unless they are removed or unclean.

    Switching ELR on drops an ELR stored before it was switched off (F-56).
    """
    lost = registers(e) and not e.brings_directory
    gone = e.kind == EventKind.REGISTER_UNCLEAN or e.kind == EventKind.UNREGISTER or lost
    stale = e.kind == EventKind.FEATURE_ON and c.feature_on_clears_elr
    candidates = s.partition.isr if stale else members(s.partition)
    remaining = candidates & frozenset(t.partition.replicas)
    bound = t.settings.elr_enabled and not enough(t) and e.kind != EventKind.CREATE_PARTITION
    return implies(
        bound and not elects_uncleanly(s, e, t), remaining - (just(e.broker) if gone else EMPTY) <= members(t.partition)
    )


@rule("CT-18", "B.3, P-14, KIP-966")
def UncleanExcluded(c: Config, s: Controller, e: AnyEvent, t: Controller) -> bool:
    """With ELR on, a broker that registers after an unclean shutdown is not a candidate and does not lead.

    Nor is one that registers without the log directory of its replica (F-52).
    """
    excluded = e.broker not in members(t.partition) and t.partition.leader != e.broker
    on = s.settings.elr_enabled and (c.unknown_id_is_unclean or s.registration[e.broker].registered)
    return conj(
        unclean=implies(on and e.kind == EventKind.REGISTER_UNCLEAN, excluded),
        without_directory=implies(on and registers(e) and not e.brings_directory, excluded),
    )


# ---------------------------------------------------------------------------- recovery, reassignment


@rule("CT-19", "B.1 step 3, B.17, KIP-704")
def RecoveryState(c: Config, s: Controller, e: AnyEvent, t: Controller) -> bool:
    """Only an unclean election sets RECOVERING; a granted AlterPartition, and nothing else, ends it."""
    before = s.partition.recovery
    now = t.partition.recovery
    new = e.kind == EventKind.CREATE_PARTITION
    stranger = t.partition.leader not in members(s.partition)
    return conj(
        marked=implies(
            elects_uncleanly(s, e, t) and stranger and c.recovery_state_supported, now == Recovery.RECOVERING
        ),
        marked_only_then=implies(
            before == Recovery.RECOVERED and now == Recovery.RECOVERING, elects_uncleanly(s, e, t)
        ),
        cleared=implies(
            before == Recovery.RECOVERING and now == Recovery.RECOVERED, new or e.kind == EventKind.ALTER_PARTITION
        ),
        reported=implies(
            e.kind == EventKind.ALTER_PARTITION and s.partition != t.partition and not elects_uncleanly(s, e, t),
            now == e.request.recovery,
        ),
    )


@rule("CT-20", "B.7, C-21, C-22, KIP-966")
def ReassignmentGate(c: Config, s: Controller, e: AnyEvent, t: Controller) -> bool:
    """A reassignment is what was asked for, and ends with min ISR members.

    A release cancels it with fewer where unclean election is allowed; the KIP has no such exception. Where
    `retarget_overwrites` is off, replicas of an older request may stay on the list of those to be removed.
    """
    p = s.partition
    q = t.partition
    removed = not frozenset(p.replicas) <= frozenset(q.replicas)
    settled = is_reassigning(p) and e.kind != EventKind.REASSIGN
    ended = (removed or settled) and not is_reassigning(q)
    cancels = e.kind == EventKind.CANCEL_REASSIGNMENT
    excepted = cancels and unclean_election_allowed(c, s.settings) and not c.cancel_gate
    new = e.kind == EventKind.CREATE_PARTITION
    granted = e.kind == EventKind.REASSIGN and p != q
    return conj(
        min_isr_members=implies(ended and not excepted and not new, enough(t)),
        wish=implies(granted and c.retarget_overwrites, frozenset(q.replicas) - q.removing == frozenset(e.replicas)),
        called_off=implies(
            cancels and p != q, frozenset(q.replicas) == frozenset(p.replicas) - p.adding and not is_reassigning(q)
        ),
    )
