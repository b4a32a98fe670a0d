"""The controller's one change builder: every event that changes the partition goes through `change`.

Source: PartitionChangeBuilder.build() and its helpers (Kafka controller), with the adjustments the
KIP asks for behind knobs. An event only chooses a `Target`: the ISR and replica lists it wants, the
kind of election, the brokers that may lead and those that just stopped uncleanly. The steps below
run in exactly the order of the code, and that order matters:

    1  complete an ongoing reassignment        completeReassignmentIfNeeded
    2  derive the ELR from the target ISR       maybePopulateTargetElr
    3  elect a leader                           tryElection, electLeader
    4  name the leader if a replica was removed triggerLeaderEpochBumpForReplicaReassignmentIfNeeded
    5  drop ELR fields after an unclean election  setElr part of build()
    6  write the ISR                            build()
    7  name the leader if the ISR shrank (old)  triggerLeaderEpochBumpForIsrShrinkIfNeeded
    8  keep the last known leader               maybeUpdateLastKnownLeader
    9  write the assignment, the recovery state build()

Merging the record: the leader epoch moves exactly when the record names a leader, even the same
one; the partition epoch moves whenever anything is recorded at all (PartitionRegistration.merge).
"""

from __future__ import annotations

import enum
from dataclasses import replace

from elrcheck.lang.runtime import EMPTY, op, record
from elrcheck.lang.types import Replica, RSet
from elrcheck.model.config import Config, LastKnownLeader, LklStorage, ReassignGate
from elrcheck.model.state import MinIsr, Partition, Recovery, ReplicaList, Settings, configured_min_isr


class Election(enum.Enum):
    """PartitionChangeBuilder.Election."""

    PREFERRED = 0
    ONLINE = 1
    UNCLEAN = 2


@record
class Target:
    """What an event asks of the change builder.

    acceptable: brokers that may lead; unclean: brokers that just registered after an unclean stop.
    min_isr: the configured value; elr_enabled: what the event believes, which F-23 gets wrong.
    """

    replicas: ReplicaList
    adding: RSet
    removing: RSet
    isr: RSet
    election: Election
    acceptable: RSet
    unclean: RSet
    recovery: Recovery
    min_isr: MinIsr
    elr_enabled: bool


@record
class Draft:
    """The change record being built, on top of the fields it leaves alone.

    names_leader: the record has a leader field; unclean: the election was unclean.
    """

    replicas: ReplicaList
    adding: RSet
    removing: RSet
    isr: RSet
    elr: RSet
    last_known_elr: RSet
    last_known_leader: Replica | None
    leader: Replica | None
    names_leader: bool
    unclean: bool
    recovery: Recovery


@record
class Choice:
    """The result of an election."""

    leader: Replica | None
    unclean: bool


@op
def target(
    g: Settings, p: Partition, isr: RSet, election: Election, acceptable: RSet, unclean: RSet
) -> Target:
    """A target that leaves assignment and recovery state as they are."""
    return Target(
        replicas=p.replicas,
        adding=p.adding,
        removing=p.removing,
        isr=isr,
        election=election,
        acceptable=acceptable,
        unclean=unclean,
        recovery=p.recovery,
        min_isr=configured_min_isr(g),
        elr_enabled=g.elr_enabled,
    )


@op
def needed(t: Target, replicas: ReplicaList) -> int:
    """The effective min ISR of a replica list (KIP-966): min.insync.replicas, or all of them if fewer."""
    return min(t.min_isr, len(replicas))


@op
def reassignment_completes(c: Config, p: Partition, t: Target) -> bool:
    """PartitionReassignmentReplicas.isReassignmentCompleted; the gate differs by version (C-21)."""
    isr = t.isr - t.removing
    replicas = frozenset(t.replicas) - t.removing
    if (t.adding == EMPTY and t.removing == EMPTY) or isr == EMPTY or replicas == EMPTY:
        return False
    if c.reassign_gate == ReassignGate.ALL_TARGETS:
        return replicas <= isr
    if c.reassign_gate == ReassignGate.ADDING:
        return t.adding <= isr
    if c.reassign_gate == ReassignGate.TRUNK_2025:
        shrinks = len(t.removing) > len(t.adding)
        return t.adding <= isr and (not shrinks or replicas <= isr)
    return t.adding <= isr and len(isr) >= min(t.min_isr, len(replicas))


@op
def complete_reassignment(c: Config, p: Partition, t: Target) -> Draft:
    """Step 1. Also starts the draft from the target."""
    done = reassignment_completes(c, p, t)
    return Draft(
        replicas=tuple(r for r in t.replicas if r not in t.removing) if done else t.replicas,
        adding=EMPTY if done else t.adding,
        removing=EMPTY if done else t.removing,
        isr=t.isr - t.removing if done else t.isr,
        elr=p.elr,
        last_known_elr=p.last_known_elr,
        last_known_leader=p.last_known_leader,
        leader=p.leader,
        names_leader=False,
        unclean=False,
        recovery=t.recovery,
    )


@op
def tracks_candidates(c: Config, t: Target) -> bool:
    """Members that left are remembered: in the ELR, or in the shadow ISR, which follows the same rule."""
    return t.elr_enabled or c.shadow_isr


@op
def update_elr(c: Config, p: Partition, d: Draft, t: Target) -> Draft:
    """Step 2, the heart of KIP-966: members that leave an ISR below min ISR stay eligible.

    They are complete, because the high watermark froze when the ISR fell below min ISR. With ELR off
    this is the rule of the shadow ISR, whose last member stays in the ISR.
    """
    if not tracks_candidates(c, t):
        return replace(d, elr=EMPTY) if c.downgrade_ignores_elr else d
    if len(d.isr) >= needed(t, p.replicas):
        return replace(
            d, elr=EMPTY, last_known_elr=EMPTY if c.lkl_storage == LklStorage.SEPARATE else d.last_known_elr
        )
    members = p.elr | p.isr
    candidates = members & frozenset(d.replicas) if c.elr_intersect_replicas else members
    stays = p.isr if d.isr == EMPTY and not t.elr_enabled else EMPTY
    elr = (candidates - (d.isr if c.elr_minus_isr else d.isr - p.elr)) - t.unclean - stays
    if c.lkl_storage == LklStorage.OVERLOAD:
        return replace(d, elr=elr)
    known = ((candidates | p.last_known_elr) & frozenset(d.replicas)) - d.isr
    return replace(d, elr=elr, last_known_elr=known - elr)


@op
def stored_last_known_leader(c: Config, p: Partition) -> Replica | None:
    """The last known leader, if exactly one is stored."""
    if c.lkl_storage == LklStorage.SEPARATE:
        return p.last_known_leader
    if len(p.last_known_elr) != 1:
        return None
    return next((r for r in tuple(c.brokers) if r in p.last_known_elr), None)


@op
def elect_last_known(c: Config, p: Partition, d: Draft, t: Target) -> Replica | None:
    """The last known leader when nobody else is left. [4.0] does not look whether it is alive (F-1)."""
    stored = stored_last_known_leader(c, p)
    if not t.elr_enabled or c.last_known_leader == LastKnownLeader.NEVER or d.isr != EMPTY or d.elr != EMPTY:
        return None
    if t.election != Election.ONLINE and not c.last_known_in_every_election:
        return None
    if c.last_known_leader == LastKnownLeader.ACTIVE and stored not in t.acceptable:
        return None
    return stored


@op
def elect(c: Config, p: Partition, d: Draft, t: Target) -> Choice:
    """electLeader: ISR first, the ELR only when the ISR is empty, in the order of the replica list."""
    eligible = EMPTY if c.shadow_isr else d.elr
    valid = (d.isr if d.isr != EMPTY else eligible) & t.acceptable
    preferred = d.replicas[0]
    if t.election == Election.PREFERRED and preferred in valid:
        return Choice(leader=preferred, unclean=False)
    if p.leader in valid:
        return Choice(leader=p.leader, unclean=False)
    first = next((r for r in d.replicas if r in valid), None)
    if first is not None:
        return Choice(leader=first, unclean=False)
    last_known = elect_last_known(c, p, d, t)
    if last_known is not None:
        return Choice(leader=last_known, unclean=True)
    anyone = next((r for r in d.replicas if r in t.acceptable), None)
    if t.election == Election.UNCLEAN and anyone is not None:
        return Choice(leader=anyone, unclean=True)
    return Choice(leader=None, unclean=False)


@op
def record_election(c: Config, p: Partition, d: Draft, t: Target, choice: Choice) -> Draft:
    """Step 3. Nothing is recorded when the leader stays, whatever happened to the ISR."""
    if choice.leader == p.leader:
        return d
    won = frozenset({choice.leader}) if choice.leader is not None else EMPTY
    from_elr = choice.leader in d.elr
    marked = choice.unclean and c.recovery_state_supported and d.recovery == p.recovery
    elected = replace(
        d,
        leader=choice.leader,
        names_leader=True,
        unclean=choice.unclean,
        isr=won if from_elr or choice.unclean else d.isr,
        elr=d.elr - won if from_elr else d.elr,
        recovery=Recovery.RECOVERING if marked else d.recovery,
    )
    if c.recheck_elr_after_election and len(elected.isr) >= needed(t, p.replicas):
        return replace(
            elected,
            elr=EMPTY,
            last_known_elr=EMPTY if c.lkl_storage == LklStorage.SEPARATE else elected.last_known_elr,
        )
    return elected


@op
def name_leader_if_replica_removed(p: Partition, d: Draft) -> Draft:
    """Step 4: removing a replica re-states the leader, so that the leader epoch moves."""
    removed = not frozenset(p.replicas) <= frozenset(d.replicas)
    return replace(d, names_leader=d.names_leader or removed)


@op
def drop_elr_after_unclean_election(c: Config, d: Draft, t: Target) -> Draft:
    """Step 5: after an unclean election, or with ELR off, no broker is eligible."""
    if not d.unclean and tracks_candidates(c, t):
        return d
    return replace(
        d, elr=EMPTY, last_known_elr=EMPTY if c.lkl_storage == LklStorage.SEPARATE else d.last_known_elr
    )


@op
def write_isr(c: Config, p: Partition, d: Draft, t: Target) -> Draft:
    """Steps 6 and 7. Without ELR an empty ISR is never written: the last replica stays in."""
    may_be_empty = t.elr_enabled or c.empty_isr_without_elr
    isr = d.isr if d.isr != EMPTY or may_be_empty else p.isr
    shrank = isr != p.isr and not p.isr <= isr
    return replace(d, isr=isr, names_leader=d.names_leader or (c.bump_leader_epoch_on_isr_shrink and shrank))


@op
def keep_last_known_leader(c: Config, p: Partition, d: Draft, t: Target) -> Draft:
    """Step 8: remember who led when the ISR emptied, forget it once there is a leader."""
    if not t.elr_enabled:
        return replace(d, last_known_leader=None)
    emptied = d.isr == EMPTY and p.isr != EMPTY
    last = p.leader if p.leader is not None else next((r for r in p.replicas if r in p.isr), None)
    if c.lkl_storage == LklStorage.SEPARATE:
        return replace(
            d, last_known_leader=last if emptied else None if d.leader is not None else d.last_known_leader
        )
    only = frozenset({p.leader}) if p.leader is not None else EMPTY
    if emptied and p.last_known_elr != only:
        return replace(d, last_known_elr=only)
    return replace(d, last_known_elr=EMPTY if d.leader is not None else d.last_known_elr)


@op
def merge(p: Partition, d: Draft) -> Partition:
    """PartitionRegistration.merge: apply the record, move the epochs."""
    merged = Partition(
        replicas=d.replicas,
        adding=d.adding,
        removing=d.removing,
        isr=d.isr,
        elr=d.elr,
        last_known_elr=d.last_known_elr,
        last_known_leader=d.last_known_leader,
        leader=d.leader,
        leader_epoch=p.leader_epoch,
        partition_epoch=p.partition_epoch,
        recovery=d.recovery,
    )
    if merged == p and not d.names_leader:
        return p
    return replace(
        merged,
        leader_epoch=p.leader_epoch + 1 if d.names_leader else p.leader_epoch,
        partition_epoch=p.partition_epoch + 1,
    )


@op
def change(c: Config, p: Partition, t: Target) -> Partition:
    """The partition after one event of the controller."""
    d1 = complete_reassignment(c, p, t)
    d2 = update_elr(c, p, d1, t)
    d3 = record_election(c, p, d2, t, elect(c, p, d2, t))
    d4 = name_leader_if_replica_removed(p, d3)
    d5 = drop_elr_after_unclean_election(c, d4, t)
    d6 = write_isr(c, p, d5, t)
    d7 = keep_last_known_leader(c, p, d6, t)
    return merge(p, d7)
