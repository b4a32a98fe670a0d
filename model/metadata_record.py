"""The records of the partition in the metadata log, as a broker reads them."""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.runtime import op
from elrcheck.model.config import Config
from elrcheck.model.min_isr import known_min_isr
from elrcheck.model.state import Partition, Settings, Snapshot, configured_min_isr


@op
def snapshot(c: Config, settings: Settings, p: Partition) -> Snapshot:
    """The current partition as a record of the metadata log."""
    return Snapshot(
        leader=p.leader,
        leader_epoch=p.leader_epoch,
        isr=p.isr,
        replicas=frozenset(p.replicas),
        min_isr=configured_min_isr(settings) if c.min_isr_changes > 0 else 0,
    )


@op
def with_value_of_leader(c: Config, settings: Settings, record: Snapshot) -> Snapshot:
    """The record with the min.insync.replicas of the leader that it names, which may have a value of its own."""
    leader = record.leader
    return record if leader is None else replace(record, min_isr=known_min_isr(c, settings, leader))


@op
def without_values_of_brokers(c: Config, settings: Settings) -> Settings:
    """The settings that an older record leaves open: the value of its leader is in the record."""
    return replace(settings, broker_min_isr=tuple(None for b in c.brokers)) if c.min_isr_changes > 0 else settings
