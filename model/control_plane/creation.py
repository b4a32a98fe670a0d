"""New partitions. A rule only: a search starts with a partition that exists.

Source: ReplicationControlManager (createTopic, createPartitions).
"""

from __future__ import annotations

from elrcheck.lang.runtime import EMPTY, op
from elrcheck.model.config import Config
from elrcheck.model.replicas import RSet, Vec
from elrcheck.model.replication_control import Controller, active
from elrcheck.model.state import Partition, Recovery, Registration, ReplicaList, Settings


@op
def initial_isr(c: Config, registration: Vec[Registration], replicas: ReplicaList) -> RSet:
    """The active replicas of a new partition; without one, the controller rejects the request."""
    return active(c, registration) & frozenset(replicas)


@op
def created_partition(c: Config, registration: Vec[Registration], replicas: ReplicaList) -> Partition:
    """A new partition: its active replicas are in sync; no ELR, even below min ISR; epochs 0."""
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
        last_known_none=False,
    )


@op
def no_partition(replicas: ReplicaList) -> Partition:
    """The placeholder for a partition that does not exist: it has no members."""
    return Partition(
        replicas=replicas,
        adding=EMPTY,
        removing=EMPTY,
        isr=EMPTY,
        elr=EMPTY,
        last_known_elr=EMPTY,
        last_known_leader=None,
        leader=None,
        leader_epoch=0,
        partition_epoch=0,
        recovery=Recovery.RECOVERED,
        last_known_none=False,
    )


def without_partition(settings: Settings, registration: tuple[Registration, ...]) -> Controller:
    """A controller without a partition yet, for a CreatePartitionEvent; it has an empty placeholder."""
    return Controller(settings, no_partition(()), registration)
