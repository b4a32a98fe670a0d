"""Conditions of fairness: when a timeout is certain, and which proposals a leader repeats.

No rule reads them; only liveness loads them (`elrcheck.invariants.modules`).
"""

from __future__ import annotations

from elrcheck.lang.runtime import op
from elrcheck.model.replicas import Replica
from elrcheck.model.replication_control import is_active
from elrcheck.model.state import State, Status, hosts


@op
def session_is_over(s: State, b: Replica) -> bool:
    """b is down and sends no more heartbeats."""
    return s.broker[b].status != Status.RUNNING


@op
def is_expected_back(s: State, b: Replica) -> bool:
    """No operator has unregistered b, so its process will restart."""
    return s.registration[b].registered


@op
def has_registered(s: State, b: Replica) -> bool:
    """b runs, so its requests carry its own broker epoch."""
    return s.broker[b].status == Status.RUNNING


@op
def answer_cannot_come(s: State) -> bool:
    """The process that should respond to the late fetch has ended, so the follower's request times out."""
    return any(
        not x.answered
        and (
            s.broker[x.leader].status != Status.RUNNING
            or s.broker[x.leader].epoch != x.leader_broker_epoch
            or not hosts(s.broker[x.leader])
        )
        for x in s.fetching
    )


@op
def may_be_granted(s: State, leader: Replica, f: Replica) -> bool:
    """f is active, in the incarnation that the leader knows (Partition.isReplicaIsrEligible).

    A leader reads in the metadata who is not, and proposes such a follower only until then; the controller refuses.
    """
    epoch = s.broker[leader].peers[f].broker_epoch
    return is_active(s.registration[f]) and (epoch == 0 or epoch == s.registration[f].epoch)
