"""Properties of quorums during operation: P-9, P-15, P-16, P-24, P-26, P-28 to P-31, P-36, P-37.

A statement about the time since some event ("armed") is a property of steps: a restriction of every step needs no
history. The statements follow `docs/semantics.md`, section D.
"""

from __future__ import annotations

from elrcheck.invariants.membership import granted_now, proposed_now, registered_anew, sender_died, uncleanly
from elrcheck.invariants.properties import eligible, holds_at, stored_on_replica
from elrcheck.lang.runtime import EMPTY, always, conj, implies, op
from elrcheck.model.broker.ghosts import min_isr_may_vary
from elrcheck.model.broker.logs import is_prefix
from elrcheck.model.change_record import unclean_election_allowed
from elrcheck.model.choices import LklStorage, RecoveryStrategy
from elrcheck.model.config import Config
from elrcheck.model.min_isr import effective_min_isr
from elrcheck.model.replicas import Replica, RSet
from elrcheck.model.replication_control import active
from elrcheck.model.state import InfoStage, LogDir, LogInfo, Offset, Partition, Recovery, State, Status, hosts

# ---------------------------------------------------------------------------- kinds of steps


@op
def alters(c: Config, s: State, t: State) -> bool:
    """In this step the controller handles an AlterPartition."""
    return any(granted_now(s, t, b) or sender_died(s, t, b) for b in c.brokers)


@op
def elected_outside(c: Config, s: State, t: State) -> bool:
    """The step elects a leader that was not a candidate and did not become one by AlterPartition."""
    leader = t.partition.leader
    outside = any(b == leader and b not in s.partition.isr | s.partition.elr for b in c.brokers)
    return outside and leader != s.partition.leader and not alters(c, s, t)


@op
def operated(s: State, t: State) -> bool:
    """An operator changed the basis of the quorum: settings, replicas or registered brokers."""
    return (
        s.settings != t.settings
        or frozenset(s.partition.replicas) != frozenset(t.partition.replicas)
        or s.spent.unregistrations != t.spent.unregistrations
    )


@op
def min_isr_of(s: State) -> int:
    return effective_min_isr(s.settings, s.partition.replicas)


@op
def moving(p: Partition) -> bool:
    """A reassignment is in progress."""
    return p.adding | p.removing != EMPTY


# ---------------------------------------------------------------------------- quorums


@always("P-9")
def MinIsrQuorum(c: Config, s: State, t: State) -> bool:
    """Once ISR and ELR have min ISR members together, only an unclean registration removes one.

    So does one without the recorded directory of the replica. An unclean election, or an operator's change of min ISR,
    replicas or the feature, resets the quorum.
    """
    before = s.partition.isr | s.partition.elr
    after = t.partition.isr | t.partition.elr
    armed = s.settings.elr_enabled and not operated(s, t) and not elected_outside(c, s, t)
    unclean = any(
        registered_anew(s, t, b) and (uncleanly(s, b) or s.broker[b].log_dir != LogDir.PRESENT) for b in c.brokers
    )
    return conj(
        stays=implies(armed and not unclean, len(after) >= min(len(before), min_isr_of(s))),
        loses_one=implies(armed and unclean, len(after) + 1 >= min(len(before), min_isr_of(s))),
    )


@always("P-15")
def LastKnownElrDisjoint(c: Config, s: State) -> bool:
    """LastKnownELR, where it is a set of its own, is disjoint from ISR and ELR."""
    return conj(
        disjoint=implies(
            c.lkl_storage == LklStorage.SEPARATE,
            s.partition.last_known_elr & (s.partition.isr | s.partition.elr) == EMPTY,
        )
    )


@always("P-16")
def RecoveryQuorumKept(c: Config, s: State, t: State) -> bool:
    """Once ISR, ELR and LastKnownELR have min ISR members together, they keep them for a recovery.

    That includes an unclean election: only an ISR that reaches min ISR empties LastKnownELR.
    """
    before = s.partition.isr | s.partition.elr | s.partition.last_known_elr
    after = t.partition.isr | t.partition.elr | t.partition.last_known_elr
    armed = s.settings.elr_enabled and not operated(s, t)
    return conj(
        stays=implies(armed and c.lkl_storage == LklStorage.SEPARATE, len(after) >= min(len(before), min_isr_of(s)))
    )


# ---------------------------------------------------------------------------- brokers


@always("P-24")
def ObserverMonotonic(c: Config, s: State, t: State) -> bool:
    """A running broker's view of the partition may be stale but never goes back.

    A client that reads the ISR from a broker cannot rely on more (the discarded stale-ISR proposal).
    """
    return conj(
        never_older=all(
            implies(
                s.broker[b].status == Status.RUNNING
                and t.broker[b].status == Status.RUNNING
                and s.broker[b].epoch == t.broker[b].epoch,
                s.broker[b].view.partition_epoch <= t.broker[b].view.partition_epoch,
            )
            for b in c.brokers
        )
    )


@op
def shutdown_granted(s: State, t: State, b: Replica) -> bool:
    """The step grants the controlled shutdown of b, which is alive; it is not a budgeted fencing."""
    before = s.registration[b]
    fenced_now = not before.fenced and t.registration[b].fenced
    alive = s.broker[b].status == Status.RUNNING and t.broker[b].status == Status.RUNNING
    return before.in_controlled_shutdown and fenced_now and alive and s.spent.fences == t.spent.fences


@always("P-36")
def ShutdownGrantedInTime(c: Config, s: State, t: State) -> bool:
    """When a controlled shutdown is granted, no active broker needs the broker any more (KIP-841).

    The broker leads no partition, and no active broker follows it, so its stop interrupts no client.
    """
    return conj(
        leads_nothing=all(implies(shutdown_granted(s, t, b), t.partition.leader != b) for b in c.brokers),
        nobody_follows=all(
            implies(shutdown_granted(s, t, b), all(t.broker[f].view.leader != b for f in active(c, t.registration)))
            for b in c.brokers
        ),
    )


@op
def follows_now(s: State, b: Replica) -> bool:
    """b runs and is a follower in the controller's current leader epoch."""
    view = s.broker[b].view
    up = s.broker[b].status == Status.RUNNING and view.partition_epoch > 0
    return up and view.leader != b and view.leader_epoch == s.partition.leader_epoch


@op
def counted_on(c: Config, s: State, b: Replica) -> bool:
    """b must keep its records: it follows the current leader, or may be elected."""
    return follows_now(s, b) or b in (s.partition.isr | eligible(c, s))


@always("P-26")
def TruncationSafety(c: Config, s: State, t: State) -> bool:
    """A follower in the current leader epoch, or a candidate, never truncates a committed record.

    Data lost in a crash or with its directory does not count, nor does data of a replica that a reassignment has
    removed.
    """
    return conj(
        keeps_committed=all(
            implies(
                counted_on(c, s, b)
                and s.broker[b].status == Status.RUNNING
                and t.broker[b].status == Status.RUNNING
                and hosts(t.broker[b])
                and b in t.broker[b].view.replicas
                and is_prefix(s.committed, s.broker[b].log),
                is_prefix(s.committed, t.broker[b].log),
            )
            for b in c.brokers
        )
    )


# ---------------------------------------------------------------------------- unclean elections


@always("P-28")
def UncleanLeadersMarked(c: Config, s: State, t: State) -> bool:
    """A leader that was not a candidate is RECOVERING until it reports its recovery (KIP-704)."""
    return conj(
        marked=implies(
            c.recovery_state_supported and elected_outside(c, s, t), t.partition.recovery == Recovery.RECOVERING
        ),
        until_it_reports=implies(
            s.partition.recovery == Recovery.RECOVERING and t.partition.recovery == Recovery.RECOVERED, alters(c, s, t)
        ),
    )


@op
def last_known(c: Config, p: Partition) -> RSet:
    """The last known leader, in the field where the version stores it; at most one broker."""
    if c.lkl_storage == LklStorage.OVERLOAD:
        return p.last_known_elr
    return frozenset(b for b in c.brokers if p.last_known_leader == b)


@op
def led_last(c: Config, p: Partition) -> RSet:
    """The replicas that led until now; the KIP's field may contain the last member of a leaderless ISR."""
    if p.leader is None:
        return p.isr if c.lkl_storage == LklStorage.SEPARATE else EMPTY
    return frozenset(b for b in c.brokers if p.leader == b)


@always("P-37")
def LastKnownLeaderLed(c: Config, s: State, t: State) -> bool:
    """The last known leader led until the partition lost its leader, and is forgotten with the next one.

    Only an election that may lose data elects it (KIP-966, "Last-leader" election; PartitionChangeBuilder.
    maybeUpdateLastKnownLeader), not a preferred leader election.
    """
    stored = last_known(c, t.partition)
    return conj(
        led_until_now=stored <= last_known(c, s.partition) | led_last(c, s.partition),
        forgotten_with_a_leader=implies(t.partition.leader is not None, stored == EMPTY),
        not_by_preferred_election=implies(s.spent.elections != t.spent.elections, not elected_outside(c, s, t)),
    )


@op
def at_least_as_long(winner: LogInfo, other: LogInfo) -> bool:
    """KIP-966: "the highest leader epoch plus the longest log end offset" wins; independent of the rule."""
    if winner.last_epoch != other.last_epoch:
        return winner.last_epoch > other.last_epoch
    return winner.log_end_offset >= other.log_end_offset


@always("P-31")
def RecoveryChoosesLongest(c: Config, s: State, t: State) -> bool:
    """A Balanced recovery elects a log no shorter than any in LastKnownELR, whose members all answered."""
    answers = s.recovery.answers
    finished = (
        s.recovery.strategy == RecoveryStrategy.BALANCED
        and elected_outside(c, s, t)
        and s.spent.unclean_elections == t.spent.unclean_elections
        and not unclean_election_allowed(c, s.settings)
    )
    return conj(
        all_answered=implies(
            finished,
            all(
                answers[b].stage == InfoStage.ACCEPTED and answers[b].broker_epoch == s.registration[b].epoch
                for b in s.partition.last_known_elr
            ),
        ),
        longest=implies(
            finished,
            all(
                all(at_least_as_long(answers[w], answers[b]) for b in s.partition.last_known_elr)
                for w in c.brokers
                if t.partition.leader == w
            ),
        ),
    )


# ---------------------------------------------------------------------------- reassignment, min ISR


@op
def sure_copies(c: Config, s: State, candidates: RSet, k: Offset) -> int:
    """The number of candidates that are replicas and have the committed record at offset k.

    One that has lost its log counts until it registers: the controller cannot know about the loss yet.
    """
    listed = frozenset(s.partition.replicas) & candidates
    return sum(1 for b in listed if b in s.lossy or holds_at(s.broker[b].log, s.committed, k))


@always("P-29")
def ReassignmentKeepsCopies(c: Config, s: State, t: State) -> bool:
    """The end of a reassignment leaves each committed record on min ISR replicas that may be elected.

    It may have been on fewer before, including the members that an AlterPartition adds in the same step. A request
    that removes no replica cancels a reassignment and is not an end. The end adds no broker to the ISR either.
    """
    same_replicas = frozenset(s.partition.replicas) == frozenset(t.partition.replicas)
    called_off = same_replicas and s.partition.isr == t.partition.isr
    ends = (moving(s.partition) or not same_replicas) and not moving(t.partition) and not called_off
    before = s.partition.isr | eligible(c, s) | proposed_now(c, s, t)
    after = t.partition.isr | eligible(c, t)
    return conj(
        enough_copies=implies(
            ends,
            all(
                sure_copies(c, t, after, k) >= min(sure_copies(c, s, before, k), min_isr_of(t))
                for k in range(len(s.committed))
            ),
        ),
        nobody_added=implies(
            ends and not unclean_election_allowed(c, s.settings) and not alters(c, s, t),
            t.partition.isr <= s.partition.isr,
        ),
    )


@op
def first_min_isr(c: Config) -> int:
    """The min ISR that protects committed records from the start; without ELR the last replica alone does."""
    return min(c.min_isr, c.broker_count - c.spare_brokers) if c.elr_enabled else 1


@op
def promised_to_survive(c: Config, s: State, k: Offset, lost: int) -> bool:
    """Min ISR has been greater than this number of losses ever since the record at offset k was committed."""
    if not min_isr_may_vary(c):
        return lost < first_min_isr(c)
    return not any(k < p.length and p.min_isr <= lost for p in s.promised)


@op
def may_elect_uncleanly(c: Config, s: State) -> bool:
    """A setting, a strategy or an operator has allowed an election that may lose data."""
    return (
        c.unclean_leader_election_enable
        or s.spent.unclean_changes > 0
        or s.spent.unclean_elections > 0
        or c.unclean_recovery_strategy == RecoveryStrategy.AGGRESSIVE
    )


@op
def losses(s: State) -> int:
    """The number of events that may have cost a broker records so far: crashes, and lost log directories."""
    return s.spent.crashes + s.spent.directory_failures + s.spent.directory_losses


@always("P-30")
def Tolerance(c: Config, s: State) -> bool:
    """A record committed under min ISR m survives m - 1 losses, even if min ISR is raised later.

    Lowering min ISR, removing replicas and disabling ELR promise less from then on (`Promise`). There is no promise if
    the configuration or an operator allows unclean elections; no version is exempt.
    """
    return conj(
        survives=all(
            implies(
                not may_elect_uncleanly(c, s) and promised_to_survive(c, s, k, losses(s)), stored_on_replica(c, s, k)
            )
            for k in range(len(s.committed))
        )
    )
