"""The records of the partition in the metadata log, as a broker reads them."""

from __future__ import annotations

from elrcheck.lang.runtime import op
from elrcheck.model.config import Config
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
