"""min.insync.replicas: the effective value at the controller and at a leader.

Sources: ConfigurationControlManager, ReplicationControlManager.getTopicEffectiveMinIsr, Partition; KIP-966.
"""

from __future__ import annotations

from elrcheck.lang.runtime import op
from elrcheck.model.config import Config
from elrcheck.model.replicas import Replica
from elrcheck.model.state import Broker, KnownMinIsr, MinIsr, ReplicaList, Settings, configured_min_isr


@op
def broker_min_isr(settings: Settings, b: Replica) -> MinIsr:
    """min.insync.replicas as broker b resolves it: its own value overrides the cluster's."""
    own = settings.broker_min_isr[b]
    if settings.topic_min_isr is None and own is not None:
        return own
    return configured_min_isr(settings)


@op
def effective_min_isr(settings: Settings, replicas: ReplicaList) -> int:
    """At the controller: at most the number of replicas, including adding ones (KIP-966, C-17)."""
    return min(configured_min_isr(settings), len(replicas))


@op
def leader_min_isr(c: Config, settings: Settings, leader: Broker, leader_id: Replica) -> int:
    """At a leader: from the configuration and the replica list that it has applied (Partition)."""
    configured = leader.min_isr if c.min_isr_changes > 0 else broker_min_isr(settings, leader_id)
    return min(configured, len(leader.view.replicas))


@op
def known_min_isr(c: Config, settings: Settings, b: Replica) -> KnownMinIsr:
    """The min ISR of b once it has applied the current configuration; 0 if it cannot change."""
    return broker_min_isr(settings, b) if c.min_isr_changes > 0 else 0
