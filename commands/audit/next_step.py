"""From which finding a partition is one step away, by the model's rules.

Each step is a call of the model's rule for it, on the partition as it is now, by the variants that stand
for the release: the reassignment under way is cancelled or completed, a setting is written, a broker is
unregistered, the feature is switched. What the rule makes of the partition shows whether the finding begins.
What an operator may do to any healthy partition, such as a reassignment, is no news and not asked about.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from elrcheck.commands.audit.explained import Numbers
from elrcheck.commands.audit.hazard_signs import Sign
from elrcheck.commands.audit.judged import settings_of
from elrcheck.commands.audit.known_broker import known_brokers
from elrcheck.commands.audit.releases import variants_of
from elrcheck.commands.conform.model_side import Unheld, configured, partition_of
from elrcheck.kafka.asked import NO_LEADER, KafkaPartition
from elrcheck.kafka.log.cluster_state import LOST, ClusterState, Key
from elrcheck.model.choices import LostDirectory
from elrcheck.model.config import Config
from elrcheck.model.control_plane.controller import (
    AlterRequest,
    alter_partition,
    fenced_partition,
    unregistered_partition,
)
from elrcheck.model.control_plane.operator_settings import (
    MinIsrLevel,
    directories_assigned,
    feature_switched,
    min_isr_changed,
)
from elrcheck.model.control_plane.reassignment import cancel_reassignment, is_reassigning
from elrcheck.model.replication_control import Controller
from elrcheck.model.state import Partition

LAG = 5.0
"""Seconds. A broker reads new metadata at least twice a second, because the controller writes that often."""


@dataclass(frozen=True)
class Surroundings:
    """What decides about a step and is not part of the state.

    level: the highest metadata.version that the brokers support. elr_supported: the feature can be switched
    on. unclean: topics that allow unclean elections. lag: seconds since a broker had read all metadata.
    """

    level: int
    elr_supported: bool = False
    unclean: frozenset[str] = frozenset()
    lag: Mapping[int, float] = field(default_factory=dict)


def next_signs(state: ClusterState, key: Key, around: Surroundings) -> Iterator[Sign]:
    """What may begin with the next step, each rule once."""
    stored = state.partitions[key]
    p = stored.registration
    if (lag := around.lag.get(p.leader, 0.0)) > LAG:
        yield "leader-lags", f"leader {p.leader} had read all metadata {lag:.0f} s ago"
    if _is_calm(p) and LOST not in stored.directories and state.name_of(key) not in around.unclean:
        return
    found: dict[str, str] = {}
    for name, message in _all_steps(state, key, around):
        found.setdefault(name, message)
    yield from found.items()


def _is_calm(p: KafkaPartition) -> bool:
    return p.leader != NO_LEADER and not (p.elr or p.adding or p.removing)


def _all_steps(state: ClusterState, key: Key, around: Surroundings) -> Iterator[Sign]:
    stored, topic = state.partitions[key], state.name_of(key)
    p = stored.registration
    numbers = Numbers((*p.replicas, *p.isr, *p.elr, *p.last_known_elr, p.leader, *p.adding, *p.removing))
    try:
        partition = partition_of(numbers.of(p, p))
    except Unheld:
        return
    if not partition.replicas:
        return
    brokers = known_brokers(numbers.ids, state.brokers, stored)
    zero = state.partitions.get(Key(key.topic_id, 0))
    others = 0 if zero is None or key.partition == 0 else len(zero.registration.replicas)
    now = Controller(
        settings=settings_of(state.min_isr, topic, state.elr_enabled, len(brokers)),
        partition=partition,
        registration=tuple(broker.registration for broker in brokers),
    )
    unclean = topic in around.unclean
    for config in variants_of(around.level):
        c = configured(config, len(brokers), unclean, others)
        if state.elr_enabled:
            yield from _with_elr(c, now, numbers)
            if config.lost_directory == LostDirectory.IGNORED:
                yield from _directories(stored.directories, p)
        elif around.elr_supported and partition.leader is None and partition.isr:
            isr = list(p.isr)
            yield "upgrade-keeps-leaderless", f"no leader, ISR {isr}: switching ELR on leaves it like that"
        if unclean:
            yield from _unclean(c, now, numbers)


def _with_elr(c: Config, now: Controller, numbers: Numbers) -> Iterator[Sign]:
    p = now.partition
    elr = _ids(p.elr, numbers)
    yield from _reassignment(c, now, numbers)
    if p.elr and p.elr <= frozenset(p.replicas):
        if not min_isr_changed(c, now.settings, now.settings, p, MinIsrLevel.CLUSTER).elr:
            yield (
                "rewrite-clears-elr",
                f"ELR {elr} is cleared if the cluster's min.insync.replicas is written",
            )
        if not directories_assigned(c, now).elr:
            yield "directories-clear-elr", f"ELR {elr} is cleared if a broker reports a log directory"
        for b in sorted(p.elr):
            if now.registration[b].registered and b in unregistered_partition(c, now, b).elr:
                broker = numbers.ids[b]
                yield (
                    "unregistration-keeps-elr",
                    f"ELR {elr}: broker {broker} stays in it if it is unregistered",
                )
    if feature_switched(c, p, False).elr:
        yield "downgrade-keeps-elr", f"ELR {elr} stays stored if the feature is switched off"
    if p.leader is None and not p.isr:
        yield (
            "downgrade-without-candidate",
            f"no leader, ISR [], ELR {elr}: without ELR there is no candidate",
        )


def _reassignment(c: Config, now: Controller, numbers: Numbers) -> Iterator[Sign]:
    p = now.partition
    if not is_reassigning(p):
        return
    yield (
        "reassignment-with-elr",
        f"a reassignment adds {_ids(p.adding, numbers)} and removes {_ids(p.removing, numbers)} with ELR on",
    )
    left = _left_in_elr(cancel_reassignment(c, now).partition)
    if left:
        kept = [numbers.ids[b] for b in p.replicas if b not in p.adding]
        yield (
            "cancel-leaves-elr",
            f"if it is cancelled, {_ids(left, numbers)} stay in the ELR of replicas {kept}",
        )
    if p.leader is not None:
        request = AlterRequest(
            p.leader, now.registration[p.leader].epoch, p.leader_epoch, p.partition_epoch, p.isr | p.adding,
            (0,) * len(now.registration), p.recovery,
        )  # fmt: skip
        left = _left_in_elr(alter_partition(c, now, request).partition)
        if left:
            kept = [numbers.ids[b] for b in p.replicas if b not in p.removing]
            message = f"when it completes, {_ids(left, numbers)} stay in the ELR of replicas {kept}"
            yield "completion-leaves-elr", message


def _left_in_elr(after: Partition) -> frozenset[int]:
    return after.elr - frozenset(after.replicas)


def _directories(directories: tuple[str, ...], p: KafkaPartition) -> Iterator[Sign]:
    """A log directory that is offline while its broker runs, of a replica that may become leader."""
    candidates = frozenset((*p.isr, *p.elr, *p.last_known_elr))
    lost = [b for b, each in zip(p.replicas, directories, strict=True) if each == LOST and b in candidates]
    if lost:
        yield (
            "directory-offline",
            f"the log directory of {lost} is offline; ISR {list(p.isr)}, ELR {list(p.elr)}",
        )


def _unclean(c: Config, now: Controller, numbers: Numbers) -> Iterator[Sign]:
    p = now.partition
    if p.leader is None:
        return
    after = fenced_partition(c, now, p.leader)
    if after.leader is not None and after.leader not in p.isr | p.elr:
        leader, successor = numbers.ids[p.leader], numbers.ids[after.leader]
        isr = _ids(p.isr, numbers)
        yield (
            "unclean-successor",
            f"ISR {isr}: if leader {leader} stops, {successor} leads, which is not in it",
        )


def _ids(members: frozenset[int], numbers: Numbers) -> list[int]:
    return [numbers.ids[b] for b in sorted(members)]
