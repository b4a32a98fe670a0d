"""Elections without a broker event: ElectLeaders, the leader balancer, the periodic unclean election.

Sources: ReplicationControlManager (electLeader, maybeBalancePartitionLeaders,
maybeElectUncleanLeaders); KIP-460 for the types PREFERRED and UNCLEAN, KIP-966 "ElectLeaders" for
DESIGNATION. The longest-log types start the recovery manager, `elrcheck.model.control_plane.recovery`.
"""

from __future__ import annotations

from elrcheck.lang.runtime import EMPTY, op
from elrcheck.model.change_record import Election, Target, target, unclean_election_allowed
from elrcheck.model.config import Config
from elrcheck.model.control_plane.controller_event import Decision
from elrcheck.model.control_plane.partition import attempted_change, change, election_fails
from elrcheck.model.kafka_error import Error
from elrcheck.model.replicas import Replica
from elrcheck.model.replication_control import Controller, active
from elrcheck.model.state import Partition


@op
def elected(c: Config, controller: Controller, election: Election) -> Partition:
    """The change builder with an election only: the target ISR is the current one."""
    return attempted_change(c, controller.partition, election_target(c, controller, election))


@op
def election_target(c: Config, controller: Controller, election: Election) -> Target:
    isr = controller.partition.isr
    return target(controller, isr, election, active(c, controller.registration), EMPTY)


@op
def elect_preferred(c: Config, controller: Controller) -> Decision:
    """ElectLeaders, type PREFERRED (electLeader). Any change is a success, even if another replica leads then."""
    p = controller.partition
    if p.leader == p.replicas[0]:
        return Decision(error=Error.ELECTION_NOT_NEEDED, partition=p)
    if election_fails(c, p, election_target(c, controller, Election.PREFERRED)):
        return Decision(error=Error.UNKNOWN_SERVER_ERROR, partition=p)
    after = elected(c, controller, Election.PREFERRED)
    return Decision(error=Error.PREFERRED_LEADER_NOT_AVAILABLE if after == p else Error.NONE, partition=after)


@op
def elect_unclean(c: Config, controller: Controller) -> Decision:
    """ElectLeaders, type UNCLEAN: only without a leader, and regardless of the topic's setting (KIP-460)."""
    p = controller.partition
    if p.leader is not None:
        return Decision(error=Error.ELECTION_NOT_NEEDED, partition=p)
    if election_fails(c, p, election_target(c, controller, Election.UNCLEAN)):
        return Decision(error=Error.UNKNOWN_SERVER_ERROR, partition=p)
    after = elected(c, controller, Election.UNCLEAN)
    return Decision(error=Error.ELIGIBLE_LEADERS_NOT_AVAILABLE if after == p else Error.NONE, partition=after)


@op
def designate(c: Config, controller: Controller, desired: Replica | None) -> Decision:
    """ElectLeaders, type DESIGNATION (KIP-966): without a leader, elect the desired replica if it is active.

    The election is clean if the desired replica is in the ISR or the ELR. The KIP specifies no errors; these are
    those of ElectLeaders in the same situations.
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
    return Decision(error=Error.NONE, partition=change(c, p, target(controller, p.isr, Election.UNCLEAN, only, EMPTY)))


@op
def balance_preferred(c: Config, controller: Controller) -> Partition:
    """maybeBalancePartitionLeaders: a preferred election if the first replica does not lead.

    No release checks first that this replica is active and in the ISR; the builder does.
    """
    p = controller.partition
    return p if p.leader == p.replicas[0] else elected(c, controller, Election.PREFERRED)


@op
def balance_fails(c: Config, controller: Controller) -> bool:
    p = controller.partition
    preferred = election_target(c, controller, Election.PREFERRED)
    return p.leader != p.replicas[0] and election_fails(c, p, preferred)


@op
def periodic_election_fails(c: Config, controller: Controller) -> bool:
    p = controller.partition
    unclean = election_target(c, controller, Election.UNCLEAN)
    return p.leader is None and unclean_election_allowed(c, controller.settings) and election_fails(c, p, unclean)


@op
def maybe_elect_unclean(c: Config, controller: Controller) -> Partition:
    """maybeElectUncleanLeaders: only without a leader, and only if the topic allows it."""
    p = controller.partition
    if p.leader is not None or not unclean_election_allowed(c, controller.settings):
        return p
    return elected(c, controller, Election.UNCLEAN)
