"""Elections that no broker event causes: ElectLeaders, preferred balancing, the periodic unclean one.

Sources: ReplicationControlManager (electLeader, maybeBalancePartitionLeaders,
maybeElectUncleanLeaders); KIP-460 for the types PREFERRED and UNCLEAN, KIP-966 "ElectLeaders" for
DESIGNATION. The longest-log types start the recovery manager, `elrcheck.model.control_plane.recovery`.
"""

from __future__ import annotations

import enum
from dataclasses import replace

from elrcheck.lang.marks import Fair, Unfair
from elrcheck.lang.runtime import EMPTY, action, op, record, require
from elrcheck.lang.types import Replica, Vec
from elrcheck.model.absent import recovery_after
from elrcheck.model.alternatives.reductions import kept_up
from elrcheck.model.config import Config
from elrcheck.model.control_plane.controller import active
from elrcheck.model.control_plane.partition import Election, change, target
from elrcheck.model.state import Partition, Registration, Settings, State, logged


class AdminError(enum.Enum):
    """Kafka's error names, as far as operators are answered with them."""

    NONE = 0
    ELECTION_NOT_NEEDED = 1
    PREFERRED_LEADER_NOT_AVAILABLE = 2
    ELIGIBLE_LEADERS_NOT_AVAILABLE = 3
    INVALID_REPLICA_ASSIGNMENT = 4
    NO_REASSIGNMENT_IN_PROGRESS = 5
    INVALID_REQUEST = 6
    INVALID_CONFIG = 7
    UNSUPPORTED_VERSION = 8


@record
class AdminDecision:
    """The controller's answer and the partition after it."""

    error: AdminError
    partition: Partition


# ---------------------------------------------------------------------------- rules


@op
def elected(
    c: Config, g: Settings, p: Partition, registration: Vec[Registration], election: Election
) -> Partition:
    """An election that no broker event caused: the ISR is asked to stay as it is."""
    return change(c, p, target(g, p, p.isr, election, active(c, registration), EMPTY))


@op
def elect_preferred(c: Config, g: Settings, p: Partition, registration: Vec[Registration]) -> AdminDecision:
    """ElectLeaders, type PREFERRED. Any change counts as success, whoever leads then."""
    if p.leader == p.replicas[0]:
        return AdminDecision(error=AdminError.ELECTION_NOT_NEEDED, partition=p)
    after = elected(c, g, p, registration, Election.PREFERRED)
    return AdminDecision(
        error=AdminError.PREFERRED_LEADER_NOT_AVAILABLE if after == p else AdminError.NONE,
        partition=after,
    )


@op
def elect_unclean(c: Config, g: Settings, p: Partition, registration: Vec[Registration]) -> AdminDecision:
    """ElectLeaders, type UNCLEAN: only without a leader, and whatever the topic allows (KIP-460)."""
    if p.leader is not None:
        return AdminDecision(error=AdminError.ELECTION_NOT_NEEDED, partition=p)
    after = elected(c, g, p, registration, Election.UNCLEAN)
    return AdminDecision(
        error=AdminError.ELIGIBLE_LEADERS_NOT_AVAILABLE if after == p else AdminError.NONE,
        partition=after,
    )


@op
def designate(
    c: Config, g: Settings, p: Partition, registration: Vec[Registration], desired: Replica | None
) -> AdminDecision:
    """ElectLeaders, type DESIGNATION: without a leader, exactly the desired replica, if it is active.

    The election is clean if the desired replica is in the ISR or the ELR. The KIP names no errors;
    these are the ones ElectLeaders has for the same situations.
    """
    if not c.elect_leaders_v3:
        return AdminDecision(error=AdminError.UNSUPPORTED_VERSION, partition=p)
    if desired is None or desired not in frozenset(p.replicas):
        return AdminDecision(error=AdminError.INVALID_REQUEST, partition=p)
    if p.leader is not None:
        return AdminDecision(error=AdminError.ELECTION_NOT_NEEDED, partition=p)
    if desired not in active(c, registration):
        return AdminDecision(error=AdminError.ELIGIBLE_LEADERS_NOT_AVAILABLE, partition=p)
    only = frozenset({desired})
    return AdminDecision(
        error=AdminError.NONE,
        partition=change(c, p, target(g, p, p.isr, Election.UNCLEAN, only, EMPTY)),
    )


@op
def balance_preferred(c: Config, g: Settings, p: Partition, registration: Vec[Registration]) -> Partition:
    """The periodic balancing: the preferred replica takes over if it is active and in the ISR."""
    preferred = p.replicas[0]
    if p.leader == preferred or preferred not in p.isr & active(c, registration):
        return p
    return elected(c, g, p, registration, Election.PREFERRED)


@op
def maybe_elect_unclean(c: Config, g: Settings, p: Partition, registration: Vec[Registration]) -> Partition:
    """The periodic unclean election: without a leader, and only if the topic allows it."""
    if p.leader is not None or not c.unclean_leader_election_enable:
        return p
    return elected(c, g, p, registration, Election.UNCLEAN)


# ---------------------------------------------------------------------------- actions


@action(
    fairness=Unfair("a request of an operator, or balancing, which only moves a leader"),
    event=("ELECT_PREFERRED", "BALANCE_PREFERRED"),
    what_if=("elect_leaders", "balance_preferred"),
)
def ElectPreferred(c: Config, s: State) -> State:
    """An operator, or the periodic balancing, asks for the preferred leader."""
    require(c.elections > 0, "the scope has elections")
    decision = elect_preferred(c, s.settings, s.partition, s.registration)
    require(decision.error == AdminError.NONE, "the election changes something")
    return replace(
        s,
        partition=decision.partition,
        metadata=logged(c, s, decision.partition),
        broker=kept_up(c, s, decision.partition),
        recovery=recovery_after(c, s, decision.partition),
        spent=replace(s.spent, elections=s.spent.elections + 1),
    )


@action(fairness=Unfair("a request of an operator"), event="ELECT_UNCLEAN", what_if="elect_leaders")
def ElectUnclean(c: Config, s: State) -> State:
    """An operator asks for an unclean election once; the topic's setting stays (KIP-460)."""
    require(c.unclean_elections > 0, "the scope has unclean elections")
    decision = elect_unclean(c, s.settings, s.partition, s.registration)
    require(decision.error == AdminError.NONE, "the election changes something")
    return replace(
        s,
        partition=decision.partition,
        metadata=logged(c, s, decision.partition),
        broker=kept_up(c, s, decision.partition),
        recovery=recovery_after(c, s, decision.partition),
        spent=replace(s.spent, unclean_elections=s.spent.unclean_elections + 1),
    )


@action(fairness=Unfair("a request of an operator"), event="DESIGNATE", what_if="elect_leaders")
def DesignateLeader(c: Config, s: State, b: Replica) -> State:
    """An operator makes b the leader of a partition without one (KIP-966, ElectLeaders v3)."""
    require(c.unclean_elections > 0, "the scope has unclean elections")
    decision = designate(c, s.settings, s.partition, s.registration, b)
    require(decision.error == AdminError.NONE, "b may be designated")
    return replace(
        s,
        partition=decision.partition,
        metadata=logged(c, s, decision.partition),
        broker=kept_up(c, s, decision.partition),
        recovery=recovery_after(c, s, decision.partition),
        spent=replace(s.spent, unclean_elections=s.spent.unclean_elections + 1),
    )


@action(
    fairness=Fair("a timer of the controller; added"),
    event="ELECT_UNCLEAN_PERIODIC",
    what_if="maybe_elect_unclean",
)
def ElectUncleanPeriodically(c: Config, s: State) -> State:
    """The controller's timer elects for topics with unclean.leader.election.enable."""
    require(c.unclean_leader_election_enable, "the topic allows unclean elections")
    after = maybe_elect_unclean(c, s.settings, s.partition, s.registration)
    require(after != s.partition, "somebody can be elected")
    return replace(
        s,
        partition=after,
        metadata=logged(c, s, after),
        broker=kept_up(c, s, after),
        recovery=recovery_after(c, s, after),
    )
