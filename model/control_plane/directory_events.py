"""Reports of brokers about log directories, as actions; the rules are in `directories.py`."""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.marks import Fair, Message
from elrcheck.lang.runtime import action, put, require
from elrcheck.model.broker.log_directories import presented_epoch
from elrcheck.model.config import Config
from elrcheck.model.control_plane.commit import batch_committed, partition_changed
from elrcheck.model.control_plane.controller_event import ControlState, DirectoryFailedEvent, DirectoryMovedEvent
from elrcheck.model.control_plane.decide import decide
from elrcheck.model.control_plane.directories import recreated
from elrcheck.model.kafka_error import Error
from elrcheck.model.replicas import Replica
from elrcheck.model.replication_control import controller_of
from elrcheck.model.state import Directory, LogDir, State, Status
from elrcheck.model.timeouts import has_registered


@action(
    message=Message("b", "Controller"),
    fairness=Fair("heartbeats of a live broker list its offline directories; added"),
    event="DIRECTORY_FAILED",
    what_if="directory_failed",
)
def ReportFailedDirectory(c: Config, s: State, b: Replica) -> State:
    """A heartbeat of b lists the directory of its replica as offline (handleDirectoriesOffline).

    The controller acts only on the recorded directory. b stays registered and unfenced.
    """
    r = s.registration[b]
    require(c.directory_failures > 0, "the scope has failures of directories")
    require(s.broker[b].status == Status.RUNNING, "b is running")
    require(r.registered, "b is registered")
    require(s.broker[b].log_dir == LogDir.FAILED, "the directory has failed")
    require(r.directory == Directory.ONLINE, "the controller believes it online")
    decided = decide(c, controller_of(s), DirectoryFailedEvent(broker=b, becomes=ControlState.UNCHANGED))
    require(decided.error == Error.NONE, "the controller does not fault")
    return replace(partition_changed(c, s, decided.controller.partition), registration=decided.controller.registration)


@action(
    message=Message("b", "Controller"),
    fairness=Fair("heartbeats of a live broker arrive: unfence; added"),
    event="UNFENCE_WITHOUT_DIRECTORY",
    what_if="directory_failed",
)
def UnfenceWithoutDirectory(c: Config, s: State, b: Replica) -> State:
    """One heartbeat unfences b and lists the directory of its replica as offline (processBrokerHeartbeat, F-66).

    If the second record were built on the first, this would be `ReportFailedDirectory` followed by `Unfence`.
    """
    r = s.registration[b]
    require(c.directory_failures > 0 and c.heartbeat_in_one_snapshot, "the scope has such heartbeats")
    require(r.registered, "b is registered")
    require(r.fenced and not r.in_controlled_shutdown, "b is fenced and not shutting down")
    require(s.broker[b].status == Status.RUNNING, "b is running")
    require(s.broker[b].view.partition_epoch > 0, "b has applied its own registration")
    require(s.broker[b].log_dir == LogDir.FAILED, "the directory has failed")
    require(r.directory == Directory.ONLINE, "the controller believes it online")
    failed = DirectoryFailedEvent(broker=b, becomes=ControlState.UNFENCED)
    decided = decide(c, controller_of(s), failed)
    require(decided.error == Error.NONE, "the controller does not fault")
    return replace(batch_committed(c, s, decided.controller.partition), registration=decided.controller.registration)


@action(
    message=Message("b", "Controller"),
    fairness=Fair("AssignmentsManager retries until it gets a response; added", when=has_registered),
    event="DIRECTORY_MOVED",
    what_if="assign_directories",
)
def ReportNewDirectory(c: Config, s: State, b: Replica) -> State:
    """b reports the new or first directory of its replica (AssignReplicasToDirs).

    The request carries the broker epoch in the metadata that b has read (AssignmentsManager), which is that of the
    previous incarnation until b is registered again.
    """
    broker = s.broker[b]
    r = s.registration[b]
    require(c.directory_losses > 0 or not c.directories_assigned, "the scope has such reports")
    first = r.directory == Directory.UNASSIGNED and broker.log_dir == LogDir.PRESENT
    running = broker.status == Status.RUNNING and broker.view.partition_epoch > 0
    require(recreated(c, broker) or (first and running), "b has something to report")
    require(r.registered and b in frozenset(s.partition.replicas), "the controller accepts the report")
    decided = decide(c, controller_of(s), DirectoryMovedEvent(broker=b))
    require(decided.error == Error.NONE, "the controller does not fault")
    changed = partition_changed(c, s, decided.controller.partition)
    settled = replace(changed.broker[b], log_dir=LogDir.PRESENT, clean_file=presented_epoch(c, broker))
    return replace(changed, registration=decided.controller.registration, broker=put(changed.broker, b, settled))
