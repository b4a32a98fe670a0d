"""The leader epoch cache where it differs from the log: a stale entry, in memory or in its file (F-69).

Sources: LeaderEpochFileCache (assign, truncateFromEndAsyncFlush), UnifiedLog.truncateTo, LogLoader.load,
LogSegment.recover, KafkaScheduler, BrokerServer.shutdown.

A new entry is in the file before the first record of its epoch is in the log. Since 3.8 a task of the scheduler removes
a truncated entry from the file. If records of an older epoch follow and the process ends before that task, the next
process loads the entry again: loading drops only entries beyond the log end offset, and recovery adds only epochs newer
than those in the file. Even a clean shutdown may end before the task: BrokerServer shuts the scheduler down, which
drops its tasks and accepts no new ones, while fetchers still run; no later step writes the file.

The operators here change nothing unless `late_flushes` and `epoch_file` allow a late flush. Omitted: a second stale
entry of a broker at the same time, and an operating system that crashes between a new entry and a truncation.
"""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.marks import Fair
from elrcheck.lang.runtime import EMPTY, action, op, put, require
from elrcheck.model.choices import EpochFile
from elrcheck.model.config import Config
from elrcheck.model.replicas import Replica
from elrcheck.model.state import Broker, Entry, Epoch, Log, Offset, State, Status

# ---------------------------------------------------------------------------- lookups


@op
def last_epoch(log: Log) -> Epoch:
    """Leader epoch of the last record, 0 for an empty log."""
    return log[len(log) - 1].epoch if len(log) > 0 else 0


@op
def latest_epoch(broker: Broker) -> Epoch:
    """LeaderEpochFileCache.latestEpoch, without the epoch in which the broker itself leads."""
    return max(last_epoch(broker.log), broker.stray_epoch)


@op
def cached_epoch(broker: Broker, k: Offset) -> Epoch:
    """The epoch of the record at offset k according to the cache (epochForOffset)."""
    written = broker.log[k].epoch
    hidden = broker.stray_epoch > written and k >= broker.stray_start
    return broker.stray_epoch if hidden else written


# ---------------------------------------------------------------------------- rules


@op
def flushes_late(c: Config) -> bool:
    """The file may follow a truncation too late."""
    return c.epoch_file == EpochFile.LATER and c.late_flushes > 0


@op
def without_stray(broker: Broker) -> Broker:
    return replace(broker, stray_epoch=0, stray_start=0)


@op
def flushed(broker: Broker) -> Broker:
    """The broker after a write of the cache to its file."""
    return replace(broker, unflushed_epoch=0, unflushed_start=0)


@op
def cut(c: Config, broker: Broker, keep: Offset) -> Broker:
    """UnifiedLog.truncateTo: log and cache end at offset `keep`; the file follows later.

    The oldest of the stale entries in the file counts: loading is least likely to remove it.
    """
    shorter = replace(broker, log=broker.log[:keep], high_watermark=min(broker.high_watermark, keep))
    if not flushes_late(c):
        return shorter
    left = without_stray(shorter) if broker.stray_start >= keep else shorter
    last_epoch = max((cached_epoch(broker, k) for k in range(keep)), default=0)
    begun = frozenset(k for k in range(len(broker.log)) if k >= keep and cached_epoch(broker, k) > last_epoch)
    if begun != EMPTY:
        first = min((k for k in begun), default=0)
        return replace(left, unflushed_epoch=cached_epoch(broker, first), unflushed_start=first)
    if broker.stray_start >= keep:
        return replace(left, unflushed_epoch=broker.stray_epoch, unflushed_start=broker.stray_start)
    return left


@op
def grown(c: Config, broker: Broker, entry: Entry) -> Broker:
    """The follower with another record; LeaderEpochFileCache.assign writes the file if the cache changes.

    A record of an older epoch than the latest removes the newer entry.
    """
    longer = replace(broker, log=broker.log + (entry,))  # noqa: RUF005
    latest = latest_epoch(broker)
    if not flushes_late(c) or entry.epoch == latest:
        return longer
    stays = entry.epoch > latest and broker.stray_start < len(broker.log)
    return flushed(longer if stays else without_stray(longer))


@op
def leads_from_here(c: Config, broker: Broker) -> Broker:
    """Partition.makeLeader in a new epoch: the cache gets an entry for it at the log end, and writes its file."""
    if not flushes_late(c):
        return broker
    return flushed(without_stray(broker) if broker.stray_start >= len(broker.log) else broker)


@op
def leads_no_more(c: Config, broker: Broker, b: Replica) -> Broker:
    """b becomes a follower after it has led without writing: its own entry stays until it truncates.

    With an empty log the entry cannot survive the first record.
    """
    wrote_nothing = broker.view.leader == b and broker.epoch_start == len(broker.log) and len(broker.log) > 0
    if not flushes_late(c) or not wrote_nothing or broker.stray_epoch > 0:
        return broker
    return replace(broker, stray_epoch=broker.view.leader_epoch, stray_start=len(broker.log))


@op
def without_log(broker: Broker) -> Broker:
    """The broker without its log, the file of the cache and the checkpoint."""
    return flushed(without_stray(replace(broker, log=(), high_watermark=0, checkpoint=0)))


@op
def dies_before_flush(broker: Broker, keep: Offset) -> bool:
    """The task that removes an entry from the file has not run, and loading will not remove it."""
    return broker.unflushed_epoch > 0 and broker.unflushed_start < keep


@op
def file_left(broker: Broker, keep: Offset) -> Broker:
    """The broker with the stale entry that its process leaves in the file, next to the first `keep` records.

    LogLoader.load drops entries beyond the log end offset.
    """
    ended = flushed(without_stray(broker))
    if dies_before_flush(broker, keep):
        return replace(ended, unflushed_epoch=broker.unflushed_epoch, unflushed_start=broker.unflushed_start)
    if broker.stray_epoch > 0 and broker.stray_start < keep:
        return replace(ended, unflushed_epoch=broker.stray_epoch, unflushed_start=broker.stray_start)
    return ended


@op
def loaded(c: Config, broker: Broker) -> Broker:
    """The broker after it has loaded its logs and the files of their caches."""
    if not flushes_late(c):
        return broker
    return flushed(replace(broker, stray_epoch=broker.unflushed_epoch, stray_start=broker.unflushed_start))


# ---------------------------------------------------------------------------- an action


@action(fairness=Fair("the scheduler runs its tasks: a write of the leader epoch cache"))
def FlushEpochs(c: Config, s: State, b: Replica) -> State:
    """The scheduler of b writes the file of the leader epoch cache (LeaderEpochFileCache.writeIfDirExists)."""
    broker = s.broker[b]
    require(flushes_late(c), "the file follows a truncation late")
    require(broker.status != Status.OFFLINE, "b is running or starting")
    require(broker.unflushed_epoch > 0, "the file has a stale entry")
    return replace(s, broker=put(s.broker, b, flushed(broker)))
