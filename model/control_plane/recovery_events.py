"""The steps of the Unclean Recovery Manager (KIP-966); the rules are in `recovery.py`."""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.marks import Fair, Message, Unfair
from elrcheck.lang.runtime import action, put, require
from elrcheck.model.absent import no_recovery
from elrcheck.model.broker.epoch_cache import last_epoch
from elrcheck.model.choices import RecoveryStrategy
from elrcheck.model.config import Config
from elrcheck.model.control_plane.commit import partition_changed
from elrcheck.model.control_plane.controller_event import ElectionType, ElectLeadersEvent, FinishRecoveryEvent
from elrcheck.model.control_plane.decide import decide
from elrcheck.model.control_plane.recovery import (
    answer_counts,
    answered_validly,
    enough_answers,
    may_start,
    no_longer_than,
)
from elrcheck.model.kafka_error import Error
from elrcheck.model.replicas import Replica
from elrcheck.model.replication_control import controller_of
from elrcheck.model.state import InfoStage, LogInfo, State, Status


@action(fairness=Fair("the recovery manager checks every partition without a leader (KIP-966); added"))
def StartRecovery(c: Config, s: State) -> State:
    """The controller starts the recovery according to unclean.recovery.strategy (KIP-966)."""
    require(c.unclean_recovery_strategy != RecoveryStrategy.DISABLED, "there is a recovery manager")
    require(s.recovery.strategy == RecoveryStrategy.DISABLED, "no recovery runs")
    starts = may_start(c, controller_of(s), c.unclean_recovery_strategy)
    require(starts, "the strategy allows a recovery")
    return replace(s, recovery=replace(no_recovery(c), strategy=c.unclean_recovery_strategy))


@action(
    fairness=Unfair("a request of an operator"),
    what_if="elect_leaders",
    because="no event of prove --controller: a recovery starts, and the partition does not change",
)
def AskForLongestLog(c: Config, s: State, strategy: RecoveryStrategy) -> State:
    """An operator starts a recovery with ElectLeaders (KIP-966, LONGEST_LOG_BALANCED or _AGGRESSIVE)."""
    require(c.unclean_elections > 0, "the scope has unclean elections")
    require(s.recovery.strategy == RecoveryStrategy.DISABLED, "no recovery runs")
    aggressive = strategy == RecoveryStrategy.AGGRESSIVE
    election = ElectionType.LONGEST_LOG_AGGRESSIVE if aggressive else ElectionType.LONGEST_LOG_BALANCED
    decided = decide(c, controller_of(s), ElectLeadersEvent(election=election, desired=None))
    starts = (aggressive or strategy == RecoveryStrategy.BALANCED) and decided.error == Error.NONE
    require(starts, "a recovery starts")
    return replace(
        s,
        recovery=replace(no_recovery(c), strategy=strategy),
        spent=replace(s.spent, unclean_elections=s.spent.unclean_elections + 1),
    )


@action(
    message=Message("b", "Controller"),
    fairness=Fair("the controller retries GetReplicaLogInfo until it gets a response (KIP-966); added"),
)
def SendLogInfo(c: Config, s: State, b: Replica) -> State:
    """Replica b responds to GetReplicaLogInfo with the state of its log (KIP-966)."""
    broker = s.broker[b]
    require(s.recovery.strategy != RecoveryStrategy.DISABLED, "a recovery runs")
    require(broker.status == Status.RUNNING and broker.view.partition_epoch > 0, "b is a running replica")
    require(b in frozenset(s.partition.replicas), "b hosts a replica")
    require(not answer_counts(c, controller_of(s), b, s.recovery.answers[b]), "b has no valid response yet")
    sent = LogInfo(
        stage=InfoStage.SENT,
        broker_epoch=broker.epoch,
        last_epoch=last_epoch(broker.log),
        log_end_offset=len(broker.log),
        leader_epoch=broker.view.leader_epoch,
    )
    require(s.recovery.answers[b] != sent, "the response is new")
    return replace(s, recovery=replace(s.recovery, answers=put(s.recovery.answers, b, sent)))


@action(fairness=Fair("the response arrives (KIP-966); added"))
def AcceptLogInfo(c: Config, s: State, b: Replica) -> State:
    """The controller accepts the response of b, which may be an old one (KIP-966, GetReplicaLogInfo)."""
    info = s.recovery.answers[b]
    require(s.recovery.strategy != RecoveryStrategy.DISABLED, "a recovery runs")
    require(info.stage == InfoStage.SENT, "a response of b is in flight")
    require(answer_counts(c, controller_of(s), b, info), "the response is valid")
    taken = put(s.recovery.answers, b, replace(info, stage=InfoStage.ACCEPTED))
    return replace(s, recovery=replace(s.recovery, answers=taken))


@action(fairness=Fair("a timer of the recovery manager (KIP-966); added"))
def RecoveryTimeout(c: Config, s: State) -> State:
    """An aggressive recovery stops waiting for further responses (KIP-966, unclean.recovery.timeout.ms)."""
    require(s.recovery.strategy == RecoveryStrategy.AGGRESSIVE, "an aggressive recovery runs")
    require(not s.recovery.waited, "it still waits")
    return replace(s, recovery=replace(s.recovery, waited=True))


@action(
    fairness=Fair("the recovery manager elects (KIP-966); added"),
    event="FINISH_RECOVERY",
    because="no what-if operation: its questions contain no logs, which decide who wins",
)
def FinishRecovery(c: Config, s: State, winner: Replica) -> State:
    """The controller elects the replica with the longest log among the responses (KIP-966); any in a tie."""
    recovery = s.recovery
    answered = answered_validly(c, controller_of(s), recovery.answers)
    require(recovery.strategy != RecoveryStrategy.DISABLED, "a recovery runs")
    require(recovery.waited or recovery.strategy == RecoveryStrategy.BALANCED, "the recovery need not wait any longer")
    require(enough_answers(c, controller_of(s), answered, recovery.strategy), "enough replicas have responded")
    require(winner in answered, "winner has responded")
    best = recovery.answers[winner]
    require(all(no_longer_than(recovery.answers[b], best) for b in answered), "no log is longer")
    decided = decide(c, controller_of(s), FinishRecoveryEvent(winner=winner))
    return replace(partition_changed(c, s, decided.controller.partition), recovery=no_recovery(c))


@action(fairness=Unfair("a disturbance"))
def ControllerFailover(c: Config, s: State) -> State:
    """Another controller takes over: a recovery starts from scratch (KIP-966, failover)."""
    require(c.failovers > 0, "the scope has failovers")
    require(s.recovery.strategy != RecoveryStrategy.DISABLED, "a recovery runs")
    return replace(s, recovery=no_recovery(c), spent=replace(s.spent, failovers=s.spent.failovers + 1))
