"""The events of the controller, one record for each kind, and its decisions.

An event is the expiry of a session, a request of a broker or an operator, or a timer. `decide` returns the decision. A
broker epoch of 0 means "unknown"; broker ids start at 0.
"""

from __future__ import annotations

import enum
from typing import TypeAlias

from elrcheck.lang.runtime import record
from elrcheck.model.kafka_error import Error
from elrcheck.model.replicas import Replica, RSet, Vec
from elrcheck.model.replication_control import Controller
from elrcheck.model.state import BrokerEpoch, Epoch, MinIsr, Partition, PartitionEpoch, Recovery, ReplicaList


class ElectionType(enum.Enum):
    """The types of an ElectLeaders request: KIP-460, and version 3 of KIP-966."""

    PREFERRED = 0
    UNCLEAN = 1
    DESIGNATION = 2
    LONGEST_LOG_AGGRESSIVE = 3
    LONGEST_LOG_BALANCED = 4


class MinIsrLevel(enum.Enum):
    """The config resource that has a value of min.insync.replicas."""

    TOPIC = "topic"
    CLUSTER = "cluster"
    BROKER = "broker"


class ControlState(enum.Enum):
    """The state of a broker at the controller after a heartbeat (BrokerControlState)."""

    UNCHANGED = 0
    FENCED = 1
    UNFENCED = 2
    CONTROLLED_SHUTDOWN = 3


# ---------------------------------------------------------------------------- brokers


@record
class FenceEvent:
    """The session of the broker expires (handleBrokerFenced)."""

    broker: Replica


@record
class UnfenceEvent:
    """The broker has caught up with the metadata (handleBrokerUnfenced)."""

    broker: Replica


@record
class RegisterEvent:
    """A new incarnation of the broker registers after the expiry of the old session (registerBroker).

    presented: the broker epoch in its clean-shutdown file, 0 without one. brings_directory: its log directories include
    the one that the controller has recorded for its replica (KIP-858).
    """

    broker: Replica
    presented: BrokerEpoch
    brings_directory: bool


@record
class StartShutdownEvent:
    """The broker requests a controlled shutdown while it leads a partition, this one or another (KIP-841)."""

    broker: Replica


@record
class GrantShutdownEvent:
    """The controller allows a broker in controlled shutdown to stop, and fences it (SHUTDOWN_NOW, KIP-841)."""

    broker: Replica


@record
class UnregisterEvent:
    """An operator unregisters the broker (unregisterBroker)."""

    broker: Replica


@record
class DirectoryFailedEvent:
    """A heartbeat lists the recorded directory of the broker's replica as offline (KIP-858).

    becomes: the state of the broker after the same heartbeat (processBrokerHeartbeat).
    """

    broker: Replica
    becomes: ControlState


@record
class DirectoryMovedEvent:
    """The broker reports an online directory for its replica (AssignReplicasToDirs)."""

    broker: Replica


@record
class DirectoriesEvent:
    """Some broker reports the directory of its replica, which stays online (AssignReplicasToDirs).

    moved: the controller had recorded another directory.
    """

    moved: bool


@record
class AlterPartitionEvent:
    """AlterPartition for one partition; an epoch of 0 in `member_epochs` means "unknown"."""

    sender: Replica
    sender_epoch: BrokerEpoch
    leader_epoch: Epoch
    partition_epoch: PartitionEpoch
    isr: RSet
    member_epochs: Vec[BrokerEpoch]
    recovery: Recovery


# ---------------------------------------------------------------------------- timers


@record
class BalanceEvent:
    """The timer that balances leaders (maybeBalancePartitionLeaders)."""


@record
class PeriodicElectionEvent:
    """The timer that elects uncleanly where the topic allows it (maybeElectUncleanLeaders)."""


@record
class FinishRecoveryEvent:
    """The Unclean Recovery Manager elects the winner (KIP-966)."""

    winner: Replica


# ---------------------------------------------------------------------------- operators


@record
class ElectLeadersEvent:
    """ElectLeaders for one partition. desired: the leader that a DESIGNATION requests."""

    election: ElectionType
    desired: Replica | None


@record
class ReassignEvent:
    """AlterPartitionReassignments for one partition, with its target replicas."""

    replicas: ReplicaList


@record
class CancelReassignmentEvent:
    """AlterPartitionReassignments that cancels the reassignment in progress."""


@record
class MinIsrEvent:
    """A write of min.insync.replicas at one level. broker: matters only at the level of a broker.

    value: None deletes the value.
    """

    level: MinIsrLevel
    broker: Replica
    value: MinIsr | None


@record
class FeatureEvent:
    """eligible.leader.replicas.version becomes 1 or 0 (updateFeatures)."""

    enabled: bool


@record
class CreatePartitionEvent:
    """createTopics with a manual assignment: a new partition replaces the previous one."""

    replicas: ReplicaList


Event: TypeAlias = (
    FenceEvent
    | UnfenceEvent
    | RegisterEvent
    | StartShutdownEvent
    | GrantShutdownEvent
    | UnregisterEvent
    | DirectoryFailedEvent
    | DirectoryMovedEvent
    | DirectoriesEvent
    | AlterPartitionEvent
    | BalanceEvent
    | PeriodicElectionEvent
    | FinishRecoveryEvent
    | ElectLeadersEvent
    | ReassignEvent
    | CancelReassignmentEvent
    | MinIsrEvent
    | FeatureEvent
    | CreatePartitionEvent
)


# ---------------------------------------------------------------------------- decisions


@record
class Decision:
    """The error that a rule returns, and the partition afterwards."""

    error: Error
    partition: Partition


@record
class Decided:
    """The error that the caller receives, and the state of the controller afterwards.

    UNKNOWN_SERVER_ERROR: the event throws an exception and changes nothing.
    """

    error: Error
    controller: Controller
