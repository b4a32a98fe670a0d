"""The input of the controller's decisions: the settings, one partition, and the registrations of all brokers.

Source: ReplicationControlManager, which reads ConfigurationControlManager, its own PartitionRegistration and the
BrokerRegistrations of ClusterControlManager. No decision depends on a broker's process or log.
"""

from __future__ import annotations

from elrcheck.lang.runtime import op, record
from elrcheck.model.config import Config
from elrcheck.model.replicas import Replica, RSet, Vec
from elrcheck.model.state import Directory, Partition, Registration, Settings, State


@record
class Controller:
    """The part of the state on which the active controller bases its decisions."""

    settings: Settings
    partition: Partition
    registration: Vec[Registration]
    favoured: Replica | None = None


@op
def controller_of(s: State) -> Controller:
    return Controller(settings=s.settings, partition=s.partition, registration=s.registration, favoured=s.favoured)


@op
def is_active(r: Registration) -> bool:
    """ClusterControlManager.isActive: registered, neither fenced nor in controlled shutdown."""
    return r.registered and not r.fenced and not r.in_controlled_shutdown


@op
def active(c: Config, registration: Vec[Registration]) -> RSet:
    """The active brokers: those that may lead and may be in the ISR (KIP-841)."""
    return frozenset(b for b in c.brokers if is_active(registration[b]))


@op
def registered(c: Config, registration: Vec[Registration]) -> RSet:
    """The registered brokers, fenced or not."""
    return frozenset(b for b in c.brokers if registration[b].registered)


@op
def has_online_directory(r: Registration) -> bool:
    """ClusterControlManager.hasOnlineDir: b has the recorded directory of its replica, if there is one."""
    return r.directory != Directory.OFFLINE


@op
def may_lead(c: Config, registration: Vec[Registration]) -> RSet:
    """ReplicationControlManager.LeaderAcceptor: active brokers whose replica is in an online directory."""
    return frozenset(b for b in active(c, registration) if has_online_directory(registration[b]))
