"""The Unclean Recovery Manager: it asks the replicas for their logs and elects the longest.

Source: KIP-966 "Unclean recovery" and "ElectLeaders"; no release has it. The work is in the memory of
the active controller: a failover starts it again. An answer says which incarnation gave it and which
leader epoch that one knew, so that an answer from before a crash or of an earlier recovery does not
count. Whoever answered and was fenced or restarted since is waited for again.

Abstraction: the controller asks everybody, and asks again for free; only the answers are steps.
"""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.marks import Fair, Message, Unfair
from elrcheck.lang.runtime import EMPTY, action, op, put, require
from elrcheck.lang.types import Replica, RSet, Vec
from elrcheck.model.absent import no_recovery
from elrcheck.model.alternatives.reductions import kept_up
from elrcheck.model.broker.logs import last_epoch
from elrcheck.model.config import Config, RecoveryQuorum, RecoveryStrategy
from elrcheck.model.control_plane.controller import active
from elrcheck.model.control_plane.elections import AdminError
from elrcheck.model.control_plane.partition import Election, change, target
from elrcheck.model.state import (
    InfoStage,
    LogInfo,
    Partition,
    Registration,
    Settings,
    State,
    Status,
    configured_min_isr,
    logged,
)

# ---------------------------------------------------------------------------- rules


@op
def may_start(
    c: Config, p: Partition, registration: Vec[Registration], strategy: RecoveryStrategy
) -> bool:
    """A partition without a leader, and nobody left that could be elected cleanly (KIP-966).

    Balanced waits for fenced ELR members, and for the whole LastKnownELR: the members that dropped
    out of it uncleanly; at least one of them holds everything if fewer than min ISR lost data.
    """
    live = active(c, registration)
    if p.leader is not None or (p.isr | p.elr) & live != EMPTY:
        return False
    if strategy == RecoveryStrategy.BALANCED:
        return p.elr == EMPTY and p.last_known_elr != EMPTY and p.last_known_elr <= live
    return strategy == RecoveryStrategy.AGGRESSIVE and frozenset(p.replicas) & live != EMPTY


@op
def longest_log_error(
    c: Config, p: Partition, registration: Vec[Registration], strategy: RecoveryStrategy
) -> AdminError:
    """ElectLeaders, types LONGEST_LOG_*: without a leader only; NONE means that a recovery starts."""
    if not c.elect_leaders_v3:
        return AdminError.UNSUPPORTED_VERSION
    if p.leader is not None:
        return AdminError.ELECTION_NOT_NEEDED
    if not may_start(c, p, registration, strategy):
        return AdminError.ELIGIBLE_LEADERS_NOT_AVAILABLE
    return AdminError.NONE


@op
def answer_counts(c: Config, p: Partition, registration: Vec[Registration], b: Replica, x: LogInfo) -> bool:
    """The answer is of the present incarnation of b, which is active, and of the present leader epoch."""
    present = x.broker_epoch == registration[b].epoch and x.leader_epoch == p.leader_epoch
    return x.stage != InfoStage.NONE and (
        not c.log_info_checks or (present and b in active(c, registration))
    )


@op
def answered_validly(
    c: Config, p: Partition, registration: Vec[Registration], answers: Vec[LogInfo]
) -> RSet:
    """Replicas whose log info the controller has and may use."""
    return frozenset(
        b
        for b in c.brokers
        if b in frozenset(p.replicas)
        and answers[b].stage == InfoStage.ACCEPTED
        and answer_counts(c, p, registration, b, answers[b])
    )


@op
def enough_answers(c: Config, g: Settings, p: Partition, got: RSet, strategy: RecoveryStrategy) -> bool:
    """Whether the recovery may elect (KIP-966; other quorums are the rejected alternatives)."""
    if c.recovery_quorum == RecoveryQuorum.MIN_ISR:
        return len(got) >= min(configured_min_isr(g), len(p.replicas))
    if c.recovery_quorum == RecoveryQuorum.MAJORITY:
        return len(got) + len(got) > len(p.replicas)
    if c.recovery_quorum == RecoveryQuorum.ALL:
        return frozenset(p.replicas) <= got
    return got != EMPTY and (strategy == RecoveryStrategy.AGGRESSIVE or p.last_known_elr <= got)


@op
def no_longer_than(a: LogInfo, b: LogInfo) -> bool:
    """Log a ends before log b, or where b does: the last leader epoch counts first, then the offset."""
    return a.last_epoch < b.last_epoch or (
        a.last_epoch == b.last_epoch and a.log_end_offset <= b.log_end_offset
    )


@op
def recovered_partition(
    c: Config, g: Settings, p: Partition, registration: Vec[Registration], winner: Replica
) -> Partition:
    """The unclean election of the winner: it alone is in the ISR, RECOVERING; ELR fields are dropped."""
    only = frozenset({winner})
    return change(c, p, target(g, p, p.isr, Election.UNCLEAN, only, EMPTY))


# ---------------------------------------------------------------------------- actions


@action(fairness=Fair("the recovery manager looks at every partition without a leader (KIP-966); added"))
def StartRecovery(c: Config, s: State) -> State:
    """The controller starts what unclean.recovery.strategy asks for."""
    require(c.unclean_recovery_strategy != RecoveryStrategy.DISABLED, "there is a recovery manager")
    require(s.recovery.strategy == RecoveryStrategy.DISABLED, "no recovery runs")
    require(
        may_start(c, s.partition, s.registration, c.unclean_recovery_strategy), "the strategy recovers now"
    )
    return replace(s, recovery=replace(no_recovery(c), strategy=c.unclean_recovery_strategy))


@action(
    fairness=Unfair("a request of an operator"),
    what_if="elect_leaders",
    because="no event of prove --controller: a recovery starts, and the partition stays as it is",
)
def AskForLongestLog(c: Config, s: State, strategy: RecoveryStrategy) -> State:
    """An operator starts a recovery with ElectLeaders (LONGEST_LOG_BALANCED or _AGGRESSIVE)."""
    require(c.unclean_elections > 0, "the scope has unclean elections")
    require(s.recovery.strategy == RecoveryStrategy.DISABLED, "no recovery runs")
    error = longest_log_error(c, s.partition, s.registration, strategy)
    require(error == AdminError.NONE, "a recovery starts")
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
    """Replica b answers GetReplicaLogInfo with the state of its log."""
    me = s.broker[b]
    require(s.recovery.strategy != RecoveryStrategy.DISABLED, "a recovery runs")
    require(me.status == Status.RUNNING and me.view.partition_epoch > 0, "b is a running replica")
    require(b in frozenset(s.partition.replicas), "b holds a replica")
    require(
        not answer_counts(c, s.partition, s.registration, b, s.recovery.answers[b]), "b is asked for its log"
    )
    sent = LogInfo(
        stage=InfoStage.SENT,
        broker_epoch=me.epoch,
        last_epoch=last_epoch(me.log),
        log_end_offset=len(me.log),
        leader_epoch=me.view.leader_epoch,
    )
    require(s.recovery.answers[b] != sent, "the answer is news")
    return replace(s, recovery=replace(s.recovery, answers=put(s.recovery.answers, b, sent)))


@action(fairness=Fair("the answer arrives (KIP-966); added"))
def AcceptLogInfo(c: Config, s: State, b: Replica) -> State:
    """The controller takes the answer of b, which may have been on its way for long."""
    x = s.recovery.answers[b]
    require(s.recovery.strategy != RecoveryStrategy.DISABLED, "a recovery runs")
    require(x.stage == InfoStage.SENT, "an answer of b is on its way")
    require(answer_counts(c, s.partition, s.registration, b, x), "the answer is valid")
    taken = put(s.recovery.answers, b, replace(x, stage=InfoStage.ACCEPTED))
    return replace(s, recovery=replace(s.recovery, answers=taken))


@action(fairness=Fair("a timer of the recovery manager (KIP-966); added"))
def RecoveryTimeout(c: Config, s: State) -> State:
    """The time for further answers is over; an aggressive recovery then takes what it has."""
    require(s.recovery.strategy == RecoveryStrategy.AGGRESSIVE, "an aggressive recovery runs")
    require(not s.recovery.waited, "it still waits")
    return replace(s, recovery=replace(s.recovery, waited=True))


@action(
    fairness=Fair("the recovery manager elects (KIP-966); added"),
    event="FINISH_RECOVERY",
    because="no what-if operation: its questions hold no logs, so they cannot say who wins",
)
def FinishRecovery(c: Config, s: State, winner: Replica) -> State:
    """The controller elects the replica with the longest log among the answers; ties are open."""
    x = s.recovery
    got = answered_validly(c, s.partition, s.registration, x.answers)
    require(x.strategy != RecoveryStrategy.DISABLED, "a recovery runs")
    require(x.waited or x.strategy == RecoveryStrategy.BALANCED, "it need not wait for more")
    require(enough_answers(c, s.settings, s.partition, got, x.strategy), "enough replicas answered")
    require(winner in got, "winner answered")
    require(all(no_longer_than(x.answers[b], x.answers[winner]) for b in got), "no log is longer")
    after = recovered_partition(c, s.settings, s.partition, s.registration, winner)
    return replace(
        s,
        partition=after,
        metadata=logged(c, s, after),
        broker=kept_up(c, s, after),
        recovery=no_recovery(c),
    )


@action(fairness=Unfair("a disturbance"))
def ControllerFailover(c: Config, s: State) -> State:
    """Another controller takes over: a recovery starts from nothing, sessions start anew."""
    require(c.failovers > 0, "the scope has failovers")
    require(s.recovery.strategy != RecoveryStrategy.DISABLED, "a recovery runs")
    return replace(
        s, recovery=no_recovery(c), spent=replace(s.spent, failovers=s.spent.failovers + 1)
    )
