"""ISR changes of a leader: it sends AlterPartition and handles the controller's response.

Source: Partition (core): maybeExpandIsr, maybeShrinkIsr, submitAlterPartition, and its partition
states CommittedPartitionState, PendingExpandIsr, PendingShrinkIsr; KIP-841, KIP-903.
"""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.marks import Fair, Message, Strength, Unfair
from elrcheck.lang.runtime import EMPTY, action, op, put, require
from elrcheck.model.absent import no_exchange
from elrcheck.model.alternatives.reductions import forget_members
from elrcheck.model.alternatives.shadow_isr import serves
from elrcheck.model.broker.ghosts import observed
from elrcheck.model.broker.high_watermark import known_end, with_high_watermark
from elrcheck.model.choices import AlterReject, MinIsrPropagation
from elrcheck.model.config import Config
from elrcheck.model.kafka_error import Error
from elrcheck.model.min_isr import leader_min_isr
from elrcheck.model.replicas import Replica, RSet
from elrcheck.model.state import Broker, BrokerEpoch, Exchange, Settings, Stage, State, Status, hosts, leads
from elrcheck.model.timeouts import may_be_granted


@op
def may_join(c: Config, leader: Broker, f: Replica) -> bool:
    """Partition.isFollowerInSync for an expansion: f has reached the watermark and the epoch start (KAFKA-7128).

    maybeExpandIsr follows a fetch of f, so a log end offset from an earlier epoch does not suffice.
    """
    end = leader.peers[f].log_end_offset
    return (
        end is not None
        and leader.peers[f].carried == 0
        and end >= leader.high_watermark
        and (end >= leader.epoch_start or not c.join_requires_epoch_start)
    )


@op
def has_just_fetched(s: State, leader: Replica, f: Replica) -> bool:
    """The fetch that qualifies f is the latest fetch of a process that still runs.

    maybeExpandIsr follows the fetch. A later proposal carries the broker epoch of the fetch; a fetch before
    registration carries -1, which neither leader nor controller compares (KIP-903).
    """
    leader_broker = s.broker[leader]
    follower = s.broker[f]
    names_broker_epoch = leader_broker.peers[f].broker_epoch > 0
    same_end = leader_broker.peers[f].log_end_offset == len(follower.log)
    return names_broker_epoch or (follower.early > 0 and follower.view.leader == leader and same_end)


@op
def named_epoch(c: Config, s: State, leader: Broker, b: Replica) -> BrokerEpoch:
    """The broker epoch in b's fetch; under KAFKA-15221, b's currently registered epoch.

    In KAFKA-15221 a fetch of a restarted b comes between the check that it is in sync and the proposal.
    """
    return leader.peers[b].broker_epoch if c.proposal_names_proof else s.registration[b].epoch


@op
def proposal(c: Config, s: State, leader: Replica, isr: RSet) -> Exchange:
    """A new AlterPartition request, with the broker epochs of the members that the leader knows (KIP-903)."""
    leader_broker = s.broker[leader]
    sent = Exchange(
        stage=Stage.SENT,
        error=Error.NONE,
        leader_epoch=leader_broker.view.leader_epoch,
        partition_epoch=leader_broker.view.partition_epoch,
        isr=isr,
        min_isr=0,
        member_epochs=tuple(
            (leader_broker.epoch if b == leader else named_epoch(c, s, leader_broker, b)) if b in isr else 0
            for b in c.brokers
        ),
    )
    return forget_members(c, sent, leader, s.partition)


@action(
    message=Message("leader", "Controller"),
    fairness=Fair(
        "the leader proposes a follower that has caught up: AlterPartition send; it learns who may not join, and then"
        " proposes others only (isReplicaIsrEligible)",
        when=may_be_granted,
        stops=True,
    ),
)
def ExpandIsr(c: Config, s: State, leader: Replica, f: Replica) -> State:
    """The leader proposes to add follower f (Partition.maybeExpandIsr); one follower in each proposal."""
    sender = s.broker[leader]
    require(leads(s, leader) and sender.alter.stage == Stage.IDLE, "leader leads with no request in flight")
    require(serves(c, s, leader), "leader serves")
    require(f != leader and f in sender.view.replicas - sender.view.isr, "f is outside the ISR")
    require(may_join(c, sender, f), "f has caught up")
    require(c.early_starts == 0 or has_just_fetched(s, leader, f), "the process of f that caught up still runs")
    require(hosts(s.broker[f]), "f can use its replica")
    proposed = proposal(c, s, leader, sender.view.isr | {f})
    return replace(s, broker=put(s.broker, leader, replace(sender, alter=proposed)))


@action(message=Message("leader", "Controller"), fairness=Unfair("a disturbance: a follower lags for too long"))
def ShrinkIsr(c: Config, s: State, leader: Replica, out: RSet) -> State:
    """The leader proposes to remove lagging followers (Partition.maybeShrinkIsr).

    In Kafka replica.lag.time.max.ms selects them; the model has no time, so it may remove any that lag.
    """
    sender = s.broker[leader]
    require(leads(s, leader) and sender.alter.stage == Stage.IDLE, "leader leads with no request in flight")
    require(serves(c, s, leader), "leader serves")
    require(leader not in out and out != EMPTY and out <= sender.view.isr, "out are followers in the ISR")
    require(all(known_end(sender, leader, b) < len(sender.log) for b in out), "out lag behind")
    enough = len(sender.view.isr - out) >= leader_min_isr(c, s.settings, sender, leader)
    require(enough or not c.keep_min_isr, "min ISR members remain")
    proposed = proposal(c, s, leader, sender.view.isr - out)
    return replace(
        s,
        broker=put(s.broker, leader, replace(sender, alter=proposed)),
        spent=replace(s.spent, shrinks=s.spent.shrinks + 1),
    )


@op
def unread_matters(c: Config) -> bool:
    """The record of a change that a response announced may cancel a proposal (`metadata.ApplyMetadataFirst`)."""
    return c.known_record_ends_proposal and c.late_answers > 0


@op
def with_new_isr(c: Config, settings: Settings, leader: Broker, leader_id: Replica) -> Broker:
    """The leader after a successful AlterPartition: the returned ISR is the committed ISR."""
    response = leader.alter
    newer = response.partition_epoch > leader.view.partition_epoch
    carries_min_isr = newer and c.alter_answer_carries_min_isr and c.min_isr_propagation == MinIsrPropagation.ATOMIC
    updated = replace(
        leader,
        view=replace(leader.view, isr=response.isr, partition_epoch=response.partition_epoch),
        min_isr=response.min_isr if carries_min_isr else leader.min_isr,
        alter=no_exchange(c),
        ahead=1 if newer and unread_matters(c) else leader.ahead,
    )
    return with_high_watermark(c, settings, updated, leader_id)


@action(
    fairness=Fair(
        "a response sent again and again arrives once: AlterPartition reply; strong because responses may"
        " be lost for free",
        Strength.STRONG,
    )
)
def LeaderLearns(c: Config, s: State, leader: Replica) -> State:
    """The leader handles the response to its AlterPartition (Partition.submitAlterPartition).

    A success commits the returned ISR. INELIGIBLE_REPLICA proves that the controller changed nothing, so the leader
    drops the proposal. A stale response proves nothing: the proposal stays pending, in the maximal ISR, until newer
    metadata arrives. With a stale broker or controller epoch the leader retries. It ignores the response to a proposal
    that metadata has cancelled (`metadata.ApplyMetadataFirst`).
    """
    sender = s.broker[leader]
    response = sender.alter
    require(sender.status == Status.RUNNING and response.stage == Stage.ANSWERED, "a response has arrived")
    same_epoch = response.leader_epoch == sender.view.leader_epoch
    if response.overtaken > 0 and c.answer_needs_proposal:
        return replace(s, broker=put(s.broker, leader, replace(sender, alter=no_exchange(c))))
    if response.error == Error.NONE and same_epoch and response.partition_epoch >= sender.view.partition_epoch:
        after = with_new_isr(c, s.settings, sender, leader)
        return observed(c, s, replace(s, broker=put(s.broker, leader, after)), leader)
    stale = response.error == Error.STALE_BROKER_EPOCH or response.error == Error.NOT_CONTROLLER
    if stale and c.alter_retries:
        return replace(s, broker=put(s.broker, leader, replace(sender, alter=sent_again(sender))))
    rolls_back = c.alter_reject == AlterReject.ROLLBACK and response.error != Error.NONE
    if response.error == Error.INELIGIBLE_REPLICA or rolls_back or response.overtaken > 0:
        return replace(s, broker=put(s.broker, leader, replace(sender, alter=no_exchange(c))))
    return replace(s, broker=put(s.broker, leader, replace(sender, alter=pending(c, sender))))


@op
def pending(c: Config, leader: Broker) -> Exchange:
    """The proposal after a response that proves nothing: no longer in flight, but its members still count."""
    return replace(no_exchange(c), stage=Stage.WAITING, isr=leader.alter.isr)


@op
def sent_again(leader: Broker) -> Exchange:
    """The same request again; had the leader's epochs moved, it would have dropped the request."""
    return replace(
        leader.alter,
        stage=Stage.SENT,
        error=Error.NONE,
        leader_epoch=leader.view.leader_epoch,
        partition_epoch=leader.view.partition_epoch,
        min_isr=0,
    )


@action(message=Message("Controller", "leader", lost=True), fairness=Unfair("a disturbance of the network"))
def LoseResponse(c: Config, s: State, leader: Replica) -> State:
    """The response to leader's AlterPartition is lost; leader times out and retries (KAFKA-14010)."""
    sender = s.broker[leader]
    require(c.response_loss, "responses may be lost")
    answered = sender.status == Status.RUNNING and sender.alter.stage == Stage.ANSWERED
    require(answered, "a response is in flight")
    require(sender.alter.overtaken == 0, "the proposal is pending")
    again = sent_again(sender) if c.alter_retries else pending(c, sender)
    return replace(s, broker=put(s.broker, leader, replace(sender, alter=again)))
