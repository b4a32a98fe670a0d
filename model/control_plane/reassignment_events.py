"""Reassignment requests of an operator; the rules are in `reassignment.py`."""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.marks import Unfair
from elrcheck.lang.runtime import EMPTY, action, require
from elrcheck.model.config import Config
from elrcheck.model.control_plane.commit import partition_changed
from elrcheck.model.control_plane.controller_event import CancelReassignmentEvent, ReassignEvent
from elrcheck.model.control_plane.decide import decide
from elrcheck.model.kafka_error import Error
from elrcheck.model.replicas import RSet
from elrcheck.model.replication_control import controller_of
from elrcheck.model.state import State


@action(fairness=Unfair("a request of an operator"), event="REASSIGN", what_if="reassign")
def Reassign(c: Config, s: State, wanted: RSet) -> State:
    """An operator moves the partition (AlterPartitionReassignments).

    The search lists the target replicas in ascending order. The current assignment is no target.
    """
    require(c.reassignments > 0, "the scope has reassignments")
    require(wanted != EMPTY, "the target is not empty")
    require(wanted != frozenset(s.partition.replicas) - s.partition.removing, "the target is new")
    ordered = tuple(b for b in tuple(c.brokers) if b in wanted)
    decided = decide(c, controller_of(s), ReassignEvent(replicas=ordered))
    require(decided.error == Error.NONE, "the request is granted")
    return replace(
        partition_changed(c, s, decided.controller.partition),
        spent=replace(s.spent, reassignments=s.spent.reassignments + 1),
    )


@action(fairness=Unfair("a request of an operator"), event="CANCEL_REASSIGNMENT", what_if="cancel_reassignment")
def CancelReassignment(c: Config, s: State) -> State:
    """An operator cancels the reassignment (AlterPartitionReassignments). Only starting one has a budget."""
    require(c.reassignments > 0, "the scope has reassignments")
    decided = decide(c, controller_of(s), CancelReassignmentEvent())
    require(decided.error == Error.NONE, "the request is granted")
    return partition_changed(c, s, decided.controller.partition)
