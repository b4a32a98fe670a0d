"""Reconciliation of a follower's log with the leader's: leader epochs, divergence, truncation.

Sources: UnifiedLog, LeaderEpochFileCache (storage), AbstractFetcherThread; KIP-101, KIP-279, KIP-320, KIP-595 for the
divergence test in a fetch.

Epochs never decrease along a log. If two logs have a record of the same epoch at the same offset, they agree up to it;
so they diverge at the smaller end offset of the largest epoch that both have. A follower may need several rounds to
get there (KIP-279).
"""

from __future__ import annotations

from elrcheck.lang.runtime import op, record
from elrcheck.model.broker.epoch_cache import cached_epoch, last_epoch, latest_epoch
from elrcheck.model.choices import Truncation
from elrcheck.model.config import Config
from elrcheck.model.state import Broker, Epoch, Log, Offset, Settled


@record
class EpochEnd:
    """A response to OffsetsForLeaderEpoch: an epoch and its end offset."""

    epoch: Epoch
    offset: Offset


@op
def is_prefix(shorter: Log, longer: Log) -> bool:
    return len(shorter) <= len(longer) and all(shorter[k] == longer[k] for k in range(len(shorter)))


@op
def end_offset_for(broker: Broker, own_epoch: Epoch, epoch: Epoch) -> EpochEnd:
    """LeaderEpochFileCache.endOffsetFor: the largest cached epoch up to `epoch`, and its end offset.

    own_epoch: the epoch that a leader cached when it was elected (KAFKA-7415), 0 for a follower.
    """
    up_to_epoch = frozenset(k for k in range(len(broker.log)) if cached_epoch(broker, k) <= epoch)
    floor = max((cached_epoch(broker, k) for k in up_to_epoch), default=0)
    return EpochEnd(epoch=epoch if epoch == own_epoch else floor, offset=len(up_to_epoch))


@op
def diverges(leader_end: EpochEnd, last_fetched: Epoch, fetch_offset: Offset) -> bool:
    """The leader's divergence test in a fetch (KIP-595)."""
    return leader_end.epoch < last_fetched or leader_end.offset < fetch_offset


@op
def truncation_point(follower: Broker, leader_end: EpochEnd) -> Offset:
    """AbstractFetcherThread.getOffsetTruncationState: the offset to which a diverging follower truncates."""
    own_end = end_offset_for(follower, 0, leader_end.epoch)
    return min(own_end.offset, leader_end.offset) if own_end.epoch == leader_end.epoch else own_end.offset


# ---------------------------------------------------------------------------- a fetch


@op
def leader_end_for(c: Config, leader: Broker, follower: Broker) -> EpochEnd:
    """The leader's end offset for the latest epoch of a follower."""
    own = leader.view.leader_epoch if c.leader_caches_epoch else 0
    return end_offset_for(leader, own, latest_epoch(follower))


@op
def unknown_epoch(c: Config, leader: Broker, log: Log) -> bool:
    """The leader's cache ends before the follower's last epoch, so that it has no end offset (KAFKA-7415)."""
    return not c.leader_caches_epoch and last_epoch(log) > last_epoch(leader.log)


@op
def compares(c: Config, follower: Broker) -> bool:
    """The next fetch of the follower compares leader epochs with the leader's log (see `Truncation`)."""
    return c.truncation != Truncation.HIGH_WATERMARK and follower.settled == 0


@op
def fetch_diverges(c: Config, leader: Broker, follower: Broker) -> bool:
    """The follower must truncate before it gets records; an empty log never diverges.

    A follower that does not compare epochs still detects that it is beyond the leader's log end offset
    (OFFSET_OUT_OF_RANGE).
    """
    if len(follower.log) == 0:
        return False
    if not compares(c, follower):
        return len(follower.log) > len(leader.log)
    parted = diverges(leader_end_for(c, leader, follower), latest_epoch(follower), len(follower.log))
    return parted or unknown_epoch(c, leader, follower.log)


@op
def cut_at(c: Config, leader: Broker, follower: Broker) -> Offset:
    """The offset to which a follower truncates after a diverging fetch."""
    end = leader_end_for(c, leader, follower)
    if not compares(c, follower):
        return len(leader.log)
    if unknown_epoch(c, leader, follower.log):
        return follower.high_watermark
    return end.offset if c.truncation == Truncation.ONE_SHOT else truncation_point(follower, end)


# ---------------------------------------------------------------------------- settled followers

# A correct follower compares at every fetch. The others are past bugs: they count as settled too early.
# `Broker.settled` is a number, 1 for settled, so that it takes no space if no follower ever is.


@op
def settled_after_cut(c: Config) -> Settled:
    """The follower after a truncation: settled after a single one only without KIP-279 (F-7)."""
    return 1 if c.truncation == Truncation.ONE_SHOT else 0


@op
def settled_after_fetch(c: Config, follower: Broker, grew: bool) -> Settled:
    """The follower after a fetch without divergence; grew: the response had a record (F-9, F-17)."""
    if c.truncation == Truncation.UNTIL_EMPTY:
        return 0 if grew else 1
    return 1 if c.truncation == Truncation.ONE_SHOT or c.truncation == Truncation.NEW_LEADER else 0


@op
def settled_after_metadata(c: Config, broker: Broker, same_leader: bool, same_epoch: bool) -> Settled:
    """The broker with new metadata: a follower of the same leader and epoch stays settled."""
    keeps = same_epoch or (same_leader and c.truncation != Truncation.ONE_SHOT)
    return broker.settled if keeps else 0
