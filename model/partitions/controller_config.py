"""The constants of the model: those of one partition, and what comes with several."""

from __future__ import annotations

from elrcheck.lang.runtime import config
from elrcheck.model.config import Config


@config
class ControllerConfig(Config):
    """One configuration. What it says of logs and of brokers' metadata has no effect here."""

    broker_count: int = 2
    """Brokers. Each has a replica of every partition, except the spare ones."""
    min_isr: int = 2
    topics: int = 1
    """Topics, which exist at the start."""
    partitions: int = 2
    """Partitions of each topic."""
    directory_index_goes_stale: bool = False
    """Deleting a topic leaves a partition whose ISR is empty in the index of log directories: only a pass of the loop
    over ISR members removes it (replay(RemoveTopicRecord), directoriesToPartitions)."""

    crashes: int = 1
    fences: int = 1
    shrinks: int = 0
    min_isr_changes: int = 1
    deletions: int = 1
    """Topics that an operator deletes; creating one again is not counted."""
    snapshots: int = 0
    """Times that another controller takes over whose indexes come from a snapshot of the topics as they are."""
    cuts: int = 0
    """Events of which only the first batch of records is committed, since the controller fails. A batch has 10,000
    records (QuorumController.appendRecords)."""

    @property
    def most_stale(self) -> int:
        """The greatest number of entries that a broker may have too many, for one partition."""
        return self.min_isr_changes * self.partitions if self.elr_index_goes_stale else 0

    @property
    def most_entries(self) -> int:
        """The greatest number of entries in the index of ELR members for a broker and a partition."""
        return self.most_stale + 1

    @property
    def cap_leader_epoch(self) -> int:
        each = self.disturbances * (2 + self.most_stale)
        return 2 + 2 * each + self.shrinks + 3 * self.operations

    @property
    def cap_partition_epoch(self) -> int:
        each = self.disturbances * (3 + self.most_stale)
        return 2 + 2 * each + self.broker_count * self.shrinks + 4 * self.operations
