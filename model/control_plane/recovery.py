"""The Unclean Recovery Manager: it asks the replicas for their logs and elects the one with the longest.

Source: KIP-966 "Unclean recovery" and "ElectLeaders"; no release has it. Its state is in the memory of the
active controller: a failover starts it again. An answer names the incarnation that gave it and the leader
epoch that this one knew, so an answer from before a crash or of an earlier recovery does not count. The
controller waits again for a replica that was fenced or restarted after it answered.

Abstraction: the controller asks all replicas, and asks again for free; only the answers are steps.
"""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.marks import Fair, Message, Unfair
from elrcheck.lang.runtime import EMPTY, action, op, put, require
from elrcheck.lang.types import Replica, RSet, Vec
from elrcheck.model.absent import no_recovery
from elrcheck.model.broker.logs import last_epoch
from elrcheck.model.change_record import Election, target
from elrcheck.model.choices import BalancedEnd, RecoveryQuorum, RecoveryStrategy
from elrcheck.model.config import Config
from elrcheck.model.control_plane.commit import partition_changed
from elrcheck.model.control_plane.partition import change
from elrcheck.model.replication_control import Controller, active, controller_of
from elrcheck.model.state import (
    Error,
    InfoStage,
    LogInfo,
    Partition,
    State,
    Status,
    configured_min_isr,
)

# ---------------------------------------------------------------------------- rules


@op
def may_start(c: Config, controller: Controller, strategy: RecoveryStrategy) -> bool:
    """The partition has no leader, and no replica can be elected cleanly (KIP-966 "Unclean recovery").

    Balanced waits for fenced ELR members, and for the whole LastKnownELR: the members that left the ELR
    after an unclean shutdown. At least one of them is complete if fewer than min ISR lost data.
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
    """ElectLeaders, types LONGEST_LOG_*: without a leader only; NONE means that a recovery starts."""
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
    """The answer is of b's registered incarnation, now active, and of the current leader epoch (F-43)."""
    p = controller.partition
    present = info.broker_epoch == controller.registration[b].epoch and info.leader_epoch == p.leader_epoch
    return info.stage != InfoStage.NONE and (
        not c.log_info_checks or (present and b in active(c, controller.registration))
    )


@op
def answered_validly(c: Config, controller: Controller, answers: Vec[LogInfo]) -> RSet:
    """The replicas whose log info the controller has accepted, and which still counts."""
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
    return answered != EMPTY and (
        strategy == RecoveryStrategy.AGGRESSIVE or balanced_may_end(c, controller, answered)
    )


@op
def balanced_may_end(c: Config, controller: Controller, answered: RSet) -> bool:
    """Balanced: "all the LastKnownELR members have replied, plus the replicas replied within the timeout".

    There is no time here. ACTIVE takes the timeout to be long enough for every active replica; AT_ONCE covers
    any timeout, because the replies that it does not wait for may still have arrived. A recovery whose
    LastKnownELR an operator has emptied since it started has nobody to wait for, and does not elect.
    """
    p = controller.partition
    waited_for = active(c, controller.registration) & frozenset(p.replicas)
    others = waited_for <= answered or c.balanced_end == BalancedEnd.AT_ONCE
    return p.last_known_elr != EMPTY and p.last_known_elr <= answered and others


@op
def no_longer_than(info: LogInfo, other: LogInfo) -> bool:
    """One log is no longer than another: the last leader epoch counts first, then the log end offset."""
    return info.last_epoch < other.last_epoch or (
        info.last_epoch == other.last_epoch and info.log_end_offset <= other.log_end_offset
    )


@op
def recovered_partition(c: Config, controller: Controller, winner: Replica) -> Partition:
    """The unclean election of the winner: it alone is in the ISR, RECOVERING (KIP-704), without ELR."""
    p = controller.partition
    only = frozenset({winner})
    return change(c, p, target(controller, p.isr, Election.UNCLEAN, only, EMPTY))


# ---------------------------------------------------------------------------- actions


@action(fairness=Fair("the recovery manager looks at every partition without a leader (KIP-966); added"))
def StartRecovery(c: Config, s: State) -> State:
    """The controller starts the recovery that unclean.recovery.strategy asks for (KIP-966)."""
    require(c.unclean_recovery_strategy != RecoveryStrategy.DISABLED, "there is a recovery manager")
    require(s.recovery.strategy == RecoveryStrategy.DISABLED, "no recovery runs")
    starts = may_start(c, controller_of(s), c.unclean_recovery_strategy)
    require(starts, "the strategy recovers now")
    return replace(s, recovery=replace(no_recovery(c), strategy=c.unclean_recovery_strategy))


@action(
    fairness=Unfair("a request of an operator"),
    what_if="elect_leaders",
    because="no event of prove --controller: a recovery starts, and the partition stays as it is",
)
def AskForLongestLog(c: Config, s: State, strategy: RecoveryStrategy) -> State:
    """An operator starts a recovery with ElectLeaders (KIP-966, LONGEST_LOG_BALANCED or _AGGRESSIVE)."""
    require(c.unclean_elections > 0, "the scope has unclean elections")
    require(s.recovery.strategy == RecoveryStrategy.DISABLED, "no recovery runs")
    error = longest_log_error(c, controller_of(s), strategy)
    require(error == Error.NONE, "a recovery starts")
    return replace(
        s,
        recovery=replace(no_recovery(c), strategy=strategy),
        spent=replace(s.spent, unclean_elections=s.spent.unclean_elections + 1),
    )


@action(
    message=Message("b", "Controller"),
    fairness=Fair("GetReplicaLogInfo is retried until it is answered (KIP-966); added"),
)
def SendLogInfo(c: Config, s: State, b: Replica) -> State:
    """Replica b answers GetReplicaLogInfo with the state of its log (KIP-966)."""
    broker = s.broker[b]
    require(s.recovery.strategy != RecoveryStrategy.DISABLED, "a recovery runs")
    require(broker.status == Status.RUNNING and broker.view.partition_epoch > 0, "b is a running replica")
    require(b in frozenset(s.partition.replicas), "b holds a replica")
    require(not answer_counts(c, controller_of(s), b, s.recovery.answers[b]), "b has no valid answer yet")
    sent = LogInfo(
        stage=InfoStage.SENT,
        broker_epoch=broker.epoch,
        last_epoch=last_epoch(broker.log),
        log_end_offset=len(broker.log),
        leader_epoch=broker.view.leader_epoch,
    )
    require(s.recovery.answers[b] != sent, "the answer is news")
    return replace(s, recovery=replace(s.recovery, answers=put(s.recovery.answers, b, sent)))


@action(fairness=Fair("the answer arrives (KIP-966); added"))
def AcceptLogInfo(c: Config, s: State, b: Replica) -> State:
    """The controller accepts the answer of b, which may be an old one (KIP-966, GetReplicaLogInfo)."""
    info = s.recovery.answers[b]
    require(s.recovery.strategy != RecoveryStrategy.DISABLED, "a recovery runs")
    require(info.stage == InfoStage.SENT, "an answer of b is on its way")
    require(answer_counts(c, controller_of(s), b, info), "the answer is valid")
    taken = put(s.recovery.answers, b, replace(info, stage=InfoStage.ACCEPTED))
    return replace(s, recovery=replace(s.recovery, answers=taken))


@action(fairness=Fair("a timer of the recovery manager (KIP-966); added"))
def RecoveryTimeout(c: Config, s: State) -> State:
    """An aggressive recovery stops waiting for further answers (KIP-966, unclean.recovery.timeout.ms)."""
    require(s.recovery.strategy == RecoveryStrategy.AGGRESSIVE, "an aggressive recovery runs")
    require(not s.recovery.waited, "it still waits")
    return replace(s, recovery=replace(s.recovery, waited=True))


@action(
    fairness=Fair("the recovery manager elects (KIP-966); added"),
    event="FINISH_RECOVERY",
    because="no what-if operation: its questions hold no logs, so they cannot say who wins",
)
def FinishRecovery(c: Config, s: State, winner: Replica) -> State:
    """The controller elects the replica with the longest log among the answers (KIP-966); any in a tie."""
    recovery = s.recovery
    answered = answered_validly(c, controller_of(s), recovery.answers)
    require(recovery.strategy != RecoveryStrategy.DISABLED, "a recovery runs")
    require(recovery.waited or recovery.strategy == RecoveryStrategy.BALANCED, "it need not wait for more")
    require(enough_answers(c, controller_of(s), answered, recovery.strategy), "enough replicas answered")
    require(winner in answered, "winner answered")
    best = recovery.answers[winner]
    require(all(no_longer_than(recovery.answers[b], best) for b in answered), "no log is longer")
    after = recovered_partition(c, controller_of(s), winner)
    return replace(partition_changed(c, s, after), recovery=no_recovery(c))


@action(fairness=Unfair("a disturbance"))
def ControllerFailover(c: Config, s: State) -> State:
    """Another controller takes over: a recovery starts again from nothing (KIP-966, failover)."""
    require(c.failovers > 0, "the scope has failovers")
    require(s.recovery.strategy != RecoveryStrategy.DISABLED, "a recovery runs")
    return replace(s, recovery=no_recovery(c), spent=replace(s.spent, failovers=s.spent.failovers + 1))
