"""What each search reduction takes for the same state (`reductions`): the proof that nothing is lost is about these.

Two states are the same if they have the same representative. `prove --reductions` shows that every step treats a state
and its representative alike, with the knob of the reduction and without it (ADR 42). No rule calls these operators.
"""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.induction import Reduction
from elrcheck.lang.runtime import EMPTY, op
from elrcheck.model.absent import no_exchange
from elrcheck.model.alternatives.reductions import forget_members, no_news, skips, sure_to_be_refused
from elrcheck.model.choices import Propagation
from elrcheck.model.config import Config
from elrcheck.model.metadata_record import snapshot
from elrcheck.model.replicas import Replica
from elrcheck.model.state import Broker, Exchange, Partition, PartitionEpoch, Snapshot, Stage, State, Status


@op
def has_read_up_to(c: Config, s: State, b: Replica) -> PartitionEpoch:
    """The record that a broker counts as having read, with propagation LATEST: the newest, or 1 if it lags behind.

    A broker that does not lead has read a record without news at once (ADR 8); of other records it will only read the
    newest, whichever was its last.
    """
    view = s.broker[b].view
    applied = Snapshot(leader=view.leader, leader_epoch=view.leader_epoch, isr=EMPTY, replicas=view.replicas, min_isr=0)
    lags = view.partition_epoch > 0 and view.partition_epoch < s.partition.partition_epoch and view.leader != b
    if not lags or not skips(c):
        return view.partition_epoch
    return s.partition.partition_epoch if no_news(c, applied, snapshot(c, s.settings, s.partition), b) else 1


@op
def without_news(c: Config, s: State) -> State:
    """The state in which every broker has read the records that have no news for it; no exchange has no content."""
    return replace(
        s,
        broker=tuple(
            replace(
                s.broker[b],
                view=replace(s.broker[b].view, partition_epoch=has_read_up_to(c, s, b)),
                alter=no_exchange(c) if s.broker[b].alter.stage == Stage.IDLE else s.broker[b].alter,
            )
            for b in c.brokers
        ),
    )


@op
def exchange_without_members(c: Config, broker: Broker, b: Replica, p: Partition) -> Exchange:
    """The exchange of b without the member epochs that no controller compares (ADR 9).

    A granted request carries the epochs after the change, but b sends it again with those of its view.
    """
    exchange = broker.alter
    answered = exchange.stage == Stage.ANSWERED
    again = sure_to_be_refused(p, broker.view.leader_epoch, broker.view.partition_epoch)
    dropped = tuple(exchange.member_epochs[f] if f == b else 0 for f in c.brokers)
    return replace(exchange, member_epochs=dropped) if answered and again else forget_members(c, exchange, b, p)


@op
def registration_to_read(c: Config, broker: Broker) -> PartitionEpoch:
    """Return the epoch of the registration that the broker must read before it may stop; 0 if it need not read one."""
    behind = broker.view.partition_epoch < broker.registered_at
    may_stop_before = c.metadata == Propagation.LOG and c.registration_catch_up
    waits = broker.status == Status.RUNNING and may_stop_before and behind
    return broker.registered_at if waits else 0


@op
def without_unused_epochs(c: Config, s: State) -> State:
    """The state without the epochs that no rule will compare again."""
    return replace(
        s,
        broker=tuple(
            replace(
                s.broker[b],
                alter=exchange_without_members(c, s.broker[b], b, s.partition),
                registered_at=registration_to_read(c, s.broker[b]),
            )
            for b in c.brokers
        ),
    )


def _lagging_brokers(c: Config) -> str:
    """Return why records without news are not proved: with LOG a broker stops at one record instead of another."""
    return "with propagation LOG a broker reads several records in one step" if c.metadata == Propagation.LOG else ""


REDUCTIONS = (
    Reduction("records without news", without_news, {"skips_no_news": True}, _lagging_brokers),
    Reduction("epochs without use", without_unused_epochs, {"forgets": True}),
)
