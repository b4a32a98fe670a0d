"""All questions to PartitionChangeBuilder about partitions of up to three replicas.

Each family is exhaustive over its axes: every placement of the replicas in ISR and ELR and every leader, reachable or
not. Other fields have their usual value and vary in another family, which keeps the product small enough.

    plain        the target ISR, the election, who may lead, min ISR, ELR on or off, a last known leader
    unclean      a replica that just stopped uncleanly leaves the ISR, in either recovery state
    recovery     either recovery state, and a target for it
    reassigning  replicas that are being added or removed, up to the completion
    strangers    members of the ELR and last known leaders that hold no replica
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from typing import Any, Literal, TypeAlias

from elrcheck.kafka.conformance.question_space import Space, subsets
from elrcheck.kafka.partition_questions import NO_LEADER, BuilderQuestion, Ids, KafkaPartition

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
