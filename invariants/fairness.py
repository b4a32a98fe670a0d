"""Which steps finally happen: the assumption under which the liveness properties are meant to hold.

Weak fairness of a step: it is not possible for ever without being taken. Strong fairness: it is not
possible again and again without being taken. Either is assumed for every choice of parameters apart,
so that one broker's fetches do not stand in for another's. A step that changes nothing is no step.

Everything else may never happen: crashes, fencings of live brokers, orderly stops, lost answers, ISR
shrinks, what producers write and what operators ask for. A test compares both tables with the actions.

Source: the list in the semantics notes, docs/semantics.md, from Vanlightly's KIP-966 specification;
what is added to it says so.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from elrcheck.lang.runtime import op
from elrcheck.lang.types import Replica
from elrcheck.model.state import State, Status


class Fairness(enum.Enum):
    """How often a step must be possible before it has to be taken."""

    WEAK = "for ever"
    STRONG = "again and again"


@dataclass(frozen=True)
class Fair:
    """One fair action. why: who makes it happen, and the source.

    only: parameter -> value; other choices of it are not fair. when: an operator `(c, s, ..) -> bool`
    with the action's parameters; where it is false the step is not fair.
    """

    action: str
    why: str
    strength: Fairness = Fairness.WEAK
    only: Mapping[str, Any] = field(default_factory=dict)
    when: Callable[..., bool] | None = None


@op
def session_is_over(s: State, b: Replica) -> bool:
    """b is down, so that its heartbeats have stopped for good."""
    return s.broker[b].status != Status.RUNNING


@op
def answer_cannot_come(s: State) -> bool:
    """The process that should answer the late fetch is gone, so the follower's request times out."""
    return any(
        not x.answered
        and (s.broker[x.leader].status != Status.RUNNING or s.broker[x.leader].epoch != x.leader_broker_epoch)
        for x in s.fetching
    )


FAIR: tuple[Fair, ...] = (
    Fair("Start", "a dead process is started again: start"),
    Fair("Register", "BrokerLifecycleManager retries until it is answered: registration, reply"),
    Fair("Unfence", "heartbeats of a live broker arrive: unfence"),
    Fair(
        "Fence",
        "the session of a dead broker expires (BrokerHeartbeatManager); added, older versions register"
        " only after it",
        when=session_is_over,
    ),
    Fair("GrantShutdown", "heartbeats are answered; added"),
    Fair("ApplyMetadata", "the broker reads the metadata log: metadata application"),
    Fair("ApplyMinIsr", "the same for configuration records: metadata application"),
    Fair("ExpandIsr", "the leader asks for a follower that caught up: AlterPartition send"),
    Fair("ControllerAlters", "the controller handles a request: AlterPartition receive"),
    Fair(
        "LeaderLearns",
        "an answer sent again and again arrives once: AlterPartition reply; strong because answers may"
        " be lost for free",
        strength=Fairness.STRONG,
    ),
    Fair("Fetch", "a follower fetches: fetch send, receive and reply", only={"lost": False}),
    Fair("ReadForLateFetch", "the same for a fetch in steps: fetch receive"),
    Fair("LateFetchReturns", "the same: fetch reply"),
    Fair("LoseLateFetch", "a request without an answer times out; added", when=answer_cannot_come),
    Fair("ElectUncleanPeriodically", "a timer of the controller; added"),
    Fair("StartRecovery", "the recovery manager looks at every partition without a leader (KIP-966); added"),
    Fair("SendLogInfo", "GetReplicaLogInfo is retried until it is answered (KIP-966); added"),
    Fair("AcceptLogInfo", "the answer arrives (KIP-966); added"),
    Fair("RecoveryTimeout", "a timer of the recovery manager (KIP-966); added"),
    Fair("FinishRecovery", "the recovery manager elects (KIP-966); added"),
    Fair("CopyFromShadow", "the leader synchronises (KIP-966, rejected shadow ISR); added"),
    Fair("EndSynchronisation", "the same; added"),
)

UNFAIR: Mapping[str, str] = {
    "Produce": "producers need not write",
    "ShrinkIsr": "a disturbance: a follower stays behind for too long",
    "LoseResponse": "a disturbance of the network",
    "ApplyOlderRecord": "stopping on the way is possible, not necessary",
    "CleanStop": "a disturbance",
    "Crash": "a disturbance",
    "Kill": "a disturbance",
    "SendLateFetch": "a disturbance: other events come between request and answer",
    "StartControlledShutdown": "a request of the broker",
    "Unregister": "a request of an operator",
    "Reassign": "a request of an operator",
    "CancelReassignment": "a request of an operator",
    "ElectPreferred": "a request of an operator, or balancing, which only moves a leader",
    "ElectUnclean": "a request of an operator",
    "DesignateLeader": "a request of an operator",
    "AskForLongestLog": "a request of an operator",
    "ChangeMinIsr": "a request of an operator",
    "ChangeBrokerMinIsr": "a request of an operator",
    "ChangeFeature": "a request of an operator",
    "AssignDirectories": "a report of a broker, once",
    "ControllerFailover": "a disturbance",
}
"""Every other action, and why nobody has to take it."""


def fairness_of(action: str) -> str:
    """The fairness of an action in words, for people."""
    for entry in FAIR:
        if entry.action == action:
            only = "".join(f", {name}={str(value).lower()} only" for name, value in entry.only.items())
            when = f", while {entry.when.__name__}" if entry.when is not None else ""
            return f"{entry.strength.name.lower()}{only}{when}: {entry.why}"
    return f"none: {UNFAIR[action]}" if action in UNFAIR else "none"
