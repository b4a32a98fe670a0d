"""Legal situations: the assumptions of a proof of the controller before an event.

Each part is a separate predicate, so that a rule can check that an event preserves it. Some parts distinguish ELR on
and off because of upgrades: a partition that lost its leader while ELR was off retains its last ISR member, fenced,
until an event changes the partition.
"""

from __future__ import annotations

from elrcheck.invariants.controller_events import distinct
from elrcheck.lang.runtime import EMPTY, conj, implies, op
from elrcheck.model.choices import LklStorage
from elrcheck.model.config import Config
from elrcheck.model.min_isr import effective_min_isr
from elrcheck.model.replicas import RSet
from elrcheck.model.replication_control import Controller, active, may_lead, registered
from elrcheck.model.state import Directory, MinIsr, Partition


@op
def members(p: Partition) -> RSet:
    """ISR and ELR: the brokers that may be elected cleanly, now or later."""
    return p.isr | p.elr


@op
def enough(s: Controller) -> bool:
    """The ISR has min ISR members."""
    return len(s.partition.isr) >= effective_min_isr(s.settings, s.partition.replicas)


@op
def leaderless_iff_isr_empty(s: Controller) -> bool:
    return (s.partition.leader is None) == (s.partition.isr == EMPTY)


@op
def positive(value: MinIsr | None) -> bool:
    return value is None or value >= 1


@op
def settings_are_legal(c: Config, s: Controller) -> bool:
    g = s.settings
    return conj(
        positive=positive(g.cluster_min_isr)
        and positive(g.topic_min_isr)
        and all(positive(g.broker_min_isr[b]) for b in c.brokers),
        none_of_brokers=implies(g.elr_enabled, all(g.broker_min_isr[b] is None for b in c.brokers)),
        feature_exists=c.elr_enabled or not g.elr_enabled,
    )


@op
def assignment_is_legal(s: Controller) -> bool:
    p = s.partition
    replicas = frozenset(p.replicas)
    return conj(
        replicas=len(p.replicas) >= 1 and distinct(p.replicas),
        adding=p.adding <= replicas and replicas - p.adding != EMPTY,
        removing=p.removing <= replicas and replicas - p.removing != EMPTY,
        disjoint=p.adding & p.removing == EMPTY,
    )


@op
def leader_is_legal(s: Controller) -> bool:
    return implies(s.partition.leader is not None, s.partition.leader in s.partition.isr)


@op
def leaderless_is_legal(c: Config, s: Controller) -> bool:
    p = s.partition
    return conj(
        never_empty=c.elr_enabled or c.empty_isr_without_elr or p.isr != EMPTY,
        at_most_one=implies(p.leader is None, len(p.isr) <= 1),
        nobody_else=implies(
            p.leader is None and p.isr != EMPTY,
            p.elr == EMPTY and p.last_known_elr == EMPTY and p.last_known_leader is None,
        ),
    )


@op
def isr_is_legal(c: Config, s: Controller) -> bool:
    p = s.partition
    return p.isr <= active(c, s.registration) or (p.leader is None and len(p.isr) == 1)


@op
def elr_is_below_min_isr(c: Config, s: Controller) -> bool:
    return conj(
        below=implies(s.partition.elr != EMPTY, not enough(s)),
        feature_exists=c.elr_enabled or c.shadow_isr or s.partition.elr == EMPTY,
    )


@op
def members_are_replicas(s: Controller) -> bool:
    p = s.partition
    replicas = frozenset(p.replicas)
    return conj(isr=p.isr <= replicas, elr=p.elr <= replicas, last_known_elr=p.last_known_elr <= replicas)


@op
def nobody_waits(c: Config, s: Controller) -> bool:
    p = s.partition
    return implies(p.leader is None, members(p) & may_lead(c, s.registration) == EMPTY)


@op
def last_known_is_legal(c: Config, s: Controller) -> bool:
    p = s.partition
    separate = c.lkl_storage == LklStorage.SEPARATE
    return conj(
        feature_exists=c.elr_enabled or c.shadow_isr or (p.last_known_elr == EMPTY and p.last_known_leader is None),
        leader_is_replica=p.last_known_leader is None or p.last_known_leader in frozenset(p.replicas),
        without_leader=implies(p.leader is not None, p.last_known_leader is None),
        no_candidates=implies(separate, p.last_known_elr & members(p) == EMPTY),
        none_stored=implies(
            p.last_known_none, c.lkl_stores_none and c.elr_enabled and p.leader is None and p.last_known_elr == EMPTY
        ),
        overload=separate
        or (
            p.last_known_leader is None
            and len(p.last_known_elr) <= 1
            and implies(p.leader is not None, p.last_known_elr == EMPTY)
        ),
    )


@op
def directories_are_online(c: Config, s: Controller) -> bool:
    """Every log directory is online. A proof assumes this before an event and does not demand it after it."""
    return all(s.registration[b].directory == Directory.ONLINE for b in c.brokers)


@op
def legal(c: Config, s: Controller) -> bool:
    """The assumption of every proof: rules CT-1 to CT-11 hold, and no log directory is offline."""
    return (
        settings_are_legal(c, s)
        and assignment_is_legal(s)
        and leader_is_legal(s)
        and leaderless_is_legal(c, s)
        and isr_is_legal(c, s)
        and s.partition.isr & s.partition.elr == EMPTY
        and elr_is_below_min_isr(c, s)
        and members_are_replicas(s)
        and s.partition.elr <= registered(c, s.registration)
        and nobody_waits(c, s)
        and directories_are_online(c, s)
        and last_known_is_legal(c, s)
    )
