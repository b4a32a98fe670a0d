"""What brokers tell the controller about log directories: one has failed, a replica is in another (KIP-858).

Sources: ReplicationControlManager (handleDirectoriesOffline, handleAssignReplicasToDirs),
BrokerLifecycleManager (offline directories in heartbeats), AssignmentsManager. What happens to the
directories themselves is in `elrcheck.model.broker.log_directories`.
"""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.marks import Fair, Message
from elrcheck.lang.runtime import EMPTY, action, op, put, require
from elrcheck.lang.types import Replica
from elrcheck.model.broker.log_directories import directory_at_registration, presented_epoch
from elrcheck.model.change_record import election_type, target
from elrcheck.model.config import Config
from elrcheck.model.control_plane.commit import partition_changed
from elrcheck.model.control_plane.operator_settings import directories_assigned, directories_fail
from elrcheck.model.control_plane.partition import decide
from elrcheck.model.replication_control import Controller, active, controller_of
from elrcheck.model.state import Broker, Directory, LogDir, Partition, State, Status
from elrcheck.model.timeouts import has_registered

# ---------------------------------------------------------------------------- rules


@op
def without_directory(c: Config, controller: Controller, b: Replica) -> Partition:
    """handleDirectoriesOffline: b leaves the ISR as if it were fenced, and may stay in the ELR.

    The builder runs on the partitions with a replica in that directory (directoriesToPartitions).
    """
    p = controller.partition
    if b not in frozenset(p.replicas):
        return p
    acceptable = active(c, controller.registration) - {b}
    return decide(c, p, target(controller, p.isr - {b}, election_type(c), acceptable, EMPTY))


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


# ---------------------------------------------------------------------------- actions


@action(
    message=Message("b", "Controller"),
    fairness=Fair("heartbeats of a live broker name its offline directories; added"),
    event="DIRECTORY_FAILED",
    what_if="directory_failed",
)
def ReportFailedDirectory(c: Config, s: State, b: Replica) -> State:
    """A heartbeat of b says that the directory of its replica has failed (handleDirectoriesOffline).

    Only a directory that is recorded is known to hold the replica. b stays registered and unfenced.
    """
    r = s.registration[b]
    require(c.directory_failures > 0, "the scope has failures of directories")
    require(s.broker[b].status == Status.RUNNING, "b is running")
    require(s.broker[b].log_dir == LogDir.FAILED, "the directory has failed")
    require(r.directory == Directory.ONLINE, "the controller counts on it")
    after = without_directory(c, controller_of(s), b)
    return replace(
        partition_changed(c, s, after),
        registration=put(s.registration, b, replace(r, directory=Directory.OFFLINE)),
    )


@action(
    message=Message("b", "Controller"),
    fairness=Fair("AssignmentsManager retries until it is answered; added", when=has_registered),
    event="DIRECTORY_MOVED",
    what_if="assign_directories",
)
def ReportNewDirectory(c: Config, s: State, b: Replica) -> State:
    """b reports the directory in which its replica is now, or is for the first time (AssignReplicasToDirs).

    The request names the broker epoch of the metadata that b has read (AssignmentsManager), which is the
    previous incarnation's until b is registered again.
    """
    broker = s.broker[b]
    r = s.registration[b]
    require(c.directory_losses > 0 or not c.directories_assigned, "the scope has such reports")
    first = r.directory == Directory.UNASSIGNED and broker.log_dir == LogDir.PRESENT
    running = broker.status == Status.RUNNING and broker.view.partition_epoch > 0
    require(made_again(c, broker) or (first and running), "b has something to report")
    require(r.registered and b in frozenset(s.partition.replicas), "the controller accepts it")
    require(not directories_fail(c, controller_of(s)), "the controller does not fault")
    after = with_new_directory(c, controller_of(s), b)
    changed = partition_changed(c, s, after)
    settled = replace(changed.broker[b], log_dir=LogDir.PRESENT, clean_file=presented_epoch(c, broker))
    return replace(
        changed,
        registration=put(s.registration, b, replace(r, directory=Directory.ONLINE)),
        broker=put(changed.broker, b, settled),
    )
