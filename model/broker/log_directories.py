"""Log directories that fail, are lost or come back, and what clean-shutdown files then prove (KIP-858).

Sources: LogManager (handleLogDirFailure, createAndValidateLogDirs, readBrokerEpochFromCleanShutdownFiles),
LogDirFailureChannel, CleanShutdownFileHandler, ReplicaManager.handleLogDirFailure,
Partition.createLogInAssignedDirectoryId. `elrcheck.model.control_plane.directories` has the controller's side.

Every broker has another directory, which never fails: without any, a broker stops (LogManager). The replica starts in a
directory that may be lost; the broker then creates it again, empty, in the other one.
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
from elrcheck.model.state import Broker, BrokerEpoch, LogDir, Offset, Stage, State, Status

# ---------------------------------------------------------------------------- rules


@op
def brings_directory(broker: Broker) -> bool:
    """The broker still has the directory that the controller has recorded for its replica."""
    return broker.log_dir == LogDir.PRESENT


@op
def presented_epoch(c: Config, broker: Broker) -> BrokerEpoch:
    """readBrokerEpochFromCleanShutdownFiles: the broker epoch of the last clean shutdown, or 0 without a proof of one.

    Each directory has its own file. All configured directories must be usable and have one: there is no proof if one of
    them is unusable, or new and empty. A directory that is no longer configured does not count, although the clean
    shutdown covered all (F-52).
    """
    missed = broker.log_dir == LogDir.DROPPED and c.lost_directory == LostDirectory.CLEAN_FILE
    without_file = broker.log_dir == LogDir.FAILED or broker.log_dir == LogDir.REPLACED
    return 0 if missed or without_file else broker.clean_file


@op
def directory_at_registration(broker: Broker) -> LogDir:
    """createLogInAssignedDirectoryId: without its directory, the broker creates the replica in another one.

    It does not while a configured directory is unusable, which may contain the log.
    """
    gone = broker.log_dir == LogDir.REPLACED or broker.log_dir == LogDir.DROPPED
    return LogDir.MOVED if gone else broker.log_dir


@op
def with_unusable_log(c: Config, broker: Broker) -> Broker:
    """The broker once the directory of its replica is unusable; its records are detached if it may come back."""
    if c.directory_returns == 0:
        return without_log(broker)
    return replace(without_log(broker), detached_log=broker.log, detached_watermark=broker.high_watermark)


@op
def without_detached_log(broker: Broker) -> Broker:
    """The broker after its failed directory is gone for good."""
    return replace(without_log(broker), detached_log=(), detached_watermark=0)


# ---------------------------------------------------------------------------- actions


@action(fairness=Unfair("a disturbance"))
def FailDirectory(c: Config, s: State, b: Replica) -> State:
    """The directory of b's replica fails while b runs: b stops serving it (handleLogDirFailure).

    Its records are no longer readable. Other replicas of b remain in other directories.
    """
    broker = s.broker[b]
    require(c.directory_failures > 0, "the scope has failures of directories")
    require(broker.status == Status.RUNNING, "b is running")
    require(broker.log_dir == LogDir.PRESENT, "the directory is present")
    failed = replace(
        with_unusable_log(c, broker),
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


@action(fairness=Unfair("a disturbance, or an operator's reaction to one"))
def LoseDirectory(c: Config, s: State, b: Replica, found: LogDir) -> State:
    """The directory of b's replica is lost while b is down; `found`: its state at the next start.

    An operator drops it from log.dirs, replaces it by an empty one, or leaves it configured and unusable. This is free
    for a directory that has already failed.
    """
    broker = s.broker[b]
    require(c.directory_losses > 0, "the scope has losses of directories")
    require(broker.status == Status.OFFLINE, "b is offline")
    fresh = broker.log_dir == LogDir.PRESENT
    require(fresh or broker.log_dir == LogDir.FAILED, "the directory is present or has failed")
    lost = found == LogDir.FAILED or found == LogDir.REPLACED or found == LogDir.DROPPED
    require(lost and found != broker.log_dir, "the directory changes its state")
    after = with_unusable_log(c, broker) if found == LogDir.FAILED else without_detached_log(broker)
    return replace(
        s,
        broker=put(s.broker, b, replace(after, log_dir=found)),
        lossy=s.lossy | ({b} if len(broker.log) > 0 else EMPTY),
        spent=replace(s.spent, directory_losses=s.spent.directory_losses + 1 if fresh else s.spent.directory_losses),
    )


@action(fairness=Unfair("a repair by an operator"))
def ReturnDirectory(c: Config, s: State, b: Replica, keep: Offset) -> State:
    """The failed directory of b's replica is usable again when b starts next, with its first `keep` records.

    LogManager does not use a directory again before the restart (createAndValidateLogDirs, loadLogs). The
    clean-shutdown file of a directory that failed while b ran is older than those of the others, or missing: there is
    no proof of a clean shutdown (readBrokerEpochFromCleanShutdownFiles). Omitted: a directory that was unusable only
    while b was down, whose file still counts.
    """
    broker = s.broker[b]
    require(c.directory_returns > 0, "the scope has directories that come back")
    require(broker.status == Status.OFFLINE, "b is offline")
    require(broker.log_dir == LogDir.FAILED, "the directory has failed")
    require(keep <= len(broker.detached_log), "keep is at most the length of the log in it")
    returned = replace(
        without_detached_log(broker),
        log_dir=LogDir.PRESENT,
        log=broker.detached_log[:keep],
        high_watermark=min(broker.detached_watermark, keep),
        clean_file=0,
    )
    return replace(
        s, broker=put(s.broker, b, returned), spent=replace(s.spent, directory_returns=s.spent.directory_returns + 1)
    )
