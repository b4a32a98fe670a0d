"""Which event of the controller wrote a record: the model's rules, asked for every event that could.

The rules take what the controller knew and give the partition afterwards. A record is explained if some event
of some release that may have written it gives exactly the partition that the record leads to: members,
leader, replicas being added and removed, recovery state, and both epochs. Nothing of the protocol is written
here; an event is a call of the rule for it.

Brokers are numbered from 0 in ascending order, because a reassignment lists those to be removed that way;
epochs count from the record. So the same few questions come up again and again, and their answers are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from elrcheck.commands.audit.builds import Knobs, variants_of, with_repairs
from elrcheck.commands.audit.known_broker import KnownBroker
from elrcheck.commands.conform.model_side import Unheld, configured, partition_of
from elrcheck.commands.conform.projections import text_of
from elrcheck.kafka.asked import NO_LEADER, KafkaPartition
from elrcheck.kafka.log.cluster_state import StoredPartition
from elrcheck.model.config import Config
from elrcheck.model.control_plane.controller import (
    alter_partition,
    fenced_partition,
    registered_partition,
    unfenced_partition,
    unregistered_partition,
)
from elrcheck.model.control_plane.controller_event import AlterPartitionEvent, MinIsrLevel
from elrcheck.model.control_plane.creation import created_partition
from elrcheck.model.control_plane.directories import with_new_directory, without_directory
from elrcheck.model.control_plane.elections import balance_preferred, elect_unclean, maybe_elect_unclean
from elrcheck.model.control_plane.operator_settings import (
    directories_assigned,
    directories_reported,
    min_isr_changed,
)
from elrcheck.model.control_plane.reassignment import cancel_reassignment, is_reassigning, reassign
from elrcheck.model.replication_control import Controller
from elrcheck.model.state import Partition, Settings

Event: TypeAlias = tuple[str, Callable[[], Partition]]
"""An event in words, in which `{b}` is a broker, and what it makes of the partition."""


@dataclass(frozen=True, slots=True)
class Question:
    """What a record did, in ascending numbers of brokers. before: None for a new partition.

    brokers: as they are when the record is written. start: as they were before its batch, and partition: the
    partition then, from which all records of one event are built. zero: how many replicas the topic's
    partition 0 has. settings, changed: before and after the batch. repaired: knobs that the build repairs.
    """

    before: KafkaPartition | None
    after: KafkaPartition
    brokers: tuple[KnownBroker, ...]
    start: tuple[KnownBroker, ...]
    partition: KafkaPartition | None
    settings: Settings
    changed: Settings
    zero: int
    level: int
    repaired: Knobs = ()


class Answer(NamedTuple):
    """event: the one that explains the record, in words; None without one. nearest, differs: the nearest
    event, and the fields in which the record is another: name, in the record, by the rule.
    """

    event: str | None
    nearest: str = ""
    differs: tuple[tuple[str, object, object], ...] = ()


@lru_cache(maxsize=1 << 16)
def explain(asked: Question) -> Answer | None:
    """What explains the record; None if the model has no value for something in it."""
    try:
        after = partition_of(asked.after)
        befores = [] if asked.before is None else [partition_of(asked.before)]
        if asked.partition is not None and asked.before is not None:
            befores.append(_at_epochs(partition_of(asked.partition), befores[0]))
    except Unheld:
        return None
    if not all(p.replicas for p in (*befores, after)):
        return None  # the rules ask for the first replica
    nearest: tuple[int, str, Partition] | None = None
    for config in _configs(asked, befores, after):
        for name, made in _events(config, asked, befores, after):
            if made == after:
                return Answer(name)
            distance = sum(getattr(made, f.name) != getattr(after, f.name) for f in fields(Partition))
            if nearest is None or distance < nearest[0]:
                nearest = (distance, name, made)
    if nearest is None:
        return Answer(None)
    _, name, made = nearest
    differs = tuple(
        (f.name, getattr(after, f.name), getattr(made, f.name))
        for f in fields(Partition)
        if getattr(after, f.name) != getattr(made, f.name)
    )
    return Answer(None, name, differs)


def _at_epochs(earlier: Partition, now: Partition) -> Partition:
    return replace(earlier, leader_epoch=now.leader_epoch, partition_epoch=now.partition_epoch)


# ---------------------------------------------------------------------------- releases


def _configs(asked: Question, befores: list[Partition], after: Partition) -> Iterator[Config]:
    """Those that may have written it: the variants of the brokers' line, without and with unclean elections.

    unclean.leader.election.enable may be set in a file of the controllers, which the log does not tell. It
    matters only where the leader changes, or a reassignment is cancelled; the fix of F-20 only where a member
    is no replica any more. A cluster may run that fix before a release has it.
    """
    elects = any(p.leader != after.leader or is_reassigning(p) for p in befores)
    leaves = any(not p.isr | p.elr <= frozenset(after.replicas) for p in befores)
    released = with_repairs(variants_of(asked.level), asked.repaired)
    fixed = [replace(config, elr_intersect_replicas=True) for config in released] if leaves else []
    for config in (*released, *fixed):
        for unclean in (False, True) if elects else (False,):
            yield configured(config, len(asked.brokers), unclean, asked.zero)


# ---------------------------------------------------------------------------- events


def _events(
    c: Config, asked: Question, befores: list[Partition], after: Partition
) -> Iterator[tuple[str, Partition]]:
    """Every event that may have written the record, with what it makes of the partition."""
    for brokers in dict.fromkeys((asked.brokers, asked.start)):
        registration = tuple(known.registration for known in brokers)
        if not befores:
            yield "the topic is created", created_partition(c, registration, after.replicas)
        for settings in dict.fromkeys((asked.settings, asked.changed)):
            for before in dict.fromkeys(befores):
                now = Controller(settings=settings, partition=before, registration=registration)
                yield from _of_partition(c, now, after)
                yield from _of_brokers(c, now)
                yield from _of_operators(c, now, after)
    for before in dict.fromkeys(befores):
        for level in (MinIsrLevel.CLUSTER, MinIsrLevel.TOPIC):
            made = min_isr_changed(c, asked.settings, asked.changed, before, level)
            yield f"min.insync.replicas of the {level.value} is written", made


def _of_partition(c: Config, now: Controller, after: Partition) -> Iterator[tuple[str, Partition]]:
    p = now.partition
    if p.leader is not None:
        for isr in dict.fromkeys((after.isr, after.isr | (p.isr & p.removing), after.isr | p.removing)):
            for recovery in dict.fromkeys((after.recovery, p.recovery)):
                r = now.registration[p.leader]
                request = AlterPartitionEvent(
                    p.leader, r.epoch, p.leader_epoch, p.partition_epoch, isr,
                    (0,) * len(now.registration), recovery,
                )  # fmt: skip
                made = alter_partition(c, now, request).partition
                yield f"AlterPartition of leader {{{p.leader}}}", made
    yield "a preferred election", balance_preferred(c, now)
    yield "an unclean election", elect_unclean(c, now).partition
    yield "the periodic unclean election", maybe_elect_unclean(c, now)
    yield "an assignment of log directories", directories_assigned(c, now)
    yield "a report of log directories", directories_reported(c, now)


def _of_brokers(c: Config, now: Controller) -> Iterator[tuple[str, Partition]]:
    for b in range(len(now.registration)):
        who = f"broker {{{b}}}"
        yield f"{who} is fenced or shuts down", fenced_partition(c, now, b)
        yield f"{who} is unfenced", unfenced_partition(c, now, b)
        yield f"{who} registers after a clean shutdown", registered_partition(c, now, b, True)
        yield f"{who} registers after an unclean shutdown", registered_partition(c, now, b, False)
        yield f"{who} is unregistered", unregistered_partition(c, now, b)
        yield f"a log directory of {who} fails", without_directory(c, now, b)
        yield f"{who} reports a new log directory", with_new_directory(c, now, b)


def _of_operators(c: Config, now: Controller, after: Partition) -> Iterator[tuple[str, Partition]]:
    rest = tuple(b for b in after.replicas if b not in after.removing)
    for wanted in dict.fromkeys((rest, after.replicas)):
        listed = ", ".join(f"{{{b}}}" for b in wanted)
        yield f"a reassignment to [{listed}]", reassign(c, now, wanted).partition
    if is_reassigning(now.partition):
        yield "the reassignment is cancelled", cancel_reassignment(c, now).partition


# ---------------------------------------------------------------------------- numbers and ids


class Numbers:
    """The brokers of a question, numbered in ascending order, with one that no list names."""

    def __init__(self, named: Iterable[int]) -> None:
        self.ids = sorted(set(named) - {NO_LEADER})
        self._number = {broker: number for number, broker in enumerate(self.ids)} | {NO_LEADER: NO_LEADER}

    def of(self, stored: StoredPartition, base: StoredPartition) -> KafkaPartition:
        """The partition with brokers by number and epochs from those of `base`."""
        n, p = self._number, stored.shape.lists

        def members(ids: tuple[int, ...]) -> tuple[int, ...]:
            return tuple(sorted([n[broker] for broker in ids]))

        return KafkaPartition(
            replicas=tuple([n[broker] for broker in p.replicas]),
            isr=members(p.isr),
            elr=members(p.elr),
            last_known_elr=members(p.last_known_elr),
            adding=members(p.adding),
            removing=members(p.removing),
            leader=n[p.leader],
            leader_epoch=stored.leader_epoch - base.leader_epoch,
            partition_epoch=stored.partition_epoch - base.partition_epoch,
            recovery=p.recovery,
        )

    def text(self, words: str) -> str:
        """Words in which `{0}` stands for the first broker."""
        return words.format(*self.ids, "another")

    def value(self, name: str, value: object, base: StoredPartition) -> str:
        """A value of a field of the partition, with the brokers' ids and the real epochs."""
        if name in ("leader_epoch", "partition_epoch"):
            assert isinstance(value, int)
            return str(value + getattr(base, name))
        if name == "leader" and isinstance(value, int):
            return str(self.ids[value])
        if isinstance(value, frozenset):
            return text_of(frozenset(self.ids[number] for number in value))
        if isinstance(value, tuple):
            return text_of(tuple(self.ids[number] for number in value))
        return text_of(value)


def unexplained(asked: Answer, numbers: Numbers, base: StoredPartition) -> str:
    """What the flag says."""
    if not asked.nearest:
        return "no event of the controller writes this record"
    differs = "; ".join(
        f"{WORDS.get(name, name)} {numbers.value(name, mine, base)}, not {numbers.value(name, theirs, base)}"
        for name, mine, theirs in asked.differs
    )
    return f"no event of the controller writes this record; nearest: {numbers.text(asked.nearest)}: {differs}"


WORDS: Mapping[str, str] = {
    "isr": "ISR", "elr": "ELR", "last_known_elr": "LastKnownELR", "leader_epoch": "leader epoch",
    "partition_epoch": "partition epoch", "adding": "adding replicas", "removing": "removing replicas",
    "recovery": "recovery state",
}  # fmt: skip
