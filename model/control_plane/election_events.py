"""Elections that an operator or a timer asks for, as actions; the rules are in `elections.py`."""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.marks import Fair, Unfair
from elrcheck.lang.runtime import action, require
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
    fairness=Unfair("a request of an operator, or balancing, which only moves a leader"),
    event=("ELECT_PREFERRED", "BALANCE_PREFERRED"),
    what_if=("elect_leaders", "balance_preferred"),
)
def ElectPreferred(c: Config, s: State) -> State:
    """An operator, or the periodic balancing, asks for the preferred leader (KIP-460)."""
    require(c.elections > 0, "the scope has elections")
    request = ElectLeadersEvent(election=ElectionType.PREFERRED, desired=None)
    decided = decide(c, controller_of(s), request)
    require(decided.error == Error.NONE, "the election changes something")
    return replace(
        partition_changed(c, s, decided.controller.partition), spent=replace(s.spent, elections=s.spent.elections + 1)
    )


@action(fairness=Unfair("a request of an operator"), event="ELECT_UNCLEAN", what_if="elect_leaders")
def ElectUnclean(c: Config, s: State) -> State:
    """An operator asks for one unclean election; the topic's setting stays as it is (KIP-460)."""
    require(c.unclean_elections > 0, "the scope has unclean elections")
    request = ElectLeadersEvent(election=ElectionType.UNCLEAN, desired=None)
    decided = decide(c, controller_of(s), request)
    require(decided.error == Error.NONE, "the election changes something")
    return replace(
        partition_changed(c, s, decided.controller.partition),
        spent=replace(s.spent, unclean_elections=s.spent.unclean_elections + 1),
    )


@action(fairness=Unfair("a request of an operator"), event="DESIGNATE", what_if="elect_leaders")
def DesignateLeader(c: Config, s: State, b: Replica) -> State:
    """An operator makes b the leader of a partition without one (KIP-966, ElectLeaders v3)."""
    require(c.unclean_elections > 0, "the scope has unclean elections")
    request = ElectLeadersEvent(election=ElectionType.DESIGNATION, desired=b)
    decided = decide(c, controller_of(s), request)
    require(decided.error == Error.NONE, "b may be designated")
    return replace(
        partition_changed(c, s, decided.controller.partition),
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
    fairness=Fair("a timer of the controller; added"), event="ELECT_UNCLEAN_PERIODIC", what_if="maybe_elect_unclean"
)
def ElectUncleanPeriodically(c: Config, s: State) -> State:
    """The controller's timer elects if unclean.leader.election.enable is set (maybeElectUncleanLeaders)."""
    require(c.unclean_leader_election_enable, "the topic allows unclean elections")
    decided = decide(c, controller_of(s), PeriodicElectionEvent())
    require(decided.controller.partition != s.partition, "a leader can be elected")
    return partition_changed(c, s, decided.controller.partition)
