"""Elections that an operator or a timer requests, as actions; the rules are in `elections.py`."""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.marks import Fair, Unfair
from elrcheck.lang.runtime import action, require
from elrcheck.model.change_record import unclean_election_allowed
from elrcheck.model.choices import CandidateChoice
from elrcheck.model.config import Config
from elrcheck.model.control_plane.commit import partition_changed
from elrcheck.model.control_plane.controller_event import ElectionType, ElectLeadersEvent, PeriodicElectionEvent
from elrcheck.model.control_plane.decide import decide
from elrcheck.model.kafka_error import Error
from elrcheck.model.replicas import Replica
from elrcheck.model.replication_control import controller_of
from elrcheck.model.state import State


@action(
    fairness=Unfair("a request of an operator, or of the leader balancer, which only moves the leader"),
    event=("ELECT_PREFERRED", "BALANCE_PREFERRED"),
    what_if=("elect_leaders", "balance_preferred"),
)
def ElectPreferred(c: Config, s: State) -> State:
    """An operator, or the leader balancer, requests a preferred leader election (KIP-460)."""
    require(c.elections > 0, "the scope has elections")
    request = ElectLeadersEvent(election=ElectionType.PREFERRED, desired=None)
    decided = decide(c, controller_of(s), request)
    require(decided.error == Error.NONE, "the election changes the partition")
    return replace(
        partition_changed(c, s, decided.controller.partition), spent=replace(s.spent, elections=s.spent.elections + 1)
    )


@action(fairness=Unfair("a request of an operator"), event="ELECT_UNCLEAN", what_if="elect_leaders")
def ElectUnclean(c: Config, s: State) -> State:
    """An operator requests one unclean election, which does not change the topic's setting (KIP-460)."""
    require(c.unclean_elections > 0, "the scope has unclean elections")
    request = ElectLeadersEvent(election=ElectionType.UNCLEAN, desired=None)
    decided = decide(c, controller_of(s), request)
    require(decided.error == Error.NONE, "the election changes the partition")
    return replace(
        partition_changed(c, s, decided.controller.partition),
        spent=replace(s.spent, unclean_elections=s.spent.unclean_elections + 1),
    )


@action(fairness=Unfair("a request of an operator"), event="DESIGNATE", what_if="elect_leaders")
def DesignateLeader(c: Config, s: State, b: Replica) -> State:
    """An operator designates b as leader of a partition without one (KIP-966, ElectLeaders v3)."""
    require(c.unclean_elections > 0, "the scope has unclean elections")
    request = ElectLeadersEvent(election=ElectionType.DESIGNATION, desired=b)
    decided = decide(c, controller_of(s), request)
    require(decided.error == Error.NONE, "the controller accepts b")
    return replace(
        partition_changed(c, s, decided.controller.partition),
        spent=replace(s.spent, unclean_elections=s.spent.unclean_elections + 1),
    )


@action(fairness=Unfair("the specification leaves the choice open"))
def FavourReplica(c: Config, s: State, b: Replica) -> State:
    """With `choice` ANY, b wins the next election in which it is a candidate.

    Any event may hold an election. Choosing the winner beforehand does not touch their rules, and reaches every
    partition that they would reach if each of them had the choice.
    """
    require(c.choice == CandidateChoice.ANY, "any candidate may win")
    require(s.favoured is None, "no replica is favoured yet")
    require(b in frozenset(s.partition.replicas) and b != s.partition.leader, "b is a replica and does not lead")
    return replace(s, favoured=b)


@action(
    fairness=Fair("a timer of the controller; added"), event="ELECT_UNCLEAN_PERIODIC", what_if="maybe_elect_unclean"
)
def ElectUncleanPeriodically(c: Config, s: State) -> State:
    """The controller's timer elects if unclean.leader.election.enable is set (maybeElectUncleanLeaders)."""
    require(unclean_election_allowed(c, s.settings), "the topic allows unclean elections")
    decided = decide(c, controller_of(s), PeriodicElectionEvent())
    require(decided.controller.partition != s.partition, "a replica can be elected")
    return partition_changed(c, s, decided.controller.partition)
