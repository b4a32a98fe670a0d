"""The state of one partition: the controller's image, each broker with its replica, and ghosts.

Epochs start at 1, where Kafka starts at 0, so that 0 means "none yet": no metadata applied since the process started,
or an unknown broker epoch. Sources: PartitionRegistration, BrokerRegistration (metadata), Partition, Replica (core).
"""

from __future__ import annotations

import enum
from typing import Annotated

from elrcheck.lang.runtime import op, record, state
from elrcheck.lang.types import SeqMark, nat
from elrcheck.model.budgets import Spent
from elrcheck.model.choices import RecoveryStrategy
from elrcheck.model.kafka_error import AlterError
from elrcheck.model.replicas import Replica, RSet, Vec

Epoch = Annotated[int, nat("Epoch", cap="cap_leader_epoch")]
PartitionEpoch = Annotated[int, nat("PartitionEpoch", cap="cap_partition_epoch")]
BrokerEpoch = Annotated[int, nat("BrokerEpoch", cap="cap_broker_epoch")]
Offset = Annotated[int, nat("Offset", hi="log_slots")]
RecordId = Annotated[int, nat("RecordId", cap="records")]
Carried = Annotated[int, nat("Carried", hi="most_carried")]
Overtaken = Annotated[int, nat("Overtaken", hi="most_overtaken")]
Ahead = Annotated[int, nat("Ahead", hi="most_ahead")]
Early = Annotated[int, nat("Early", hi="most_early")]
StrayEpoch = Annotated[int, nat("StrayEpoch", cap="cap_stray_epoch")]
StrayOffset = Annotated[int, nat("StrayOffset", hi="most_stray_offset")]
Checkpoint = Annotated[int, nat("Checkpoint", hi="most_checkpoint")]
Settled = Annotated[int, nat("Settled", hi="most_settled")]
RecordNumber = Annotated[int, nat("RecordNumber", hi="metadata_slots")]
MinIsr = Annotated[int, nat("MinIsr", hi="most_min_isr")]
StaleEntries = Annotated[int, nat("StaleEntries", hi="most_stale")]
KnownMinIsr = Annotated[int, nat("KnownMinIsr", hi="most_known_min_isr")]
DueMinIsr = Annotated[int, nat("DueMinIsr", hi="most_due_min_isr")]
UncleanSwitched = Annotated[int, nat("UncleanSwitched", hi="unclean_changes")]
DetachedOffset = Annotated[int, nat("DetachedOffset", hi="detached_slots")]
ReplicaList = Annotated[tuple[Replica, ...], SeqMark("broker_count")]


class Acks(enum.Enum):
    """The producer's acks setting."""

    ZERO = "0"
    ONE = "1"
    ALL = "all"


class Recovery(enum.Enum):
    """LeaderRecoveryState (KIP-704)."""

    RECOVERED = 0
    RECOVERING = 1


class Status(enum.Enum):
    """The status of a broker process. STARTING: it has loaded its logs and is not registered yet."""

    OFFLINE = 0
    STARTING = 1
    RUNNING = 2


class LogDir(enum.Enum):
    """The state of the log directory in which a broker had its replica; the broker has other directories.

    FAILED: configured, but unusable. REPLACED: empty and newly formatted. DROPPED: no longer in log.dirs. MOVED: the
    replica is in another directory, which the broker has not reported yet.
    """

    PRESENT = 0
    FAILED = 1
    REPLACED = 2
    DROPPED = 3
    MOVED = 4


class Directory(enum.Enum):
    """The directory that the controller has recorded for a replica, and whether the broker still has it.

    UNASSIGNED counts as online (DirectoryId.isOnline). DirectoryId.LOST, which no release sends, is OFFLINE.
    """

    UNASSIGNED = 0
    ONLINE = 1
    OFFLINE = 2


class Stage(enum.Enum):
    """The stage of a leader's AlterPartition. WAITING: rejected as stale, and pending until newer metadata."""

    IDLE = 0
    SENT = 1
    ANSWERED = 2
    WAITING = 3


@record
class Entry:
    """A record in a log. The id distinguishes two records with the same leader epoch and offset."""

    id: RecordId
    epoch: Epoch
    acks: Acks


Log = Annotated[tuple[Entry, ...], SeqMark("log_slots")]
DetachedLog = Annotated[tuple[Entry, ...], SeqMark("detached_slots")]


@record
class Partition:
    """The controller's registration of the partition (PartitionRegistration).

    last_known_none: LastKnownELR is [-1], the last known leader that Kafka stores for a leaderless partition.
    """

    replicas: ReplicaList
    adding: RSet
    removing: RSet
    isr: RSet
    elr: RSet
    last_known_elr: RSet
    last_known_leader: Replica | None
    leader: Replica | None
    leader_epoch: Epoch
    partition_epoch: PartitionEpoch
    recovery: Recovery
    last_known_none: bool = False


@record
class Registration:
    """The controller's registration of a broker (BrokerRegistration).

    registered: unregistering leaves the epoch, so that the next registration gets a new one.
    shutdown_offset: the partition epoch when a controlled shutdown began (controlledShutdownOffset).
    stale_entries: stale entries for the broker in the controller's index BrokersToElrs.
    directory: of the replica (PartitionRegistration.directories), compared with the broker's own directories.
    """

    registered: bool
    fenced: bool
    in_controlled_shutdown: bool
    shutdown_offset: PartitionEpoch
    epoch: BrokerEpoch
    stale_entries: StaleEntries = 0
    directory: Directory = Directory.ONLINE


@record
class Settings:
    """Dynamic settings in the controller's image: min.insync.replicas, unclean elections and the ELR feature.

    A topic's min.insync.replicas overrides a broker's (while ELR is off, KAFKA-16540), which overrides the cluster's.
    unclean_switched: 1 if unclean.leader.election.enable is not what it was at the start.
    """

    topic_min_isr: MinIsr | None
    cluster_min_isr: MinIsr
    broker_min_isr: Vec[MinIsr | None]
    elr_enabled: bool
    unclean_switched: UncleanSwitched = 0


@record
class Snapshot:
    """The fields of a partition record in the metadata log that brokers read; stored only if they may lag.

    min_isr: the leader's min.insync.replicas at that position of the log, if it can change.
    """

    leader: Replica | None
    leader_epoch: Epoch
    isr: RSet
    replicas: RSet
    min_isr: KnownMinIsr


Metadata = Annotated[tuple[Snapshot, ...], SeqMark("metadata_slots")]


@record
class View:
    """The partition as a broker has last applied it. Only a leader reads `isr`, the committed ISR."""

    leader: Replica | None
    leader_epoch: Epoch
    partition_epoch: PartitionEpoch
    isr: RSet
    replicas: RSet


@record
class Peer:
    """The state of a follower at the leader (Replica), from the last fetch that the leader accepted.

    carried: 1 if that fetch was in an earlier leader epoch, and the leader has not stepped down since (F-51).
    """

    log_end_offset: Offset | None
    broker_epoch: BrokerEpoch
    carried: Carried = 0


@record
class Exchange:
    """A leader's AlterPartition (Partition.alterIsr): the request in flight, then the controller's response.

    While SENT the epochs are the sender's; in a response they are the controller's after the change. `isr` is the
    proposed ISR, or the one that a successful response returns; min_isr is the configured value at that time, if
    responses carry it (`alter_answer_carries_min_isr`). overtaken: 1 once metadata has cancelled the proposal; the
    exchange continues, but its members no longer count.
    """

    stage: Stage
    error: AlterError
    leader_epoch: Epoch
    partition_epoch: PartitionEpoch
    isr: RSet
    min_isr: KnownMinIsr
    member_epochs: Vec[BrokerEpoch]
    overtaken: Overtaken = 0


class InfoStage(enum.Enum):
    """The stage of a replica's log info in a recovery."""

    NONE = 0
    SENT = 1
    ACCEPTED = 2


@record
class LogInfo:
    """A GetReplicaLogInfo response: the log of a replica at the time when it responded.

    last_epoch, log_end_offset: of its log. leader_epoch: in the replica's view.
    """

    stage: InfoStage
    broker_epoch: BrokerEpoch
    last_epoch: Epoch
    log_end_offset: Offset
    leader_epoch: Epoch


@record
class UncleanRecovery:
    """A recovery by the Unclean Recovery Manager, in the memory of the active controller.

    strategy: DISABLED while no recovery runs. waited: the timeout for further responses has expired.
    """

    strategy: RecoveryStrategy
    waited: bool
    answers: Vec[LogInfo]


@record
class LateFetch:
    """A fetch whose response has not arrived yet; at most one is in flight.

    follower_epoch, leader_broker_epoch: broker epochs of both processes; the fetch ends with either of them.
    leader_epoch: of the request. diverging: the response reports a divergence at end_epoch and end_offset.
    """

    follower: Replica
    leader: Replica
    follower_epoch: BrokerEpoch
    leader_broker_epoch: BrokerEpoch
    leader_epoch: Epoch
    offset: Offset
    high_watermark: Offset
    diverging: bool
    end_epoch: Epoch
    end_offset: Offset
    answered: bool
    records: Log


LateFetches = Annotated[tuple[LateFetch, ...], SeqMark("late_slots")]


@record
class Broker:
    """A broker process and its replica of the partition.

    log, high_watermark, clean_file and a request already sent survive the process; the rest does not. checkpoint: the
    high watermark from which the process started, if it may be older than the last. registered_at: the partition epoch
    of its registration, up to which it must read before it is a replica. min_isr: the min.insync.replicas that it has
    applied, if it can change; due_min_isr: the next one, or 0. settled: 1 for a follower that no longer compares its
    log with the leader's (`logs.compares`). clean_file: the broker epoch in the clean-shutdown files of the usable
    directories. ahead: 1 for a leader that has its partition epoch from a response and has not read the record yet.
    early: 1 for a starting process that already acts on metadata. stray_*: a stale entry of the leader epoch cache;
    unflushed_*: one in its file only; 0: none. detached_*: the replica in a failed directory that may come back.
    """

    status: Status
    epoch: BrokerEpoch
    registered_at: PartitionEpoch
    min_isr: KnownMinIsr
    clean_file: BrokerEpoch
    log: Log
    high_watermark: Offset
    view: View
    epoch_start: Offset
    settled: Settled
    peers: Vec[Peer]
    alter: Exchange
    log_dir: LogDir = LogDir.PRESENT
    ahead: Ahead = 0
    due_min_isr: DueMinIsr = 0
    early: Early = 0
    stray_epoch: StrayEpoch = 0
    stray_start: StrayOffset = 0
    unflushed_epoch: StrayEpoch = 0
    unflushed_start: StrayOffset = 0
    checkpoint: Checkpoint = 0
    detached_log: DetachedLog = ()
    detached_watermark: DetachedOffset = 0


@record
class Promise:
    """The promise that the first `length` committed records survive min_isr - 1 losses."""

    length: Offset
    min_isr: MinIsr


@record
class Undone:
    """A min ISR that applied up to the partition epoch `at`, and is smaller than the current one."""

    at: PartitionEpoch
    min_isr: MinIsr


UndoneMinIsrs = Annotated[tuple[Undone, ...], SeqMark("promise_slots")]
Promises = Annotated[tuple[Promise, ...], SeqMark("promise_slots")]
Acked = Annotated[tuple[Entry, ...], SeqMark("acked_slots")]


@state
class State:
    """The state variables. `GHOSTS` names those that no protocol rule reads (`ghosts`).

    metadata: the partition records so far, oldest first; empty unless brokers may lag behind. fetching: the late
    fetch in flight. committed: records below the highest watermark that any leader has had; append-only. lossy: brokers
    that have lost a suffix of their log and have not registered since. promised: the smallest min ISR that has applied
    since records were committed; empty if it never changes. undone: smaller ones since the view of a lagging leader.
    acked: acks=all records acknowledged to their producers; empty unless `tracks_acks`. favoured: the replica that wins
    the next election in which it is a candidate, if `choice` is ANY.
    """

    settings: Settings
    partition: Partition
    metadata: Metadata
    recovery: UncleanRecovery
    registration: Vec[Registration]
    broker: Vec[Broker]
    fetching: LateFetches
    committed: Log
    lossy: RSet
    spent: Spent
    promised: Promises = ()
    acked: Acked = ()
    undone: UndoneMinIsrs = ()
    favoured: Replica | None = None


GHOSTS = ("committed", "lossy", "spent", "promised", "acked", "undone")


@op
def configured_min_isr(settings: Settings) -> MinIsr:
    """min.insync.replicas as the controller resolves it: the topic's value, else the cluster's."""
    return settings.topic_min_isr if settings.topic_min_isr is not None else settings.cluster_min_isr


@op
def hosts(broker: Broker) -> bool:
    """The broker can use its replica: the log directory has not failed (HostedPartition.Online)."""
    return broker.log_dir != LogDir.FAILED


@op
def acts(broker: Broker) -> bool:
    """The process acts on metadata: it runs, or acts before it is registered."""
    return broker.status == Status.RUNNING or broker.early > 0


@op
def leads(s: State, b: Replica) -> bool:
    """b runs and is the leader in its own view, as a zombie leader is; it serves requests."""
    broker = s.broker[b]
    return broker.status == Status.RUNNING and broker.view.leader == b and hosts(broker)
