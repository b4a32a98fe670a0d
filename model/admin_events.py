"""Events that an operator or a timer starts: ElectLeaders, preferred balancing, new partitions.

Rules only, no actions: a search does not take these steps, `elrcheck.model.what_if` answers with
them. Sources: ReplicationControlManager (electLeader, maybeBalancePartitionLeaders,
maybeElectUncleanLeaders, createPartitions), KIP-460.
"""

from __future__ import annotations

import enum

from elrcheck.lang.runtime import EMPTY, op, record
from elrcheck.lang.types import RSet, Vec
from elrcheck.model.config import Config
from elrcheck.model.controller import active
from elrcheck.model.partition import Election, change, target
from elrcheck.model.state import Partition, Recovery, Registration, ReplicaList, Settings


class AdminError(enum.Enum):
    """Kafka's error names, as far as these events answer with them."""

    NONE = 0
    ELECTION_NOT_NEEDED = 1
    PREFERRED_LEADER_NOT_AVAILABLE = 2
    ELIGIBLE_LEADERS_NOT_AVAILABLE = 3
    INVALID_REPLICA_ASSIGNMENT = 4


@record
class AdminDecision:
    """The controller's answer and the partition after it."""

    error: AdminError
    partition: Partition


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


@op
def initial_isr(c: Config, registration: Vec[Registration], replicas: ReplicaList) -> RSet:
    """The replicas of a new partition that may be in its ISR; none of them: the request is refused."""
    return active(c, registration) & frozenset(replicas)


@op
def created_partition(c: Config, registration: Vec[Registration], replicas: ReplicaList) -> Partition:
    """A new partition: its active replicas in sync, no ELR even below min ISR, epochs 0."""
    isr = initial_isr(c, registration, replicas)
    return Partition(
        replicas=replicas,
        adding=EMPTY,
        removing=EMPTY,
        isr=isr,
        elr=EMPTY,
        last_known_elr=EMPTY,
        last_known_leader=None,
        leader=next((r for r in replicas if r in isr), None),
        leader_epoch=0,
        partition_epoch=0,
        recovery=Recovery.RECOVERED,
    )
