"""Random questions to Kafka's classes, for tests of the driver. They say nothing about what is right."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

from elrcheck.kafka.controller_steps import (
    AlterPartition,
    AssignDirectory,
    Balance,
    Configure,
    CreateTopic,
    Elect,
    ElectUncleanly,
    Expire,
    Fence,
    Heartbeat,
    KafkaBroker,
    Member,
    Reassign,
    Register,
    Setup,
    ShutDown,
    Step,
    SwitchElr,
    Unfence,
    Unregister,
)
from elrcheck.kafka.kafka_oracle import Walk
from elrcheck.kafka.partition_questions import BuilderQuestion, Ids, KafkaPartition, Recovery

BROKERS = 4


def some(random: Random, ids: Iterable[int]) -> Ids:
    return tuple(id for id in ids if random.random() < 0.5)


def random_partition(random: Random) -> KafkaPartition:
    replicas = tuple(random.sample(range(BROKERS), random.randrange(1, BROKERS + 1)))
    isr = some(random, replicas)
    elr = some(random, (id for id in replicas if id not in isr))
    leader = random.choice(isr) if isr and random.random() < 0.8 else -1
    recoveries: tuple[Recovery, ...] = ("RECOVERED", "RECOVERED", "RECOVERING")
    return KafkaPartition(
        replicas,
        isr,
        elr,
        (random.choice(replicas),) if random.random() < 0.2 else (),
        leader=leader,
        leader_epoch=random.randrange(9),
        partition_epoch=random.randrange(9),
        recovery=random.choice(recoveries),
        directories=tuple(random.choice((0, 0, 1, -1)) for _ in replicas),
    )


def random_question(random: Random) -> BuilderQuestion:
    partition = random_partition(random)
    return BuilderQuestion(
        partition,
        some(random, partition.replicas),
        random.randrange(1, 4),
        random.random() < 0.7,
        random.choice(("PREFERRED", "ONLINE", "UNCLEAN")),
        target_isr=random.choice((None, some(random, partition.replicas))),
        unclean_shutdown=random.choice((None, some(random, partition.replicas))),
    )


def random_setup(random: Random) -> Setup:
    brokers = tuple(KafkaBroker(id, 100 + id, random.random() < 0.95, random.random() < 0.3) for id in range(BROKERS))
    exists = random.random() < 0.95
    return Setup(
        brokers,
        random_partition(random) if exists else None,
        elr=random.random() < 0.8,
        topic_min_isr=random.choice((None, 1, 2, 3)),
        cluster_min_isr=random.choice((None, 1, 2)),
        broker_min_isr=((0, 2),) if random.random() < 0.1 else (),
        topic_unclean=random.choice((None, None, True)),
        sibling=random_partition(random) if exists and random.random() < 0.2 else None,
    )


def random_step(random: Random) -> Step:
    broker = random.randrange(BROKERS)
    members = tuple(Member(id, 0 if random.random() < 0.9 else -1) for id in some(random, range(BROKERS)))
    choices: tuple[Step, ...] = (
        Fence(broker),
        Expire(broker),
        Unfence(broker),
        ShutDown(broker),
        Heartbeat(broker, random.random() < 0.3, random.random() < 0.4, random.random() < 0.8),
        Heartbeat(broker, offline=some(random, (0, 1))),
        Register(broker, random.choice(("last", "none", "other")), random.choice((None, None, (0,)))),
        Unregister(broker) if random.random() < 0.3 else Unfence(broker),
        AlterPartition(broker, members),
        AlterPartition(broker, members, recovery="RECOVERING"),
        Elect("PREFERRED"),
        Elect("UNCLEAN"),
        Balance(),
        ElectUncleanly(),
        Reassign(tuple(random.sample(range(BROKERS), random.randrange(1, BROKERS)))),
        Reassign(None),
        Configure("topic", random.choice(("1", "2", "3", None)), legacy=random.random() < 0.3),
        Configure("cluster", random.choice(("1", "2"))),
        SwitchElr(random.random() < 0.6),
        AssignDirectory(broker, random.randrange(2)),
        CreateTopic(tuple(random.sample(range(BROKERS), 2))),
    )
    return random.choice(choices)


def random_walks(seed: int, count: int, length: int) -> list[Walk]:
    random = Random(seed)
    return [(random_setup(random), [random_step(random) for _ in range(length)]) for _ in range(count)]
