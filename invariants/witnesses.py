"""Witnesses: situations that must be reachable, so that a pass is not vacuous.

They are `sometimes` predicates on states `(c, s)` or steps `(c, s, t)`. A scope whose budgets exclude one reports it
as not reached.
"""

from __future__ import annotations

from elrcheck.invariants.membership import registered_anew, uncleanly
from elrcheck.invariants.operations import elected_outside, moving
from elrcheck.invariants.properties import leads_now, still_leads
from elrcheck.lang.runtime import EMPTY, op, sometimes
from elrcheck.model.broker.acknowledgement import ProduceAnswer, answer_after, produce_error, waits
from elrcheck.model.broker.ghosts import contains
from elrcheck.model.choices import RecoveryStrategy
from elrcheck.model.config import Config
from elrcheck.model.kafka_error import Error
from elrcheck.model.replicas import Replica
from elrcheck.model.state import Acks, Recovery, Stage, State, Status


@op
def led(t: State) -> bool:
    """The partition has a leader."""
    return t.partition.leader is not None


@sometimes("W-1")
def LeaderElectedFromElr(c: Config, s: State, t: State) -> bool:
    """The controller elects an eligible replica, not an ISR member."""
    return t.partition.leader != s.partition.leader and t.partition.leader in s.partition.elr


@sometimes("W-2")
def WatermarkAdvancesWithThreeInSync(c: Config, s: State, t: State) -> bool:
    """A leader with three ISR members advances its high watermark."""
    return any(
        still_leads(s, t, b)
        and s.broker[b].high_watermark < t.broker[b].high_watermark
        and len(t.broker[b].view.isr) == 3
        for b in c.brokers
    )


@op
def truncates_acks_one(s: State, t: State, b: Replica) -> bool:
    """b keeps running and truncates an acks=1 record that was already acknowledged."""
    up = s.broker[b].status == Status.RUNNING and t.broker[b].status == Status.RUNNING
    return up and any(e.acks == Acks.ONE and not contains(t.broker[b].log, e) for e in s.broker[b].log)


@sometimes("W-3")
def AcksOneRecordTruncated(c: Config, s: State, t: State) -> bool:
    """A follower truncates a record that was acknowledged with acks=1."""
    return any(truncates_acks_one(s, t, b) for b in c.brokers)


@sometimes("W-4")
def UncleanRegistration(c: Config, s: State, t: State) -> bool:
    """A broker registers without proof of a clean shutdown."""
    return any(registered_anew(s, t, b) and uncleanly(s, b) for b in c.brokers)


@sometimes("W-5")
def IneligibleReplicaAnswered(c: Config, s: State) -> bool:
    """The controller refuses an ISR expansion with INELIGIBLE_REPLICA."""
    return any(
        s.broker[b].alter.stage == Stage.ANSWERED and s.broker[b].alter.error == Error.INELIGIBLE_REPLICA
        for b in c.brokers
    )


@sometimes("W-6")
def StaleUpdateRefused(c: Config, s: State) -> bool:
    """A leader's proposal meets a newer partition epoch and stays pending."""
    return any(s.broker[b].alter.stage == Stage.WAITING for b in c.brokers)


@sometimes("W-7")
def ReturnsToFullIsr(c: Config, s: State) -> bool:
    """A broker that lost data has caught up and the ISR is complete again."""
    anew = any(s.registration[b].epoch > 1 and b in s.partition.isr for b in c.brokers)
    return s.spent.crashes > 0 and len(s.partition.isr) == len(s.partition.replicas) and anew


@sometimes("W-8")
def CommittedByLaterLeader(c: Config, s: State) -> bool:
    """The highest watermark covers records of two leader epochs."""
    return any(any(a.epoch < b.epoch for b in s.committed) for a in s.committed)


@op
def zombie(s: State, b: Replica) -> bool:
    """b still leads by its own view although the controller has moved on."""
    return s.broker[b].view.leader == b and s.broker[b].view.leader_epoch < s.partition.leader_epoch


@sometimes("W-9")
def ZombieAppends(c: Config, s: State, t: State) -> bool:
    """A zombie leader, whose leader epoch is over, appends a record."""
    return any(zombie(s, b) and zombie(t, b) and len(s.broker[b].log) < len(t.broker[b].log) for b in c.brokers)


@op
def answered(c: Config, s: State, t: State, b: Replica, answer: ProduceAnswer) -> bool:
    """In this step a producer that waits for b gets this response."""
    return any(
        waits(s.broker[b], b, k) and answer_after(c, t.settings, t.broker[b], b, k) == answer
        for k in range(len(s.broker[b].log))
    )


@sometimes("W-10")
def WriteRefused(c: Config, s: State) -> bool:
    """A leader would refuse an acks=all write with NOT_ENOUGH_REPLICAS."""
    return any(
        produce_error(c, s.settings, s.broker[b], b, Acks.ALL) == ProduceAnswer.NOT_ENOUGH_REPLICAS for b in c.brokers
    )


@sometimes("W-11")
def WaitingWriteAcknowledged(c: Config, s: State, t: State) -> bool:
    """A leader acknowledges an acks=all write to a waiting producer."""
    return any(answered(c, s, t, b, ProduceAnswer.NONE) for b in c.brokers)


@sometimes("W-12")
def WaitingWriteLosesItsLeader(c: Config, s: State, t: State) -> bool:
    """A waiting producer gets NOT_LEADER_OR_FOLLOWER, although its record may survive."""
    return any(answered(c, s, t, b, ProduceAnswer.NOT_LEADER_OR_FOLLOWER) for b in c.brokers)


@sometimes("W-13")
def WaitingWriteTimesOut(c: Config, s: State, t: State) -> bool:
    """A waiting producer gets no response, because the leader has died."""
    return any(answered(c, s, t, b, ProduceAnswer.REQUEST_TIMED_OUT) for b in c.brokers)


@sometimes("W-14")
def WrittenButTooFewReplicas(c: Config, s: State, t: State) -> bool:
    """A waiting producer gets NOT_ENOUGH_REPLICAS_AFTER_APPEND, although its record is committed.

    The strict min-ISR rule stops the watermark in this case, so only earlier versions do this.
    """
    return any(answered(c, s, t, b, ProduceAnswer.NOT_ENOUGH_REPLICAS_AFTER_APPEND) for b in c.brokers)


# ---------------------------------------------------------------------------- operations


@sometimes("W-15")
def ReassignmentCompleted(c: Config, s: State, t: State) -> bool:
    """A reassignment that adds a replica completes: its target is the replica list."""
    target = frozenset(s.partition.replicas) - s.partition.removing
    ends = s.partition.adding != EMPTY and not moving(t.partition)
    return ends and frozenset(t.partition.replicas) == target


@sometimes("W-16")
def ReassignmentCancelled(c: Config, s: State, t: State) -> bool:
    """An operator cancels a reassignment: the adding replicas are gone again."""
    before = frozenset(s.partition.replicas) - s.partition.adding
    ends = s.partition.adding != EMPTY and not moving(t.partition)
    return ends and frozenset(t.partition.replicas) == before


@sometimes("W-17")
def RecoveryFinished(c: Config, s: State, t: State) -> bool:
    """The recovery manager elects a leader from the responses of replicas."""
    runs = s.recovery.strategy != RecoveryStrategy.DISABLED
    return runs and s.partition.leader is None and t.partition.recovery == Recovery.RECOVERING and led(t)


@sometimes("W-18")
def ElrClearedByMinIsr(c: Config, s: State, t: State) -> bool:
    """The ISR grows to min ISR members, which clears the ELR."""
    grown = len(s.partition.isr) < len(t.partition.isr)
    outside = s.partition.elr - t.partition.isr
    return s.settings == t.settings and grown and outside != EMPTY and t.partition.elr == EMPTY


@sometimes("W-19")
def FeatureSwitched(c: Config, s: State, t: State) -> bool:
    """An operator enables or disables ELR while the partition has an ELR or no leader."""
    matters = s.partition.elr != EMPTY or s.partition.leader is None
    return matters and s.settings.elr_enabled != t.settings.elr_enabled


@sometimes("W-20")
def MinIsrChangeApplied(c: Config, s: State, t: State) -> bool:
    """A leader applies a new min.insync.replicas and stays the leader."""
    return any(still_leads(s, t, b) and s.broker[b].min_isr != t.broker[b].min_isr for b in c.brokers)


@sometimes("W-21")
def UncleanElection(c: Config, s: State, t: State) -> bool:
    """The controller elects a broker that was no candidate."""
    return led(t) and elected_outside(c, s, t)


@sometimes("W-22")
def ControlledShutdownGranted(c: Config, s: State, t: State) -> bool:
    """The controller grants a controlled shutdown."""
    return any(
        s.registration[b].in_controlled_shutdown and not s.registration[b].fenced and t.registration[b].fenced
        for b in c.brokers
    )


@sometimes("W-23")
def UnregisteredBrokerReturns(c: Config, s: State, t: State) -> bool:
    """A broker registers again after an operator unregistered it."""
    return any(not s.registration[b].registered and t.registration[b].registered for b in c.brokers)


@sometimes("W-24")
def DirectoryAssigned(c: Config, s: State, t: State) -> bool:
    """A broker's report of a log directory reaches a partition with an ELR."""
    return s.spent.directory_changes < t.spent.directory_changes and s.partition.elr != EMPTY


@sometimes("W-25")
def ConsumersSeeWatermarkBehind(c: Config, s: State) -> bool:
    """The current leader's watermark is behind a record that consumers of an earlier leader could read.

    KIP-966 aims to avoid "HWM moving backward". No committed record is lost (P-6), but a new leader only has the
    watermark that it received as a follower, and below min ISR it cannot advance it.
    """
    return any(leads_now(s, b) and s.broker[b].high_watermark < len(s.committed) for b in c.brokers)
