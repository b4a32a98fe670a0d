"""Registered partitions, split into a pattern that many share and the brokers of each.

Most partitions differ from many others only in their brokers. So the lists of a partition are stored as a pattern,
which names each broker by its place among the partition's brokers in ascending order, and the brokers themselves (its
home). There are few patterns, and a verdict on one holds for every partition that has it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from elrcheck.kafka.partition_questions import NO_LEADER, Ids, KafkaPartition

MOST_SHAPES = 1 << 16
"""Shapes that are cached, to be shared by partitions with the same content."""
UNASSIGNED = "AAAAAAAAAAAAAAAAAAAAAQ"

Directories: TypeAlias = tuple[str, ...]


class PartitionKey(NamedTuple):
    """A partition, by the id of its topic."""

    topic_id: str
    partition: int


class Home:
    """The brokers that a partition names, ascending, each with the log directory of its replica.

    place: the number of each broker among them, and NO_LEADER as itself. keys: the partitions that have it.
    """

    __slots__ = ("brokers", "keys", "pairs", "place")

    def __init__(self, pairs: tuple[tuple[int, str], ...]) -> None:
        self.pairs = pairs
        self.brokers = tuple([broker for broker, _ in pairs])
        self.place = {broker: number for number, broker in enumerate(self.brokers)} | {NO_LEADER: NO_LEADER}
        self.keys: set[PartitionKey] = set()


class Pattern:
    """The lists of a partition, with places instead of brokers.

    directories: those of the replicas where the home does not determine them, because a replica is listed
    twice or is -1; else None. members: the places in replicas, ISR and ELR.
    """

    __slots__ = ("directories", "lists", "members")

    def __init__(self, lists: KafkaPartition, directories: Directories | None) -> None:
        self.lists = lists
        self.directories = directories
        self.members = frozenset((*lists.replicas, *lists.isr, *lists.elr))


class Shape:
    """The registration of a partition without its epochs."""

    __slots__ = ("_lists", "home", "pattern")

    def __init__(self, pattern: Pattern, home: Home, lists: KafkaPartition | None = None) -> None:
        self.pattern = pattern
        self.home = home
        self._lists = lists

    @property
    def lists(self) -> KafkaPartition:
        """The lists and the leader, with 0 for the epochs."""
        if self._lists is None:
            self._lists = renamed(self.pattern.lists, dict(enumerate(self.home.brokers)) | {NO_LEADER: NO_LEADER})
        return self._lists

    @property
    def directories(self) -> Directories:
        """For each replica the id of its log directory."""
        if self.pattern.directories is not None:
            return self.pattern.directories
        directory_of = dict(self.home.pairs)
        return tuple([directory_of[broker] for broker in self.lists.replicas])

    @property
    def brokers(self) -> Ids:
        """All that the lists name, ascending."""
        return self.home.brokers


class StoredPartition(NamedTuple):
    """A partition as it is registered."""

    shape: Shape
    leader_epoch: int
    partition_epoch: int

    @property
    def registration(self) -> KafkaPartition:
        return replace(self.shape.lists, leader_epoch=self.leader_epoch, partition_epoch=self.partition_epoch)


class Shapes:
    """The shapes of one cluster. Equal homes are one object, and so are equal patterns."""

    def __init__(self) -> None:
        self._shapes: dict[tuple[KafkaPartition, Directories], Shape] = {}
        self._patterns: dict[tuple[KafkaPartition, Directories | None], Pattern] = {}
        self._homes: dict[tuple[tuple[int, str], ...], Home] = {}
        self._homes_of: dict[int, list[Home]] = {}

    def homes_of(self, broker: int) -> Sequence[Home]:
        """Return the homes that have this broker."""
        return self._homes_of.get(broker, ())

    def shape_of(self, lists: KafkaPartition, directories: Directories) -> Shape:
        """Return the shape with this content."""
        content = (lists, directories)
        shape = self._shapes.get(content)
        if shape is None:
            if len(self._shapes) >= MOST_SHAPES:
                self._shapes.clear()
            shape = self._shapes[content] = self._new_shape(lists, directories)
        return shape

    def _new_shape(self, p: KafkaPartition, directories: Directories) -> Shape:
        brokers = {*p.replicas, *p.isr, *p.elr, *p.last_known_elr, *p.adding, *p.removing, p.leader} - {NO_LEADER}
        directory_of = dict(zip(p.replicas, directories, strict=True))
        home = self._home(tuple([(broker, directory_of.get(broker, UNASSIGNED)) for broker in sorted(brokers)]))
        determined = len(directory_of) == len(p.replicas) and NO_LEADER not in directory_of
        content = (renamed(p, home.place), None if determined else directories)
        pattern = self._patterns.get(content)
        if pattern is None:
            pattern = self._patterns[content] = Pattern(*content)
        return Shape(pattern, home, p)

    def _home(self, pairs: tuple[tuple[int, str], ...]) -> Home:
        home = self._homes.get(pairs)
        if home is None:
            home = self._homes[pairs] = Home(pairs)
            for broker in home.brokers:
                self._homes_of.setdefault(broker, []).append(home)
        return home


def renamed(p: KafkaPartition, name: Mapping[int, int], *, in_order: bool = False) -> KafkaPartition:
    """Return the lists and the leader with other numbers for brokers.

    in_order: sort all lists but the replicas, so that lists of equal members become equal.
    """

    def each(ids: Sequence[int]) -> Ids:
        names = [name[broker] for broker in ids]
        return tuple(sorted(names) if in_order else names)

    return KafkaPartition(
        replicas=tuple([name[broker] for broker in p.replicas]),
        isr=each(p.isr),
        elr=each(p.elr),
        last_known_elr=each(p.last_known_elr),
        adding=each(p.adding),
        removing=each(p.removing),
        leader=name[p.leader],
        recovery=p.recovery,
    )
