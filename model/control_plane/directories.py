"""Reports of brokers about log directories: one has failed, a replica is in another (KIP-858).

Sources: ReplicationControlManager (handleDirectoriesOffline, handleAssignReplicasToDirs),
BrokerLifecycleManager (offline directories in heartbeats), AssignmentsManager. What happens to the
directories themselves is in `elrcheck.model.broker.log_directories`.
"""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.runtime import EMPTY, op, put
from elrcheck.model.broker.log_directories import directory_at_registration
from elrcheck.model.change_record import election_type, target
from elrcheck.model.config import Config
from elrcheck.model.control_plane.operator_settings import directories_assigned
from elrcheck.model.control_plane.partition import attempted_change
from elrcheck.model.replicas import Replica
from elrcheck.model.replication_control import Controller, active
from elrcheck.model.state import Broker, Directory, LogDir, Partition, Status


@op
def without_directory(c: Config, controller: Controller, b: Replica) -> Partition:
    """handleDirectoriesOffline: b leaves the ISR as if it were fenced, and may stay in the ELR.

    The builder runs on the partitions with a replica in that directory (directoriesToPartitions).
    """
    p = controller.partition
    if b not in frozenset(p.replicas):
        return p
    acceptable = active(c, controller.registration) - {b}
    return attempted_change(c, p, target(controller, p.isr - {b}, election_type(c), acceptable, EMPTY))


@op
def with_new_directory(c: Config, controller: Controller, b: Replica) -> Partition:
    """handleAssignReplicasToDirs for b's replica, which is in an online directory from now on.

    The code asks LeaderAcceptor about the directory recorded before, so a partition whose only candidate was
    b keeps waiting for the next election, although nothing is in the way any more.
    """
    moved = replace(controller.registration[b], directory=Directory.ONLINE)
    seen = replace(controller, registration=put(controller.registration, b, moved))
    return directories_assigned(c, seen if c.report_elects else controller)


@op
def made_again(c: Config, broker: Broker) -> bool:
    """b has its replica in a directory of which the controller does not know.

    A broker applies metadata, and makes the log, before its registration has succeeded, too.
    """
    applied = broker.status == Status.RUNNING and broker.view.partition_epoch > 0
    early = broker.status == Status.STARTING and c.assigns_before_registration
    return (applied or early) and directory_at_registration(broker) == LogDir.MOVED
