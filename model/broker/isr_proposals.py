"""How a leader changes its ISR: it proposes with AlterPartition and learns the controller's answer.

Source: Partition (core): maybeExpandIsr, maybeShrinkIsr, submitAlterPartition, and its partition
states CommittedPartitionState, PendingExpandIsr, PendingShrinkIsr; KIP-841, KIP-903.
"""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.marks import Fair, Message, Strength, Unfair
from elrcheck.lang.runtime import EMPTY, action, op, put, require
from elrcheck.lang.types import Replica, RSet
from elrcheck.model.absent import no_exchange
from elrcheck.model.alternatives.reductions import without_members
from elrcheck.model.broker.high_watermark import known_end, with_committed, with_high_watermark
from elrcheck.model.config import AlterReject, Config, MinIsrPropagation
from elrcheck.model.state import (
    Broker,
    BrokerEpoch,
    Error,
    Exchange,
    Stage,
    State,
    Status,
    leader_min_isr,
    leads,
    syncing,
)


@op
def may_join(c: Config, me: Broker, f: Replica) -> bool:
    """Partition.isFollowerInSync for an expansion: HW reached and the leader's epoch start (KAFKA-7128)."""
    end = me.peers[f].log_end_offset
    return (
        end is not None
        and end >= me.high_watermark
        and (end >= me.epoch_start or not c.join_requires_epoch_start)
    )


@op
def named_epoch(c: Config, s: State, me: Broker, b: Replica) -> BrokerEpoch:
    """The broker epoch of the fetch that leader me has noted of b; or, wrongly, that of b's latest one.

    The latter is the race of KAFKA-15221: a fetch of a restarted b comes between proof and proposal.
    """
    return me.peers[b].broker_epoch if c.proposal_names_proof else s.registration[b].epoch


@op
def proposal(c: Config, s: State, leader: Replica, isr: RSet) -> Exchange:
    """A new AlterPartition request, with the broker epoch of every member the leader knows (KIP-903)."""
    me = s.broker[leader]
    sent = Exchange(
        stage=Stage.SENT,
        error=Error.NONE,
        leader_epoch=me.view.leader_epoch,
        partition_epoch=me.view.partition_epoch,
        isr=isr,
        min_isr=0,
        member_epochs=tuple(
            (me.epoch if b == leader else named_epoch(c, s, me, b)) if b in isr else 0 for b in c.brokers
        ),
    )
    return without_members(c, sent, leader, s.partition)


@action(
    message=Message("leader", "Controller"),
    fairness=Fair("the leader asks for a follower that caught up: AlterPartition send"),
)
def ExpandIsr(c: Config, s: State, leader: Replica, f: Replica) -> State:
    """l proposes to add follower f (Partition.maybeExpandIsr); one follower for each proposal."""
    me = s.broker[leader]
    require(leads(s, leader) and me.alter.stage == Stage.IDLE, "l leads and has nothing in flight")
    require(not syncing(c, s, leader), "l serves")
    require(f != leader and f in me.view.replicas - me.view.isr, "f is outside the ISR")
    require(may_join(c, me, f), "f has caught up")
    return replace(
        s, broker=put(s.broker, leader, replace(me, alter=proposal(c, s, leader, me.view.isr | {f})))
    )


@action(
    message=Message("leader", "Controller"),
    fairness=Unfair("a disturbance: a follower stays behind for too long"),
)
def ShrinkIsr(c: Config, s: State, leader: Replica, out: RSet) -> State:
    """l proposes to drop lagging followers (Partition.maybeShrinkIsr); time decides which, so any may go."""
    me = s.broker[leader]
    require(leads(s, leader) and me.alter.stage == Stage.IDLE, "l leads and has nothing in flight")
    require(not syncing(c, s, leader), "l serves")
    require(leader not in out and out != EMPTY and out <= me.view.isr, "out are followers in the ISR")
    require(all(known_end(me, leader, b) < len(me.log) for b in out), "out lag behind")
    enough = len(me.view.isr - out) >= leader_min_isr(c, s.settings, me, leader)
    require(enough or not c.keep_min_isr, "min ISR members stay")
    return replace(
        s,
        broker=put(s.broker, leader, replace(me, alter=proposal(c, s, leader, me.view.isr - out))),
        spent=replace(s.spent, shrinks=s.spent.shrinks + 1),
    )


@action(
    fairness=Fair(
        "an answer sent again and again arrives once: AlterPartition reply; strong because answers may"
        " be lost for free",
        Strength.STRONG,
    ),
)
def LeaderLearns(c: Config, s: State, leader: Replica) -> State:
    """l handles the answer to its AlterPartition (Partition.submitAlterPartition).

    Success commits the returned ISR. INELIGIBLE_REPLICA proves that nothing was applied, so the
    proposal is dropped. A stale answer proves nothing: the proposal stays pending, and the maximal
    ISR wide, until newer metadata arrives. A stale broker or controller epoch means: send it again.
    """
    me = s.broker[leader]
    x = me.alter
    require(me.status == Status.RUNNING and x.stage == Stage.ANSWERED, "an answer has arrived")
    fits = x.leader_epoch == me.view.leader_epoch and x.partition_epoch >= me.view.partition_epoch
    if x.error == Error.NONE and fits:
        newer = x.partition_epoch > me.view.partition_epoch
        told = newer and c.min_isr_propagation == MinIsrPropagation.ATOMIC
        view = replace(me.view, isr=x.isr, partition_epoch=x.partition_epoch)
        learnt = replace(me, view=view, min_isr=x.min_isr if told else me.min_isr, alter=no_exchange(c))
        settled = with_high_watermark(c, s.settings, learnt, leader)
        return replace(
            s, broker=put(s.broker, leader, settled), committed=with_committed(s.committed, settled)
        )
    if (x.error == Error.STALE_BROKER_EPOCH or x.error == Error.NOT_CONTROLLER) and c.alter_retries:
        return replace(s, broker=put(s.broker, leader, replace(me, alter=sent_again(me))))
    if x.error == Error.INELIGIBLE_REPLICA or (
        c.alter_reject == AlterReject.ROLLBACK and x.error != Error.NONE
    ):
        return replace(s, broker=put(s.broker, leader, replace(me, alter=no_exchange(c))))
    waiting = replace(no_exchange(c), stage=Stage.WAITING, isr=x.isr)
    return replace(s, broker=put(s.broker, leader, replace(me, alter=waiting)))


@op
def sent_again(me: Broker) -> Exchange:
    """The same request once more; the leader's epochs have not moved since, or it would be gone."""
    return replace(
        me.alter,
        stage=Stage.SENT,
        error=Error.NONE,
        leader_epoch=me.view.leader_epoch,
        partition_epoch=me.view.partition_epoch,
        min_isr=0,
    )


@action(message=Message("Controller", "leader", lost=True), fairness=Unfair("a disturbance of the network"))
def LoseResponse(c: Config, s: State, leader: Replica) -> State:
    """The answer to leader's AlterPartition is lost; leader times out and sends the request again."""
    me = s.broker[leader]
    require(c.response_loss, "responses may be lost")
    require(me.status == Status.RUNNING and me.alter.stage == Stage.ANSWERED, "an answer is on its way")
    given_up = replace(no_exchange(c), stage=Stage.WAITING, isr=me.alter.isr)
    again = sent_again(me) if c.alter_retries else given_up
    return replace(s, broker=put(s.broker, leader, replace(me, alter=again)))
