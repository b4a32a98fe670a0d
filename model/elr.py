"""Eligible leader replicas: which brokers stay eligible after they leave the ISR.

Source: KIP-966 "Eligible Leader Replicas" and "LastKnownELR"; PartitionChangeBuilder.maybePopulateTargetElr.
"""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.runtime import EMPTY, op
from elrcheck.model.change_record import Draft, Target
from elrcheck.model.choices import LklStorage
from elrcheck.model.config import Config
from elrcheck.model.replicas import RSet
from elrcheck.model.state import Partition, ReplicaList


@op
def needed(c: Config, target: Target, replicas: ReplicaList) -> int:
    """The effective min ISR (KIP-966): min.insync.replicas, or the number of replicas if that is smaller.

    Kafka counts the replicas of the topic's partition 0 (getTopicEffectiveMinIsr, F-31).
    """
    counted = c.partition_zero_replicas if c.partition_zero_replicas > 0 else len(replicas)
    return min(target.min_isr, counted)


@op
def former_members(c: Config, p: Partition, draft: Draft) -> RSet:
    """The members of the ISR and the ELR before the change that remain replicas (C-9, F-20)."""
    members = p.elr | p.isr
    return members & frozenset(draft.replicas) if c.elr_intersect_replicas else members


@op
def eligible_members(c: Config, p: Partition, draft: Draft, target: Target) -> RSet:
    """Former members outside the new ISR that have not just registered after an unclean shutdown."""
    in_isr = draft.isr if c.elr_minus_isr else draft.isr - p.elr
    return (former_members(c, p, draft) - in_isr) - target.unclean


@op
def with_elr(c: Config, p: Partition, draft: Draft, elr: RSet) -> Draft:
    """The draft with this ELR. LastKnownELR: the former members that are no longer eligible (C-1)."""
    if c.lkl_storage == LklStorage.OVERLOAD:
        return replace(draft, elr=elr)
    former = ((former_members(c, p, draft) | p.last_known_elr) & frozenset(draft.replicas)) - draft.isr
    return replace(draft, elr=elr, last_known_elr=former - elr)


@op
def with_last_known_only(c: Config, draft: Draft) -> Draft:
    """The draft after an unclean election: no replica is eligible, but all stay in LastKnownELR (KIP-966).

    "The LastKnownELR will be cleaned when ISR reaches the min ISR", which an elected replica alone does not.
    """
    if c.unclean_election_clears_last_known or c.lkl_storage == LklStorage.OVERLOAD:
        return with_empty_elr(c, draft)
    return replace(draft, elr=EMPTY, last_known_elr=(draft.elr | draft.last_known_elr) - draft.isr)


@op
def with_empty_elr(c: Config, draft: Draft) -> Draft:
    """The draft without ELR and LastKnownELR, unless the latter stores the last known leader (C-2)."""
    last_known_elr = EMPTY if c.lkl_storage == LklStorage.SEPARATE else draft.last_known_elr
    return replace(draft, elr=EMPTY, last_known_elr=last_known_elr)
