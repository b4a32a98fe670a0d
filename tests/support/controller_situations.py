"""Random situations and events of the controller: half plausible, half anything the types allow."""

from __future__ import annotations

import random

from elrcheck.invariants.controller_events import AnyEvent, EventKind
from elrcheck.model.config import Config
from elrcheck.model.control_plane.controller_event import AlterPartitionEvent
from elrcheck.model.replication_control import Controller
from elrcheck.model.state import Directory, InfoStage, LogInfo, Partition, Recovery, Registration, Settings


def some(rng: random.Random, members: list[int]) -> frozenset[int]:
    return frozenset(b for b in members if rng.random() < 0.5)


def situation(rng: random.Random, config: Config) -> Controller:
    """A plausible registration, then with luck one field that does not fit."""
    brokers = list(range(config.broker_count))
    replicas = rng.sample(brokers, rng.randint(1, len(brokers)))
    isr = some(rng, replicas)
    elr = some(rng, [b for b in replicas if b not in isr]) if rng.random() < 0.5 else frozenset[int]()
    leader = rng.choice(sorted(isr)) if isr else None
    adding = some(rng, replicas[1:]) if rng.random() < 0.3 else frozenset[int]()
    removing = some(rng, replicas[1:]) - adding if rng.random() < 0.3 else frozenset[int]()
    nobody_known = leader is not None or rng.random() < 0.5
    anything = rng.random() < 0.3
    p = Partition(
        replicas=tuple(replicas),
        adding=adding,
        removing=removing,
        isr=some(rng, brokers) if anything else isr,
        elr=some(rng, brokers) if anything else elr,
        last_known_elr=some(rng, replicas) if rng.random() < 0.2 else frozenset(),
        last_known_leader=None if nobody_known else rng.choice(replicas),
        leader=rng.choice([None, *brokers]) if anything else leader,
        leader_epoch=rng.randint(0, 3),
        partition_epoch=rng.randint(0, 3),
        recovery=rng.choice(list(Recovery)),
    )
    registration = tuple(
        Registration(
            registered=rng.random() < 0.9,
            fenced=b not in isr and rng.random() < 0.7,
            in_controlled_shutdown=rng.random() < 0.1,
            shutdown_offset=0,
            epoch=rng.randint(1, 2),
            directory=rng.choice(list(Directory)) if anything else Directory.ONLINE,
        )
        for b in brokers
    )
    settings = Settings(
        topic_min_isr=rng.choice([None, 1, 2, config.broker_count]),
        cluster_min_isr=rng.randint(1, config.broker_count),
        broker_min_isr=tuple(None for _ in brokers),
        elr_enabled=config.elr_enabled and rng.random() < 0.8,
    )
    return Controller(settings, p, registration)


def event(rng: random.Random, config: Config, kind: EventKind, s: Controller) -> AnyEvent:
    """An event of that kind; its epochs are often those of the situation."""
    brokers = list(range(config.broker_count))
    b = rng.choice(brokers)
    leader = s.partition.leader if s.partition.leader is not None else b
    replicas = list(s.partition.replicas)
    request = AlterPartitionEvent(
        sender=leader,
        sender_epoch=s.registration[leader].epoch,
        leader_epoch=s.partition.leader_epoch,
        partition_epoch=s.partition.partition_epoch + (rng.random() < 0.1),
        isr=some(rng, replicas) | {leader},
        member_epochs=tuple(rng.choice([0, r.epoch]) for r in s.registration),
        recovery=rng.choice(list(Recovery)),
    )
    info = LogInfo(
        stage=rng.choice(list(InfoStage)),
        broker_epoch=s.registration[b].epoch,
        last_epoch=0,
        log_end_offset=0,
        leader_epoch=s.partition.leader_epoch,
    )
    return AnyEvent(
        kind=kind,
        broker=b,
        presented=rng.randint(0, 2),
        brings_directory=rng.random() < 0.8,
        request=request,
        replicas=tuple(rng.sample(brokers, rng.randint(1, len(brokers)))),
        value=rng.randint(1, config.broker_count),
        info=info,
    )
