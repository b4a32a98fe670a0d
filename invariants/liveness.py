"""Properties V-1 to V-10: what finally happens if everything that is fair happens.

Each says of one state whether it waits for something, and whether the wait is over; the claim is that
every wait ends on every fair behaviour. Which steps are fair is in `elrcheck.invariants.fairness`.

Disturbances are budgeted, so every behaviour has finitely many crashes, fencings, losses of an ISR
member, writes and requests of operators, and the properties speak of what follows the last of them.
A wait also ends when it loses its reason: a leader that steps down need not answer with success.
"""

from __future__ import annotations

from elrcheck.lang.runtime import EMPTY, LeadsTo, leads_to, op
from elrcheck.lang.types import Replica
from elrcheck.model.broker.acknowledgement import waits
from elrcheck.model.config import Config
from elrcheck.model.control_plane.reassignment import is_reassigning
from elrcheck.model.state import Stage, State, Status, effective_min_isr, is_prefix, leads

# ---------------------------------------------------------------------------- vocabulary


@op
def runs(s: State, b: Replica) -> bool:
    return s.broker[b].status == Status.RUNNING


@op
def leaving(s: State, b: Replica) -> bool:
    """b has asked for a controlled shutdown, which only a new registration takes back (KIP-841)."""
    return s.registration[b].in_controlled_shutdown


@op
def present(s: State, b: Replica) -> bool:
    """b runs and means to stay."""
    return runs(s, b) and not leaving(s, b)


@op
def served(s: State) -> bool:
    """Somebody leads and runs; a leader that is down serves nobody (F-1)."""
    leader = s.partition.leader
    return s.broker[leader].status == Status.RUNNING if leader is not None else False


@op
def has_newest(s: State, b: Replica) -> bool:
    """b runs, and what it knows of the partition is what the controller knows."""
    view = s.broker[b].view
    p = s.partition
    same_leader = view.leader == p.leader and view.leader_epoch == p.leader_epoch
    same_lists = view.replicas == frozenset(p.replicas) and (p.leader != b or view.isr == p.isr)
    return runs(s, b) and view.partition_epoch == p.partition_epoch and same_leader and same_lists


@op
def owes_answers(s: State, b: Replica) -> bool:
    """Producers wait for b, with which they wrote."""
    return any(waits(s.broker[b], b, k) for k in range(len(s.broker[b].log)))


@op
def advances(s: State, b: Replica) -> bool:
    """b leads, by its own view too, and the ISR has min ISR members."""
    enough = len(s.partition.isr) >= effective_min_isr(s.settings, s.partition.replicas)
    return s.partition.leader == b and leads(s, b) and enough


# ---------------------------------------------------------------------------- brokers


@leads_to("V-1")
def RestartEnds(c: Config, s: State, b: Replica) -> LeadsTo:
    """A broker that starts, or runs and is fenced, is finally running and unfenced.

    Source: Vanlightly's KIP-966 specification, BrokerLifecycleManager. One that asked for a controlled
    shutdown waits for nothing: its process is about to end.
    """
    starting = s.broker[b].status == Status.STARTING
    outside = starting or (runs(s, b) and s.registration[b].fenced)
    back = runs(s, b) and not s.registration[b].fenced
    return LeadsTo(premise=outside and not leaving(s, b), conclusion=back or leaving(s, b))


@leads_to("V-2")
def ViewCatchesUp(c: Config, s: State, b: Replica) -> LeadsTo:
    """A broker finally knows the partition as the controller does.

    Source: Vanlightly's KIP-966 specification, BrokerMetadataPublisher. The ISR counts for the leader
    only; nobody else looks at it.
    """
    return LeadsTo(premise=not has_newest(s, b), conclusion=has_newest(s, b))


# ---------------------------------------------------------------------------- requests and records


@leads_to("V-3")
def ProposalIsResolved(c: Config, s: State, b: Replica) -> LeadsTo:
    """An AlterPartition under way is finally answered, or overtaken by metadata.

    Source: Vanlightly's KIP-966 specification, Partition.submitAlterPartition, KAFKA-12751.
    """
    pending = s.broker[b].alter.stage != Stage.IDLE
    return LeadsTo(premise=pending, conclusion=not pending)


@leads_to("V-4")
def WriteIsAnswered(c: Config, s: State, b: Replica) -> LeadsTo:
    """A record written with acks=all is finally acknowledged or refused by the leader that took it.

    Source: Vanlightly's KIP-966 specification, DelayedProduce. It is acknowledged when the watermark
    passes it, and refused when that leader steps down or dies. Writes are finite, so a leader that
    owes answers again and again owes the same ones. The producer's own timeout is not modelled. As long
    as a broker is in controlled shutdown the ISR may be too small; it is about to restart.
    """
    owes = owes_answers(s, b)
    excused = any(leaving(s, other) for other in c.brokers)
    return LeadsTo(premise=owes and not excused, conclusion=not owes or excused)


@leads_to("V-5")
def CommittedIsEverywhere(c: Config, s: State, b: Replica) -> LeadsTo:
    """Every committed record is finally in the log of every replica.

    Source: Vanlightly's KIP-966 specification. An acknowledged acks=all record is committed; others
    below the watermark are included here, since consumers have seen them.
    """
    has = is_prefix(s.committed, s.broker[b].log) or b not in frozenset(s.partition.replicas)
    return LeadsTo(premise=not has, conclusion=has)


# ---------------------------------------------------------------------------- the partition


@leads_to("V-6")
def ReassignmentEnds(c: Config, s: State) -> LeadsTo:
    """An ongoing reassignment finally completes or is cancelled.

    Source: Vanlightly's KIP-966 specification, PartitionReassignmentReplicas, KAFKA-19975. A target that
    is in controlled shutdown cannot join.
    """
    ongoing = is_reassigning(s.partition)
    excused = any(leaving(s, b) for b in s.partition.replicas)
    return LeadsTo(premise=ongoing and not excused, conclusion=not ongoing or excused)


@leads_to("V-7")
def EligibleReplicaEndsLeaderlessness(c: Config, s: State, b: Replica) -> LeadsTo:
    """When an ELR member is back after a clean stop, or was never down, the partition gets a leader.

    Source: KIP-966. A member that is registered and still in the ELR has not lost anything. The wait
    ends without a leader only if b goes down once more, or the feature is switched off.
    """
    p = s.partition
    back = present(s, b) and s.settings.elr_enabled
    eligible = p.leader is None and b in p.elr and back
    return LeadsTo(premise=eligible, conclusion=served(s) or not back)


@leads_to("V-8")
def LastKnownReplicasEndLeaderlessness(c: Config, s: State) -> LeadsTo:
    """When ISR and ELR are empty and the whole LastKnownELR is back, the partition gets a leader.

    Source: KIP-966, unclean.recovery.strategy Balanced. With None it waits for an operator, by design.
    If not even the LastKnownELR has anybody (F-26), all replicas being back has to be enough. The wait
    ends without a leader only if one of them goes down once more, or without the feature.
    """
    p = s.partition
    known = p.last_known_elr if p.last_known_elr != EMPTY else frozenset(p.replicas)
    back = all(present(s, b) for b in known) and s.settings.elr_enabled
    exhausted = p.leader is None and p.isr == EMPTY and p.elr == EMPTY
    return LeadsTo(premise=exhausted and back, conclusion=served(s) or not back)


# ---------------------------------------------------------------------------- replication


@leads_to("V-9")
def WatermarkReachesEnd(c: Config, s: State, b: Replica) -> LeadsTo:
    """A leader's watermark finally reaches the end of its log, unless the ISR falls below min ISR.

    Source: KIP-966 (strict min ISR), Partition.maybeIncrementLeaderHW.
    """
    reached = s.broker[b].high_watermark == len(s.broker[b].log)
    return LeadsTo(premise=advances(s, b) and not reached, conclusion=reached or not advances(s, b))


@leads_to("V-10")
def ReplicaRejoinsIsr(c: Config, s: State, b: Replica) -> LeadsTo:
    """A replica outside the ISR of a led partition finally enters it.

    Source: Partition.maybeExpandIsr, KIP-841, KIP-903. A partition without a leader is the subject of
    V-7 and V-8, and a broker in controlled shutdown may not join.
    """
    replica = b in frozenset(s.partition.replicas)
    outside = replica and b not in s.partition.isr and s.partition.leader is not None and not leaving(s, b)
    return LeadsTo(premise=outside, conclusion=not outside)
