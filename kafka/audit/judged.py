"""The properties of the model, applied to a stored partition: those that need only what the controller knows.

This file states no property. A stored partition with the brokers it names becomes a state of the model, with
brokers numbered from 0; the same small states recur, so judgements are cached.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeAlias

from elrcheck.invariants.membership import (
    ElrOnlyBelowMinIsr,
    IsrElrDisjoint,
    IsrMembersActive,
    LeaderInIsr,
    LeaderlessIffIsrEmpty,
    MembersAreReplicas,
    NoNeedlessStall,
)
from elrcheck.kafka.audit.rules import Knobs
from elrcheck.kafka.conformance.model_side import NotRepresentable, partition_of
from elrcheck.kafka.log.cluster_state import ClusterState, KnownBroker, PartitionKey, known_brokers, min_isr_in
from elrcheck.kafka.log.partition_shapes import renamed
from elrcheck.kafka.partition_questions import NO_LEADER, KafkaPartition
from elrcheck.lang.runtime import Conjunction
from elrcheck.model.config import Config
from elrcheck.model.start import Init
from elrcheck.model.state import Settings, State
from elrcheck.model.variants import variant_named

Property: TypeAlias = Callable[[Config, State], bool]
PROPERTIES: tuple[tuple[str, Property], ...] = (
    ("P-10", IsrElrDisjoint),
    ("P-11", ElrOnlyBelowMinIsr),
    ("P-12", MembersAreReplicas),
    ("P-17", LeaderInIsr),
    ("P-18", LeaderlessIffIsrEmpty),
    ("P-19", IsrMembersActive),
    ("P-20", NoNeedlessStall),
)
ONLY_WITH_ELR = ("P-11", "P-19")
"""Properties that are not judged without the feature. P-11: the controller's own file may then set min.insync.replicas,
which the log does not contain. P-19: before 4.0 a broker that registered again stayed in the ISR, fenced (KAFKA-18106,
C-26), and the log does not contain the release that wrote it."""
VARIANT = "code_4_3"
"""Any variant: the properties depend only on whether it elects from a stored ELR while the feature is off."""


@dataclass(frozen=True, slots=True)
class BrokenProperty:
    """A property that does not hold, and the part of it that fails."""

    property: str
    conjunct: str


def settings_of(min_isr: Mapping[tuple[int, str], str], topic: str, elr: bool, brokers: int) -> Settings:
    """Return the configuration of a topic as settings of the model."""
    return _settings(*min_isr_in(min_isr, topic), elr, brokers)


@lru_cache
def _settings(own: int | None, cluster: int, elr: bool, brokers: int) -> Settings:
    return Settings(topic_min_isr=own, cluster_min_isr=cluster, broker_min_isr=(None,) * brokers, elr_enabled=elr)


def broken_of(state: ClusterState, key: PartitionKey, knobs: Knobs = ()) -> tuple[BrokenProperty, ...]:
    """Return the properties that a partition breaks now; empty for one with -1 among its members.

    knobs: of the model, which the build of the cluster repairs.
    """
    stored = state.partitions[key]
    p = stored.shape.lists
    named = dict.fromkeys((*p.replicas, *p.isr, *p.elr, *p.last_known_elr, p.leader))
    named.pop(NO_LEADER, None)
    number = {broker: place for place, broker in enumerate(named)} | {NO_LEADER: NO_LEADER}
    brokers = known_brokers(named, state.brokers, stored)
    settings = settings_of(state.min_isr, state.name_of(key), state.elr_enabled, max(len(brokers), 1))
    numbered = renamed(replace(p, adding=(), removing=()), number, in_order=True)  # no property uses these two
    return _judge(numbered, brokers, settings, knobs)


@lru_cache(maxsize=1 << 16)
def _judge(
    p: KafkaPartition, brokers: tuple[KnownBroker, ...], settings: Settings, knobs: Knobs
) -> tuple[BrokenProperty, ...]:
    try:
        partition = partition_of(p)
    except NotRepresentable:
        return ()
    config, state = _start(max(len(brokers), 1), knobs)
    state = replace(
        state,
        settings=settings,
        partition=partition,
        registration=tuple(broker.registration for broker in brokers or (KnownBroker(),)),
    )
    broken = []
    for ident, holds in PROPERTIES:
        if ident in ONLY_WITH_ELR and not settings.elr_enabled:
            continue
        result: object = holds(config, state)
        if not result:
            parts = result.broken if isinstance(result, Conjunction) else ("",)
            broken += [BrokenProperty(ident, part) for part in parts]
    return tuple(broken)


@lru_cache
def _start(brokers: int, knobs: Knobs) -> tuple[Config, State]:
    variant = variant_named(VARIANT)
    assert variant is not None
    config = replace(Config(**{**variant.knobs, **dict(knobs)}), broker_count=brokers, spare_brokers=0)
    return config, Init(config)
