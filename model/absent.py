"""Initial values: the first assignment, a process without metadata, a leader without follower state."""

from __future__ import annotations

from elrcheck.lang.runtime import EMPTY, op
from elrcheck.model.choices import RecoveryStrategy
from elrcheck.model.config import Config
from elrcheck.model.kafka_error import Error
from elrcheck.model.replicas import Vec
from elrcheck.model.state import Exchange, InfoStage, LogInfo, Peer, ReplicaList, Stage, UncleanRecovery, View


@op
def initial_replicas(c: Config) -> ReplicaList:
    """The brokers that host a replica at the start, in order."""
    return tuple(c.brokers)[: c.broker_count - c.spare_brokers]


@op
def no_view(c: Config) -> View:
    """The view of a process that has applied no metadata; `replicas` has no meaning without a leader."""
    replicas = frozenset(initial_replicas(c))
    return View(leader=None, leader_epoch=0, partition_epoch=0, isr=EMPTY, replicas=replicas)


@op
def no_peers(c: Config) -> Vec[Peer]:
    """The follower state of a leader that has received no fetch."""
    return tuple(Peer(log_end_offset=None, broker_epoch=0) for b in c.brokers)


@op
def no_exchange(c: Config) -> Exchange:
    """No AlterPartition in flight."""
    return Exchange(
        stage=Stage.IDLE,
        error=Error.NONE,
        leader_epoch=0,
        partition_epoch=0,
        isr=EMPTY,
        min_isr=0,
        member_epochs=tuple(0 for b in c.brokers),
    )


@op
def no_recovery(c: Config) -> UncleanRecovery:
    """No recovery runs."""
    silent = LogInfo(stage=InfoStage.NONE, broker_epoch=0, last_epoch=0, log_end_offset=0, leader_epoch=0)
    return UncleanRecovery(strategy=RecoveryStrategy.DISABLED, waited=False, answers=tuple(silent for b in c.brokers))
