"""The records about the partition that a broker reads in the metadata log."""

from __future__ import annotations

from elrcheck.lang.runtime import op
from elrcheck.model.config import Config
from elrcheck.model.state import Partition, Settings, Snapshot, configured_min_isr


@op
def snapshot(c: Config, settings: Settings, p: Partition) -> Snapshot:
    """The partition as the metadata log describes it."""
    return Snapshot(
        leader=p.leader,
        leader_epoch=p.leader_epoch,
        isr=p.isr,
        replicas=frozenset(p.replicas),
        min_isr=configured_min_isr(settings) if c.min_isr_changes > 0 else 0,
    )
