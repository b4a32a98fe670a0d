"""History for the properties, which no rule reads: committed, promised and acknowledged records.

A step that may advance the watermark of broker b ends in `observed`; one that changes min ISR, the replicas or the
feature calls `promised_less`. Sources: KIP-966, "MinISR-1 tolerance to data loss unclean shutdown events";
DelayedProduce.
"""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.runtime import op
from elrcheck.model.broker.high_watermark import maximal_isr
from elrcheck.model.broker.logs import is_prefix
from elrcheck.model.config import Config
from elrcheck.model.min_isr import effective_min_isr, leader_min_isr
from elrcheck.model.replicas import Replica, Vec
from elrcheck.model.state import (
    Acked,
    Acks,
    Broker,
    Entry,
    Log,
    MinIsr,
    PartitionEpoch,
    Promise,
    Promises,
    ReplicaList,
    Settings,
    State,
    Undone,
    UndoneMinIsrs,
    acts,
)


@op
def with_committed(committed: Log, leader: Broker) -> Log:
    """The records below the highest watermark that any leader has had; append-only.

    A leader that lacks one of them and commits others in its place adds nothing (P-32 detects it).
    """
    longer = leader.high_watermark > len(committed) and is_prefix(committed, leader.log)
    return leader.log[: leader.high_watermark] if longer else committed


# ---------------------------------------------------------------------------- promises


@op
def min_isr_in_force(settings: Settings, replicas: ReplicaList) -> MinIsr:
    """The min ISR that currently protects committed records; without ELR only the last replica does."""
    return effective_min_isr(settings, replicas) if settings.elr_enabled else 1


@op
def min_isr_may_vary(c: Config) -> bool:
    """The min ISR that protects committed records may change in a run; otherwise the state stores no promise."""
    return c.min_isr_changes > 0 or c.reassignments > 0 or c.feature_changes > 0


@op
def promised_less(c: Config, promised: Promises, committed: Log, min_isr: MinIsr) -> Promises:
    """The promises once no committed record survives more than min_isr - 1 losses.

    The partition may shrink to as few copies; a greater min ISR later does not restore the others.
    """
    weaker = tuple(p for p in promised if p.min_isr < min_isr)
    covered = len(committed) == 0 or any(p.length == len(committed) for p in weaker)
    if not min_isr_may_vary(c) or covered:
        return weaker
    return weaker + (Promise(length=len(committed), min_isr=min_isr),)  # noqa: RUF005


@op
def leader_lags(c: Config, brokers: Vec[Broker], at: PartitionEpoch) -> bool:
    """A broker that leads in its own view has not read up to this epoch."""
    return any(
        acts(brokers[b]) and brokers[b].view.leader == b and brokers[b].view.partition_epoch < at for b in c.brokers
    )


@op
def still_missed(c: Config, undone: UndoneMinIsrs, brokers: Vec[Broker]) -> UndoneMinIsrs:
    """Those whose end some leader has not read yet."""
    return tuple(u for u in undone if leader_lags(c, brokers, u.at))


@op
def undone_after(c: Config, s: State, min_isr: MinIsr) -> UndoneMinIsrs:
    """The smaller min ISRs since the view of a lagging leader, once min_isr applies."""
    before = min_isr_in_force(s.settings, s.partition.replicas)
    at = s.partition.partition_epoch
    lesser = tuple(u for u in still_missed(c, s.undone, s.broker) if u.min_isr < min_isr)
    if not min_isr_may_vary(c) or before >= min_isr or not leader_lags(c, s.broker, at):
        return lesser
    others = tuple(u for u in lesser if u.min_isr != before)
    return others + (Undone(at=at, min_isr=before),)  # noqa: RUF005


@op
def promised_by(c: Config, s: State, leader: Broker, b: Replica) -> MinIsr:
    """The min ISR under which b commits now: the smallest one since the record that b has read."""
    in_force = min_isr_in_force(s.settings, s.partition.replicas)
    least = min((u.min_isr for u in s.undone if leader.view.partition_epoch < u.at), default=in_force)
    return min(leader_min_isr(c, s.settings, leader, b), least)


# ---------------------------------------------------------------------------- acknowledgements


@op
def contains(log: Log, entry: Entry) -> bool:
    return any(e == entry for e in log)


@op
def was_acked(acked: Acked, entry: Entry) -> bool:
    return any(e == entry for e in acked)


@op
def acked_after(c: Config, s: State, after: Broker, b: Replica) -> Acked:
    """The acks=all records that b has acknowledged to their producers (DelayedProduce.tryComplete).

    As `acknowledgement.answer_after` responds, for records that b has appended in its current epoch.
    """
    leading = acts(after) and after.view.leader == b
    enough = len(maximal_isr(after)) >= leader_min_isr(c, s.settings, after, b)
    if not c.tracks_acks or not leading or not enough:
        return s.acked
    return s.acked + tuple(
        e
        for e in after.log[: after.high_watermark]
        if e.acks == Acks.ALL
        and e.epoch == after.view.leader_epoch
        and not contains(s.broker[b].log[: s.broker[b].high_watermark], e)
        and not was_acked(s.acked, e)
    )


# ---------------------------------------------------------------------------- a step


@op
def observed(c: Config, s: State, t: State, b: Replica) -> State:
    """The state t after a step of broker b, with the history that producers and consumers have observed."""
    after = t.broker[b]
    committed = with_committed(s.committed, after)
    at_commit = promised_by(c, s, after, b)
    grown = len(committed) > len(s.committed)
    return replace(
        t,
        committed=committed,
        promised=promised_less(c, s.promised, committed, at_commit) if grown else s.promised,
        acked=acked_after(c, s, after, b),
        undone=still_missed(c, s.undone, t.broker),
    )
