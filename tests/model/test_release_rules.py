"""Rules in which releases of Kafka differ, or that were once read differently: one decision each.

The expected outcomes are what Kafka's own controller classes of these releases did with the same event.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from elrcheck.lang.runtime import EMPTY
from elrcheck.model.config import Config
from elrcheck.model.control_plane.controller_event import (
    BalanceEvent,
    CancelReassignmentEvent,
    Decided,
    DirectoriesEvent,
    ElectionType,
    ElectLeadersEvent,
    FenceEvent,
    MinIsrEvent,
    MinIsrLevel,
    PeriodicElectionEvent,
    ReassignEvent,
    RegisterEvent,
    UnfenceEvent,
    UnregisterEvent,
)
from elrcheck.model.control_plane.decide import decide
from elrcheck.model.kafka_error import Error
from elrcheck.model.replication_control import Controller
from elrcheck.model.state import Partition, Recovery, Registration, Settings
from elrcheck.model.variants import VARIANTS, variant_named, variant_names

RELEASED = ("code_4_0", "code_4_1_0", "code_4_1_1", "code_4_3")


def config(variant: str, **more: Any) -> Config:
    variant_ = variant_named(variant)
    assert variant_ is not None
    return Config(**{**variant_.knobs, **more})


def controller(
    replicas: tuple[int, ...],
    isr: Iterable[int] = (),
    *,
    live: Iterable[int] = (0, 1, 2),
    gone: Iterable[int] = (),
    min_isr: int = 2,
    elr_on: bool = True,
    **more: Any,
) -> Controller:
    members = frozenset(isr)
    values: dict[str, Any] = {
        "adding": EMPTY,
        "removing": EMPTY,
        "elr": EMPTY,
        "last_known_elr": EMPTY,
        "last_known_leader": None,
        "leader": min(members) if members else None,
        "leader_epoch": 5,
        "partition_epoch": 9,
        "recovery": Recovery.RECOVERED,
        **more,
    }
    registration = tuple(
        Registration(
            registered=b not in gone,
            fenced=b not in live,
            in_controlled_shutdown=False,
            shutdown_offset=0,
            epoch=100 + b,
        )
        for b in range(3)
    )
    settings = Settings(topic_min_isr=min_isr, cluster_min_isr=min_isr, broker_min_isr=(None,) * 3, elr_enabled=elr_on)
    return Controller(settings, Partition(replicas=replicas, isr=members, **values), registration)


def line(decided: Decided) -> str:
    """error: leader | ISR | ELR | LastKnownELR | leader epoch.partition epoch"""
    p = decided.controller.partition

    def text(members: frozenset[int]) -> str:
        return ",".join(map(str, sorted(members))) or "-"

    last = "none" if p.last_known_none else text(p.last_known_elr)
    leader = "-" if p.leader is None else p.leader
    epochs = f"{p.leader_epoch}.{p.partition_epoch}"
    return f"{decided.error.name}: {leader} | {text(p.isr)} | {text(p.elr)} | {last} | {epochs}"


# ------------------------------------------------------------------------------ the same in all of them


@pytest.mark.parametrize("variant", RELEASED)
def test_an_unregistered_id_registers_uncleanly_even_with_its_file(variant: str) -> None:
    s = controller((0, 1), (0,), live=(0,), gone=(1,), elr=frozenset({1}))
    assert line(decide(config(variant), s, RegisterEvent(1, s.registration[1].epoch, True))) == (
        "NONE: 0 | 0 | - | - | 5.10"
    )
    off = controller((0, 1), (0,), live=(0,), gone=(1,), elr_on=False)
    assert line(decide(config(variant), off, RegisterEvent(1, 0, True))) == "NONE: 0 | 0 | - | - | 5.9"


def test_unfencing_a_stranger_looks_at_a_partition_without_a_leader() -> None:
    """4.0 then elects the last known leader, which is fenced (KAFKA-19522)."""
    s = controller((0, 1), live=(), last_known_elr=frozenset({0}))
    assert line(decide(config("code_4_0"), s, UnfenceEvent(2))) == "NONE: 0 | 0 | - | - | 6.10"
    assert line(decide(config("code_4_1_0"), s, UnfenceEvent(2))) == "NONE: - | - | - | 0 | 5.9"


@pytest.mark.parametrize("variant", [*RELEASED, "kip_full"])
def test_balancing_does_not_ask_for_the_preferred_replica_first(variant: str) -> None:
    """The builder runs, and may complete a reassignment although the first replica cannot lead."""
    s = controller((0, 1, 2), (1, 2), live=(1, 2), min_isr=1, leader=1, removing=frozenset({0}))
    assert line(decide(config(variant), s, BalanceEvent())) == "NONE: 1 | 1,2 | - | - | 6.10"


@pytest.mark.parametrize("variant", RELEASED)
def test_a_report_of_a_directory_elects_cleanly_only(variant: str) -> None:
    c = config(variant, unclean_leader_election_enable=True)
    s = controller((0, 1), live=(1,), elr=frozenset({0}))
    after = decide(c, s, DirectoriesEvent(moved=True))
    assert after.controller.partition.leader is None
    assert after.controller.partition.partition_epoch == 10


@pytest.mark.parametrize(("variant", "elr"), [(v, "1" if v == "code_4_3" else "-") for v in RELEASED])
def test_a_report_without_news_runs_the_builder_all_the_same(variant: str, elr: str) -> None:
    s = controller((0, 1), (0,), live=(0,), elr=frozenset({1}))
    epoch = 9 if elr == "1" else 10
    again = decide(config(variant), s, DirectoriesEvent(moved=False))
    assert line(again) == f"NONE: 0 | 0 | {elr} | - | 5.{epoch}"


# ------------------------------------------------------------------------------ an election that fails


@pytest.mark.parametrize("variant", RELEASED)
def test_a_reassignment_cannot_elect_a_broker_that_it_adds(variant: str) -> None:
    """F-20: broker 0 was removed and is in the ELR; its directory is not known to the old registration."""
    s = controller((1,), live=(0,), elr=frozenset({0}), min_isr=2)
    refused = decide(config(variant), s, ReassignEvent((0, 1)))
    assert line(refused) == "UNKNOWN_SERVER_ERROR: - | - | 0 | - | 5.9"
    fenced = controller((1,), live=(), elr=frozenset({0}), min_isr=2)
    moved = decide(config(variant), fenced, ReassignEvent((0, 1)))
    assert moved.error == Error.NONE
    assert line(decide(config(variant), moved.controller, UnfenceEvent(0))).startswith("NONE: 0 | 0 | - ")


def test_a_last_known_leader_that_is_no_replica_makes_every_election_a_fault() -> None:
    c = config("code_4_1_1", unclean_leader_election_enable=True)
    s = controller((1, 2), live=(0,), last_known_elr=frozenset({0}))
    events = [
        decide(c, s, BalanceEvent()),
        decide(c, s, PeriodicElectionEvent()),
        decide(c, s, ElectLeadersEvent(ElectionType.PREFERRED, None)),
        decide(c, s, ElectLeadersEvent(ElectionType.UNCLEAN, None)),
        decide(c, s, UnfenceEvent(1)),
    ]
    assert {line(one) for one in events} == {"UNKNOWN_SERVER_ERROR: - | - | - | 0 | 5.9"}
    assert all(one.controller == s for one in events)
    last = controller((1, 2), (1,), live=(0, 1), last_known_elr=frozenset({0}))
    assert decide(c, last, FenceEvent(1)).error == Error.NONE  # the ISR was not empty, so 1 is in the ELR now
    alone = controller((1, 2), live=(0,), elr=frozenset({1}), last_known_elr=frozenset({0}))
    assert decide(c, alone, RegisterEvent(1, 0, True)) == Decided(Error.UNKNOWN_SERVER_ERROR, alone)
    assert decide(c, alone, UnregisterEvent(1)).error == Error.NONE  # the code leaves 1 in the ELR


# ------------------------------------------------------------------------------ the last known leader


@pytest.mark.parametrize(
    ("variant", "expected"),
    [
        ("code_4_0", "NONE: - | - | - | none | 5.10"),
        ("code_4_1_0", "NONE: - | - | - | none | 5.10"),
        ("code_4_1_1", "NONE: - | - | - | - | 5.10"),
        ("code_4_3", "NONE: - | - | - | - | 5.10"),
    ],
)
def test_the_last_known_leader_of_a_partition_without_one(variant: str, expected: str) -> None:
    """F-26: ELR is switched on while the fenced 0 is the ISR of a partition without a leader."""
    s = controller((0,), (0,), live=(), leader=None)
    assert line(decide(config(variant), s, RegisterEvent(0, 0, True))) == expected


def test_4_0_elects_nobody_once_minus_one_is_stored() -> None:
    s = controller((0, 1), live=(0, 1), last_known_none=True)
    refused = decide(config("code_4_0"), s, ElectLeadersEvent(ElectionType.UNCLEAN, None))
    assert line(refused) == "ELIGIBLE_LEADERS_NOT_AVAILABLE: - | - | - | none | 5.9"
    granted = decide(config("code_4_1_0"), s, ElectLeadersEvent(ElectionType.UNCLEAN, None))
    assert line(granted) == "NONE: 0 | 0 | - | - | 6.10"


def test_4_1_1_forgets_the_last_known_leader_only_with_a_leader() -> None:
    """A stored one stays while nothing names a leader; 4.1.0 forgets it with the next record."""
    s = controller((0, 1), (0, 1), last_known_elr=frozenset({0}))
    for variant, last in (("code_4_1_0", "-"), ("code_4_1_1", "0")):
        after = decide(config(variant), s, FenceEvent(1))
        assert line(after) == f"NONE: 0 | 0 | 1 | {last} | 5.10"


def test_4_1_1_stores_minus_one_with_a_restated_absence() -> None:
    """A reassignment that drops a replica names the leader again, and there is none."""
    s = controller((0, 1), (0,), live=(), leader=None, adding=frozenset({1}))
    c = config("code_4_1_1", unclean_leader_election_enable=True)
    assert line(decide(c, s, CancelReassignmentEvent())) == "NONE: - | 0 | - | none | 6.10"


# ------------------------------------------------------------------------------ the index, partition 0


def test_a_cleared_elr_stays_in_the_index() -> None:
    s = controller((0, 1), (0,), live=(0,), elr=frozenset({1}))
    c = config("code_4_1_1")
    cleared = decide(c, s, MinIsrEvent(MinIsrLevel.CLUSTER, 0, 2)).controller
    assert [r.stale_entries for r in cleared.registration] == [0, 1, 0]
    once = controller((0, 1), (0, 1))
    twice = Controller(once.settings, once.partition, cleared.registration)
    assert line(decide(c, twice, RegisterEvent(1, 0, True))) == "NONE: 0 | 0 | - | - | 5.11"
    assert line(decide(c, once, RegisterEvent(1, 0, True))) == "NONE: 0 | 0 | - | - | 5.10"
    again = decide(c, twice, RegisterEvent(1, 0, True)).controller
    assert again.registration[1].stale_entries == 1
    off = config("code_4_1_1", elr_index_goes_stale=False)
    unchanged = decide(off, s, MinIsrEvent(MinIsrLevel.CLUSTER, 0, 2)).controller
    assert [r.stale_entries for r in unchanged.registration] == [0, 0, 0]


@pytest.mark.parametrize(("zero", "elr"), [(0, "-"), (1, "-"), (2, "1")])
def test_the_effective_min_isr_is_that_of_partition_zero(zero: int, elr: str) -> None:
    """A partition of one replica, min ISR 2: its ELR is cleared unless partition 0 has two replicas."""
    s = controller((0,), (0,), elr=frozenset({1}))
    c = config("code_4_1_1", partition_zero_replicas=zero)
    reported = decide(config("code_4_3", partition_zero_replicas=zero), s, DirectoriesEvent(moved=True))
    assert line(reported) == f"NONE: 0 | 0 | {elr} | - | 5.10"
    assert decide(c, s, FenceEvent(0)).controller.partition.leader is None


# ------------------------------------------------------------------------------ names


def test_an_alias_is_a_name_of_its_own() -> None:
    plain, alias = variant_named("code_4_1_1"), variant_named("code_4_1")
    assert plain is not None
    assert alias is not None
    assert (alias.name, alias.knobs, alias.kafka) == ("code_4_1", plain.knobs, plain.kafka)
    assert variant_named("code_4_2") is None
    assert len(set(variant_names())) == len(variant_names())


def test_each_release_has_one_variant() -> None:
    releases = [release for variant in VARIANTS for release in variant.kafka]
    assert len(set(releases)) == len(releases)
    assert {"3.9.1", "4.0.2", "4.1.0", "4.1.2", "4.2.1", "4.3.1", "4.4.0"} <= set(releases)
