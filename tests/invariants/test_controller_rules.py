"""Every rule of the controller can fail: hand-made steps, right and wrong, in plain Python."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from elrcheck.invariants.controller_events import AnyEvent, EventKind, after, possible
from elrcheck.invariants.controller_legal import legal
from elrcheck.invariants.modules import load_controller_model, rules_of
from elrcheck.lang.runtime import put
from elrcheck.model.config import Config
from elrcheck.model.control_plane.controller_event import AlterPartitionEvent
from elrcheck.model.replication_control import Controller
from elrcheck.model.state import InfoStage, LogInfo, Partition, Recovery, Registration, Settings

CONFIG = Config(broker_count=4)
ACTIVE = Registration(registered=True, fenced=False, in_controlled_shutdown=False, shutdown_offset=0, epoch=1)
FENCED = replace(ACTIVE, fenced=True)

# Replicas 0 to 2, broker 3 holds none. Min ISR 3, so the ISR {0, 1} is below it and 2 is eligible.
BEFORE = Controller(
    Settings(topic_min_isr=3, cluster_min_isr=1, broker_min_isr=(None,) * 4, elr_enabled=True),
    Partition(
        replicas=(0, 1, 2),
        adding=frozenset(),
        removing=frozenset(),
        isr=frozenset({0, 1}),
        elr=frozenset({2}),
        last_known_elr=frozenset(),
        last_known_leader=None,
        leader=0,
        leader_epoch=5,
        partition_epoch=9,
        recovery=Recovery.RECOVERED,
    ),
    (ACTIVE, ACTIVE, FENCED, ACTIVE),
)
EVENT = AnyEvent(
    kind=EventKind.FENCE,
    broker=0,
    presented=0,
    brings_directory=True,
    request=AlterPartitionEvent(0, 1, 5, 9, frozenset({0, 1, 2}), (0, 0, 0, 0), Recovery.RECOVERED),
    replicas=(0, 1),
    value=2,
    info=LogInfo(InfoStage.NONE, 0, 0, 0, 0),
)
RULES = {fn.ident: fn for fn in rules_of(load_controller_model())}


def partition(t: Controller, **changes: object) -> Controller:
    return replace(t, partition=replace(t.partition, **changes))  # type: ignore[arg-type]


def test_the_outcome_of_fencing_the_leader_is_right() -> None:
    """Derived from B.1 to B.3: 1 leads, 0 becomes eligible beside 2, both epochs move by one."""
    assert legal(CONFIG, BEFORE)
    assert possible(CONFIG, BEFORE, EVENT)
    t = after(CONFIG, BEFORE, EVENT)
    expected = partition(
        BEFORE, leader=1, isr=frozenset({1}), elr=frozenset({0, 2}), leader_epoch=6, partition_epoch=10
    )
    assert t == replace(expected, registration=(FENCED, ACTIVE, FENCED, ACTIVE))
    assert [ident for ident, fn in RULES.items() if not fn.source(CONFIG, BEFORE, EVENT, t)] == []


# What is done to the right outcome -> exactly the rules that object.
SPOILED: list[tuple[Callable[[Controller], Controller], set[str]]] = [
    (lambda t: replace(t, settings=replace(t.settings, topic_min_isr=0)), {"CT-1", "CT-7"}),
    (lambda t: replace(t, settings=replace(t.settings, broker_min_isr=(2, None, None, None))), {"CT-1"}),
    (lambda t: partition(t, adding=frozenset({2}), removing=frozenset({2})), {"CT-2"}),
    (lambda t: partition(t, replicas=(0, 1, 2, 2)), {"CT-2"}),
    (lambda t: partition(t, leader=3), {"CT-3", "CT-12", "CT-19"}),
    (lambda t: partition(t, leader=None), {"CT-3", "CT-4", "CT-10"}),
    (lambda t: partition(t, isr=frozenset({0, 1}), elr=frozenset({2})), {"CT-5"}),
    (lambda t: partition(t, elr=frozenset({0, 1, 2})), {"CT-6"}),
    (lambda t: replace(t, settings=replace(t.settings, topic_min_isr=1)), {"CT-7"}),
    (lambda t: partition(t, last_known_elr=frozenset({3})), {"CT-8"}),
    (lambda t: partition(t, elr=frozenset({0, 2, 3})), {"CT-8", "CT-16"}),
    (lambda t: replace(t, registration=put(t.registration, 2, replace(FENCED, registered=False))), {"CT-9"}),
    (lambda t: partition(t, last_known_leader=0), {"CT-11"}),
    (lambda t: replace(t, registration=put(t.registration, 1, FENCED)), {"CT-5", "CT-13"}),
    (lambda t: partition(t, leader_epoch=5), {"CT-14"}),
    (lambda t: partition(t, leader_epoch=7), {"CT-14"}),
    (lambda t: partition(t, partition_epoch=9), {"CT-15"}),
    (lambda t: partition(t, elr=frozenset({2})), {"CT-17"}),
    (lambda t: partition(t, elr=frozenset()), {"CT-17"}),
    (lambda t: partition(t, recovery=Recovery.RECOVERING), {"CT-19"}),
]


@pytest.mark.parametrize("number", range(len(SPOILED)))
def test_a_spoiled_outcome_breaks_exactly_its_rules(number: int) -> None:
    spoil, expected = SPOILED[number]
    t = spoil(after(CONFIG, BEFORE, EVENT))
    assert {ident for ident, fn in RULES.items() if not fn.source(CONFIG, BEFORE, EVENT, t)} == expected


def test_an_unclean_broker_may_not_stay() -> None:
    """CT-18: treated as if it had stopped cleanly, broker 0 stays eligible."""
    unclean = replace(EVENT, kind=EventKind.REGISTER_UNCLEAN)
    fenced = after(CONFIG, BEFORE, EVENT)
    assert not RULES["CT-18"].source(CONFIG, BEFORE, unclean, fenced)
    right = after(CONFIG, BEFORE, unclean)
    assert right.partition.elr == {2}
    assert all(fn.source(CONFIG, BEFORE, unclean, right) for fn in RULES.values())


def test_a_reassignment_ends_with_min_isr_members() -> None:
    """CT-20: two replicas with min ISR 3 need both in the ISR; and without the gate one would do."""
    target = replace(EVENT, kind=EventKind.REASSIGN)
    right = after(CONFIG, BEFORE, target)
    assert right.partition.replicas == (0, 1)
    assert all(fn.source(CONFIG, BEFORE, target, right) for fn in RULES.values())
    early = partition(right, isr=frozenset({0}), elr=frozenset({1}))
    assert {ident for ident, fn in RULES.items() if not fn.source(CONFIG, BEFORE, target, early)} == {"CT-20"}


def test_a_forgotten_wish_is_noticed() -> None:
    """CT-20: the replicas that stay are the wanted ones, and after a cancellation the ones before it."""
    target = replace(EVENT, kind=EventKind.REASSIGN, replicas=(0, 1, 3))
    right = after(CONFIG, BEFORE, target)
    assert frozenset(right.partition.replicas) - right.partition.removing == {0, 1, 3}
    assert RULES["CT-20"].source(CONFIG, BEFORE, target, right)
    assert not RULES["CT-20"].source(CONFIG, BEFORE, target, partition(right, removing=frozenset()))
    cancel = replace(EVENT, kind=EventKind.CANCEL_REASSIGNMENT)
    moving = partition(right, isr=frozenset({0, 1, 2}), elr=frozenset())
    back = after(CONFIG, moving, cancel)
    assert frozenset(back.partition.replicas) == {0, 1, 2}
    assert RULES["CT-20"].source(CONFIG, moving, cancel, back)
    assert not RULES["CT-20"].source(CONFIG, moving, cancel, partition(back, replicas=(0, 1)))


def test_an_unclean_topic_is_no_reason_to_cancel_below_min_isr() -> None:
    """KIP-966 demands min ISR members of every cancellation; a release asks for none."""
    unclean = replace(CONFIG, unclean_leader_election_enable=True)
    moving = partition(BEFORE, replicas=(0, 1, 2, 3), adding=frozenset({3}), isr=frozenset({0, 3}))
    event = replace(EVENT, kind=EventKind.CANCEL_REASSIGNMENT)
    assert after(unclean, moving, event).partition == moving.partition
    assert after(replace(unclean, cancel_gate=False), moving, event).partition.adding == frozenset()


def test_alter_partition_ends_the_recovery_of_a_leader() -> None:
    """CT-19: the leader reports RECOVERED, and an AlterPartition that is granted records it."""
    recovering = partition(BEFORE, recovery=Recovery.RECOVERING)
    two = replace(EVENT.request, isr=frozenset({0}))
    event = replace(EVENT, kind=EventKind.ALTER_PARTITION, request=two)
    right = after(CONFIG, recovering, event)
    assert right.partition.recovery == Recovery.RECOVERED
    assert RULES["CT-19"].source(CONFIG, recovering, event, right)
    forgotten = partition(right, recovery=Recovery.RECOVERING)
    assert not RULES["CT-19"].source(CONFIG, recovering, event, forgotten)


def test_epochs_of_a_removed_replica_and_of_old_metadata() -> None:
    """B.1: a replica that leaves moves the leader epoch; before 3.6 a shrinking ISR does as well."""
    target = replace(EVENT, kind=EventKind.REASSIGN)
    moved = after(CONFIG, BEFORE, target).partition
    assert (moved.leader, moved.leader_epoch, moved.partition_epoch) == (0, 6, 10)
    shrink = replace(EVENT, kind=EventKind.ALTER_PARTITION, request=replace(EVENT.request, isr=frozenset({0})))
    old = replace(CONFIG, bump_leader_epoch_on_isr_shrink=True)
    for config, epoch in ((CONFIG, 5), (old, 6)):
        t = after(config, BEFORE, shrink)
        assert (t.partition.isr, t.partition.elr) == ({0}, {1, 2})
        assert (t.partition.leader_epoch, t.partition.partition_epoch) == (epoch, 10)
        assert all(fn.source(config, BEFORE, shrink, t) for fn in RULES.values())


def test_only_alter_partition_adds_a_candidate() -> None:
    """CT-16: 3 comes from nowhere; a designated one, of a leaderless partition, may."""
    t = after(CONFIG, BEFORE, EVENT)
    stranger = partition(t, replicas=(0, 1, 2, 3), elr=frozenset({0, 2, 3}))
    assert not RULES["CT-16"].source(CONFIG, BEFORE, EVENT, stranger)
    leaderless = replace(
        partition(BEFORE, isr=frozenset(), elr=frozenset(), leader=None), registration=(FENCED, FENCED, ACTIVE, ACTIVE)
    )
    assert legal(CONFIG, leaderless)
    named = replace(EVENT, kind=EventKind.DESIGNATE, broker=2)
    chosen = after(CONFIG, leaderless, named)
    assert (chosen.partition.leader, chosen.partition.isr) == (2, {2})
    assert chosen.partition.recovery == Recovery.RECOVERING
    assert all(fn.source(CONFIG, leaderless, named, chosen) for fn in RULES.values())
    preferred = replace(named, kind=EventKind.ELECT_PREFERRED)
    assert not RULES["CT-12"].source(CONFIG, leaderless, preferred, chosen)
