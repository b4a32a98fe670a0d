"""Search reductions (`--reduce`): merge states whose difference no longer matters (ADR 0008, 0009).

Kafka has nothing like this. The rules call the operators here last, to merge states that no rule and no property can
distinguish from then on; a search visits one of them instead of many. With the knobs `skips_no_news` and `forgets` off,
the default, no operator changes anything.

Soundness: each reduction maps a state to one with the same steps and properties, up to steps that change nothing that a
rule or a property reads. So every behaviour of the full model has a counterpart in the reduced model and vice versa,
and a property breaks in one exactly if it breaks in the other. A test compares both in small scopes.

* `skips_no_news`. A follower reads the leader, the leader epoch and the replicas of a record. If it is up to date and
  the next record repeats them, it counts as having read that record at once. This never applies to a leader, which
  reads its ISR from the record.
* `forgets`. Epochs only grow. A stale request stays stale, and the controller rejects it before it compares the broker
  epochs of the members: the state drops them. Likewise a broker needs the epoch of its registration only until it has
  read up to it.
"""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.runtime import op
from elrcheck.model.choices import Propagation
from elrcheck.model.config import Config
from elrcheck.model.metadata_record import snapshot
from elrcheck.model.replicas import Replica, Vec
from elrcheck.model.state import Broker, Epoch, Exchange, Partition, PartitionEpoch, Snapshot, State

# ---------------------------------------------------------------------------- calls from the rules


@op
def forget_at_commit(c: Config, s: State, after: Partition) -> Vec[Broker]:
    """The brokers after the controller has changed the partition to `after` (`commit.partition_changed`)."""
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
    """The exchange without the broker epochs of other members, if the controller is certain to reject it."""
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
    """A broker that has just registered; it retains the epoch of its registration only if it must read up to it."""
    must_read_up_to_it = c.metadata == Propagation.LOG and (c.registration_catch_up or not c.forgets)
    return after if must_read_up_to_it else replace(after, registered_at=before.registered_at)


@op
def no_news(c: Config, older: Snapshot, newer: Snapshot, b: Replica) -> bool:
    """A broker b that has applied the older record only changes its partition epoch with the newer one.

    A broker that hosts no replica deletes its log at every record, so each of them matters to it (F-38).
    """
    same_leader = older.leader == newer.leader and older.leader_epoch == newer.leader_epoch
    same = same_leader and older.replicas == newer.replicas
    return skips(c) and same and newer.leader != b and b in newer.replicas


# ---------------------------------------------------------------------------- records without effect


@op
def skips(c: Config) -> bool:
    """Followers skip records without effect.

    They do not if a controlled shutdown waits for brokers to read records, if a record may bring a lagging broker
    another min.insync.replicas, or if brokers do not apply equal epochs (F-34).
    """
    no_stale_min_isr = c.metadata == Propagation.LATEST or c.min_isr_changes == 0
    return c.skips_no_news and c.shutdowns == 0 and c.applies_equal_epoch and no_stale_min_isr


@op
def newest_read(c: Config, s: State, b: Replica, after: Partition) -> PartitionEpoch:
    """The epoch up to which b has read after the change; a broker that lags or leads needs a step of its own."""
    view = s.broker[b].view
    older = snapshot(c, s.settings, s.partition)
    newer = snapshot(c, s.settings, after)
    up_to_date = view.partition_epoch == s.partition.partition_epoch and view.leader != b
    return after.partition_epoch if up_to_date and no_news(c, older, newer, b) else view.partition_epoch


# ---------------------------------------------------------------------------- unused epochs


@op
def sure_to_be_refused(p: Partition, leader_epoch: Epoch, partition_epoch: PartitionEpoch) -> bool:
    """An AlterPartition with these epochs is stale, and stays so: epochs never go back."""
    return leader_epoch < p.leader_epoch or partition_epoch < p.partition_epoch
