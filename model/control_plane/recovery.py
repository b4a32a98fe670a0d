"""The Unclean Recovery Manager: it requests log info from the replicas and elects the one with the longest log.

Source: KIP-966 "Unclean recovery" and "ElectLeaders"; no release has it. Its state is in the memory of the active
controller: it starts again after a failover. A response carries the broker epoch of its sender and the leader epoch
in its view, so a response from before a crash or of an earlier recovery does not count. The controller waits again for
a replica that it has fenced, or that has restarted, since its response.

Abstraction: the controller sends requests to all replicas, and retries for free; only the responses are steps.
"""

from __future__ import annotations

from elrcheck.lang.runtime import EMPTY, op
from elrcheck.model.change_record import Election, target
from elrcheck.model.choices import BalancedEnd, RecoveryQuorum, RecoveryStrategy
from elrcheck.model.config import Config
from elrcheck.model.control_plane.partition import change
from elrcheck.model.kafka_error import Error
from elrcheck.model.replicas import Replica, RSet, Vec
from elrcheck.model.replication_control import Controller, active
from elrcheck.model.state import InfoStage, LogInfo, Partition, configured_min_isr


@op
def may_start(c: Config, controller: Controller, strategy: RecoveryStrategy) -> bool:
    """The partition is leaderless and no replica can be elected cleanly (KIP-966 "Unclean recovery").

    Balanced waits for fenced ELR members, and for the whole LastKnownELR: the members that left the ELR after an
    unclean shutdown. At least one of them is complete if fewer than min ISR replicas have lost data.
    """
    p = controller.partition
    live = active(c, controller.registration)
    if p.leader is not None or (p.isr | p.elr) & live != EMPTY:
        return False
    if strategy == RecoveryStrategy.BALANCED:
        return p.elr == EMPTY and p.last_known_elr != EMPTY and p.last_known_elr <= live
    return strategy == RecoveryStrategy.AGGRESSIVE and frozenset(p.replicas) & live != EMPTY


@op
def longest_log_error(c: Config, controller: Controller, strategy: RecoveryStrategy) -> Error:
    """ElectLeaders, types LONGEST_LOG_*: only without a leader; NONE means that a recovery starts."""
    p = controller.partition
    if not c.elect_leaders_v3:
        return Error.UNSUPPORTED_VERSION
    if p.leader is not None:
        return Error.ELECTION_NOT_NEEDED
    if not may_start(c, controller, strategy):
        return Error.ELIGIBLE_LEADERS_NOT_AVAILABLE
    return Error.NONE


@op
def answer_counts(c: Config, controller: Controller, b: Replica, info: LogInfo) -> bool:
    """The response is from b's registered incarnation, which is active, in the current leader epoch (F-43)."""
    p = controller.partition
    present = info.broker_epoch == controller.registration[b].epoch and info.leader_epoch == p.leader_epoch
    return info.stage != InfoStage.NONE and (
        not c.log_info_checks or (present and b in active(c, controller.registration))
    )


@op
def answered_validly(c: Config, controller: Controller, answers: Vec[LogInfo]) -> RSet:
    """The replicas whose log info the controller has accepted and still counts."""
    p = controller.partition
    return frozenset(
        b
        for b in c.brokers
        if b in frozenset(p.replicas)
        and answers[b].stage == InfoStage.ACCEPTED
        and answer_counts(c, controller, b, answers[b])
    )


@op
def enough_answers(c: Config, controller: Controller, answered: RSet, strategy: RecoveryStrategy) -> bool:
    """The recovery may elect (KIP-966); the other quorums are rejected alternatives (E-7, E-9)."""
    p = controller.partition
    if c.recovery_quorum == RecoveryQuorum.MIN_ISR:
        return len(answered) >= min(configured_min_isr(controller.settings), len(p.replicas))
    if c.recovery_quorum == RecoveryQuorum.MAJORITY:
        return len(answered) + len(answered) > len(p.replicas)
    if c.recovery_quorum == RecoveryQuorum.ALL:
        return frozenset(p.replicas) <= answered
    return answered != EMPTY and (strategy == RecoveryStrategy.AGGRESSIVE or balanced_may_end(c, controller, answered))


@op
def balanced_may_end(c: Config, controller: Controller, answered: RSet) -> bool:
    """Balanced: "all the LastKnownELR members have replied, plus the replicas replied within the timeout".

    The model has no time. ACTIVE assumes a timeout that is long enough for every active replica; AT_ONCE covers any
    timeout, because the responses that it does not wait for may have arrived. A recovery does not elect if an operator
    has emptied LastKnownELR since it started: it then waits for no broker.
    """
    p = controller.partition
    waited_for = active(c, controller.registration) & frozenset(p.replicas)
    others = waited_for <= answered or c.balanced_end == BalancedEnd.AT_ONCE
    return p.last_known_elr != EMPTY and p.last_known_elr <= answered and others


@op
def no_longer_than(info: LogInfo, other: LogInfo) -> bool:
    """One log is no longer than another: by the last leader epoch, then by the log end offset."""
    return info.last_epoch < other.last_epoch or (
        info.last_epoch == other.last_epoch and info.log_end_offset <= other.log_end_offset
    )


@op
def recovered_partition(c: Config, controller: Controller, winner: Replica) -> Partition:
    """The unclean election of the winner: it is the only ISR member, RECOVERING (KIP-704), without ELR."""
    p = controller.partition
    only = frozenset({winner})
    return change(c, p, target(controller, p.isr, Election.UNCLEAN, only, EMPTY))
