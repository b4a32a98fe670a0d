"""What `awaited` says of a partition without a leader is what the change builder does next."""

from __future__ import annotations

from itertools import product

import pytest

from elrcheck.lang.runtime import EMPTY
from elrcheck.model.change_record import Election, target
from elrcheck.model.choices import LastKnownLeader, LklStorage
from elrcheck.model.choices import RecoveryStrategy as Strategy
from elrcheck.model.config import Config
from elrcheck.model.control_plane.partition import change
from elrcheck.model.queries.metrics import Awaited, awaited
from elrcheck.model.replication_control import Controller
from elrcheck.model.state import Partition, Registration, Settings
from support.admin_images import partition, settings

SETS = [(), (0,), (1,), (2,), (0, 1), (1, 2)]
STORAGES = [LklStorage.SEPARATE, LklStorage.OVERLOAD]


def leaderless() -> list[Partition]:
    """Every combination of small sets in which ISR, ELR and LastKnownELR are disjoint."""
    return [
        partition(isr=isr, elr=elr, last_known_elr=last_known, leader=None, last_known_leader=last)
        for isr, elr, last_known, last in product(SETS, SETS, SETS, (None, 0, 2))
        if len({*isr, *elr, *last_known}) == len(isr) + len(elr) + len(last_known)
    ]


def winners(c: Config, g: Settings, p: Partition) -> set[int]:
    """The replicas whose return, all others staying away, ends in a leader."""
    election = Election.UNCLEAN if c.unclean_leader_election_enable else Election.ONLINE
    seen = Controller(g, p, (Registration(True, False, False, 0, 1),) * 3)
    alone = {b: change(c, p, target(seen, p.isr, election, frozenset({b}), EMPTY)) for b in p.replicas}
    return {b for b, after in alone.items() if after.leader is not None}


def expected_winners(c: Config, g: Settings, p: Partition, what: Awaited) -> set[int]:
    match what:
        case Awaited.OPERATOR:
            return set()
        case Awaited.ANY_REPLICA:
            return set(p.replicas)
        case Awaited.ELIGIBLE_REPLICA:
            return set(p.isr or p.elr)
        case Awaited.LAST_KNOWN_LEADER:
            separate = c.lkl_storage == LklStorage.SEPARATE
            return {p.last_known_leader} if separate else set(p.last_known_elr)  # type: ignore[arg-type]
        case _:
            raise AssertionError(f"{what} without a recovery manager")


@pytest.mark.parametrize("storage", STORAGES, ids=lambda storage: storage.name)
@pytest.mark.parametrize("unclean", [False, True], ids=["clean", "unclean"])
@pytest.mark.parametrize("last", [LastKnownLeader.NEVER, LastKnownLeader.ACTIVE], ids=lambda last: last.name)
@pytest.mark.parametrize("elr", [True, False], ids=["elr", "no-elr"])
def test_the_change_builder_elects_whom_the_partition_waits_for(
    storage: LklStorage, unclean: bool, last: LastKnownLeader, elr: bool
) -> None:
    c = Config(lkl_storage=storage, unclean_leader_election_enable=unclean, last_known_leader=last)
    g = settings(min_isr=3, elr_enabled=elr)
    cases = leaderless()
    kinds = {awaited(c, g, p, Strategy.DISABLED) for p in cases}
    assert len(kinds) == (1 if unclean else 3 if elr and last == LastKnownLeader.ACTIVE else 2)
    for p in cases:
        what = awaited(c, g, p, Strategy.DISABLED)
        assert winners(c, g, p) == expected_winners(c, g, p, what), (what, p)
