"""Reassignment: start, change of mind, cancellation. Completion is step 1 of the change builder.

Sources: ReplicationControlManager (alterPartitionReassignment, changePartitionReassignment,
cancelPartitionReassignment), PartitionReassignmentReplicas, PartitionReassignmentRevert; KIP-966
"Partition reassignment" for the min ISR gates.
"""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.marks import Unfair
from elrcheck.lang.runtime import EMPTY, action, op, require
from elrcheck.lang.types import RSet, Vec
from elrcheck.model.absent import recovery_after
from elrcheck.model.alternatives.reductions import kept_up
from elrcheck.model.config import Config
from elrcheck.model.control_plane.controller import active, election_type
from elrcheck.model.control_plane.elections import AdminDecision, AdminError
from elrcheck.model.control_plane.partition import Election, change, target
from elrcheck.model.state import (
    Partition,
    Registration,
    ReplicaList,
    Settings,
    State,
    configured_min_isr,
    logged,
)

# ---------------------------------------------------------------------------- rules


@op
def is_reassigning(p: Partition) -> bool:
    return p.adding != EMPTY or p.removing != EMPTY


@op
def registered(c: Config, registration: Vec[Registration]) -> RSet:
    """Registered brokers, fenced or not."""
    return frozenset(b for b in c.brokers if registration[b].registered)


@op
def reassign(
    c: Config, g: Settings, p: Partition, registration: Vec[Registration], wanted: ReplicaList
) -> AdminDecision:
    """Start a reassignment, or turn one around: what was added and is not wanted any more is removed.

    The list becomes the wanted replicas followed by the others, ascending. In the code an empty new
    list of adding or removing replicas does not replace the stored one.
    """
    if len(wanted) == 0 or not frozenset(wanted) <= registered(c, registration):
        return AdminDecision(error=AdminError.INVALID_REPLICA_ASSIGNMENT, partition=p)
    current = frozenset(p.replicas)
    adding = frozenset(wanted) - current
    removing = current - frozenset(wanted)
    wish = target(g, p, p.isr, Election.ONLINE, active(c, registration), EMPTY)
    after = change(
        c,
        p,
        replace(
            wish,
            replicas=wanted + tuple(b for b in tuple(c.brokers) if b in removing),
            adding=p.adding if adding == EMPTY and not c.retarget_overwrites else adding,
            removing=p.removing if removing == EMPTY and not c.retarget_overwrites else removing,
        ),
    )
    return AdminDecision(error=AdminError.NONE, partition=after)


@op
def forced_isr(c: Config, p: Partition, kept: RSet) -> RSet:
    """The ISR a cancelled reassignment leaves; in the code an empty one becomes the first replica."""
    first = next((r for r in p.replicas if r not in p.adding), None)
    if kept == EMPTY and first is not None and c.cancel_forces_first_replica:
        return frozenset({first})
    return kept


@op
def cancel_reassignment(
    c: Config, g: Settings, p: Partition, registration: Vec[Registration]
) -> AdminDecision:
    """Back to the replicas before: the added ones leave, the removed ones stay.

    Nobody in the ISR would remain: refused, unless the topic allows unclean elections. KIP-966 asks
    for min ISR members as well; no release checks that (C-22).
    """
    if not is_reassigning(p):
        return AdminDecision(error=AdminError.NO_REASSIGNMENT_IN_PROGRESS, partition=p)
    kept = p.isr - p.adding
    replicas = tuple(r for r in p.replicas if r not in p.adding)
    isr = forced_isr(c, p, kept)
    allowed = c.unclean_leader_election_enable and isr != EMPTY
    below = c.cancel_gate and len(kept) < min(configured_min_isr(g), len(replicas))
    if (kept == EMPTY or below) and not allowed:
        return AdminDecision(error=AdminError.INVALID_REPLICA_ASSIGNMENT, partition=p)
    wish = target(g, p, isr, election_type(c), active(c, registration), EMPTY)
    after = change(c, p, replace(wish, replicas=replicas, adding=EMPTY, removing=EMPTY))
    return AdminDecision(error=AdminError.NONE, partition=after)


# ---------------------------------------------------------------------------- actions


@action(fairness=Unfair("a request of an operator"), event="REASSIGN", what_if="reassign")
def Reassign(c: Config, s: State, wanted: RSet) -> State:
    """An operator moves the partition; the search lists the wanted replicas in ascending order.

    A wanted set equal to the one in progress is no new request.
    """
    require(c.reassignments > 0, "the scope has reassignments")
    require(wanted != EMPTY, "somebody is wanted")
    require(wanted != frozenset(s.partition.replicas) - s.partition.removing, "the wish is a new one")
    ordered = tuple(b for b in tuple(c.brokers) if b in wanted)
    decision = reassign(c, s.settings, s.partition, s.registration, ordered)
    require(decision.error == AdminError.NONE, "the request is granted")
    return replace(
        s,
        partition=decision.partition,
        metadata=logged(c, s, decision.partition),
        broker=kept_up(c, s, decision.partition),
        recovery=recovery_after(c, s, decision.partition),
        spent=replace(s.spent, reassignments=s.spent.reassignments + 1),
    )


@action(
    fairness=Unfair("a request of an operator"),
    event="CANCEL_REASSIGNMENT",
    what_if="cancel_reassignment",
)
def CancelReassignment(c: Config, s: State) -> State:
    """An operator cancels the reassignment in progress; it costs nothing, starting one does."""
    require(c.reassignments > 0, "the scope has reassignments")
    decision = cancel_reassignment(c, s.settings, s.partition, s.registration)
    require(decision.error == AdminError.NONE, "the request is granted")
    return replace(
        s,
        partition=decision.partition,
        metadata=logged(c, s, decision.partition),
        broker=kept_up(c, s, decision.partition),
        recovery=recovery_after(c, s, decision.partition),
    )
