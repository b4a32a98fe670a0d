"""Every single event of the controller with every condition of the brokers, for up to three replicas.

Partition and brokers satisfy what every record does: an ISR member is active, or the last member of a partition
without a leader; a last known leader is stored only while there is no leader. Apart from that every combination
occurs, reachable or not. With one or two replicas
there is one broker more, which holds no replica. A broker that does not lead proposes one ISR only: any is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import permutations, product
from typing import Any, TypeAlias

from elrcheck.kafka import controller_steps as steps
from elrcheck.kafka.conformance.builder_space import LARGEST, PLACES, partition
from elrcheck.kafka.conformance.question_space import Space, subsets
from elrcheck.kafka.controller_steps import KafkaBroker, Setup, Step
from elrcheck.kafka.partition_questions import NO_LEADER, Ids

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
