"""The constants of the model: those of one partition, and those of several."""

from __future__ import annotations

from elrcheck.lang.runtime import config
from elrcheck.model.config import Config


@config
class ControllerConfig(Config):
    """One configuration. Its knobs of logs and of brokers' metadata have no effect here."""

    broker_count: int = 2
    """Brokers. Each hosts a replica of every partition, except the spare ones."""
    min_isr: int = 2
    topics: int = 1
    """Topics, which exist at the start."""
    partitions: int = 2
    """Partitions of each topic."""
    directory_index_goes_stale: bool = False
    """The deletion of a topic leaves partitions with an empty ISR in directoriesToPartitions: only the loop over ISR
    members removes a partition (replay of RemoveTopicRecord)."""

    crashes: int = 1
    fences: int = 1
    shrinks: int = 0
    min_isr_changes: int = 1
    deletions: int = 1
    """Topics that an operator deletes; recreating one is free."""
    snapshots: int = 0
    """Failovers to a controller that has built its indexes from a snapshot of the current topics."""
    cuts: int = 0
    """Events with only the first batch of records committed, because the controller fails. A batch has 10,000 records
    (QuorumController.appendRecords)."""
    loses_uncommitted: bool = False
    """Records are committed later than they are written, and a failover loses those that are not."""
    answers_uncommitted: bool = False
    """A control: a controller answers a broker before the records are committed."""

    @property
    def most_stale(self) -> int:
        """The maximum number of stale entries of a broker for one partition."""
        return self.min_isr_changes * self.partitions if self.elr_index_goes_stale else 0

    @property
    def most_entries(self) -> int:
        """The maximum number of entries in the index of ELR members for a broker and a partition."""
        return self.most_stale + 1

    @property
    def cap_leader_epoch(self) -> int:
        each = self.disturbances * (2 + self.most_stale)
        return 2 + 2 * each + self.shrinks + 3 * self.operations

    @property
    def cap_partition_epoch(self) -> int:
        each = self.disturbances * (3 + self.most_stale)
        return 2 + 2 * each + self.broker_count * self.shrinks + 4 * self.operations
