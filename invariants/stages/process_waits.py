"""Stages of the waits for a process (V-1, V-2) and for the response to a request (V-3).

A wait moves from a stage to an earlier one in its list, by the fair step named there, and never back, except by a
disturbance. Brokers apply the newest metadata (LATEST).
"""

from __future__ import annotations

from elrcheck.invariants.liveness import ProposalIsResolved, RestartEnds, ViewCatchesUp
from elrcheck.lang.induction import Operator, WaitStage
from elrcheck.lang.runtime import implies, op
from elrcheck.model.broker.isr_proposals import LeaderLearns
from elrcheck.model.broker.lifecycle import Start
from elrcheck.model.broker.metadata import ApplyMetadata, ApplyMinIsr
from elrcheck.model.config import Config
from elrcheck.model.control_plane.broker_events import ControllerAlters, Fence, Register, Unfence
from elrcheck.model.kafka_error import Error
from elrcheck.model.replicas import Replica
from elrcheck.model.state import Stage, State, Status

# ---------------------------------------------------------------------------- a process


@op
def has_view(s: State, b: Replica) -> bool:
    """b runs and has applied metadata."""
    return s.broker[b].status == Status.RUNNING and s.broker[b].view.partition_epoch > 0


@op
def may_apply(s: State, b: Replica) -> bool:
    """b runs, and has applied every value of min.insync.replicas that it has read."""
    return s.broker[b].status == Status.RUNNING and s.broker[b].due_min_isr == 0


@op
def owes_min_isr(s: State, b: Replica) -> bool:
    """b runs, and has yet to apply a min.insync.replicas that it has read."""
    return s.broker[b].status == Status.RUNNING and s.broker[b].due_min_isr > 0


@op
def may_register(s: State, b: Replica) -> bool:
    """b starts, and the session of its last incarnation is over."""
    return s.broker[b].status == Status.STARTING and s.registration[b].fenced


@op
def starts_in_session(s: State, b: Replica) -> bool:
    """b starts, and the controller has not fenced its last incarnation yet."""
    return s.broker[b].status == Status.STARTING and not s.registration[b].fenced


@op
def is_down(s: State, b: Replica) -> bool:
    """b is down, and its process is expected back."""
    return s.broker[b].status == Status.OFFLINE and s.registration[b].registered


REGISTRATION = (WaitStage(may_register, Register), WaitStage(starts_in_session, Fence), WaitStage(is_down, Start))

# ---------------------------------------------------------------------------- a request


@op
def is_in_flight(s: State, b: Replica) -> bool:
    """The AlterPartition of b, or the response to it, is in flight."""
    return s.broker[b].alter.stage == Stage.SENT or s.broker[b].alter.stage == Stage.ANSWERED


@op
def is_sent(s: State, b: Replica) -> bool:
    return s.broker[b].alter.stage == Stage.SENT


@op
def waits_for_metadata(s: State, b: Replica) -> bool:
    """A response has proved nothing, so the proposal of b waits for newer metadata."""
    return s.broker[b].alter.stage == Stage.WAITING and may_apply(s, b)


@op
def waits_for_min_isr(s: State, b: Replica) -> bool:
    return s.broker[b].alter.stage == Stage.WAITING and owes_min_isr(s, b)


@op
def answer_reaches_sender(c: Config, s: State) -> bool:
    """A response, or a proposal that waits for metadata, belongs to the process that runs, which sent its own epoch."""
    return all(
        implies(
            s.broker[b].alter.stage == Stage.ANSWERED or s.broker[b].alter.stage == Stage.WAITING,
            s.broker[b].status == Status.RUNNING,
        )
        and implies(
            is_sent(s, b) and s.broker[b].status == Status.RUNNING,
            s.broker[b].alter.member_epochs[b] == s.broker[b].epoch,
        )
        and implies(
            s.broker[b].alter.stage == Stage.ANSWERED,
            s.broker[b].alter.error != Error.STALE_BROKER_EPOCH and s.broker[b].alter.error != Error.NOT_CONTROLLER,
        )
        for b in c.brokers
    )


LEMMAS: tuple[Operator, ...] = (answer_reaches_sender,)
OF_LEADER = {"leader": "b"}
WAITS = {
    RestartEnds: (WaitStage(has_view, Unfence), WaitStage(may_apply, ApplyMetadata), *REGISTRATION),
    ViewCatchesUp: (WaitStage(may_apply, ApplyMetadata), WaitStage(owes_min_isr, ApplyMinIsr), *REGISTRATION),
    ProposalIsResolved: (
        WaitStage(waits_for_metadata, ApplyMetadata),
        WaitStage(waits_for_min_isr, ApplyMinIsr),
        WaitStage(is_in_flight, LeaderLearns, OF_LEADER, enables=(WaitStage(is_sent, ControllerAlters, OF_LEADER),)),
    ),
}
