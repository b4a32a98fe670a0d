"""The finite sets of questions, numbered, so that a run can ask all of them or an even sample.

A space is a product of axes; some of its points are not well formed and have no question. `shuffled` visits
every point once in an order that a seed decides, so that the first N points are a sample of the whole.

Questions to PartitionChangeBuilder are about partitions of up to three replicas. Each family is exhaustive over its
axes: every placement of the replicas in ISR and ELR and every leader, reachable or not. Other fields have their usual
value and vary in another family, which keeps the product small enough.

    plain        the target ISR, the election, who may lead, min ISR, ELR on or off, a last known leader
    unclean      a replica that just stopped uncleanly leaves the ISR, in either recovery state
    recovery     either recovery state, and a target for it
    reassigning  replicas that are being added or removed, up to the completion
    strangers    members of the ELR and last known leaders that hold no replica

Every single event of the controller comes with every condition of the brokers, for up to three replicas. Partition and
brokers satisfy what every record does: an ISR member is active, or the last member of a partition without a leader; a
last known leader is stored only while there is no leader. Apart from that every combination occurs, reachable or not.
With one or two replicas there is one broker more, which holds no replica. A broker that does not lead proposes one ISR
only: any is refused.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, permutations, product
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from elrcheck.kafka import controller_steps as steps
from elrcheck.kafka.controller_steps import KafkaBroker, Setup, Step
from elrcheck.kafka.partition_questions import NO_LEADER, BuilderQuestion, Ids, KafkaPartition

Q = TypeVar("Q")


@dataclass(frozen=True)
class Space(Generic[Q]):
    """All choices of one option for each axis. question: returns the question of a choice, None for a malformed one."""

    name: str
    axes: tuple[tuple[object, ...], ...]
    question: Callable[..., Q | None]

    @property
    def size(self) -> int:
        """The number of points, well formed or not."""
        return math.prod(len(axis) for axis in self.axes)

    def at(self, number: int) -> Q | None:
        """Return the question at a point."""
        chosen = []
        for axis in self.axes:
            number, digit = divmod(number, len(axis))
            chosen.append(axis[digit])
        return self.question(*chosen)


def shuffled(size: int, seed: int, start: int, stop: int) -> Iterator[int]:
    """Return the points number `start` to `stop` of a permutation of range(size)."""
    choice = random.Random(f"{seed}/{size}")
    stride = choice.randrange(size // 3 + 1, size + 1) if size > 3 else 1
    while math.gcd(stride, size) != 1:
        stride += 1
    offset = choice.randrange(size)
    for number in range(start, min(stop, size)):
        yield (offset + number * stride) % size


def subsets(members: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Return every subset, each ascending."""
    return tuple(chosen for k in range(len(members) + 1) for chosen in combinations(members, k))


# ---------------------------------------------------------------------------- questions to the builder

LARGEST = 3
Place: TypeAlias = Literal["out", "isr", "elr"]
PLACES: tuple[Place, ...] = ("out", "isr", "elr")
ELECTIONS = ("ONLINE", "PREFERRED", "UNCLEAN")
RECOVERIES = ("RECOVERED", "RECOVERING")
ON_AND_OFF = (True, False)
LEADER_EPOCH, PARTITION_EPOCH = 5, 9


def partition(
    places: tuple[Place, ...], leader: int, last_known: Ids = (), recovery: Any = "RECOVERED"
) -> KafkaPartition | None:
    """Return a partition with its replicas placed; None if its leader is not in the ISR."""
    isr = tuple(r for r, place in enumerate(places) if place == "isr")
    if leader != NO_LEADER and leader not in isr:
        return None
    return KafkaPartition(
        replicas=tuple(range(len(places))),
        isr=isr,
        elr=tuple(r for r, place in enumerate(places) if place == "elr"),
        last_known_elr=last_known,
        leader=leader,
        leader_epoch=LEADER_EPOCH,
        partition_epoch=PARTITION_EPOCH,
        recovery=recovery,
    )


@lru_cache(maxsize=1)
def builder_spaces() -> tuple[Space[BuilderQuestion], ...]:
    """Return every family for every number of replicas."""
    return tuple(space for replicas in range(1, LARGEST + 1) for space in _families(replicas))


def _families(n: int) -> Iterator[Space[BuilderQuestion]]:
    ids = range(n)
    places: tuple[Any, ...] = tuple(product(PLACES, repeat=n))
    leaders = (NO_LEADER, *ids)
    last_known: tuple[Any, ...] = ((), (NO_LEADER,), *((r,) for r in ids))
    several = subsets(ids)
    least = tuple(range(1, n + 1))
    yield Space(
        f"builder plain {n}", (places, leaders, last_known, several, ELECTIONS, several, least, ON_AND_OFF), _plain
    )
    yield Space(
        f"builder unclean {n}",
        (places, leaders, last_known, tuple(ids), RECOVERIES, ELECTIONS, several, least, ON_AND_OFF),
        _unclean,
    )
    yield Space(
        f"builder recovery {n}",
        (places, leaders, several, RECOVERIES, RECOVERIES, ("ONLINE", "UNCLEAN"), several, least, ON_AND_OFF),
        _recovery,
    )
    few = several if n < LARGEST else (tuple(ids), (0,), (n - 1,))
    yield Space(
        f"builder reassigning {n}",
        (places, leaders, tuple(product(("stays", "adding", "removing"), repeat=n)), several, few, least, ON_AND_OFF),
        _reassigning,
    )
    if n < LARGEST:
        beyond: tuple[Any, ...] = ("elr", "last known", "both")
        yield Space(
            f"builder strangers {n}",
            (places, leaders, beyond, several, ELECTIONS, subsets(range(n + 1)), least, ON_AND_OFF),
            _strangers,
        )


def _plain(
    places: Any, leader: int, last: Ids, isr: Ids, election: Any, alive: Ids, least: int, elr: bool
) -> BuilderQuestion | None:
    p = partition(places, leader, last)
    if p is None:
        return None
    return BuilderQuestion(p, alive, least, elr, election, target_isr=isr)


def _unclean(
    places: Any, leader: int, last: Ids, gone: int, recovery: Any, election: Any, alive: Ids, least: int, elr: bool
) -> BuilderQuestion | None:
    p = partition(places, leader, last, recovery)
    if p is None or gone in alive:
        return None
    isr = tuple(r for r in p.isr if r != gone)
    return BuilderQuestion(p, alive, least, elr, election, target_isr=isr, unclean_shutdown=(gone,))


def _recovery(
    places: Any, leader: int, isr: Ids, recovery: Any, target: Any, election: Any, alive: Ids, least: int, elr: bool
) -> BuilderQuestion | None:
    p = partition(places, leader, (), recovery)
    if p is None or (recovery, target) == ("RECOVERED", "RECOVERED"):
        return None
    return BuilderQuestion(p, alive, least, elr, election, target_isr=isr, target_recovery=target)


def _reassigning(
    places: Any, leader: int, moves: Any, isr: Ids, alive: Ids, least: int, elr: bool
) -> BuilderQuestion | None:
    p = partition(places, leader)
    adding = tuple(r for r, move in enumerate(moves) if move == "adding")
    removing = tuple(r for r, move in enumerate(moves) if move == "removing")
    whole = len(moves)
    if p is None or not adding + removing or len(adding) == whole or len(removing) == whole:
        return None
    return BuilderQuestion(p, alive, least, elr, target_isr=isr, target_adding=adding, target_removing=removing)


def _strangers(
    places: Any, leader: int, beyond: str, isr: Ids, election: Any, alive: Ids, least: int, elr: bool
) -> BuilderQuestion | None:
    stranger = len(places)
    p = partition(places, leader, () if beyond == "elr" else (stranger,))
    if p is None:
        return None
    members = p.elr if beyond == "last known" else (*p.elr, stranger)
    held = KafkaPartition(
        p.replicas, p.isr, members, p.last_known_elr, leader=p.leader, leader_epoch=5, partition_epoch=9
    )
    return BuilderQuestion(held, alive, least, elr, election, target_isr=isr)


# ---------------------------------------------------------------------------- single events

Single: TypeAlias = tuple[Setup, Step]
FENCED = {"fenced": True}
CONDITIONS: tuple[dict[str, bool], ...] = (
    {},
    FENCED,
    {"in_controlled_shutdown": True},
    {"registered": False, "fenced": True},
)
NAMES = ("active", "fenced", "leaving", "unregistered")


@lru_cache(maxsize=1)
def event_spaces() -> tuple[Space[Single], ...]:
    """Return one space for every number of replicas."""
    return tuple(_space(n, n + (n < LARGEST)) for n in range(1, LARGEST + 1))


def _space(n: int, brokers: int) -> Space[Single]:
    places: tuple[Any, ...] = tuple(product(PLACES, repeat=n))
    last_known: tuple[Any, ...] = ((), *((r,) for r in range(n)))
    conditions: tuple[Any, ...] = tuple(product(range(len(CONDITIONS)), repeat=brokers))
    axes = (
        places,
        (NO_LEADER, *range(n)),
        last_known,
        conditions,
        tuple(range(1, n + 1)),
        (True, False),
        (False, True),
        tuple(events(n, brokers)),
    )
    return Space(f"controller {n}", axes, _single)


def events(n: int, brokers: int) -> Iterator[Step]:
    """Return every event for a partition of n replicas in a cluster of this many brokers."""
    ids = range(brokers)
    for b in ids:
        yield from (steps.Fence(b), steps.Unfence(b), steps.ShutDown(b), steps.Unregister(b))
        yield from (steps.Register(b, "last"), steps.Register(b, "none"), steps.Register(b, "other"))
    for sender in range(n):
        for isr in subsets(range(n)):
            members = tuple(steps.Member(b) for b in isr)
            yield steps.AlterPartition(sender, members)
            yield steps.AlterPartition(sender, members, recovery="RECOVERING")
        everyone = tuple(steps.Member(b) for b in range(n))
        yield steps.AlterPartition(sender, (*everyone[:-1], steps.Member(n - 1, 1)))
        yield steps.AlterPartition(sender, tuple(steps.Member(b, None) for b in range(n)))
        yield steps.AlterPartition(sender, everyone, sender_epoch=-1)
        for off in (-1, 1):
            yield steps.AlterPartition(sender, everyone, leader_epoch=off)
            yield steps.AlterPartition(sender, everyone, partition_epoch=off)
    yield from (
        steps.Elect("PREFERRED"),
        steps.Elect("UNCLEAN"),
        steps.Balance(),
        steps.ElectUncleanly(),
        steps.Reassign(None),
    )
    for chosen in subsets(ids)[1:]:
        yield steps.Reassign(chosen)
    yield from (steps.Reassign(order) for order in list(permutations(ids))[1:])
    for value in range(1, n + 2):
        yield steps.Configure("topic", str(value))
        yield steps.Configure("cluster", str(value))
    yield from (steps.Configure("topic", None), steps.Configure("cluster", None))
    yield from (steps.SwitchElr(True), steps.SwitchElr(False))
    for b in range(n):
        yield from (steps.AssignDirectory(b, 0), steps.AssignDirectory(b, 1))
        for failed in (0, 1):
            yield from (steps.Heartbeat(b, want_fence=fenced, offline=(failed,)) for fenced in (False, True))
            yield steps.Heartbeat(b, want_shut_down=True, offline=(failed,))
        yield from (steps.Register(b, "last", (0,)), steps.Register(b, "last", (1,)), steps.Register(b, "none", (1,)))


def _single(
    places: Any, leader: int, last: Ids, conditions: Any, least: int, elr: bool, unclean: bool, step: Step
) -> Single | None:
    p = partition(places, leader, last)
    if p is None or (last and leader != NO_LEADER):
        return None
    lone = leader == NO_LEADER and len(p.isr) == 1
    if not lone and any(conditions[b] for b in p.isr):
        return None
    if leader == NO_LEADER and p.isr and not lone:
        return None
    if not possible(step, conditions) or _refused(step, leader, len(places)):
        return None
    setup = Setup(
        tuple(KafkaBroker(b, 100 + b, **CONDITIONS[condition]) for b, condition in enumerate(conditions)),
        p,
        elr=elr,
        topic_min_isr=least,
        topic_unclean=unclean,
    )
    return setup, step


def possible(step: Step, conditions: Any) -> bool:
    """Return whether Kafka calls the method: for registered brokers only, and to unfence only without a shutdown.

    A heartbeat of a fenced broker that asks to stop says nothing of a partition.
    """
    match step:
        case steps.Fence(b) | steps.ShutDown(b):
            return bool(NAMES[conditions[b]] != "unregistered")
        case steps.Unfence(b):
            return NAMES[conditions[b]] in ("active", "fenced")
        case steps.AssignDirectory(b):
            return bool(NAMES[conditions[b]] != "unregistered")
        case steps.Heartbeat(b, _, want_shut_down):
            return NAMES[conditions[b]] == "active" or (NAMES[conditions[b]] == "fenced" and not want_shut_down)
    return True


def _refused(step: Step, leader: int, replicas: int) -> bool:
    """Return whether a broker proposes an ISR without leading, apart from the plain one of all replicas."""
    if not isinstance(step, steps.AlterPartition) or step.sender == leader:
        return False
    return step != steps.AlterPartition(step.sender, tuple(steps.Member(b) for b in range(replicas)))
