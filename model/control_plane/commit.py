"""The effect of a committed partition change on the whole state.

Sources: QuorumController, which commits and replays the PartitionChangeRecord of a decision; KIP-966 "Unclean
recovery" for the end of a recovery.
"""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.runtime import op
from elrcheck.model.absent import no_recovery
from elrcheck.model.alternatives.reductions import forget_at_commit
from elrcheck.model.broker.ghosts import min_isr_in_force, promised_less, undone_after
from elrcheck.model.choices import Propagation
from elrcheck.model.config import Config
from elrcheck.model.metadata_record import snapshot, with_value_of_leader
from elrcheck.model.state import Metadata, Partition, Settings, State, UncleanRecovery


@op
def partition_changed(c: Config, s: State, after: Partition) -> State:
    """The state after the controller has committed the record that changes the partition to `after`.

    An action with a decision about the partition returns this state, with its other changes replaced.
    """
    return replace(
        s,
        partition=after,
        metadata=logged(c, s.metadata, s.settings, s.partition, after),
        recovery=recovery_after(c, s.recovery, after),
        broker=forget_at_commit(c, s, after),
        promised=promised_less(c, s.promised, s.committed, min_isr_in_force(s.settings, after.replicas)),
        undone=undone_after(c, s, min_isr_in_force(s.settings, after.replicas)),
        favoured=s.favoured if after.leader == s.partition.leader else None,
    )


@op
def batch_committed(c: Config, s: State, after: Partition) -> State:
    """The same for a batch of up to two records: the metadata log has one entry for each partition epoch."""
    changed = partition_changed(c, s, after)
    single = after.partition_epoch <= s.partition.partition_epoch + 1
    log = changed.metadata if single else logged(c, changed.metadata, s.settings, s.partition, after)
    return replace(changed, metadata=log)


@op
def logged(c: Config, log: Metadata, settings: Settings, before: Partition, after: Partition) -> Metadata:
    """The metadata log after the change; unchanged if the partition is, or if no broker can lag."""
    if c.metadata == Propagation.LATEST or after.partition_epoch == before.partition_epoch:
        return log
    record = with_value_of_leader(c, settings, snapshot(c, settings, after))
    return log + (record,)  # noqa: RUF005


@op
def recovery_after(c: Config, recovery: UncleanRecovery, after: Partition) -> UncleanRecovery:
    """A recovery ends as soon as the partition has a leader again (E-26)."""
    return no_recovery(c) if after.leader is not None and c.election_ends_recovery else recovery
