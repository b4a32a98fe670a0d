"""The registered partitions of a cluster, in rows that a reader of many records can change quickly.

Most partitions differ from many others only in their brokers. So what is registered of one is kept as a
pattern, in which each broker has its place among those that the partition names, in ascending order, and as
the brokers themselves (its home). There are few patterns, and a change that is known for one is known for all
partitions that have it, whoever their brokers are.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from elrcheck.kafka.partition_questions import NO_LEADER, Ids, KafkaPartition

MOST_SHAPES = 1 << 16
"""Contents of partitions that are kept for the next one that has the same."""
SEATS = 8
"""Brokers of a home that the table of seats holds."""
NO_SEAT = -9
UNASSIGNED = "AAAAAAAAAAAAAAAAAAAAAQ"

Directories: TypeAlias = tuple[str, ...]


class Key(NamedTuple):
    """A partition, by the id of its topic."""

    topic_id: str
    partition: int


class Home:
    """The brokers that a partition names, ascending, each with the log directory of its replica.

    number: its row in the table of seats. facts: what a reader knows of these brokers; None if it must look.
    """

    __slots__ = ("brokers", "facts", "number", "pairs")

    def __init__(self, pairs: tuple[tuple[int, str], ...], number: int) -> None:
        self.pairs = pairs
        self.brokers = tuple([broker for broker, _ in pairs])
        self.number = number
        self.facts: object | None = None


class Pattern:
    """The lists of a partition, with places instead of brokers. directories: only where the home does not
    tell them, because a replica is listed twice, or is none.
    """

    __slots__ = ("directories", "lists", "plain")

    def __init__(self, lists: KafkaPartition, directories: Directories | None) -> None:
        self.lists = lists
        self.directories = directories
        self.plain = Standing(self, UNKNOWN)


class Standing:
    """Where a partition stands: its pattern, and what a reader has found out about partitions like it.

    facts: what was known of its brokers then; it holds as long as this is what its home has. steps: where a
    change leads to, by the code of the record, and what it adds to the leader epoch. moves: what this is with
    other facts. sound: the partition breaks no rule; None if that was not asked.
    """

    __slots__ = ("facts", "moves", "pattern", "sound", "steps")

    def __init__(self, pattern: Pattern, facts: object) -> None:
        self.pattern = pattern
        self.facts = facts
        self.steps: dict[int, tuple[Standing, int]] = {}
        self.moves: dict[object, Standing] = {}
        self.sound: bool | None = None


UNKNOWN = object()
"""The facts of a standing of which nothing was found out yet."""


class Shape:
    """All that is registered of a partition apart from its epochs: `lists` has them 0.

    directories: for each replica the id of its log directory.
    """

    __slots__ = ("directories", "home", "lists", "pattern")

    def __init__(self, lists: KafkaPartition, directories: Directories, pattern: Pattern, home: Home) -> None:
        self.lists = lists
        self.directories = directories
        self.pattern = pattern
        self.home = home

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
        p = self.shape.lists
        return KafkaPartition(
            p.replicas,
            p.isr,
            p.elr,
            p.last_known_elr,
            p.adding,
            p.removing,
            p.leader,
            self.leader_epoch,
            self.partition_epoch,
            p.recovery,
        )

    @property
    def directories(self) -> Directories:
        return self.shape.directories


class PartitionTable(MutableMapping[Key, StoredPartition]):
    """Partitions by key, and by row: a number that a partition keeps as long as it exists; 0 is no one's.

    Each row has its key, None if the partition is gone, and the number of its home. A reader may write
    standings, with a home that stays, and epochs. seats: the brokers of each home.
    """

    def __init__(self) -> None:
        self._rows: dict[Key, int] = {}
        self._shapes: dict[tuple[KafkaPartition, Directories], Shape] = {}
        self._placed: dict[tuple[Pattern, Home], Shape] = {}
        self._patterns: dict[tuple[KafkaPartition, Directories | None], Pattern] = {}
        self.homes_of: dict[int, list[Home]] = {}
        """Those that have a broker."""
        self._homes: dict[tuple[tuple[int, str], ...], Home] = {}
        self.seats: NDArray[np.int32] = np.full((64, SEATS), NO_SEAT, np.int32)
        self.home_numbers: NDArray[np.int32] = np.zeros(64, np.int32)
        nowhere = self.shape_of(KafkaPartition((), ()), ())
        self.keys_of_rows: list[Key | None] = [None]
        self.standings: list[Standing] = [nowhere.pattern.plain]
        self.homes: list[Home] = [nowhere.home]
        self.leader_epochs = [0]
        self.partition_epochs = [0]

    # ------------------------------------------------------------------------ by key

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Key]:
        return iter(self._rows)

    def __contains__(self, key: object) -> bool:
        return key in self._rows

    def __getitem__(self, key: Key) -> StoredPartition:
        row = self._rows[key]
        shape = self._shape(self.standings[row].pattern, self.homes[row])
        return StoredPartition(shape, self.leader_epochs[row], self.partition_epochs[row])

    def __setitem__(self, key: Key, stored: StoredPartition) -> None:
        shape, leader_epoch, partition_epoch = stored
        row = self._rows.get(key)
        if row is None:
            row = self._rows[key] = len(self.keys_of_rows)
            self.keys_of_rows.append(key)
            self.standings.append(shape.pattern.plain)
            self.homes.append(shape.home)
            self.leader_epochs.append(leader_epoch)
            self.partition_epochs.append(partition_epoch)
            if row == len(self.home_numbers):
                self.home_numbers = np.concatenate([self.home_numbers, np.zeros_like(self.home_numbers)])
        else:
            self.standings[row] = shape.pattern.plain
            self.homes[row] = shape.home
            self.leader_epochs[row] = leader_epoch
            self.partition_epochs[row] = partition_epoch
        self.home_numbers[row] = shape.home.number

    def __delitem__(self, key: Key) -> None:
        row = self._rows.pop(key)
        self.keys_of_rows[row] = None
        self.standings[row], self.homes[row] = self.standings[0], self.homes[0]
        self.home_numbers[row] = 0

    def row_of(self, key: Key) -> int:
        """The row of a partition; 0 if it does not exist."""
        return self._rows.get(key, 0)

    # ------------------------------------------------------------------------ contents

    def shape_of(self, lists: KafkaPartition, directories: Directories) -> Shape:
        """The shape with this content; partitions with the same content mostly have the same one."""
        content = (lists, directories)
        shape = self._shapes.get(content)
        if shape is None:
            if len(self._shapes) >= MOST_SHAPES:
                self._shapes.clear()
            shape = self._shapes[content] = Shape(lists, directories, *self._taken_apart(lists, directories))
        return shape

    def _taken_apart(self, p: KafkaPartition, directories: Directories) -> tuple[Pattern, Home]:
        named = {*p.replicas, *p.isr, *p.elr, *p.last_known_elr, *p.adding, *p.removing, p.leader}
        brokers = sorted(named - {NO_LEADER})
        directory_of = dict(zip(p.replicas, directories, strict=True))
        home = self._home(tuple([(broker, directory_of.get(broker, UNASSIGNED)) for broker in brokers]))
        place = {broker: number for number, broker in enumerate(brokers)} | {NO_LEADER: NO_LEADER}
        told = len(directory_of) == len(p.replicas) and NO_LEADER not in directory_of
        content = (_renamed(p, place), None if told else directories)
        pattern = self._patterns.get(content)
        if pattern is None:
            pattern = self._patterns[content] = Pattern(*content)
        return pattern, home

    def _home(self, pairs: tuple[tuple[int, str], ...]) -> Home:
        home = self._homes.get(pairs)
        if home is None:
            number = len(self._homes)
            home = self._homes[pairs] = Home(pairs, number)
            for broker in home.brokers:
                self.homes_of.setdefault(broker, []).append(home)
            if number == len(self.seats):
                self.seats = np.concatenate([self.seats, np.full_like(self.seats, NO_SEAT)])
            if len(pairs) <= SEATS:
                self.seats[number, : len(pairs)] = home.brokers
        return home

    def _shape(self, pattern: Pattern, home: Home) -> Shape:
        shape = self._placed.get((pattern, home))
        if shape is None:
            if len(self._placed) >= MOST_SHAPES:
                self._placed.clear()
            place = dict(enumerate(home.brokers)) | {NO_LEADER: NO_LEADER}
            lists, directories = _renamed(pattern.lists, place), pattern.directories
            if directories is None:
                directory_of = dict(home.pairs)
                directories = tuple([directory_of[broker] for broker in lists.replicas])
            shape = self._placed[pattern, home] = Shape(lists, directories, pattern, home)
        return shape


def _renamed(p: KafkaPartition, name: dict[int, int]) -> KafkaPartition:
    def each(ids: Sequence[int]) -> Ids:
        return tuple([name[broker] for broker in ids])

    return KafkaPartition(
        replicas=each(p.replicas),
        isr=each(p.isr),
        elr=each(p.elr),
        last_known_elr=each(p.last_known_elr),
        adding=each(p.adding),
        removing=each(p.removing),
        leader=name[p.leader],
        recovery=p.recovery,
    )
