"""What can make no difference any more, and is therefore not told apart (docs/adr/0008, 0009).

Both reductions keep every behaviour up to steps that change nothing a rule or a property looks at,
and each has a knob, because a search without them is the evidence for them.

* A follower needs of a record only leader, leader epoch and replicas. When it has read everything and the
  next record repeats these, it counts as having read that one too (`skips_no_news`).
* Epochs that a request carries for its members are dropped once the request is sure to be refused as
  stale; so is the epoch a broker registered at once it has read that far (`forgets`).
"""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.runtime import op
from elrcheck.lang.types import Replica, Vec
from elrcheck.model.config import Config, Propagation
from elrcheck.model.state import (
    Broker,
    Epoch,
    Exchange,
    Partition,
    PartitionEpoch,
    Snapshot,
    State,
    snapshot,
)

# ---------------------------------------------------------------------------- records without news


@op
def skips(c: Config) -> bool:
    """Followers skip records without news.

    Not where a controlled shutdown waits for what brokers have read, where a record may tell a lagging
    broker of another min.insync.replicas, or where equal epochs are not applied (F-34).
    """
    told = c.metadata == Propagation.LATEST or c.min_isr_changes == 0
    return c.skips_no_news and c.shutdowns == 0 and c.applies_equal_epoch and told


@op
def no_news(c: Config, older: Snapshot, newer: Snapshot, b: Replica) -> bool:
    """Having read the older record, b would not change at all with the newer one, except its number.

    Who is no replica deletes its log with every record, so none is without news to it (F-38).
    """
    same_leader = older.leader == newer.leader and older.leader_epoch == newer.leader_epoch
    same = same_leader and older.replicas == newer.replicas
    return skips(c) and same and newer.leader != b and b in newer.replicas


@op
def newest_read(c: Config, s: State, b: Replica, p: Partition) -> PartitionEpoch:
    """How far b has read once the partition has become p; who is behind, or leads, has to take a step."""
    view = s.broker[b].view
    older = snapshot(c, s.settings, s.partition)
    newer = snapshot(c, s.settings, p)
    up_to_date = view.partition_epoch == s.partition.partition_epoch and view.leader != b
    return p.partition_epoch if up_to_date and no_news(c, older, newer, b) else view.partition_epoch


# ---------------------------------------------------------------------------- epochs without use


@op
def sure_to_be_refused(p: Partition, leader_epoch: Epoch, partition_epoch: PartitionEpoch) -> bool:
    """An AlterPartition of these epochs is stale, now and for ever: epochs never go back."""
    return leader_epoch < p.leader_epoch or partition_epoch < p.partition_epoch


@op
def without_members(c: Config, x: Exchange, sender: Replica, p: Partition) -> Exchange:
    """The exchange without the epochs of members other than the sender, once nobody will compare them."""
    if not c.forgets or not sure_to_be_refused(p, x.leader_epoch, x.partition_epoch):
        return x
    return replace(x, member_epochs=tuple(x.member_epochs[b] if b == sender else 0 for b in c.brokers))


@op
def still_to_reach(c: Config, registered_at: PartitionEpoch) -> PartitionEpoch:
    """The epoch of its registration as a broker that need not reach it, or has, remembers it."""
    return 0 if c.forgets else registered_at


@op
def keeps_registration(c: Config) -> bool:
    """A starting broker remembers the epoch of its registration, up to which it has to read."""
    return c.metadata == Propagation.LOG and (c.registration_catch_up or not c.forgets)


# ---------------------------------------------------------------------------- a step of the controller


@op
def kept_up(c: Config, s: State, p: Partition) -> Vec[Broker]:
    """The brokers once the controller has turned the partition into p; with both knobs off as they are."""
    if not c.skips_no_news and not c.forgets:
        return s.broker
    return tuple(
        replace(
            s.broker[b],
            view=replace(s.broker[b].view, partition_epoch=newest_read(c, s, b, p)),
            alter=without_members(c, s.broker[b].alter, b, p),
        )
        for b in c.brokers
    )
