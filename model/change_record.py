"""The input of the change builder, and the change record that it builds.

Source: PartitionChangeBuilder, whose setters are the fields of `Target`, and PartitionChangeRecord.
"""

from __future__ import annotations

import enum

from elrcheck.lang.runtime import op, record
from elrcheck.model.config import Config
from elrcheck.model.replicas import Replica, RSet
from elrcheck.model.replication_control import Controller, has_online_directory
from elrcheck.model.state import MinIsr, Recovery, ReplicaList, Settings, configured_min_isr


class Election(enum.Enum):
    """PartitionChangeBuilder.Election."""

    PREFERRED = 0
    ONLINE = 1
    UNCLEAN = 2


@record
class Target:
    """The request of an event to the change builder.

    acceptable: brokers that may lead (isAcceptableLeader).
    unclean: brokers that just registered after an unclean shutdown (setUncleanShutdownReplicas).
    favoured: the candidate that wins if the choice is open (`choice`).
    min_isr: the configured value. elr_enabled: as the event passes it, which is wrong in F-23.
    """

    replicas: ReplicaList
    adding: RSet
    removing: RSet
    isr: RSet
    election: Election
    acceptable: RSet
    unclean: RSet
    recovery: Recovery
    min_isr: MinIsr
    elr_enabled: bool
    favoured: Replica | None = None


@record
class Draft:
    """The change record under construction, with the current values of all other fields.

    names_leader: the record has a leader field. unclean: the election was unclean.
    """

    replicas: ReplicaList
    adding: RSet
    removing: RSet
    isr: RSet
    elr: RSet
    last_known_elr: RSet
    last_known_leader: Replica | None
    leader: Replica | None
    names_leader: bool
    unclean: bool
    recovery: Recovery
    last_known_none: bool = False


@op
def target(controller: Controller, isr: RSet, election: Election, acceptable: RSet, unclean: RSet) -> Target:
    """A target that changes neither the assignment nor the recovery state.

    acceptable: active brokers as the event sees them. LeaderAcceptor.test also requires an online directory,
    according to the registration before the event.
    """
    p = controller.partition
    return Target(
        replicas=p.replicas,
        adding=p.adding,
        removing=p.removing,
        isr=isr,
        election=election,
        acceptable=frozenset(b for b in acceptable if has_online_directory(controller.registration[b])),
        unclean=unclean,
        recovery=p.recovery,
        min_isr=configured_min_isr(controller.settings),
        elr_enabled=controller.settings.elr_enabled,
        favoured=controller.favoured,
    )


@op
def unclean_election_allowed(c: Config, settings: Settings) -> bool:
    """The current unclean.leader.election.enable of the topic (uncleanLeaderElectionEnabledForTopic)."""
    return c.unclean_leader_election_enable == (settings.unclean_switched == 0)


@op
def election_type(c: Config, settings: Settings) -> Election:
    """The type of election for broker events: unclean only if unclean.leader.election.enable is set."""
    return Election.UNCLEAN if unclean_election_allowed(c, settings) else Election.ONLINE
