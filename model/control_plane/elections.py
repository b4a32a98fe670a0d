"""Elections that no broker event causes: ElectLeaders, preferred balancing, the periodic unclean election.

Sources: ReplicationControlManager (electLeader, maybeBalancePartitionLeaders,
maybeElectUncleanLeaders); KIP-460 for the types PREFERRED and UNCLEAN, KIP-966 "ElectLeaders" for
DESIGNATION. The longest-log types start the recovery manager, `elrcheck.model.control_plane.recovery`.
"""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.marks import Fair, Unfair
from elrcheck.lang.runtime import EMPTY, action, op, require
from elrcheck.lang.types import Replica
from elrcheck.model.change_record import Election, Target, target
from elrcheck.model.choices import CandidateChoice
from elrcheck.model.config import Config
from elrcheck.model.control_plane.commit import partition_changed
from elrcheck.model.control_plane.controller_event import Decision
from elrcheck.model.control_plane.partition import change, decide, election_fails
from elrcheck.model.replication_control import Controller, active, controller_of
from elrcheck.model.state import Error, Partition, State

# ---------------------------------------------------------------------------- rules


@op
def elected(c: Config, controller: Controller, election: Election) -> Partition:
    """The change builder with an election and nothing else: the target ISR is the present one."""
    return decide(c, controller.partition, election_target(c, controller, election))


@op
def election_target(c: Config, controller: Controller, election: Election) -> Target:
    isr = controller.partition.isr
    return target(controller, isr, election, active(c, controller.registration), EMPTY)


@op
def elect_preferred(c: Config, controller: Controller) -> Decision:
    """ElectLeaders, type PREFERRED (electLeader). Any change is a success, whichever replica leads then."""
    p = controller.partition
    if p.leader == p.replicas[0]:
        return Decision(error=Error.ELECTION_NOT_NEEDED, partition=p)
    if election_fails(c, p, election_target(c, controller, Election.PREFERRED)):
        return Decision(error=Error.UNKNOWN_SERVER_ERROR, partition=p)
    after = elected(c, controller, Election.PREFERRED)
    return Decision(
        error=Error.PREFERRED_LEADER_NOT_AVAILABLE if after == p else Error.NONE,
        partition=after,
    )


@op
def elect_unclean(c: Config, controller: Controller) -> Decision:
    """ElectLeaders, type UNCLEAN: only without a leader, but whatever the topic's setting (KIP-460)."""
    p = controller.partition
    if p.leader is not None:
        return Decision(error=Error.ELECTION_NOT_NEEDED, partition=p)
    if election_fails(c, p, election_target(c, controller, Election.UNCLEAN)):
        return Decision(error=Error.UNKNOWN_SERVER_ERROR, partition=p)
    after = elected(c, controller, Election.UNCLEAN)
    return Decision(
        error=Error.ELIGIBLE_LEADERS_NOT_AVAILABLE if after == p else Error.NONE,
        partition=after,
    )


@op
def designate(c: Config, controller: Controller, desired: Replica | None) -> Decision:
    """ElectLeaders, type DESIGNATION (KIP-966): without a leader, the desired replica, if it is active.

    The election is clean if the desired replica is in the ISR or the ELR. The KIP names no errors;
    these are the ones ElectLeaders has for the same situations.
    """
    p = controller.partition
    if not c.elect_leaders_v3:
        return Decision(error=Error.UNSUPPORTED_VERSION, partition=p)
    if desired is None or desired not in frozenset(p.replicas):
        return Decision(error=Error.INVALID_REQUEST, partition=p)
    if p.leader is not None:
        return Decision(error=Error.ELECTION_NOT_NEEDED, partition=p)
    if desired not in active(c, controller.registration):
        return Decision(error=Error.ELIGIBLE_LEADERS_NOT_AVAILABLE, partition=p)
    only = frozenset({desired})
    return Decision(
        error=Error.NONE,
        partition=change(c, p, target(controller, p.isr, Election.UNCLEAN, only, EMPTY)),
    )


@op
def balance_preferred(c: Config, controller: Controller) -> Partition:
    """maybeBalancePartitionLeaders: a preferred election wherever the first replica does not lead.

    No release asks first whether that replica is active and in the ISR; the builder does.
    """
    p = controller.partition
    return p if p.leader == p.replicas[0] else elected(c, controller, Election.PREFERRED)


@op
def balance_fails(c: Config, controller: Controller) -> bool:
    p = controller.partition
    wanted = election_target(c, controller, Election.PREFERRED)
    return p.leader != p.replicas[0] and election_fails(c, p, wanted)


@op
def periodic_election_fails(c: Config, controller: Controller) -> bool:
    p = controller.partition
    wanted = election_target(c, controller, Election.UNCLEAN)
    return p.leader is None and c.unclean_leader_election_enable and election_fails(c, p, wanted)


@op
def maybe_elect_unclean(c: Config, controller: Controller) -> Partition:
    """maybeElectUncleanLeaders: only without a leader, and only if the topic allows it."""
    p = controller.partition
    if p.leader is not None or not c.unclean_leader_election_enable:
        return p
    return elected(c, controller, Election.UNCLEAN)


# ---------------------------------------------------------------------------- actions


@action(
    fairness=Unfair("a request of an operator, or balancing, which only moves a leader"),
    event=("ELECT_PREFERRED", "BALANCE_PREFERRED"),
    what_if=("elect_leaders", "balance_preferred"),
)
def ElectPreferred(c: Config, s: State) -> State:
    """An operator, or the periodic balancing, asks for the preferred leader (KIP-460)."""
    require(c.elections > 0, "the scope has elections")
    decision = elect_preferred(c, controller_of(s))
    require(decision.error == Error.NONE, "the election changes something")
    return replace(
        partition_changed(c, s, decision.partition),
        spent=replace(s.spent, elections=s.spent.elections + 1),
    )


@action(fairness=Unfair("a request of an operator"), event="ELECT_UNCLEAN", what_if="elect_leaders")
def ElectUnclean(c: Config, s: State) -> State:
    """An operator asks for one unclean election; the topic's setting stays as it is (KIP-460)."""
    require(c.unclean_elections > 0, "the scope has unclean elections")
    decision = elect_unclean(c, controller_of(s))
    require(decision.error == Error.NONE, "the election changes something")
    return replace(
        partition_changed(c, s, decision.partition),
        spent=replace(s.spent, unclean_elections=s.spent.unclean_elections + 1),
    )


@action(fairness=Unfair("a request of an operator"), event="DESIGNATE", what_if="elect_leaders")
def DesignateLeader(c: Config, s: State, b: Replica) -> State:
    """An operator makes b the leader of a partition without one (KIP-966, ElectLeaders v3)."""
    require(c.unclean_elections > 0, "the scope has unclean elections")
    decision = designate(c, controller_of(s), b)
    require(decision.error == Error.NONE, "b may be designated")
    return replace(
        partition_changed(c, s, decision.partition),
        spent=replace(s.spent, unclean_elections=s.spent.unclean_elections + 1),
    )


@action(fairness=Unfair("a choice that is left open"))
def FavourReplica(c: Config, s: State, b: Replica) -> State:
    """With `choice` ANY, b wins the next election in which it is a candidate.

    Any event may have an election in it. Naming the winner beforehand leaves their rules alone, and reaches
    every partition that they would reach if each of them had the choice.
    """
    require(c.choice == CandidateChoice.ANY, "any candidate may win")
    require(s.favoured is None, "nobody is favoured yet")
    require(b in frozenset(s.partition.replicas) and b != s.partition.leader, "b is another replica")
    return replace(s, favoured=b)


@action(
    fairness=Fair("a timer of the controller; added"),
    event="ELECT_UNCLEAN_PERIODIC",
    what_if="maybe_elect_unclean",
)
def ElectUncleanPeriodically(c: Config, s: State) -> State:
    """The controller's timer elects if unclean.leader.election.enable is set (maybeElectUncleanLeaders)."""
    require(c.unclean_leader_election_enable, "the topic allows unclean elections")
    after = maybe_elect_unclean(c, controller_of(s))
    require(after != s.partition, "a leader can be elected")
    return partition_changed(c, s, after)
