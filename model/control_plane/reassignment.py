"""Reassignment: start, retargeting, cancellation. Completion is step 1 of the change builder.

Sources: ReplicationControlManager (alterPartitionReassignment, changePartitionReassignment,
cancelPartitionReassignment), PartitionReassignmentReplicas, PartitionReassignmentRevert; KIP-966
"Partition reassignment" for the min ISR gates.
"""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.runtime import EMPTY, op
from elrcheck.model.change_record import Election, election_type, target, unclean_election_allowed
from elrcheck.model.config import Config
from elrcheck.model.control_plane.controller_event import Decision
from elrcheck.model.control_plane.partition import change, election_fails
from elrcheck.model.kafka_error import Error
from elrcheck.model.replicas import RSet
from elrcheck.model.replication_control import Controller, active, registered
from elrcheck.model.state import Partition, ReplicaList, configured_min_isr


@op
def is_reassigning(p: Partition) -> bool:
    """PartitionReassignmentReplicas.isReassignmentInProgress."""
    return p.adding != EMPTY or p.removing != EMPTY


@op
def reassign(c: Config, controller: Controller, new_replicas: ReplicaList) -> Decision:
    """changePartitionReassignment: start a reassignment, or retarget the one in progress.

    Adding replicas that the new target omits become removing replicas. The replica list becomes the target followed by
    the removing replicas in ascending order. In Kafka an empty new list of adding or removing replicas does not replace
    the stored one (B.7).

    The election in the same record may choose only from the old replicas; the request fails if a broker that it has
    just added would win.
    """
    p = controller.partition
    if len(new_replicas) == 0 or not frozenset(new_replicas) <= registered(c, controller.registration):
        return Decision(error=Error.INVALID_REPLICA_ASSIGNMENT, partition=p)
    current = frozenset(p.replicas)
    adding = frozenset(new_replicas) - current
    removing = current - frozenset(new_replicas)
    base = target(controller, p.isr, Election.ONLINE, active(c, controller.registration), EMPTY)
    reassigned = replace(
        base,
        replicas=new_replicas + tuple(b for b in tuple(c.brokers) if b in removing),
        adding=p.adding if adding == EMPTY and not c.retarget_overwrites else adding,
        removing=p.removing if removing == EMPTY and not c.retarget_overwrites else removing,
    )
    if election_fails(c, p, reassigned):
        return Decision(error=Error.UNKNOWN_SERVER_ERROR, partition=p)
    return Decision(error=Error.NONE, partition=change(c, p, reassigned))


@op
def forced_isr(c: Config, p: Partition, remaining: RSet) -> RSet:
    """The ISR after a cancellation; Kafka puts the first replica into an empty one (C-50)."""
    first = next((r for r in p.replicas if r not in p.adding), None)
    if remaining == EMPTY and first is not None and c.cancel_forces_first_replica:
        return frozenset({first})
    return remaining


@op
def cancel_reassignment(c: Config, controller: Controller) -> Decision:
    """cancelPartitionReassignment: restore the replicas before the reassignment.

    The controller rejects the request if the ISR would become empty, unless the topic allows unclean elections. KIP-966
    also requires that min ISR members remain, even then; no release checks this (C-22).
    """
    p = controller.partition
    if not is_reassigning(p):
        return Decision(error=Error.NO_REASSIGNMENT_IN_PROGRESS, partition=p)
    remaining = p.isr - p.adding
    replicas = tuple(r for r in p.replicas if r not in p.adding)
    isr = forced_isr(c, p, remaining)
    allowed = unclean_election_allowed(c, controller.settings) and isr != EMPTY
    below = c.cancel_gate and len(remaining) < min(configured_min_isr(controller.settings), len(replicas))
    if below or (remaining == EMPTY and not allowed):
        return Decision(error=Error.INVALID_REPLICA_ASSIGNMENT, partition=p)
    base = target(controller, isr, election_type(c, controller.settings), active(c, controller.registration), EMPTY)
    restored = replace(base, replicas=replicas, adding=EMPTY, removing=EMPTY)
    if election_fails(c, p, restored):
        return Decision(error=Error.UNKNOWN_SERVER_ERROR, partition=p)
    return Decision(error=Error.NONE, partition=change(c, p, restored))
