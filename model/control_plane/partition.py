"""The controller's only change builder: every event that changes the partition calls `change`.

Source: PartitionChangeBuilder.build() and its helpers, with the adjustments that KIP-966 requires behind knobs. An
event only chooses a `Target`: the ISR and replica lists, the type of election, the brokers that may lead and those
that have just stopped uncleanly. The steps below run in exactly Kafka's order, which matters:

    1  complete an ongoing reassignment        completeReassignmentIfNeeded
    2  derive the ELR from the target ISR       maybePopulateTargetElr
    3  elect a leader                           tryElection, electLeader
    4  name the leader if a replica was removed triggerLeaderEpochBumpForReplicaReassignmentIfNeeded
    5  drop ELR fields after an unclean election  setElr part of build()
    6  write the ISR                            build()
    7  name the leader if the ISR shrank (old)  triggerLeaderEpochBumpForIsrShrinkIfNeeded
    8  store the last known leader              maybeUpdateLastKnownLeader
    9  write the assignment, the recovery state build()

Merging the record: the leader epoch is bumped exactly when the record has a leader field, even the current leader; the
partition epoch is bumped by every record (PartitionRegistration.merge).
"""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.runtime import EMPTY, op, record
from elrcheck.model.alternatives.shadow_isr import electable, update_shadow_isr
from elrcheck.model.change_record import Draft, Election, Target
from elrcheck.model.choices import CandidateChoice, LastKnownLeader, LklRule, LklStorage, ReassignGate
from elrcheck.model.config import Config
from elrcheck.model.elr import eligible_members, needed, with_elr, with_empty_elr, with_last_known_only
from elrcheck.model.replicas import Replica, RSet
from elrcheck.model.state import Partition, Recovery, ReplicaList


@record
class Choice:
    """The result of an election (PartitionChangeBuilder.ElectionResult)."""

    leader: Replica | None
    unclean: bool


@op
def change(c: Config, p: Partition, target: Target) -> Partition:
    """The partition after one event of the controller."""
    completed = complete_reassignment(c, p, target)
    tracked = update_elr(c, p, completed, target)
    elected = record_election(c, p, tracked, target, elect(c, p, tracked, target))
    named = name_leader_if_replica_removed(p, elected)
    dropped = drop_elr_after_unclean_election(c, named, target)
    written = write_isr(c, p, dropped, target)
    return merge(p, keep_last_known_leader(c, p, written, target))


# ---------------------------------------------------------------------------- step 1


@op
def complete_reassignment(c: Config, p: Partition, target: Target) -> Draft:
    """Step 1, which also starts the draft from the target."""
    done = reassignment_completes(c, target)
    return Draft(
        replicas=tuple(r for r in target.replicas if r not in target.removing) if done else target.replicas,
        adding=EMPTY if done else target.adding,
        removing=EMPTY if done else target.removing,
        isr=target.isr - target.removing if done else target.isr,
        elr=p.elr,
        last_known_elr=p.last_known_elr,
        last_known_leader=p.last_known_leader,
        leader=p.leader,
        names_leader=False,
        unclean=False,
        recovery=target.recovery,
        last_known_none=p.last_known_none,
    )


@op
def reassignment_completes(c: Config, target: Target) -> bool:
    """PartitionReassignmentReplicas.isReassignmentCompleted; the condition differs by version (C-21)."""
    isr = target.isr - target.removing
    replicas = frozenset(target.replicas) - target.removing
    if (target.adding == EMPTY and target.removing == EMPTY) or isr == EMPTY or replicas == EMPTY:
        return False
    if c.reassign_gate == ReassignGate.ALL_TARGETS:
        return replicas <= isr
    if c.reassign_gate == ReassignGate.ADDING:
        return target.adding <= isr
    if c.reassign_gate == ReassignGate.TRUNK_2025:
        shrinks = len(target.removing) > len(target.adding)
        return target.adding <= isr and (not shrinks or replicas <= isr)
    return target.adding <= isr and len(isr) >= min(target.min_isr, len(replicas))


# ---------------------------------------------------------------------------- step 2


@op
def update_elr(c: Config, p: Partition, draft: Draft, target: Target) -> Draft:
    """Step 2, the core of KIP-966: members that leave an ISR below min ISR stay eligible.

    They are complete, because the high watermark stopped when the ISR fell below min ISR.
    """
    if c.shadow_isr:
        return update_shadow_isr(c, p, draft, target)
    if not target.elr_enabled:
        return replace(draft, elr=EMPTY) if c.downgrade_ignores_elr else draft
    if len(draft.isr) >= needed(c, target, p.replicas):
        return with_empty_elr(c, draft)
    return with_elr(c, p, draft, eligible_members(c, p, draft, target))


# ---------------------------------------------------------------------------- steps 3 and 4


@op
def elect(c: Config, p: Partition, draft: Draft, target: Target) -> Choice:
    """electLeader: from the ISR, or from the ELR if the ISR is empty, in the order of the replica list."""
    valid = (draft.isr if draft.isr != EMPTY else electable(c, draft.elr)) & target.acceptable
    preferred = draft.replicas[0]
    if target.election == Election.PREFERRED and preferred in valid:
        return Choice(leader=preferred, unclean=False)
    if p.leader in valid:
        return Choice(leader=p.leader, unclean=False)
    first = chosen(c, draft.replicas, target, valid)
    if first is not None:
        return Choice(leader=first, unclean=False)
    if elects_none(c, p, draft, target):
        return Choice(leader=None, unclean=True)
    last_known = elect_last_known(c, p, draft, target)
    if last_known is not None:
        return Choice(leader=last_known, unclean=True)
    anyone = chosen(c, draft.replicas, target, target.acceptable)
    if target.election == Election.UNCLEAN and anyone is not None:
        return Choice(leader=anyone, unclean=True)
    return Choice(leader=None, unclean=False)


@op
def chosen(c: Config, replicas: ReplicaList, target: Target, candidates: RSet) -> Replica | None:
    """electAnyLeader takes the first candidate in the replica list.

    KIP-966 does not specify which member of the ISR or ELR wins, and requires a random replica in an unclean election.
    """
    if c.choice == CandidateChoice.ANY and target.favoured in candidates & frozenset(replicas):
        return target.favoured
    return next((r for r in replicas if r in candidates), None)


@op
def elect_last_known(c: Config, p: Partition, draft: Draft, target: Target) -> Replica | None:
    """The last known leader, once ISR and ELR are empty. 4.0 does not check that it is active (F-1)."""
    stored = stored_last_known_leader(c, p)
    if not target.elr_enabled or c.last_known_leader == LastKnownLeader.NEVER:
        return None
    if draft.isr != EMPTY or draft.elr != EMPTY:
        return None
    if target.election != Election.ONLINE and not c.last_known_in_every_election:
        return None
    if c.last_known_leader == LastKnownLeader.ACTIVE and stored not in target.acceptable:
        return None
    return stored


@op
def elects_none(c: Config, p: Partition, draft: Draft, target: Target) -> bool:
    """4.0 elects the last known leader unchecked: if it is -1, the partition stays leaderless."""
    empty = draft.isr == EMPTY and draft.elr == EMPTY
    elects = target.elr_enabled and c.last_known_leader == LastKnownLeader.ANY
    return elects and empty and p.last_known_none


@op
def stored_last_known_leader(c: Config, p: Partition) -> Replica | None:
    """The last known leader, if exactly one is stored."""
    if c.lkl_storage == LklStorage.SEPARATE:
        return p.last_known_leader
    if len(p.last_known_elr) != 1:
        return None
    return next((r for r in tuple(c.brokers) if r in p.last_known_elr), None)


@op
def record_election(c: Config, p: Partition, draft: Draft, target: Target, choice: Choice) -> Draft:
    """Step 3. It records nothing if the leader stays, even if the ISR changes."""
    if choice.leader == p.leader:
        return draft
    won = frozenset({choice.leader}) if choice.leader is not None else EMPTY
    from_elr = choice.leader in draft.elr
    marked = choice.unclean and c.recovery_state_supported and draft.recovery == p.recovery
    elected = replace(
        draft,
        leader=choice.leader,
        names_leader=True,
        unclean=choice.unclean,
        isr=won if from_elr or choice.unclean else draft.isr,
        elr=draft.elr - won if from_elr else draft.elr,
        recovery=Recovery.RECOVERING if marked else draft.recovery,
    )
    if c.recheck_elr_after_election and len(elected.isr) >= needed(c, target, p.replicas):
        return with_empty_elr(c, elected)
    return elected


@op
def name_leader_if_replica_removed(p: Partition, draft: Draft) -> Draft:
    """Step 4: the removal of a replica sets the leader field, which bumps the leader epoch."""
    removed = not frozenset(p.replicas) <= frozenset(draft.replicas)
    return replace(draft, names_leader=draft.names_leader or removed)


@op
def election_fails(c: Config, p: Partition, target: Target) -> bool:
    """LeaderAcceptor.test looks up the directory of an active candidate in the old registration.

    PartitionRegistration.directory throws if the candidate is not a replica yet. A request then fails with
    UNKNOWN_SERVER_ERROR; in any other event the controller faults.
    """
    tracked = update_elr(c, p, complete_reassignment(c, p, target), target)
    winner = elect(c, p, tracked, target).leader
    tested = winner is not None and winner in target.acceptable
    return c.strangers_fail and tested and winner not in frozenset(p.replicas)


@op
def attempted_change(c: Config, p: Partition, target: Target) -> Partition:
    """The partition after an event whose election may throw: it then records nothing."""
    return p if election_fails(c, p, target) else change(c, p, target)


# ---------------------------------------------------------------------------- steps 5 to 8


@op
def drop_elr_after_unclean_election(c: Config, draft: Draft, target: Target) -> Draft:
    """Step 5: no broker is eligible after an unclean election, or with ELR off."""
    if c.shadow_isr or target.elr_enabled:
        return with_last_known_only(c, draft) if draft.unclean else draft
    return with_empty_elr(c, draft)


@op
def write_isr(c: Config, p: Partition, draft: Draft, target: Target) -> Draft:
    """Steps 6 and 7. Without ELR the builder never writes an empty ISR: the last member stays."""
    may_be_empty = target.elr_enabled or c.empty_isr_without_elr
    isr = draft.isr if draft.isr != EMPTY or may_be_empty else p.isr
    shrank = isr != p.isr and not p.isr <= isr
    bumped = c.bump_leader_epoch_on_isr_shrink and shrank
    return replace(draft, isr=isr, names_leader=draft.names_leader or bumped)


@op
def keep_last_known_leader(c: Config, p: Partition, draft: Draft, target: Target) -> Draft:
    """Step 8: store the last leader when the ISR becomes empty; clear it when there is a leader again."""
    if not target.elr_enabled:
        return replace(draft, last_known_leader=None)
    emptied = draft.isr == EMPTY and p.isr != EMPTY
    last = p.leader if p.leader is not None else next((r for r in p.replicas if r in p.isr), None)
    if c.lkl_storage == LklStorage.SEPARATE:
        remembered = None if draft.leader is not None else draft.last_known_leader
        return replace(draft, last_known_leader=last if emptied else remembered)
    return keep_last_known_in_elr_field(c, p, draft, emptied)


@op
def keep_last_known_in_elr_field(c: Config, p: Partition, draft: Draft, emptied: bool) -> Draft:
    """maybeUpdateLastKnownLeader: the LastKnownELR field contains only the last known leader.

    Since 4.1.1 the record that removes the leader stores it, if none is stored, and only a record with a new leader
    clears it (LEADERLESS). Before, the record that emptied the ISR stored it.
    """
    only = frozenset({p.leader}) if p.leader is not None else EMPTY
    none = c.lkl_stores_none and p.leader is None
    stored = p.last_known_elr != EMPTY or p.last_known_none
    if c.lkl_rule == LklRule.LEADERLESS:
        stores = draft.names_leader and draft.leader is None and not stored
        forgets = draft.names_leader and draft.leader is not None
    else:
        stores = emptied and (p.last_known_elr != only or p.last_known_none != none)
        forgets = draft.leader is not None
    if stores:
        return replace(draft, last_known_elr=only, last_known_none=none)
    if forgets:
        return replace(draft, last_known_elr=EMPTY, last_known_none=False)
    return draft


# ---------------------------------------------------------------------------- the record, applied


@op
def merge(p: Partition, draft: Draft) -> Partition:
    """Step 9 and PartitionRegistration.merge: apply the record and bump the epochs."""
    merged = Partition(
        replicas=draft.replicas,
        adding=draft.adding,
        removing=draft.removing,
        isr=draft.isr,
        elr=draft.elr,
        last_known_elr=draft.last_known_elr,
        last_known_leader=draft.last_known_leader,
        leader=draft.leader,
        leader_epoch=p.leader_epoch,
        partition_epoch=p.partition_epoch,
        recovery=draft.recovery,
        last_known_none=draft.last_known_none,
    )
    if merged == p and not draft.names_leader:
        return p
    return replace(
        merged,
        leader_epoch=p.leader_epoch + 1 if draft.names_leader else p.leader_epoch,
        partition_epoch=p.partition_epoch + 1,
    )
