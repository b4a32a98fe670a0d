"""The questions to the controller's managers: a cluster, an event, and what is registered afterwards.

Each event names the method of Kafka that it calls. A `Setup` becomes metadata records that the managers
replay, as a controller does that starts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from elrcheck.kafka.partition_questions import Ids, KafkaPartition, Recovery, Tagged

Reply: TypeAlias = Literal["CAUGHT_UP", "FENCED", "IN_CONTROLLED_SHUTDOWN", "SHUT_DOWN", "RESIGNED"]
ConfigKey: TypeAlias = Literal["min.insync.replicas", "unclean.leader.election.enable"]


@dataclass(frozen=True, slots=True)
class KafkaBroker:
    """A BrokerRegistration.

    registered=False: it is not registered, but `epoch` is what the broker remembers of its last one. directories:
    the numbers of its log directories that are online, ascending.
    """

    id: int
    epoch: int = 100
    registered: bool = True
    fenced: bool = False
    in_controlled_shutdown: bool = False
    directories: Ids = (0, 1)


@dataclass(frozen=True, slots=True)
class Setup:
    """A cluster with one topic. Configuration that is None is not set at that level.

    sibling: partition 0 of the same topic; the partition asked about is then number 1, otherwise number 0.
    partition=None: the topic does not exist (CreateTopic may create it).
    """

    brokers: tuple[KafkaBroker, ...]
    partition: KafkaPartition | None
    elr: bool = True
    topic_min_isr: int | None = None
    cluster_min_isr: int | None = None
    broker_min_isr: tuple[tuple[int, int], ...] = ()
    topic_unclean: bool | None = None
    cluster_unclean: bool | None = None
    sibling: KafkaPartition | None = None
    metadata_version: str | None = None

    def __post_init__(self) -> None:
        if self.sibling is not None and self.partition is None:
            raise ValueError("a sibling of no partition")


class Fence(Tagged, frozen=True):
    """ReplicationControlManager.handleBrokerFenced; nothing happens if the broker is fenced."""

    broker: int


class Expire(Tagged, frozen=True):
    """Its session ends while all other brokers keep theirs: maybeFenceOneStaleBroker until none is stale."""

    broker: int


class Unfence(Tagged, frozen=True):
    """handleBrokerUnfenced; nothing happens if the broker is not fenced."""

    broker: int


class ShutDown(Tagged, frozen=True):
    """handleBrokerInControlledShutdown; nothing happens if the broker is fenced or shutting down."""

    broker: int


class Heartbeat(Tagged, frozen=True):
    """processBrokerHeartbeat. caught_up: it has read its registration and everything after it.

    offline: the broker's log directories, by number, that it reports as failed.
    """

    broker: int
    want_fence: bool = False
    want_shut_down: bool = False
    caught_up: bool = True
    offline: Ids = ()


class Register(Tagged, frozen=True):
    """registerBroker after the broker's session ended.

    previous: the epoch in its clean-shutdown file: that of its last registration, none, or some other one.
    directories: the numbers of its log directories now; None for those of its last registration.
    """

    broker: int
    previous: Literal["last", "none", "other"] = "last"
    directories: Ids | None = None


class Unregister(Tagged, frozen=True):
    """ReplicationControlManager.unregisterBroker."""

    broker: int


@dataclass(frozen=True, slots=True)
class Member:
    """A broker of a proposed ISR. epoch: relative to its registration, 0 for exactly that; None for -1."""

    broker: int
    epoch: int | None = 0


class AlterPartition(Tagged, frozen=True):
    """ReplicationControlManager.alterPartition. All epochs are relative to what is registered now."""

    sender: int
    isr: tuple[Member, ...]
    sender_epoch: int = 0
    leader_epoch: int = 0
    partition_epoch: int = 0
    recovery: Recovery = "RECOVERED"


class Elect(Tagged, frozen=True):
    """ReplicationControlManager.electLeaders."""

    kind: Literal["PREFERRED", "UNCLEAN"]


class Balance(Tagged, frozen=True):
    """maybeBalancePartitionLeaders, which a timer calls."""


class ElectUncleanly(Tagged, frozen=True):
    """maybeElectUncleanLeaders, which a timer calls."""


class Reassign(Tagged, frozen=True):
    """alterPartitionReassignments; replicas=None cancels."""

    replicas: Ids | None
    may_change_replication_factor: bool = True


class Configure(Tagged, frozen=True):
    """incrementalAlterConfigs, or the older legacyAlterConfigs; value=None deletes the key.

    level: of the topic, of all brokers (the cluster's default), or of one broker.
    """

    level: Literal["topic", "cluster", "broker"]
    value: str | None
    key: ConfigKey = "min.insync.replicas"
    broker: int | None = None
    legacy: bool = False

    def __post_init__(self) -> None:
        if (self.level == "broker") != (self.broker is not None):
            raise ValueError("exactly the level `broker` takes a broker")


class SwitchElr(Tagged, frozen=True):
    """updateFeatures of eligible.leader.replicas.version."""

    on: bool


class AssignDirectory(Tagged, frozen=True):
    """handleAssignReplicasToDirs: the broker's replica is in its directory of that number."""

    broker: int
    directory: int


class CreateTopic(Tagged, frozen=True):
    """createTopics with these replicas for its one partition."""

    replicas: Ids


class CreatePartition(Tagged, frozen=True):
    """createPartitions: the topic's next one, with these replicas."""

    replicas: Ids


class DeleteTopic(Tagged, frozen=True):
    """deleteTopics."""


class AboutPartition(Tagged, frozen=True):
    """Not an event: the steps that follow are about this partition, which need not exist."""

    topic: str
    partition: int


Step: TypeAlias = (
    Fence
    | Expire
    | Unfence
    | ShutDown
    | Heartbeat
    | Register
    | Unregister
    | AlterPartition
    | Elect
    | Balance
    | ElectUncleanly
    | Reassign
    | Configure
    | SwitchElr
    | AssignDirectory
    | CreateTopic
    | CreatePartition
    | DeleteTopic
    | AboutPartition
)


@dataclass(frozen=True, slots=True)
class StepAnswer:
    """The registrations after a step.

    error: Kafka's name of the error in the answer, NONE without one. failure: the text of an
    exception that is not an error of Kafka's protocol (the error is then UNKNOWN_SERVER_ERROR); the records of
    such a step are not replayed. min_isr: the topic's effective one, 0 without the topic. brokers: in the
    order of their ids, with those of the setup that are not registered any more. reply: what the answer to a
    heartbeat says; or RESIGNED, if the step was a fault at which a QuorumController gave up being active.
    """

    error: str
    partition: KafkaPartition | None
    brokers: tuple[KafkaBroker, ...]
    min_isr: int
    elr: bool
    sibling: KafkaPartition | None = None
    failure: str | None = None
    reply: tuple[Reply, ...] = ()


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """An entry of an index of ReplicationControlManager or ClusterControlManager.

    index: its name there, or `partition` for what a partition is; of: a broker, a directory as broker/number, or a
    topic. held: how often the index has the entry; due: how often partitions and registrations say that it should.
    """

    index: str
    of: str
    partition: str
    held: int
    due: int


@dataclass(frozen=True, slots=True)
class IndexAnswer:
    """The indexes of the running controller, and of one that loads a snapshot of everything committed.

    failure: the text of an exception of writing or loading that snapshot.
    """

    running: tuple[IndexEntry, ...]
    loaded: tuple[IndexEntry, ...]
    failure: str | None = None
