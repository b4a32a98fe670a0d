"""Random walks over several topics and partitions, from a cluster without topics.

The model holds one partition. So each partition has a model of its own, and all share the brokers' events. The models
only help to choose events that have an effect; Kafka alone decides what they do.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from elrcheck.kafka import controller_steps as steps
from elrcheck.kafka.conformance.model_side import NotRepresentable, Situation, decide_step, partition_of, situation_of
from elrcheck.kafka.conformance.random_cases import random_step
from elrcheck.kafka.controller_steps import KafkaBroker, Setup, Step
from elrcheck.kafka.partition_questions import UNASSIGNED, Ids, KafkaPartition
from elrcheck.model.config import Config
from elrcheck.model.replication_control import active
from elrcheck.model.state import Directory

Place: TypeAlias = tuple[str, int]
TOPICS = ("t", "u")
MOST_PARTITIONS, MOST_BROKERS = 3, 4
SHORTEST, LONGEST = 12, 45
OF_A_PARTITION = (steps.AlterPartition, steps.Elect, steps.Reassign, steps.AssignDirectory)
DUMMY = KafkaPartition((0,), (0,), leader=0)
"""The partition of the model that follows the brokers while no topic exists."""


@dataclass
class IndexWalk:
    """The steps so far, and the model of each partition. brokers: a model of the brokers alone."""

    brokers: Situation
    partitions: dict[Place, Situation] = field(default_factory=dict)
    about: Place = (TOPICS[0], 0)
    steps: list[Step] = field(default_factory=list)

    def take(self, step: Step, place: Place) -> None:
        """Take a step about a partition; skip one that a model cannot represent."""
        try:
            after = {where: _next(self.partitions[where], step) for where in self._affected(step, place)}
            brokers = self.brokers if isinstance(step, OF_A_PARTITION) else _next(self.brokers, step)
        except NotRepresentable:
            return
        self.partitions |= after
        if not _is_of_a_topic(step):
            self.brokers = brokers
        self.append(step, place)

    def append(self, step: Step, place: Place) -> None:
        """Note a step about a partition."""
        if place != self.about:
            self.steps.append(steps.AboutPartition(*place))
            self.about = place
        self.steps.append(step)

    def create(self, replicas: Ids, topic: str) -> None:
        """Create a topic, or its next partition."""
        number = sum(where[0] == topic for where in self.partitions)
        live = active(self.brokers.config, self.brokers.controller.registration)
        isr = tuple(b for b in replicas if b in live)
        if not isr:
            return
        self.append(steps.CreatePartition(replicas) if number else steps.CreateTopic(replicas), (topic, number))
        controller = self.brokers.controller
        registration = tuple(replace(r, directory=Directory.ONLINE) for r in controller.registration)
        partition = partition_of(KafkaPartition(replicas, isr, leader=isr[0]))
        created = replace(controller, partition=partition, registration=registration)
        self.partitions[topic, number] = replace(
            self.brokers, controller=created, directories=(UNASSIGNED,) * len(replicas)
        )

    def delete(self, topic: str) -> None:
        self.append(steps.DeleteTopic(), (topic, 0))
        self.partitions = {where: held for where, held in self.partitions.items() if where[0] != topic}

    def _affected(self, step: Step, place: Place) -> Iterator[Place]:
        """Yield the partitions that a step may change."""
        for where in self.partitions:
            if isinstance(step, OF_A_PARTITION):
                meets = where == place
            else:
                meets = not _is_of_a_topic(step) or where[0] == place[0]
            if meets:
                yield where


def random_index_walk(config: Config, choice: random.Random) -> tuple[Setup, tuple[Step, ...]]:
    """Return a cluster without topics, and events of every kind."""
    brokers = choice.randint(2, MOST_BROKERS)
    setup = Setup(
        tuple(KafkaBroker(b, 100 + b) for b in range(brokers)),
        None,
        elr=config.elr_enabled and choice.random() < 0.92,
        cluster_min_isr=choice.choice((1, 2, 2, 3)),
        cluster_unclean=choice.random() < 0.2,
    )
    now = IndexWalk(situation_of(config, replace(setup, partition=DUMMY)))
    now.create(_replicas(choice, now, TOPICS[0]), TOPICS[0])
    for _ in range(choice.randint(SHORTEST, LONGEST)):
        _add_step(choice, now, config.elr_enabled)
    return setup, tuple(now.steps)


def _add_step(choice: random.Random, now: IndexWalk, features: bool) -> None:
    topic = choice.choice(TOPICS)
    number = sum(where[0] == topic for where in now.partitions)
    draw = choice.random()
    if number < MOST_PARTITIONS and draw < (0.06 if number else 0.5):
        now.create(_replicas(choice, now, topic), topic)
    elif number and draw > 0.95:
        now.delete(topic)
    elif now.partitions:
        place = choice.choice(list(now.partitions))
        now.take(random_step(choice, now.partitions[place], features), place)


def _replicas(choice: random.Random, now: IndexWalk, topic: str) -> Ids:
    """Return replicas for a partition: as many as the topic's first one has."""
    brokers = range(len(now.brokers.controller.registration))
    first = now.partitions.get((topic, 0))
    number = choice.randint(1, len(brokers)) if first is None else len(first.controller.partition.replicas)
    return tuple(choice.sample(brokers, number))


def _is_of_a_topic(step: Step) -> bool:
    return isinstance(step, steps.Configure) and step.level == "topic"


def _next(now: Situation, step: Step) -> Situation:
    _, after = decide_step(now, step)
    if after.directories is None:
        after = replace(after, directories=(UNASSIGNED,) * len(after.controller.partition.replicas))
    return after
