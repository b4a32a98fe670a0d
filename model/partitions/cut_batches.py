"""Events with only the first batch of records committed, because the controller fails after it.

The controller may append the records of a broker event in several batches (ControllerResult.of,
QuorumController.appendRecords). The next controller has the committed records, and handles the event again only if
another request or timer triggers it.
"""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.runtime import EMPTY, action, op, require
from elrcheck.model.partitions.broker_batches import (
    after_fencing,
    after_restart,
    after_shutdown,
    fence_batch,
    has_leaderships,
    may_restart,
    may_unfence,
    registration_batch,
    shutdown_batch,
    unfence_batch,
    unregistration_batch,
)
from elrcheck.model.partitions.controller_config import ControllerConfig
from elrcheck.model.partitions.controller_state import ControllerState, EventRecords, Fault, Place
from elrcheck.model.partitions.images import committed, cut_off, fails, runs
from elrcheck.model.replicas import Replica
from elrcheck.model.replication_control import is_active


@op
def may_be_cut(c: ControllerConfig, s: ControllerState, batch: EventRecords, first: frozenset[Place]) -> bool:
    return c.cuts > 0 and runs(s) and not fails(batch) and first <= batch.places


@action
def CutFence(c: ControllerConfig, s: ControllerState, b: Replica, first: frozenset[Place]) -> ControllerState:
    """The session of b expires, and the controller commits the records of some partitions; that of b comes last."""
    require(s.registration[b].registered and not s.registration[b].fenced, "b is unfenced")
    require(may_be_cut(c, s, fence_batch(c, s, b), first) and first != EMPTY, "first are some of its records")
    return cut_off(c, s, fence_batch(c, s, b), first, False, after_fencing(s))


@action
def CutUnfence(c: ControllerConfig, s: ControllerState, b: Replica, first: frozenset[Place]) -> ControllerState:
    """The controller commits the record that unfences b, which comes first, and those of some leaderless partitions."""
    require(may_unfence(s, b), "b is fenced and not shutting down")
    require(may_be_cut(c, s, unfence_batch(c, s, b), first), "first are some of its records")
    require(first != s.indexes.leaderless, "a record is lost")
    return cut_off(c, s, unfence_batch(c, s, b), first, True, s.spent)


@action
def CutRegister(
    c: ControllerConfig, s: ControllerState, b: Replica, clean: bool, first: frozenset[Place]
) -> ControllerState:
    """A new incarnation of b registers, and the controller commits records of some partitions; that of b comes last.

    b retries, with the same proof of a clean shutdown.
    """
    require(may_restart(c, s, b), "the controller has fenced b")
    require(
        may_be_cut(c, s, registration_batch(c, s, b, clean), first) and first != EMPTY, "first are some of its records"
    )
    return cut_off(c, s, registration_batch(c, s, b, clean), first, False, after_restart(s, clean))


@action
def CutShutdown(c: ControllerConfig, s: ControllerState, b: Replica, first: frozenset[Place]) -> ControllerState:
    """b requests a controlled shutdown; the controller commits its record, then those of some partitions."""
    require(c.shutdowns > 0, "the scope has controlled shutdowns")
    require(is_active(s.registration[b]), "b is active")
    require(has_leaderships(s, b), "b leads a partition")
    batch = shutdown_batch(c, s, b)
    require(may_be_cut(c, s, batch, first) and first != batch.places, "first are some of its records, and one is lost")
    return cut_off(c, s, batch, first, True, after_shutdown(s))


@action
def ResumeShutdown(c: ControllerConfig, s: ControllerState, b: Replica) -> ControllerState:
    """The next heartbeat of b, which still requests a shutdown and leads a partition, begins the shutdown again.

    The next controller does not know that it began (BrokerHeartbeatManager, ClusterControlManager.activate).
    """
    require(c.cuts > 0 and c.shutdowns > 0, "the scope has controlled shutdowns that are cut off")
    require(runs(s), "the controller has not resigned")
    r = s.registration[b]
    require(r.in_controlled_shutdown and not r.fenced, "b is shutting down")
    require(has_leaderships(s, b), "b leads a partition")
    return committed(c, s, shutdown_batch(c, s, b), Fault.SHUTDOWN, s.spent)


@action
def CutUnregister(c: ControllerConfig, s: ControllerState, b: Replica, first: frozenset[Place]) -> ControllerState:
    """An operator unregisters b, and the controller commits the records of some partitions; that of b comes last."""
    require(c.unregistrations > 0, "the scope has unregistrations")
    require(s.registration[b].registered, "b is registered")
    require(may_be_cut(c, s, unregistration_batch(c, s, b), first) and first != EMPTY, "first are some of its records")
    spent = replace(s.spent, unregistrations=s.spent.unregistrations + 1)
    return cut_off(c, s, unregistration_batch(c, s, b), first, False, spent)
