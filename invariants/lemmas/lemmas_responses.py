"""Lemmas about a late fetch: most other lemmas also hold of the state that its response leads to.

A late fetch is an atomic one whose follower acts on the response later. The leader has admitted it, so the response
might have arrived at once; and as long as the follower can use it, nothing else changes the follower's log
(`awaits_answer`). So a step leads from a state in which the response may still arrive to another one, and each lemma
about logs is preserved there for the reason for which it is preserved here.

This needs responses with the records that the log had when the leader admitted the fetch (F-63). Without late fetches
the lemmas say nothing.
"""

from __future__ import annotations

from dataclasses import replace

from elrcheck.invariants.lemmas.lemmas_logs import (
    ContendersComplete,
    FreshFollows,
    LeaderOwnsEpoch,
    LogEpochs,
    LogsMatch,
    NewEpochUnused,
    WatermarkCommitted,
)
from elrcheck.invariants.lemmas.lemmas_losses import BackersHold, LossHistory, QuorumKeeps
from elrcheck.invariants.lemmas.lemmas_quorums import (
    AckValid,
    ContendersCover,
    FreshCovers,
    ceiling,
    earliest_epoch,
    frozen,
    may_commit,
)
from elrcheck.invariants.lemmas.lemmas_unread import (
    CommittedInEpoch,
    FutureConsistent,
    FutureCovers,
    FutureEpochUnused,
    FutureFreshCovers,
    FutureFutureCovered,
    FutureKeeps,
    FutureLeaderCovered,
    future_ceiling,
    will_be_frozen,
    will_commit,
)
from elrcheck.lang.runtime import EMPTY, implies, lemma, op, put
from elrcheck.model.broker.late_fetch import answered_by, usable
from elrcheck.model.broker.logs import is_prefix
from elrcheck.model.choices import Propagation, ResponseRecords
from elrcheck.model.config import Config
from elrcheck.model.state import LateFetch, Log, Offset, State, Status, leads


@op
def sender_lives(s: State, fetch: LateFetch) -> bool:
    """The process that sent the late fetch still runs."""
    follower = s.broker[fetch.follower]
    return follower.status == Status.RUNNING and follower.epoch == fetch.follower_epoch


@op
def in_use(c: Config, s: State, fetch: LateFetch) -> bool:
    """The follower would use the response if it arrived now."""
    return usable(c, s.broker[fetch.follower], fetch)


@lemma
def LateFetchShape(c: Config, s: State) -> bool:
    """A late fetch has two brokers, epochs and offsets that exist, and records or a divergence in its response.

    Its sender has not gone back to an earlier epoch, and the broker that admitted it has not either.
    """
    return all(
        fetch.follower != fetch.leader
        and fetch.follower_epoch >= 1
        and fetch.follower_epoch <= s.registration[fetch.follower].epoch
        and fetch.leader_epoch >= 1
        and fetch.leader_epoch <= s.partition.leader_epoch
        and (fetch.answered or c.response_records != ResponseRecords.ADMITTED)
        and len(fetch.records) <= 1
        and implies(fetch.diverging, len(fetch.records) == 0)
        and implies(len(fetch.records) == 1, fetch.offset < c.log_slots)
        and implies(sender_lives(s, fetch), s.broker[fetch.follower].view.leader_epoch >= fetch.leader_epoch)
        and implies(
            sender_lives(s, fetch) and s.broker[fetch.follower].view.leader_epoch == fetch.leader_epoch,
            fetch.follower in s.broker[fetch.follower].view.replicas,
        )
        and implies(
            in_use(c, s, fetch),
            s.broker[fetch.follower].view.leader == fetch.leader
            and (
                s.broker[fetch.leader].view.leader_epoch >= fetch.leader_epoch
                or s.broker[fetch.leader].view.partition_epoch == 0
            )
            and (c.metadata == Propagation.LATEST or earliest_epoch(c, s, fetch.leader) >= fetch.leader_epoch),
        )
        for fetch in s.fetching
    )


@op
def arrived(c: Config, s: State) -> State:
    """The state after the response of the late fetch has arrived; without a late fetch, the state itself."""
    if len(s.fetching) == 0:
        return s
    fetch = s.fetching[0]
    return replace(s, broker=put(s.broker, fetch.follower, answered_by(c, s.broker[fetch.follower], fetch)))


@lemma
def ResponseEpochs(c: Config, s: State) -> bool:
    """LogEpochs holds after the response."""
    return c.late_fetches == 0 or LogEpochs(c, arrived(c, s))


@lemma
def ResponseMatches(c: Config, s: State) -> bool:
    """LogsMatch holds after the response; F-63 breaks it."""
    return c.late_fetches == 0 or LogsMatch(c, arrived(c, s))


@lemma
def ResponseOwned(c: Config, s: State) -> bool:
    """LeaderOwnsEpoch holds after the response."""
    return c.late_fetches == 0 or LeaderOwnsEpoch(c, arrived(c, s))


@lemma
def ResponseUnused(c: Config, s: State) -> bool:
    """NewEpochUnused holds after the response."""
    return c.late_fetches == 0 or NewEpochUnused(c, arrived(c, s))


@lemma
def ResponseWatermark(c: Config, s: State) -> bool:
    """WatermarkCommitted holds after the response."""
    return c.late_fetches == 0 or WatermarkCommitted(c, arrived(c, s))


@lemma
def ResponseComplete(c: Config, s: State) -> bool:
    """ContendersComplete holds after the response: no candidate truncates a committed record."""
    return c.late_fetches == 0 or ContendersComplete(c, arrived(c, s))


@lemma
def ResponseFollows(c: Config, s: State) -> bool:
    """FreshFollows holds after the response."""
    return c.late_fetches == 0 or FreshFollows(c, arrived(c, s))


@lemma
def ResponseCovers(c: Config, s: State) -> bool:
    """ContendersCover holds after the response."""
    return c.late_fetches == 0 or ContendersCover(c, arrived(c, s))


@lemma
def ResponseAckValid(c: Config, s: State) -> bool:
    """AckValid holds after the response."""
    return c.late_fetches == 0 or AckValid(c, arrived(c, s))


@lemma
def ResponseFreshCovers(c: Config, s: State) -> bool:
    """FreshCovers holds after the response."""
    return c.late_fetches == 0 or FreshCovers(c, arrived(c, s))


@op
def shared(a: Log, b: Log, k: Offset) -> bool:
    """Both logs have the same record at offset k."""
    return k < len(a) and k < len(b) and a[k] == b[k]


@op
def stays(c: Config, s: State, fetch: LateFetch, k: Offset) -> bool:
    """The truncation must keep the follower's record at offset k: it is committed, or it is also in the log of the
    follower's leader, or an earlier leader may still commit it.
    """
    log = s.broker[fetch.follower].log
    return (is_prefix(s.committed, log) and k < len(s.committed)) or any(
        shared(s.broker[m].log, log, k)
        and (
            (leads(s, m) and s.broker[m].view.leader_epoch == fetch.leader_epoch)
            or (may_commit(c, s, m) and s.broker[m].view.leader_epoch < fetch.leader_epoch and k < ceiling(c, s, m))
        )
        for m in c.brokers
    )


@lemma
def TruncationKeepsShared(c: Config, s: State) -> bool:
    """A divergence in flight leaves a follower of the newest epoch all that must stay (P-26).

    An earlier leader that may commit, at once or once it has read more records, has lost a member of its quorum to that
    epoch.
    """
    return all(
        implies(
            in_use(c, s, fetch) and fetch.diverging and fetch.leader_epoch == s.partition.leader_epoch,
            all(
                implies(
                    may_commit(c, s, m) and s.broker[m].view.leader_epoch < fetch.leader_epoch, frozen(c, s, m) != EMPTY
                )
                for m in c.brokers
            )
            and all(
                k < len(answered_by(c, s.broker[fetch.follower], fetch).log)
                for k in range(len(s.broker[fetch.follower].log))
                if stays(c, s, fetch, k)
            )
            and all(
                all(
                    implies(
                        will_commit(c, s, m, j) and s.metadata[j].leader_epoch < fetch.leader_epoch,
                        will_be_frozen(c, s, m, j) != EMPTY
                        and all(
                            k < len(answered_by(c, s.broker[fetch.follower], fetch).log)
                            for k in range(len(s.broker[fetch.follower].log))
                            if k < future_ceiling(c, s, m, j)
                            and shared(s.broker[m].log, s.broker[fetch.follower].log, k)
                        ),
                    )
                    for m in c.brokers
                )
                for j in range(len(s.metadata))
            ),
        )
        for fetch in s.fetching
    )


@lemma
def ResponseFutureEpochUnused(c: Config, s: State) -> bool:
    """FutureEpochUnused holds after the response."""
    return c.late_fetches == 0 or FutureEpochUnused(c, arrived(c, s))


@lemma
def ResponseFutureCovers(c: Config, s: State) -> bool:
    """FutureCovers holds after the response."""
    return c.late_fetches == 0 or FutureCovers(c, arrived(c, s))


@lemma
def ResponseFutureConsistent(c: Config, s: State) -> bool:
    """FutureConsistent holds after the response."""
    return c.late_fetches == 0 or FutureConsistent(c, arrived(c, s))


@lemma
def ResponseFutureFreshCovers(c: Config, s: State) -> bool:
    """FutureFreshCovers holds after the response."""
    return c.late_fetches == 0 or FutureFreshCovers(c, arrived(c, s))


@lemma
def ResponseFutureLeaderCovered(c: Config, s: State) -> bool:
    """FutureLeaderCovered holds after the response."""
    return c.late_fetches == 0 or FutureLeaderCovered(c, arrived(c, s))


@lemma
def ResponseFutureFutureCovered(c: Config, s: State) -> bool:
    """FutureFutureCovered holds after the response."""
    return c.late_fetches == 0 or FutureFutureCovered(c, arrived(c, s))


@op
def ResponseFutureKeeps(c: Config, s: State, seen: LossHistory) -> bool:
    """FutureKeeps holds after the response."""
    return c.late_fetches == 0 or FutureKeeps(c, arrived(c, s), seen)


@op
def ResponseCommittedInEpoch(c: Config, s: State, seen: LossHistory) -> bool:
    """CommittedInEpoch holds after the response."""
    return c.late_fetches == 0 or CommittedInEpoch(c, arrived(c, s), seen)


@op
def ResponseBackersHold(c: Config, s: State, seen: LossHistory) -> bool:
    """BackersHold holds after the response."""
    return c.late_fetches == 0 or BackersHold(c, arrived(c, s), seen)


@op
def ResponseQuorumKeeps(c: Config, s: State, seen: LossHistory) -> bool:
    """QuorumKeeps holds after the response."""
    return c.late_fetches == 0 or QuorumKeeps(c, arrived(c, s), seen)


LEMMAS = (ResponseBackersHold, ResponseQuorumKeeps, ResponseFutureKeeps, ResponseCommittedInEpoch)
"""Lemmas about the history, beside those of `lemmas_losses`."""
