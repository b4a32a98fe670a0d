"""Lemmas about leaders that do not know yet that they lead, if brokers may lag behind the metadata log.

A broker may stop at any record that it has not read. So a leader epoch may begin long after the controller has elected
another leader, and several zombies may lead at the same time. A record is *unread* if the leader that it names may
still apply it. The lemmas about leaders then also hold of the leader that it will be, in the epoch and with the ISR of
that record; it begins a new epoch without knowing any follower.

Which leaders have every committed record depends on the epoch in which the newest one was committed, which is part of
the proof's history (`LossHistory.epoch`): those of this epoch and of later ones. Contenders have followed in that epoch
and never go back before it, so they never follow a leader that lacks one.
"""

from __future__ import annotations

from dataclasses import replace

from elrcheck.invariants.lemmas.lemmas_logs import acked, contenders, fresh, upto
from elrcheck.invariants.lemmas.lemmas_losses import LossHistory
from elrcheck.invariants.lemmas.lemmas_metadata import may_read
from elrcheck.invariants.lemmas.lemmas_quorums import ceiling, earliest_epoch, frozen, may_commit, quorum
from elrcheck.invariants.lemmas.lemmas_views import granted
from elrcheck.invariants.properties import eligible
from elrcheck.lang.runtime import EMPTY, implies, lemma, op
from elrcheck.model.broker.high_watermark import maximal_isr
from elrcheck.model.broker.logs import is_prefix
from elrcheck.model.broker.metadata import published_min_isr
from elrcheck.model.choices import Propagation
from elrcheck.model.config import Config
from elrcheck.model.kafka_error import Error
from elrcheck.model.metadata_record import without_values_of_brokers
from elrcheck.model.min_isr import leader_min_isr
from elrcheck.model.replicas import Replica, RSet
from elrcheck.model.state import Offset, Stage, State, Status, hosts, leads

# ---------------------------------------------------------------------------- unread records


@op
def yet_to_lead(c: Config, s: State, b: Replica, k: Offset) -> bool:
    """b leads in record k of the log, and may still apply it."""
    return s.metadata[k].leader == b and hosts(s.broker[b]) and may_read(c, s, b, k)


@op
def will_commit(c: Config, s: State, b: Replica, k: Offset) -> bool:
    """b may advance its watermark once it has applied record k."""
    to = s.metadata[k]
    broker = s.broker[b]
    configured = published_min_isr(c, without_values_of_brokers(c, s.settings), broker, b, to)
    then = replace(broker, view=replace(broker.view, replicas=to.replicas), min_isr=configured)
    return yet_to_lead(c, s, b, k) and len(to.isr) >= leader_min_isr(c, s.settings, then, b)


@op
def new_leader(s: State, b: Replica, k: Offset) -> bool:
    """b begins a leader epoch with record k."""
    return s.broker[b].view.leader_epoch < s.metadata[k].leader_epoch


@op
def will_count(s: State, b: Replica, k: Offset, f: Replica) -> Offset:
    """The offset that f will have acknowledged to b when b applies record k."""
    return 0 if new_leader(s, b, k) else acked(s, b, f)


@op
def will_be_frozen(c: Config, s: State, b: Replica, k: Offset) -> RSet:
    """The members of b's quorum in record k that can never fetch from b in its epoch."""
    return frozenset(f for f in s.metadata[k].isr if f != b and earliest_epoch(c, s, f) > s.metadata[k].leader_epoch)


@op
def future_ceiling(c: Config, s: State, b: Replica, k: Offset) -> Offset:
    return min((will_count(s, b, k, f) for f in will_be_frozen(c, s, b, k)), default=c.log_slots)


@lemma
def FutureEpochUnused(c: Config, s: State) -> bool:
    """Until a leader has applied the first record of its epoch, no log has a record of that epoch."""
    return all(
        all(
            implies(
                yet_to_lead(c, s, leader, k) and new_leader(s, leader, k),
                all(
                    all(s.broker[b].log[j].epoch != s.metadata[k].leader_epoch for j in range(len(s.broker[b].log)))
                    for b in c.brokers
                ),
            )
            for leader in c.brokers
        )
        for k in range(len(s.metadata))
    )


@lemma
def FutureQuorumCovers(c: Config, s: State) -> bool:
    """The ISR of each unread record of the current epoch contains ISR and ELR."""
    return all(
        all(
            implies(
                will_commit(c, s, b, k)
                and s.metadata[k].leader_epoch == s.partition.leader_epoch
                and implies(granted(s, b), k + 1 >= s.broker[b].alter.partition_epoch),
                s.partition.isr | eligible(c, s) <= s.metadata[k].isr,
            )
            for b in c.brokers
        )
        for k in range(len(s.metadata))
    )


@lemma
def FutureCovers(c: Config, s: State) -> bool:
    """Every record that a future leader will be able to commit is in every contender's log, or will be before it."""
    return all(
        all(
            implies(
                will_commit(c, s, b, k),
                all(
                    g == b
                    or (
                        implies(
                            earliest_epoch(c, s, g) <= s.metadata[k].leader_epoch,
                            upto(s.broker[b].log, s.broker[g].log, will_count(s, b, k, g)),
                        )
                        and implies(
                            g not in s.metadata[k].isr or earliest_epoch(c, s, g) > s.metadata[k].leader_epoch,
                            will_be_frozen(c, s, b, k) != EMPTY
                            and upto(s.broker[b].log, s.broker[g].log, future_ceiling(c, s, b, k)),
                        )
                        and implies(earliest_epoch(c, s, g) < s.metadata[k].leader_epoch, g in s.metadata[k].isr)
                    )
                    for g in contenders(c, s)
                ),
            )
            for b in c.brokers
        )
        for k in range(len(s.metadata))
    )


@lemma
def FutureConsistent(c: Config, s: State) -> bool:
    """A future leader has every committed record, or will not commit beyond them."""
    return all(
        all(
            implies(
                will_commit(c, s, b, k),
                is_prefix(s.committed, s.broker[b].log)
                or (
                    will_be_frozen(c, s, b, k) != EMPTY
                    and future_ceiling(c, s, b, k) <= len(s.committed)
                    and upto(s.broker[b].log, s.committed, future_ceiling(c, s, b, k))
                ),
            )
            for b in c.brokers
        )
        for k in range(len(s.metadata))
    )


@lemma
def LaterCoversFuture(c: Config, s: State) -> bool:
    """The epoch of a later leader starts at or above every offset that a future leader of an older one can commit."""
    return all(
        all(
            implies(
                will_commit(c, s, b, k),
                all(
                    implies(
                        leads(s, m) and s.broker[m].view.leader_epoch > s.metadata[k].leader_epoch,
                        will_be_frozen(c, s, b, k) != EMPTY
                        and future_ceiling(c, s, b, k) <= s.broker[m].epoch_start
                        and upto(s.broker[b].log, s.broker[m].log, future_ceiling(c, s, b, k)),
                    )
                    for m in c.brokers
                ),
            )
            for b in c.brokers
        )
        for k in range(len(s.metadata))
    )


@lemma
def FutureLeaderCovered(c: Config, s: State) -> bool:
    """Every record that an older leader can still commit is in a future leader's log, or will be before the commit."""
    return all(
        all(
            all(
                implies(
                    yet_to_lead(c, s, b, k) and s.broker[m].view.leader_epoch < s.metadata[k].leader_epoch and m != b,
                    implies(
                        earliest_epoch(c, s, b) <= s.broker[m].view.leader_epoch,
                        upto(s.broker[m].log, s.broker[b].log, acked(s, m, b)),
                    )
                    and implies(
                        b not in quorum(c, s, m) or earliest_epoch(c, s, b) > s.broker[m].view.leader_epoch,
                        frozen(c, s, m) != EMPTY and upto(s.broker[m].log, s.broker[b].log, ceiling(c, s, m)),
                    )
                    and implies(earliest_epoch(c, s, b) < s.broker[m].view.leader_epoch, b in quorum(c, s, m)),
                )
                for m in c.brokers
                if may_commit(c, s, m)
            )
            for b in c.brokers
        )
        for k in range(len(s.metadata))
    )


@lemma
def FutureFutureCovered(c: Config, s: State) -> bool:
    """Every record that a future leader will be able to commit is in the log of a later one, or will be before it."""
    return all(
        all(
            all(
                all(
                    implies(
                        will_commit(c, s, m, j)
                        and yet_to_lead(c, s, b, k)
                        and m != b
                        and s.metadata[j].leader_epoch < s.metadata[k].leader_epoch,
                        implies(
                            earliest_epoch(c, s, b) <= s.metadata[j].leader_epoch,
                            upto(s.broker[m].log, s.broker[b].log, will_count(s, m, j, b)),
                        )
                        and implies(
                            b not in s.metadata[j].isr or earliest_epoch(c, s, b) > s.metadata[j].leader_epoch,
                            will_be_frozen(c, s, m, j) != EMPTY
                            and upto(s.broker[m].log, s.broker[b].log, future_ceiling(c, s, m, j)),
                        )
                        and implies(earliest_epoch(c, s, b) < s.metadata[j].leader_epoch, b in s.metadata[j].isr),
                    )
                    for m in c.brokers
                )
                for b in c.brokers
            )
            for j in range(len(s.metadata))
        )
        for k in range(len(s.metadata))
    )


@op
def proposed(s: State, b: Replica) -> RSet:
    """The ISR members that b has read or proposed; INELIGIBLE_REPLICA proves that the proposal was not granted."""
    x = s.broker[b].alter
    refused = x.stage == Stage.ANSWERED and x.error == Error.INELIGIBLE_REPLICA
    return s.broker[b].view.isr if refused else maximal_isr(s.broker[b])


@lemma
def FutureIsrProposed(c: Config, s: State) -> bool:
    """The ISR of an unread record of its own epoch has no member that the leader has neither read nor proposed."""
    return all(
        all(
            implies(yet_to_lead(c, s, b, k) and not new_leader(s, b, k), s.metadata[k].isr <= proposed(s, b))
            for b in c.brokers
        )
        for k in range(len(s.metadata))
    )


@lemma
def FutureFreshCovers(c: Config, s: State) -> bool:
    """Followers that have moved on retain the acknowledged records that the leader will be able to commit."""
    return all(
        all(
            implies(
                will_commit(c, s, b, k) and not new_leader(s, b, k),
                all(
                    implies(
                        fresh(s, b, g)
                        and g not in s.lossy
                        and s.broker[g].status == Status.RUNNING
                        and earliest_epoch(c, s, g) > s.metadata[k].leader_epoch
                        and (c.reassignments == 0 or g in s.partition.isr | s.partition.elr),
                        upto(s.broker[b].log, s.broker[g].log, min(acked(s, b, g), future_ceiling(c, s, b, k))),
                    )
                    for g in c.brokers
                    if g != b
                ),
            )
            for b in c.brokers
        )
        for k in range(len(s.metadata))
    )


@lemma
def UnreadIsrShrinks(c: Config, s: State) -> bool:
    """In an epoch only its leader adds to the ISR, so it does not grow in records that the leader has not read."""
    return all(
        all(
            all(
                implies(
                    i <= k and s.metadata[i].leader_epoch == s.metadata[k].leader_epoch and yet_to_lead(c, s, b, i),
                    s.metadata[k].isr <= s.metadata[i].isr,
                )
                for b in c.brokers
            )
            for i in range(len(s.metadata))
        )
        and all(
            implies(
                yet_to_lead(c, s, b, k)
                and granted(s, b)
                and s.metadata[k].leader_epoch == s.broker[b].view.leader_epoch,
                s.metadata[k].isr <= s.broker[b].alter.isr and k + 1 >= s.broker[b].alter.partition_epoch,
            )
            for b in c.brokers
        )
        for k in range(len(s.metadata))
    )


# ---------------------------------------------------------------------------- losses


@op
def FutureKeeps(c: Config, s: State, seen: LossHistory) -> bool:
    """A broker without a loss has the records that it acknowledged, up to those that the leader may still commit."""
    return all(
        all(
            implies(
                will_commit(c, s, b, k) and not new_leader(s, b, k),
                all(
                    g == b or upto(s.broker[b].log, s.broker[g].log, min(acked(s, b, g), future_ceiling(c, s, b, k)))
                    for g in c.brokers - seen.lost
                ),
            )
            for b in c.brokers
        )
        for k in range(len(s.metadata))
    )


@op
def CommittedInEpoch(c: Config, s: State, seen: LossHistory) -> bool:
    """Leaders of the epoch of the newest commit and of later ones have every committed record, and so do future ones.

    Contenders, backers and these future leaders have followed in that epoch and will not go back before it; where
    replicas may be removed, backers without a loss.
    """
    return c.metadata == Propagation.LATEST or (
        seen.epoch <= s.partition.leader_epoch
        and all(
            earliest_epoch(c, s, f) >= seen.epoch
            for f in contenders(c, s) | (seen.backers if c.reassignments == 0 else seen.backers - seen.lost)
        )
        and all(
            implies(
                leads(s, b) and s.broker[b].view.leader_epoch >= seen.epoch, is_prefix(s.committed, s.broker[b].log)
            )
            and implies(may_commit(c, s, b) and s.broker[b].view.leader_epoch < seen.epoch, frozen(c, s, b) != EMPTY)
            for b in c.brokers
        )
        and all(
            all(
                implies(
                    yet_to_lead(c, s, b, k) and s.metadata[k].leader_epoch >= seen.epoch,
                    earliest_epoch(c, s, b) >= seen.epoch and is_prefix(s.committed, s.broker[b].log),
                )
                and implies(
                    will_commit(c, s, b, k) and s.metadata[k].leader_epoch < seen.epoch,
                    will_be_frozen(c, s, b, k) != EMPTY,
                )
                for b in c.brokers
            )
            for k in range(len(s.metadata))
        )
    )


LEMMAS = (FutureKeeps, CommittedInEpoch)
"""Lemmas about the history, beside those of `lemmas_losses`."""
