"""The state of one partition: what the controller knows, what every broker holds, and ghosts.

Numbers start at 1 where Kafka starts at 0, so that 0 can mean "none yet": a broker whose `view.partition_epoch` is 0
has applied no metadata since it started, a broker epoch of 0 is unknown.
Sources: PartitionRegistration, BrokerRegistration (metadata), Partition, Replica (core).
"""

from __future__ import annotations

import enum
from typing import Annotated

from elrcheck.lang.runtime import op, record, state
from elrcheck.lang.types import SeqMark, nat
from elrcheck.model.budgets import Spent
from elrcheck.model.choices import RecoveryStrategy
from elrcheck.model.config import Config
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
    """A broker process. STARTING: logs are loaded, registration has not succeeded yet."""

    OFFLINE = 0
    STARTING = 1
    RUNNING = 2


class LogDir(enum.Enum):
    """The log directory of a broker that held its replica, as the broker finds it; it has others.

    FAILED: configured, but unusable. REPLACED: empty and newly formatted. DROPPED: not in log.dirs any more. MOVED: the
    replica is in another one, which the broker has not reported yet.
    """

    PRESENT = 0
    FAILED = 1
    REPLACED = 2
    DROPPED = 3
    MOVED = 4


class Directory(enum.Enum):
    """The controller's record of a replica's directory, and of whether its broker has that one.

    UNASSIGNED counts as online (DirectoryId.isOnline). DirectoryId.LOST, which no release sends, is OFFLINE.
    """

    UNASSIGNED = 0
    ONLINE = 1
    OFFLINE = 2


class Stage(enum.Enum):
    """The stage of a leader's AlterPartition. WAITING: refused as stale, pending until new metadata."""

    IDLE = 0
    SENT = 1
    ANSWERED = 2
    WAITING = 3


@record
class Entry:
    """A record in a log. The id tells apart two records that one leader epoch wrote at one offset."""

    id: RecordId
    epoch: Epoch
    acks: Acks


Log = Annotated[tuple[Entry, ...], SeqMark("log_slots")]


@record
class Partition:
    """The controller's registration of the partition (PartitionRegistration).

    last_known_none: the code's LastKnownELR is [-1], the last known leader of a partition that had none.
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

    registered: unregistering keeps the epoch, so that a later registration is a new one.
    shutdown_offset: the partition epoch when a controlled shutdown began (controlledShutdownOffset).
    stale_entries: how often the controller's index BrokersToElrs names the broker for nothing.
    directory: of the replica (PartitionRegistration.directories), seen against the broker's own list of them.
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
    """The settings of operators, as the controller has them: min.insync.replicas and the ELR feature.

    A topic's value goes before a broker's, which is there only while ELR is off (KAFKA-16540), and the cluster's.
    """

    topic_min_isr: MinIsr | None
    cluster_min_isr: MinIsr
    broker_min_isr: Vec[MinIsr | None]
    elr_enabled: bool


@record
class Snapshot:
    """A partition record of the metadata log, as far as brokers look at it; kept only so that they can lag.

    min_isr: the min.insync.replicas of the topic at that point of the log, if it can change.
    """

    leader: Replica | None
    leader_epoch: Epoch
    isr: RSet
    replicas: RSet
    min_isr: KnownMinIsr


Metadata = Annotated[tuple[Snapshot, ...], SeqMark("metadata_slots")]


@record
class View:
    """The partition as a broker last accepted it. Only a leader looks at `isr`, the committed ISR."""

    leader: Replica | None
    leader_epoch: Epoch
    partition_epoch: PartitionEpoch
    isr: RSet
    replicas: RSet


@record
class Peer:
    """A leader's view of a follower (Replica): its last accepted fetch.

    carried: 1 if that fetch was in an earlier leader epoch, and the leader did not step down since (F-51).
    """

    log_end_offset: Offset | None
    broker_epoch: BrokerEpoch
    carried: Carried = 0


@record
class Exchange:
    """A leader's AlterPartition (Partition.alterIsr): the request in flight, then the controller's answer.

    While SENT the epochs are the sender's; in an answer they are the controller's after the change. `isr` is the
    proposal, and what a successful answer returns; min_isr is what was configured then, if an answer says so
    (`alter_answer_carries_min_isr`). overtaken: 1 once metadata has ended the proposal; the exchange continues, and
    its members do not count.
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
    """A GetReplicaLogInfo response: what a replica said about itself when it answered.

    last_epoch, log_end_offset: of its log. leader_epoch: of the partition, as far as it knew.
    """

    stage: InfoStage
    broker_epoch: BrokerEpoch
    last_epoch: Epoch
    log_end_offset: Offset
    leader_epoch: Epoch


@record
class UncleanRecovery:
    """The Unclean Recovery Manager's work on the partition; in memory of the active controller only.

    strategy: DISABLED while no recovery runs. waited: the time for more answers is over.
    """

    strategy: RecoveryStrategy
    waited: bool
    answers: Vec[LogInfo]


@record
class LateFetch:
    """A fetch whose response has not arrived yet; at most one is in flight.

    follower_epoch, leader_broker_epoch: the two processes; with either gone, so is the fetch.
    leader_epoch: the request's. diverging: the leader says so, and names end_epoch and end_offset.
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
    high watermark with which the process began, where another may be in its file than the last. registered_at: the
    partition epoch when it registered; its view must reach it before it is a replica. min_isr: the
    min.insync.replicas it has applied, if it can change; due_min_isr: the next one, or 0. settled: 1 for a follower
    that does not compare its log with the leader's any more (`logs.compares`). clean_file: the broker epoch in the
    clean-shutdown files of the directories that are left. ahead: 1 for a leader that has its partition epoch from an
    answer and has yet to read the record of it. early: 1 for a starting process that acts on metadata already. stray_*:
    an entry of the leader epoch cache that the log cannot explain; unflushed_*: one of its file only; 0: none.
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


@record
class Promise:
    """The promise about the first `length` committed records: they survive min_isr - 1 losses."""

    length: Offset
    min_isr: MinIsr


@record
class Undone:
    """A min ISR that was in force up to the partition epoch `at`; a greater one is now."""

    at: PartitionEpoch
    min_isr: MinIsr


UndoneMinIsrs = Annotated[tuple[Undone, ...], SeqMark("promise_slots")]
Promises = Annotated[tuple[Promise, ...], SeqMark("promise_slots")]
Acked = Annotated[tuple[Entry, ...], SeqMark("acked_slots")]


@state
class State:
    """The state variables. `GHOSTS` names those that no protocol rule reads (`ghosts`).

    metadata: the partition records so far, oldest first; empty unless brokers may lag behind. fetching: the late
    fetch in flight. committed: records below the highest watermark any leader had; only appended to. lossy: brokers
    that lost a suffix of their log and have not registered since. promised: for committed records, the least min ISR
    in force since; empty if it is the same throughout. undone: lesser min ISRs in force since the view of a leader that
    lags. acked: acks=all records whose producers learnt of success; empty unless `tracks_acks`. favoured: the replica
    that wins the next election in which it is a candidate, if `choice` is ANY.
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
    """The process acts on metadata: it runs, or does so before it is registered."""
    return broker.status == Status.RUNNING or broker.early > 0


@op
def leads(s: State, b: Replica) -> bool:
    """b is running and believes that it is the leader, which a zombie leader does too; it answers requests."""
    broker = s.broker[b]
    return broker.status == Status.RUNNING and broker.view.leader == b and hosts(broker)


@op
def initial_replicas(c: Config) -> ReplicaList:
    """The brokers that hold a replica at the start, in order."""
    return tuple(c.brokers)[: c.broker_count - c.spare_brokers]
