"""Properties V-1 to V-11: what eventually happens on every fair behaviour.

Each property has a premise (a state with a wait) and a conclusion (the wait is over), and claims that every wait ends
on every fair behaviour. `elrcheck.lang.fairness` defines fairness.

No fairness: crashes, fencings of live brokers, clean stops, lost responses, ISR shrinks, writes by producers and
requests of operators. Source: the list in docs/semantics.md, from Vanlightly's KIP-966 specification.

Disturbances are budgeted, so every behaviour has finitely many crashes, fencings, losses of an ISR member, writes and
operator requests; the properties are about the time after the last of them. A wait also ends when its reason
disappears: a leader that steps down need not respond with success.
"""

from __future__ import annotations

from elrcheck.lang.runtime import EMPTY, LeadsTo, leads_to, op
from elrcheck.model.broker.acknowledgement import waits
from elrcheck.model.broker.logs import is_prefix
from elrcheck.model.config import Config
from elrcheck.model.control_plane.reassignment import is_reassigning
from elrcheck.model.min_isr import broker_min_isr
from elrcheck.model.replicas import Replica
from elrcheck.model.state import Stage, State, Status, hosts, leads

# ---------------------------------------------------------------------------- vocabulary


@op
def runs(s: State, b: Replica) -> bool:
    return s.broker[b].status == Status.RUNNING


@op
def leaving(s: State, b: Replica) -> bool:
    """b has requested a controlled shutdown; only a new registration ends it (KIP-841)."""
    return s.registration[b].in_controlled_shutdown


@op
def present(s: State, b: Replica) -> bool:
    """b runs, is registered, can use its replica and is not in controlled shutdown."""
    return runs(s, b) and s.registration[b].registered and not leaving(s, b) and hosts(s.broker[b])


@op
def away(s: State, b: Replica) -> bool:
    """An operator has unregistered b, and it is not starting: it may stay unregistered forever."""
    return s.broker[b].status != Status.STARTING and not s.registration[b].registered


@op
def gone(s: State, b: Replica) -> bool:
    """b's replica may never come back: b is away, or runs without the failed log directory."""
    return away(s, b) or not hosts(s.broker[b])


@op
def missing(s: State) -> bool:
    """Some replica may never come back, so that the ISR may stay too small."""
    return any(gone(s, b) for b in s.partition.replicas)


@op
def served(s: State) -> bool:
    """The leader of the partition runs; a leader that is down serves no client (F-1)."""
    leader = s.partition.leader
    return s.broker[leader].status == Status.RUNNING if leader is not None else False


@op
def has_newest(s: State, b: Replica) -> bool:
    """b runs, and its view of the partition equals the controller's record."""
    view = s.broker[b].view
    p = s.partition
    same_leader = view.leader == p.leader and view.leader_epoch == p.leader_epoch
    same_lists = view.replicas == frozenset(p.replicas) and (p.leader != b or view.isr == p.isr)
    return runs(s, b) and view.partition_epoch == p.partition_epoch and same_leader and same_lists


@op
def owes_answers(s: State, b: Replica) -> bool:
    """Producers that wrote to b wait for its answer."""
    return any(waits(s.broker[b], b, k) for k in range(len(s.broker[b].log)))


@op
def advances(s: State, b: Replica) -> bool:
    """b leads, also in its own view, and the ISR has min ISR members.

    None of them is gone: a leader removes such a member after a while (maybeShrinkIsr), which is budgeted here. If the
    leader has followers, not all are gone: once INELIGIBLE_REPLICA has ended a proposal, its watermark advances only
    at the next fetch or append (Partition.handleAlterPartitionError).
    """
    replicas = frozenset(s.partition.replicas)
    enough = len(s.partition.isr) >= broker_min_isr(s.settings, b) or s.partition.isr == replicas
    fetching = all(not gone(s, member) for member in s.partition.isr)
    heard = len(replicas) == 1 or any(not gone(s, other) for other in replicas if other != b)
    return s.partition.leader == b and leads(s, b) and enough and fetching and heard


# ---------------------------------------------------------------------------- brokers


@leads_to("V-1")
def RestartEnds(c: Config, s: State, b: Replica) -> LeadsTo:
    """A broker that starts, or runs while fenced, is eventually running and unfenced.

    Source: Vanlightly's KIP-966 specification, BrokerLifecycleManager. A broker in controlled shutdown waits for
    nothing: its process will end. An unregistered broker that dies during its start, or runs, may stay unregistered.
    """
    starting = s.broker[b].status == Status.STARTING
    outside = starting or (runs(s, b) and s.registration[b].fenced)
    back = runs(s, b) and not s.registration[b].fenced
    over = back or leaving(s, b) or away(s, b)
    return LeadsTo(premise=outside and not leaving(s, b), conclusion=over)


@leads_to("V-2")
def ViewCatchesUp(c: Config, s: State, b: Replica) -> LeadsTo:
    """A broker's view of the partition eventually equals the controller's record.

    Source: Vanlightly's KIP-966 specification, BrokerMetadataPublisher. The ISR matters only to the leader; no other
    broker reads it. An unregistered broker that is down reads nothing.
    """
    over = has_newest(s, b) or (away(s, b) and not runs(s, b))
    return LeadsTo(premise=not over, conclusion=over)


# ---------------------------------------------------------------------------- requests and records


@leads_to("V-3")
def ProposalIsResolved(c: Config, s: State, b: Replica) -> LeadsTo:
    """An AlterPartition in flight eventually gets a response, or newer metadata supersedes it.

    Source: Vanlightly's KIP-966 specification, Partition.submitAlterPartition, KAFKA-12751.
    """
    pending = s.broker[b].alter.stage != Stage.IDLE
    return LeadsTo(premise=pending, conclusion=not pending)


@leads_to("V-4")
def WriteIsAnswered(c: Config, s: State, b: Replica) -> LeadsTo:
    """The leader that appended a record with acks=all eventually acknowledges or rejects it.

    Source: Vanlightly's KIP-966 specification, DelayedProduce. It acknowledges the record when the watermark passes it,
    and rejects it when it steps down or dies. Writes are finite, so a leader that owes responses again and again owes
    the same ones. The producer's timeout is not modelled. While a broker is in controlled shutdown, the ISR may be too
    small; that broker will restart. It may be too small forever while a replica is gone.
    """
    owes = owes_answers(s, b)
    excused = missing(s) or any(leaving(s, other) for other in c.brokers)
    return LeadsTo(premise=owes and not excused, conclusion=not owes or excused)


@leads_to("V-5")
def CommittedIsEverywhere(c: Config, s: State, b: Replica) -> LeadsTo:
    """Every committed record is eventually in the log of every replica.

    Source: Vanlightly's KIP-966 specification. An acknowledged acks=all record is committed; other
    records below the watermark are included, since consumers may have read them. A replica that is gone,
    or whose leader would be, waits for an operator.
    """
    has = is_prefix(s.committed, s.broker[b].log) or b not in frozenset(s.partition.replicas) or missing(s)
    return LeadsTo(premise=not has, conclusion=has)


# ---------------------------------------------------------------------------- the partition


@leads_to("V-6")
def ReassignmentEnds(c: Config, s: State) -> LeadsTo:
    """An ongoing reassignment eventually completes or is cancelled.

    Source: Vanlightly's KIP-966 specification, PartitionReassignmentReplicas, KAFKA-19975. A target in
    controlled shutdown cannot join the ISR, nor can a replica that is gone.
    """
    ongoing = is_reassigning(s.partition)
    excused = missing(s) or any(leaving(s, b) for b in s.partition.replicas)
    return LeadsTo(premise=ongoing and not excused, conclusion=not ongoing or excused)


@leads_to("V-7")
def EligibleReplicaEndsLeaderlessness(c: Config, s: State, b: Replica) -> LeadsTo:
    """When an ELR member returns after a clean stop, or was never down, the partition gets a leader.

    Source: KIP-966. A member that is registered and still in the ELR has not lost any data. The wait ends without a
    leader only if b goes down again or an operator disables the feature. An ISR member whose replica is gone precedes
    the ELR, and requires an operator.
    """
    p = s.partition
    back = present(s, b) and s.settings.elr_enabled
    waited_for = any(gone(s, member) for member in p.isr)
    eligible = p.leader is None and b in p.elr and back and not waited_for
    return LeadsTo(premise=eligible, conclusion=served(s) or not back)


@leads_to("V-8")
def LastKnownReplicasEndLeaderlessness(c: Config, s: State) -> LeadsTo:
    """When ISR and ELR are empty and the whole LastKnownELR is back, the partition gets a leader.

    Source: KIP-966, unclean.recovery.strategy Balanced. With None it waits for an operator, by design. If LastKnownELR
    is empty, too (F-26), the return of all replicas must suffice. Unregistered ELR members, which may stay away
    forever, do not count (F-21). The wait ends without a leader only if one of them goes down again or an operator
    disables the feature.
    """
    p = s.partition
    last_known = p.last_known_elr if p.last_known_elr != EMPTY else frozenset(p.replicas)
    back = all(present(s, b) for b in last_known) and s.settings.elr_enabled
    exhausted = p.leader is None and p.isr == EMPTY and all(away(s, b) for b in p.elr)
    return LeadsTo(premise=exhausted and back, conclusion=served(s) or not back)


# ---------------------------------------------------------------------------- replication


@leads_to("V-9")
def WatermarkReachesEnd(c: Config, s: State, b: Replica) -> LeadsTo:
    """A leader's watermark eventually reaches the end of its log, unless the ISR falls below min ISR.

    Source: KIP-966 (strict min ISR), Partition.maybeIncrementLeaderHW.
    """
    reached = s.broker[b].high_watermark == len(s.broker[b].log)
    return LeadsTo(premise=advances(s, b) and not reached, conclusion=reached or not advances(s, b))


@leads_to("V-10")
def ReplicaRejoinsIsr(c: Config, s: State, b: Replica) -> LeadsTo:
    """If the partition has a leader, a replica outside the ISR eventually joins it.

    Source: Partition.maybeExpandIsr, KIP-841, KIP-903. V-7 and V-8 cover partitions without a leader,
    and a broker in controlled shutdown may not join, nor can a replica that is gone.
    """
    replica = b in frozenset(s.partition.replicas) and not leaving(s, b) and not gone(s, b)
    outside = replica and b not in s.partition.isr and s.partition.leader is not None
    return LeadsTo(premise=outside, conclusion=not outside)


# ---------------------------------------------------------------------------- without the feature


@leads_to("V-11")
def DowngradeKeepsLeader(c: Config, s: State) -> LeadsTo:
    """While ELR is off and all replicas are present, the partition gets a leader.

    Source: the documentation of ELR ("Downgrades are safe to perform"); before ELR an ISR is never empty, so the return
    of its last member suffices. The wait ends without a leader only if a replica goes down again or an operator enables
    the feature.
    """
    back = all(present(s, b) for b in frozenset(s.partition.replicas)) and not s.settings.elr_enabled
    return LeadsTo(premise=s.partition.leader is None and back, conclusion=served(s) or not back)
