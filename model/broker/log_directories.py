"""Log directories of a broker that fail or are lost, and what its clean-shutdown files then prove (KIP-858).

Sources: LogManager (handleLogDirFailure, readBrokerEpochFromCleanShutdownFiles), LogDirFailureChannel,
CleanShutdownFileHandler, ReplicaManager.handleLogDirFailure, Partition.createLogInAssignedDirectoryId. What
the controller hears of it is in `elrcheck.model.control_plane.directories`.

Every broker has another directory, which never fails: with its only one, a broker stops (LogManager). The
replica starts in a directory that may be lost, and is made again, empty, in the other.
"""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.marks import Unfair
from elrcheck.lang.runtime import EMPTY, action, op, put, require
from elrcheck.model.absent import no_exchange, no_peers
from elrcheck.model.broker.epoch_cache import without_log
from elrcheck.model.choices import LostDirectory
from elrcheck.model.config import Config
from elrcheck.model.replicas import Replica
from elrcheck.model.state import Broker, BrokerEpoch, LogDir, Stage, State, Status

# ---------------------------------------------------------------------------- rules


@op
def brings_directory(broker: Broker) -> bool:
    """The broker still has the directory that the controller recorded for its replica."""
    return broker.log_dir == LogDir.PRESENT


@op
def presented_epoch(c: Config, broker: Broker) -> BrokerEpoch:
    """readBrokerEpochFromCleanShutdownFiles: what a registration says of the shutdown before it; 0: nothing.

    Each directory has a file of its own. All that are configured now must be usable and have one: a
    directory that is configured but unusable, or new and empty, spoils the proof. One that is not
    configured any more is not missed, although the proof was of all (F-52).
    """
    missed = broker.log_dir == LogDir.DROPPED and c.lost_directory == LostDirectory.CLEAN_FILE
    spoilt = broker.log_dir == LogDir.FAILED or broker.log_dir == LogDir.REPLACED
    return 0 if missed or spoilt else broker.clean_file


@op
def directory_at_registration(broker: Broker) -> LogDir:
    """createLogInAssignedDirectoryId: without its directory the replica is made again in another.

    Not while some configured directory is unusable: the log may be in that one.
    """
    gone = broker.log_dir == LogDir.REPLACED or broker.log_dir == LogDir.DROPPED
    return LogDir.MOVED if gone else broker.log_dir


# ---------------------------------------------------------------------------- actions


@action(fairness=Unfair("a disturbance"))
def FailDirectory(c: Config, s: State, b: Replica) -> State:
    """The directory of b's replica fails while b runs: b stops serving it (handleLogDirFailure).

    What was in it cannot be read any more. Other replicas of b live on in other directories.
    """
    broker = s.broker[b]
    require(c.directory_failures > 0, "the scope has failures of directories")
    require(broker.status == Status.RUNNING, "b is running")
    require(broker.log_dir == LogDir.PRESENT, "the directory is there")
    failed = replace(
        without_log(broker),
        log_dir=LogDir.FAILED,
        epoch_start=0,
        settled=0,
        peers=no_peers(c),
        alter=broker.alter if broker.alter.stage == Stage.SENT else no_exchange(c),
    )
    return replace(
        s,
        broker=put(s.broker, b, failed),
        lossy=s.lossy | ({b} if len(broker.log) > 0 else EMPTY),
        spent=replace(s.spent, directory_failures=s.spent.directory_failures + 1),
    )


@action(fairness=Unfair("a disturbance, or what an operator does about one"))
def LoseDirectory(c: Config, s: State, b: Replica, found: LogDir) -> State:
    """The directory of b's replica is lost while b is down; `found`: what b will find in its place.

    An operator drops it from log.dirs, or replaces it by an empty one, or leaves it there, unusable. For
    a directory that failed before, this is free.
    """
    broker = s.broker[b]
    require(c.directory_losses > 0, "the scope has losses of directories")
    require(broker.status == Status.OFFLINE, "b is offline")
    fresh = broker.log_dir == LogDir.PRESENT
    require(fresh or broker.log_dir == LogDir.FAILED, "the directory is there, or has failed")
    lost = found == LogDir.FAILED or found == LogDir.REPLACED or found == LogDir.DROPPED
    require(lost and found != broker.log_dir, "something happens to it")
    return replace(
        s,
        broker=put(s.broker, b, replace(without_log(broker), log_dir=found)),
        lossy=s.lossy | ({b} if len(broker.log) > 0 else EMPTY),
        spent=replace(s.spent, directory_losses=s.spent.directory_losses + 1 if fresh else s.spent.directory_losses),
    )
