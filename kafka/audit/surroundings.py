"""What is known of the brokers, topics and settings that a partition's records depend on, as numbers.

Two partitions of the same pattern are alike if the same is known of their brokers and topics, now and before
the batch. So what is known gets a number, and the same facts are the same object.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from elrcheck.kafka.audit.known_broker import known_broker
from elrcheck.kafka.audit.record_check import RecordCheck
from elrcheck.kafka.log.cluster_state import BROKER, EVERY_BROKER, TOPIC, ClusterState, Key, StoredBroker
from elrcheck.kafka.log.partition_table import Home

Facts: TypeAlias = tuple[object, ...]
"""What is known of the brokers of a partition, and the world; the same facts are the same object."""


class Surroundings:
    """Follows one log, as `check` does. moved: told of each partition of a topic of which something else is
    known now.
    """

    def __init__(self, check: RecordCheck, moved: Callable[[Key], None]) -> None:
        self.state = ClusterState()
        self._check = check
        self._moved = moved
        self._times = -1
        self._world: Facts = ()
        self._seen: dict[int, tuple[StoredBroker | None, StoredBroker | None]] = {}
        """Brokers as they are and as they were before the batch, when this was last looked at."""
        self._settings: tuple[dict[tuple[int, str], str], dict[tuple[int, str], str]] = ({}, {})
        self._facts: dict[Facts, Facts] = {}
        self._brokers: dict[tuple[int, str], int] = {}
        self._topics: dict[str, int] = {}
        self._numbers: dict[tuple[object, ...], int] = {}
        """Of what can be said of a broker, or of a topic."""

    def is_current(self, state: ClusterState) -> bool:
        """Nothing has changed since this was last looked at, neither by a record nor by a snapshot."""
        return state is self.state and self._check.times == self._times

    def renew(self, state: ClusterState) -> None:
        """Brokers or settings may have changed, or a snapshot has replaced the state."""
        if state is not self.state:
            self.state = state
            self._topics.clear()
            self._seen.clear()
            self._world = ()
        self._times = self._check.times
        self._renew_world()
        self._renew_brokers()
        check = self._check
        if (state.min_isr, check.min_isr) != self._settings:
            self._settings = dict(state.min_isr), dict(check.min_isr)
            for topic_id in list(self._topics):
                self.forget_topic(topic_id)

    def _renew_world(self) -> None:
        state, check = self.state, self._check
        cluster = (BROKER, EVERY_BROKER)
        now, start = state.min_isr.get(cluster), check.min_isr.get(cluster)
        world = (state.elr_enabled, check.elr, now, start, check.level_in(state))
        if world != self._world:
            self._world = world
            for homes in state.partitions.homes_of.values():
                for home in homes:
                    home.facts = None

    def _renew_brokers(self) -> None:
        state, check = self.state, self._check
        seen = {
            broker: (state.brokers.get(broker), check.brokers.get(broker))
            for broker in state.brokers.keys() | check.brokers.keys()
        }
        for broker in seen.keys() | self._seen.keys():
            if seen.get(broker) != self._seen.get(broker):
                for home in state.partitions.homes_of.get(broker, ()):
                    home.facts = None
        self._seen = seen
        self._brokers.clear()

    def forget_topic(self, topic_id: str) -> None:
        """The name, the partition 0 or a setting of a topic may have changed."""
        before = self._topics.pop(topic_id, None)
        if before is not None and self._topic(topic_id) != before:
            for key in self.state.keys_in(topic_id):
                self._moved(key)

    def facts_of(self, home: Home) -> Facts:
        """What is known of these brokers now."""
        if home.facts is None:
            numbers = self._brokers
            brokers = [numbers.get(pair) or self._broker(*pair) for pair in home.pairs]
            facts = (*brokers, self._world)
            home.facts = self._facts.setdefault(facts, facts)
        assert isinstance(home.facts, tuple)
        return home.facts

    def topic_of(self, key: Key) -> int:
        """The number of what there is to say of the topic, which for its partition 0 is another one."""
        number = self._topics.get(key.topic_id)
        return 2 * (self._topic(key.topic_id) if number is None else number) + (key.partition == 0)

    def _broker(self, broker: int, directory: str) -> int:
        """The number of what is known of a broker, now and before the batch."""
        now, start = self._seen.get(broker, (None, None))
        known = (known_broker(now, directory), known_broker(start, directory))
        number = self._brokers[broker, directory] = self._number("broker", *known)
        return number

    def _topic(self, topic_id: str) -> int:
        zero = self.state.partitions.get(Key(topic_id, 0))
        replicas = -1 if zero is None else len(zero.shape.lists.replicas)
        own = (TOPIC, self.state.topics.get(topic_id, topic_id))
        settings = (self.state.min_isr.get(own), self._check.min_isr.get(own))
        number = self._topics[topic_id] = self._number("topic", replicas, *settings)
        return number

    def _number(self, *said: object) -> int:
        return self._numbers.setdefault(said, len(self._numbers) + 1)
