"""Safety properties of epochs and of the metadata that brokers have read, P-21 to P-23."""

from __future__ import annotations

from elrcheck.lang.runtime import always, conj, implies
from elrcheck.model.config import Config
from elrcheck.model.state import State, leads


@always("P-21")
def EpochsMonotonic(c: Config, s: State, t: State) -> bool:
    """Epochs never go back, and every record of the partition bumps the partition epoch by one.

    A change is one record, but for those that a stale entry in the index of ELR members repeats.
    """
    return conj(
        leader_epoch_never_back=s.partition.leader_epoch <= t.partition.leader_epoch,
        leader_change_moves_leader_epoch=implies(
            s.partition.leader != t.partition.leader, s.partition.leader_epoch < t.partition.leader_epoch
        ),
        every_change_is_one_partition_epoch=s.partition == t.partition
        or t.partition.partition_epoch == s.partition.partition_epoch + 1
        or any(
            s.registration[b] != t.registration[b]
            and s.partition.partition_epoch < t.partition.partition_epoch
            and t.partition.partition_epoch <= s.partition.partition_epoch + 1 + s.registration[b].stale_entries
            for b in c.brokers
        ),
        broker_epochs_never_back=all(s.registration[b].epoch <= t.registration[b].epoch for b in c.brokers),
    )


@always("P-22")
def OneLeaderPerEpoch(c: Config, s: State) -> bool:
    """At most one broker leads in a leader epoch."""
    return conj(
        one_leader=all(
            all(
                implies(
                    leads(s, a) and leads(s, b) and s.broker[a].view.leader_epoch == s.broker[b].view.leader_epoch,
                    a == b,
                )
                for b in c.brokers
            )
            for a in c.brokers
        )
    )


@always("P-23")
def MetadataLogMatching(c: Config, s: State) -> bool:
    """Brokers apply prefixes of one metadata log: equal partition epochs mean equal records."""
    return conj(
        not_ahead=all(
            s.broker[b].view.partition_epoch <= s.partition.partition_epoch
            and s.broker[b].view.leader_epoch <= s.partition.leader_epoch
            for b in c.brokers
        ),
        newest_is_controllers=all(
            implies(
                s.broker[b].view.partition_epoch == s.partition.partition_epoch,
                s.broker[b].view.leader == s.partition.leader
                and s.broker[b].view.leader_epoch == s.partition.leader_epoch,
            )
            for b in c.brokers
        ),
        equal_epoch_equal_record=all(
            all(
                implies(
                    s.broker[a].view.partition_epoch == s.broker[b].view.partition_epoch,
                    s.broker[a].view.leader == s.broker[b].view.leader
                    and s.broker[a].view.leader_epoch == s.broker[b].view.leader_epoch,
                )
                for b in c.brokers
            )
            for a in c.brokers
        ),
    )
