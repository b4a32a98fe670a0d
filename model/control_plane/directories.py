"""The controller's rules for log directories: one has failed, a replica is in another one (KIP-858).

Sources: ReplicationControlManager (handleDirectoriesOffline, handleAssignReplicasToDirs), BrokerLifecycleManager
(offline directories in heartbeats), AssignmentsManager. `elrcheck.model.broker.log_directories` has the directories.
"""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.runtime import EMPTY, op, put
from elrcheck.model.broker.log_directories import directory_at_registration
from elrcheck.model.change_record import Target, election_type, target
from elrcheck.model.config import Config
from elrcheck.model.control_plane.operator_settings import directories_assigned
from elrcheck.model.control_plane.partition import attempted_change, election_fails
from elrcheck.model.replicas import Replica
from elrcheck.model.replication_control import Controller, active
from elrcheck.model.state import Broker, Directory, LogDir, Partition, Status


@op
def without_directory_target(c: Config, controller: Controller, b: Replica) -> Target:
    """b leaves the ISR, and cannot be elected."""
    acceptable = active(c, controller.registration) - {b}
    return target(controller, controller.partition.isr - {b}, election_type(c, controller.settings), acceptable, EMPTY)


@op
def directory_failure_fails(c: Config, controller: Controller, b: Replica) -> bool:
    """The election throws in the partition with a replica in the recorded directory, so the controller faults."""
    p = controller.partition
    return b in frozenset(p.replicas) and election_fails(c, p, without_directory_target(c, controller, b))


@op
def without_directory(c: Config, controller: Controller, b: Replica) -> Partition:
    """handleDirectoriesOffline: b leaves the ISR as if it were fenced, and may stay in the ELR.

    The builder runs on the partitions with a replica in that directory (directoriesToPartitions).
    """
    p = controller.partition
    if b not in frozenset(p.replicas):
        return p
    return attempted_change(c, p, without_directory_target(c, controller, b))


@op
def replayed(before: Partition, first: Partition, second: Partition) -> Partition:
    """Two records of one batch, both built from `before`: the last record with a field determines it.

    PartitionChangeRecord, PartitionRegistration.merge: a field that a record lacks does not change.
    """
    if second == before:
        return first
    named = second.leader_epoch != before.leader_epoch
    last_known = second.last_known_elr != before.last_known_elr or second.last_known_none != before.last_known_none
    remembered = second.last_known_leader != before.last_known_leader
    return Partition(
        replicas=second.replicas if second.replicas != before.replicas else first.replicas,
        adding=second.adding if second.adding != before.adding else first.adding,
        removing=second.removing if second.removing != before.removing else first.removing,
        isr=second.isr if second.isr != before.isr else first.isr,
        elr=second.elr if second.elr != before.elr else first.elr,
        last_known_elr=second.last_known_elr if last_known else first.last_known_elr,
        last_known_leader=second.last_known_leader if remembered else first.last_known_leader,
        leader=second.leader if named else first.leader,
        leader_epoch=first.leader_epoch + 1 if named else first.leader_epoch,
        partition_epoch=first.partition_epoch + 1,
        recovery=second.recovery if second.recovery != before.recovery else first.recovery,
        last_known_none=second.last_known_none if last_known else first.last_known_none,
    )


@op
def with_new_directory(c: Config, controller: Controller, b: Replica) -> Partition:
    """handleAssignReplicasToDirs for b's replica, which is in an online directory from now on.

    Kafka's LeaderAcceptor tests the directory recorded before, so a partition with b as its only candidate stays
    leaderless until the next election, although b could lead.
    """
    moved = replace(controller.registration[b], directory=Directory.ONLINE)
    seen = replace(controller, registration=put(controller.registration, b, moved))
    return directories_assigned(c, seen if c.report_elects else controller)


@op
def recreated(c: Config, broker: Broker) -> bool:
    """The broker has its replica in a directory that it has not reported yet.

    It may apply metadata and create the log before its registration succeeds.
    """
    applied = broker.status == Status.RUNNING and broker.view.partition_epoch > 0
    early = broker.status == Status.STARTING and c.assigns_before_registration
    return (applied or early) and directory_at_registration(broker) == LogDir.MOVED
