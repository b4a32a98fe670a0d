"""Search reductions (`--reduce`): states whose difference no longer matters become one (ADR 0008, 0009).

Kafka does none of this. The rules call the operators here as their last act, to make states equal that no
rule and no property can tell apart from then on; a search then visits one of them instead of many. With the
knobs `skips_no_news` and `forgets` off, as they are by default, every operator returns what it was given.

Why this is sound. Each reduction maps a state to one that offers the same steps and satisfies the same
properties, up to steps that change nothing a rule or a property looks at. So every behaviour of the full
model has a counterpart in the reduced one and the other way round, and a violation is found in one exactly if
it is found in the other. A test searches small scopes with and without, and compares what breaks.

* `skips_no_news`. A follower looks at the leader, the leader epoch and the replicas of a record. If it has
  read everything and the next record repeats these, reading that one changes nothing but a number. It counts
  as having read it at once. A leader is never skipped: it takes its ISR from the record.
* `forgets`. Epochs only grow. A request that is stale once is stale for ever, and is refused before anybody
  compares the broker epochs of its members: they are dropped. In the same way a broker needs the epoch of its
  registration only until it has read that far.
"""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.runtime import op
from elrcheck.model.choices import Propagation
from elrcheck.model.config import Config
from elrcheck.model.metadata_record import snapshot
from elrcheck.model.replicas import Replica, Vec
from elrcheck.model.state import Broker, Epoch, Exchange, Partition, PartitionEpoch, Snapshot, State

# ---------------------------------------------------------------------------- what the rules call


@op
def forget_at_commit(c: Config, s: State, after: Partition) -> Vec[Broker]:
    """The brokers once the controller has turned the partition into `after` (`commit.partition_changed`)."""
    if not c.skips_no_news and not c.forgets:
        return s.broker
    return tuple(
        replace(
            s.broker[b],
            view=replace(s.broker[b].view, partition_epoch=newest_read(c, s, b, after)),
            alter=forget_members(c, s.broker[b].alter, b, after),
        )
        for b in c.brokers
    )


@op
def forget_members(c: Config, exchange: Exchange, sender: Replica, p: Partition) -> Exchange:
    """The exchange without the broker epochs of other members, if the controller is sure to refuse it."""
    if not c.forgets or not sure_to_be_refused(p, exchange.leader_epoch, exchange.partition_epoch):
        return exchange
    carried = tuple(exchange.member_epochs[b] if b == sender else 0 for b in c.brokers)
    return replace(exchange, member_epochs=carried)


@op
def forget_registration(c: Config, broker: Broker) -> Broker:
    """A broker that has read its own registration, or is down, without the epoch of that registration."""
    return replace(broker, registered_at=0) if c.forgets else broker


@op
def forget_useless_registration(c: Config, before: Broker, after: Broker) -> Broker:
    """A broker that has just registered; it keeps the epoch of that only if it has to read up to it."""
    must_read_up_to_it = c.metadata == Propagation.LOG and (c.registration_catch_up or not c.forgets)
    return after if must_read_up_to_it else replace(after, registered_at=before.registered_at)


@op
def no_news(c: Config, older: Snapshot, newer: Snapshot, b: Replica) -> bool:
    """A broker b that has read the older record would not change with the newer one, except its number.

    A broker that holds no replica deletes its log with every record, so each is news to it (F-38).
    """
    same_leader = older.leader == newer.leader and older.leader_epoch == newer.leader_epoch
    same = same_leader and older.replicas == newer.replicas
    return skips(c) and same and newer.leader != b and b in newer.replicas


# ---------------------------------------------------------------------------- records without news


@op
def skips(c: Config) -> bool:
    """Followers skip records without news.

    Not where a controlled shutdown waits for what brokers have read, where a record may tell a lagging
    broker of another min.insync.replicas, or where equal epochs are not applied (F-34).
    """
    no_stale_min_isr = c.metadata == Propagation.LATEST or c.min_isr_changes == 0
    return c.skips_no_news and c.shutdowns == 0 and c.applies_equal_epoch and no_stale_min_isr


@op
def newest_read(c: Config, s: State, b: Replica, after: Partition) -> PartitionEpoch:
    """The epoch up to which b has read after the change; a broker that lags behind, or leads, has to take a step."""
    view = s.broker[b].view
    older = snapshot(c, s.settings, s.partition)
    newer = snapshot(c, s.settings, after)
    up_to_date = view.partition_epoch == s.partition.partition_epoch and view.leader != b
    return after.partition_epoch if up_to_date and no_news(c, older, newer, b) else view.partition_epoch


# ---------------------------------------------------------------------------- epochs without use


@op
def sure_to_be_refused(p: Partition, leader_epoch: Epoch, partition_epoch: PartitionEpoch) -> bool:
    """An AlterPartition of these epochs is stale, now and for ever: epochs never go back."""
    return leader_epoch < p.leader_epoch or partition_epoch < p.partition_epoch
