"""Lemmas about logs and about the offsets that followers acknowledged to leaders."""

from __future__ import annotations

from elrcheck.invariants.lemmas.lemmas_views import under_way
from elrcheck.invariants.properties import candidates, leads_now
from elrcheck.lang.runtime import implies, lemma, op
from elrcheck.model.broker.ghosts import contains
from elrcheck.model.broker.logs import is_prefix
from elrcheck.model.choices import Propagation
from elrcheck.model.config import Config
from elrcheck.model.replicas import Replica, RSet
from elrcheck.model.state import Epoch, Log, Offset, State, Status, hosts, leads

# ---------------------------------------------------------------------------- logs


@lemma
def LogEpochs(c: Config, s: State) -> bool:
    """Epochs in a log are positive, do not decrease, and do not exceed the view of its running broker."""
    return all(
        all(
            s.broker[b].log[k].epoch >= 1
            and s.broker[b].log[k].epoch <= s.partition.leader_epoch
            and (s.broker[b].view.partition_epoch == 0 or s.broker[b].log[k].epoch <= s.broker[b].view.leader_epoch)
            and all(s.broker[b].log[i].epoch <= s.broker[b].log[k].epoch for i in range(k))
            for k in range(len(s.broker[b].log))
        )
        for b in c.brokers
    )


@op
def log_matches(a: Log, b: Log) -> bool:
    """Log matching, and every epoch starts at the same offset wherever it occurs."""
    return all(
        all(
            implies(
                a[k].epoch == b[j].epoch and k <= j, all(i < len(b) and a[i] == b[i] for i in range(len(a)) if i <= k)
            )
            for j in range(len(b))
        )
        for k in range(len(a))
    )


@lemma
def LogsMatch(c: Config, s: State) -> bool:
    """Any two logs match, and every epoch starts at the same offset in both."""
    return all(all(log_matches(s.broker[a].log, s.broker[b].log) for b in c.brokers) for a in c.brokers)


@lemma
def LeaderOwnsEpoch(c: Config, s: State) -> bool:
    """All records of an epoch are in the log of the leader that still leads it."""
    return all(
        all(
            all(
                implies(
                    s.broker[b].log[k].epoch == s.broker[leader].view.leader_epoch,
                    k < len(s.broker[leader].log)
                    and s.broker[leader].log[k].epoch == s.broker[leader].view.leader_epoch,
                )
                for k in range(len(s.broker[b].log))
            )
            for b in c.brokers
        )
        for leader in c.brokers
        if s.broker[leader].view.leader == leader and hosts(s.broker[leader])
    )


@lemma
def NewEpochUnused(c: Config, s: State) -> bool:
    """Until the elected leader has read that it leads, no log has a record of its epoch."""
    return all(
        implies(
            s.partition.leader == leader
            and s.broker[leader].status == Status.RUNNING
            and s.broker[leader].view.leader_epoch < s.partition.leader_epoch,
            all(
                all(s.broker[b].log[k].epoch < s.partition.leader_epoch for k in range(len(s.broker[b].log)))
                for b in c.brokers
            ),
        )
        for leader in c.brokers
    )


@lemma
def WatermarkCommitted(c: Config, s: State) -> bool:
    """No high watermark is beyond the end of its log, and every record below a high watermark is committed."""
    return all(
        s.broker[b].high_watermark <= len(s.broker[b].log)
        and is_prefix(s.broker[b].log[: s.broker[b].high_watermark], s.committed)
        for b in c.brokers
    )


# ---------------------------------------------------------------------------- acknowledgements


@op
def registered_epoch(s: State, b: Replica) -> Epoch:
    """The leader epoch in the record up to which b must read, because it registered then; 0 without such a record."""
    at = s.broker[b].registered_at
    return s.metadata[at - 1].leader_epoch if at >= 1 and at <= len(s.metadata) else 0


@lemma
def AckedCommitted(c: Config, s: State) -> bool:
    """Acknowledged records are committed and stored once, so their number is bounded (P-33, P-34)."""
    return all(
        contains(s.committed, s.acked[k]) and all(s.acked[i] != s.acked[k] for i in range(k))
        for k in range(len(s.acked))
    )


@op
def acked(s: State, leader: Replica, f: Replica) -> Offset:
    """The offset that f's last fetch acknowledged to leader; 0 without a fetch."""
    end = s.broker[leader].peers[f].log_end_offset
    return end if end is not None else 0


@op
def fresh(s: State, leader: Replica, f: Replica) -> bool:
    """The leader's state of f comes from f's registered incarnation."""
    peer = s.broker[leader].peers[f]
    return peer.log_end_offset is not None and peer.broker_epoch == s.registration[f].epoch


@op
def joiners(c: Config, s: State) -> RSet:
    """The brokers that a request in flight would add to the ISR if the controller handled it now."""
    return frozenset(
        f
        for f in c.brokers
        if any(
            under_way(s, leader)
            and s.broker[leader].alter.leader_epoch == s.partition.leader_epoch
            and s.broker[leader].alter.partition_epoch == s.partition.partition_epoch
            and f in s.broker[leader].alter.isr
            and f not in s.partition.isr
            and s.broker[leader].alter.member_epochs[f] == s.registration[f].epoch
            for leader in c.brokers
        )
    )


@op
def contenders(c: Config, s: State) -> RSet:
    """Current and imminent candidates that have not lost data."""
    return candidates(c, s) | (joiners(c, s) - s.lossy)


@lemma
def ContendersComplete(c: Config, s: State) -> bool:
    """The central lemma: every broker that may be elected has every committed record."""
    return all(is_prefix(s.committed, s.broker[b].log) for b in contenders(c, s))


@op
def upto(a: Log, b: Log, n: Offset) -> bool:
    """The first n records of log a, or all of a shorter log, are in log b."""
    return all(k < len(b) and a[k] == b[k] for k in range(len(a)) if k < n)


@lemma
def AckWithinLog(c: Config, s: State) -> bool:
    """No follower has acknowledged more than the leader's log; one with metadata has read at least its epoch."""
    return all(
        all(
            implies(
                s.broker[leader].peers[f].log_end_offset is not None,
                acked(s, leader, f) <= len(s.broker[leader].log)
                and (
                    s.broker[f].view.leader_epoch >= s.broker[leader].view.leader_epoch
                    or s.broker[f].view.partition_epoch == 0
                )
                and implies(
                    fresh(s, leader, f) and s.broker[f].status == Status.RUNNING,
                    s.broker[f].view.leader_epoch >= s.broker[leader].view.leader_epoch,
                )
                and implies(
                    c.metadata == Propagation.LOG
                    and s.broker[f].status == Status.RUNNING
                    and s.broker[f].view.partition_epoch == 0,
                    registered_epoch(s, f) >= s.broker[leader].view.leader_epoch,
                ),
            )
            for f in c.brokers
        )
        for leader in c.brokers
        if leads(s, leader)
    )


@lemma
def FreshFollows(c: Config, s: State) -> bool:
    """The log of a follower whose current incarnation has fetched, in the same epoch, is a prefix of the leader's."""
    return all(
        all(
            implies(
                fresh(s, leader, f)
                and f not in s.lossy
                and (
                    s.broker[f].view.leader_epoch == s.broker[leader].view.leader_epoch
                    or (s.broker[f].status != Status.RUNNING and leads_now(s, leader))
                ),
                is_prefix(s.broker[f].log, s.broker[leader].log) and acked(s, leader, f) <= len(s.broker[f].log),
            )
            for f in c.brokers
        )
        for leader in c.brokers
        if leads(s, leader)
    )


@lemma
def JoinersCaughtUp(c: Config, s: State) -> bool:
    """A broker proposed by a live leader has caught up, unless its incarnation has changed."""
    return all(
        all(
            implies(
                f not in s.broker[leader].view.isr
                and s.broker[leader].alter.member_epochs[f] == s.registration[f].epoch,
                acked(s, leader, f) >= s.broker[leader].high_watermark
                and acked(s, leader, f) >= s.broker[leader].epoch_start
                and fresh(s, leader, f),
            )
            for f in s.broker[leader].alter.isr
        )
        for leader in c.brokers
        if leads(s, leader) and under_way(s, leader)
    )
