"""The state of one partition: what the controller knows, what every broker holds, and ghosts.

Numbers start at 1 where Kafka starts at 0, so that 0 can mean "none yet": a broker whose
`view.partition_epoch` is 0 has applied no metadata since it started, a broker epoch of 0 is unknown.

Sources: PartitionRegistration, BrokerRegistration (metadata), Partition, Replica (core).
"""

from __future__ import annotations

import enum
from typing import Annotated

from elrcheck.lang.runtime import EMPTY, conj, init, op, record, state
from elrcheck.lang.runtime import bound as bound_of
from elrcheck.lang.types import Replica, RSet, SeqMark, Vec, nat
from elrcheck.model.config import Config

Epoch = Annotated[int, nat("Epoch", cap="cap_leader_epoch")]
PartitionEpoch = Annotated[int, nat("PartitionEpoch", cap="cap_partition_epoch")]
BrokerEpoch = Annotated[int, nat("BrokerEpoch", cap="cap_broker_epoch")]
Offset = Annotated[int, nat("Offset", hi="log_slots")]
RecordId = Annotated[int, nat("RecordId", cap="records")]
ReplicaList = Annotated[tuple[Replica, ...], SeqMark("broker_count")]


class Acks(enum.Enum):
    """The producer's acks setting."""

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


class Stage(enum.Enum):
    """Where a leader's AlterPartition stands. WAITING: refused as stale, pending until new metadata."""

    IDLE = 0
    SENT = 1
    ANSWERED = 2
    WAITING = 3


class Error(enum.Enum):
    """Kafka's error names, as far as this part of the protocol answers with them."""

    NONE = 0
    STALE_BROKER_EPOCH = 1
    NOT_CONTROLLER = 2
    FENCED_LEADER_EPOCH = 3
    INVALID_REQUEST = 4
    INVALID_UPDATE_VERSION = 5
    INELIGIBLE_REPLICA = 6
    NEW_LEADER_ELECTED = 7


@record
class Entry:
    """A record in a log. The id tells apart two records that one leader epoch wrote at one offset."""

    id: RecordId
    epoch: Epoch
    acks: Acks


Log = Annotated[tuple[Entry, ...], SeqMark("log_slots")]


@record
class Partition:
    """The controller's registration of the partition (PartitionRegistration)."""

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


@record
class Registration:
    """The controller's registration of a broker (BrokerRegistration)."""

    fenced: bool
    in_controlled_shutdown: bool
    epoch: BrokerEpoch


@record
class View:
    """The partition as a broker last accepted it. Only a leader looks at `isr`, the committed ISR."""

    leader: Replica | None
    leader_epoch: Epoch
    partition_epoch: PartitionEpoch
    isr: RSet


@record
class Peer:
    """What a leader knows of a follower (Replica): its last fetch accepted in this leader epoch."""

    log_end_offset: Offset | None
    broker_epoch: BrokerEpoch


@record
class Exchange:
    """A leader's AlterPartition: the request on its way, then the controller's answer.

    While SENT the epochs are the sender's; in an answer they are the controller's after the change.
    `isr` is the proposal, and what a successful answer returns.
    """

    stage: Stage
    error: Error
    leader_epoch: Epoch
    partition_epoch: PartitionEpoch
    isr: RSet
    member_epochs: Vec[BrokerEpoch]


@record
class Broker:
    """A broker process and its replica of the partition.

    log, high_watermark, clean_file and a request already sent survive the process; the rest does not.
    """

    status: Status
    epoch: BrokerEpoch
    clean_file: BrokerEpoch
    log: Log
    high_watermark: Offset
    view: View
    epoch_start: Offset
    peers: Vec[Peer]
    alter: Exchange


@record
class Spent:
    """Budgets used so far; only the bound of a search reads them."""

    records: Annotated[int, nat("Records", cap="records")]
    acks_one: Annotated[int, nat("AcksOne", cap="acks_one")]
    crashes: Annotated[int, nat("Crashes", cap="crashes")]
    clean_stops: Annotated[int, nat("CleanStops", cap="clean_stops")]
    fences: Annotated[int, nat("Fences", cap="fences")]
    shrinks: Annotated[int, nat("Shrinks", cap="shrinks")]


@state
class State:
    """The state variables. `committed` and `lossy` are ghosts: no protocol rule reads them.

    committed: the records below the highest watermark any leader ever had.
    lossy: brokers that lost a suffix of their log and have not registered since.
    """

    partition: Partition
    registration: Vec[Registration]
    broker: Vec[Broker]
    committed: Log
    lossy: RSet
    spent: Spent


GHOSTS = ("committed", "lossy", "spent")


# ---------------------------------------------------------------------------- small vocabulary


@op
def effective_min_isr(c: Config, replicas: ReplicaList) -> int:
    """min.insync.replicas, but never more than there are replicas (KIP-966, effective min ISR)."""
    return min(c.min_isr, len(replicas))


@op
def leads(s: State, b: Replica) -> bool:
    """b is running and believes it is the leader; a zombie does so too."""
    return s.broker[b].status == Status.RUNNING and s.broker[b].view.leader == b


@op
def is_prefix(a: Log, b: Log) -> bool:
    return len(a) <= len(b) and all(a[k] == b[k] for k in range(len(a)))


@op
def no_exchange(c: Config) -> Exchange:
    """No AlterPartition under way."""
    return Exchange(
        stage=Stage.IDLE,
        error=Error.NONE,
        leader_epoch=0,
        partition_epoch=0,
        isr=EMPTY,
        member_epochs=tuple(0 for b in c.brokers),
    )


@op
def no_view() -> View:
    """Nothing applied since the process started."""
    return View(leader=None, leader_epoch=0, partition_epoch=0, isr=EMPTY)


@op
def no_peers(c: Config) -> Vec[Peer]:
    return tuple(Peer(log_end_offset=None, broker_epoch=0) for b in c.brokers)


# ---------------------------------------------------------------------------- start and budgets


@init
def Init(c: Config) -> State:
    """All brokers run, registered and unfenced; broker 0 leads and the ISR is complete."""
    return State(
        partition=Partition(
            replicas=tuple(c.brokers),
            adding=EMPTY,
            removing=EMPTY,
            isr=c.brokers,
            elr=EMPTY,
            last_known_elr=EMPTY,
            last_known_leader=None,
            leader=0,
            leader_epoch=1,
            partition_epoch=1,
            recovery=Recovery.RECOVERED,
        ),
        registration=tuple(
            Registration(fenced=False, in_controlled_shutdown=False, epoch=1) for b in c.brokers
        ),
        broker=tuple(
            Broker(
                status=Status.RUNNING,
                epoch=1,
                clean_file=0,
                log=(),
                high_watermark=0,
                view=View(leader=0, leader_epoch=1, partition_epoch=1, isr=c.brokers if b == 0 else EMPTY),
                epoch_start=0,
                peers=no_peers(c),
                alter=no_exchange(c),
            )
            for b in c.brokers
        ),
        committed=(),
        lossy=EMPTY,
        spent=Spent(records=0, acks_one=0, crashes=0, clean_stops=0, fences=0, shrinks=0),
    )


@bound_of
def WithinBudget(c: Config, s: State) -> bool:
    """The bound of a search: perturbations are limited, healing never is."""
    return conj(
        records=s.spent.records <= c.records,
        acks_one=s.spent.acks_one <= c.acks_one,
        crashes=s.spent.crashes <= c.crashes,
        clean_stops=s.spent.clean_stops <= c.clean_stops,
        fences=s.spent.fences <= c.fences,
        shrinks=s.spent.shrinks <= c.shrinks,
    )
