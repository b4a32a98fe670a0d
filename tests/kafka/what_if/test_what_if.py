"""`what-if` against Kafka's rules; every expected value is worked out by hand from docs/semantics.md.

The names in the tests are those of that document: B.1 the epoch table, B.6 the order of the checks of
AlterPartition, E-n the scenarios, F-n the hazards.
"""

from __future__ import annotations

import pytest

from support.what_if_questions import Json, alter, ask, brokers, fence, partition, register, unfence

LEADERLESS = partition(isr=[], elr=[2], leader=-1, last_known_leader=2)
MOVING = partition(replicas=[1, 2, 4, 3], isr=[1, 2], adding=[4], removing=[3])


# ----------------------------------------------------------------- B.1: what moves the epochs


@pytest.mark.parametrize(
    ("op", "before", "live", "knobs", "epochs", "expected"),
    [
        (fence(1), partition(), None, {}, (6, 10), {"leader": 2, "isr": [2, 3], "elr": []}),
        (
            fence(1),
            partition(isr=[1]),
            brokers(1, fenced=(2, 3)),
            {},
            (6, 10),
            {"leader": -1, "isr": [], "elr": [1], "last_known_leader": 1},
        ),
        (
            unfence(2),
            LEADERLESS,
            brokers(fenced=(1, 2, 3)),
            {},
            (6, 10),
            {"leader": 2, "isr": [2], "elr": [], "last_known_leader": -1},
        ),
        (alter(1, 2, 3), partition(isr=[1, 2]), None, {}, (5, 10), {"isr": [1, 2, 3]}),
        (alter(1, 2), partition(), None, {}, (5, 10), {"isr": [1, 2], "elr": []}),
        (alter(1), partition(), None, {}, (5, 10), {"isr": [1], "elr": [2, 3]}),
        (alter(1, 2), partition(), None, {"bump_leader_epoch_on_isr_shrink": True}, (6, 10), {"leader": 1}),
        (
            alter(1, 2, 3),
            partition(isr=[1, 2]),
            None,
            {"bump_leader_epoch_on_isr_shrink": True},
            (5, 10),
            {"isr": [1, 2, 3]},
        ),
        (fence(1), partition(), None, {"bump_leader_epoch_on_isr_shrink": True}, (6, 10), {"leader": 2}),
        (
            register(2, False),
            partition(isr=[1], elr=[2]),
            brokers(1, 3, fenced=(2,)),
            {},
            (5, 10),
            {"isr": [1], "elr": [], "last_known_elr": [2], "leader": 1},
        ),
        (
            {"type": "change", "target_replicas": [1, 2, 4, 3], "target_adding": [4], "target_removing": [3]},
            partition(isr=[1, 2]),
            brokers(1, 2, 3, 4),
            {},
            (5, 10),
            {"replicas": [1, 2, 4, 3], "adding": [4], "removing": [3], "isr": [1, 2]},
        ),
        (
            {"type": "change", "target_replicas": [2, 1, 3]},
            partition(),
            None,
            {},
            (5, 10),
            {"replicas": [2, 1, 3], "leader": 1},
        ),
        (
            alter(1, 2, 3, 4),
            partition(replicas=[1, 2, 3, 4], adding=[4]),
            brokers(1, 2, 3, 4),
            {},
            (5, 10),
            {"adding": [], "isr": [1, 2, 3, 4], "leader": 1},
        ),
        (
            alter(1, 2, 4),
            MOVING,
            brokers(1, 2, 3, 4),
            {},
            (6, 10),
            {"replicas": [1, 2, 4], "isr": [1, 2, 4], "adding": [], "removing": [], "leader": 1},
        ),
        (
            alter(1),
            partition(isr=[1], leader_recovery_state="RECOVERING"),
            None,
            {},
            (5, 10),
            {"leader_recovery_state": "RECOVERED", "isr": [1]},
        ),
        (alter(1, 2, 3), partition(), None, {}, (5, 9), {"isr": [1, 2, 3]}),
    ],
    ids=[
        "leader-changes",
        "leader-none",
        "leader-back",
        "isr-grows",
        "isr-shrinks",
        "isr-shrinks-below-min-isr",
        "isr-shrinks-old-version",
        "isr-grows-old-version",
        "leader-changes-old-version-once",
        "elr-only",
        "reassignment-starts",
        "reorder",
        "pure-add-completes",
        "completion-drops-a-replica",
        "recovery-state-only",
        "nothing-changes",
    ],
)
def test_epoch_table(
    op: Json, before: Json, live: Json | None, knobs: Json, epochs: tuple[int, int], expected: Json
) -> None:
    after = ask(op, before, live, **knobs)
    assert after["error"] == "NONE"
    assert (after["partition"]["leader_epoch"], after["partition"]["partition_epoch"]) == epochs
    assert {key: after["partition"][key] for key in expected} == expected


def test_epochs_may_start_at_zero() -> None:
    before = partition(leader_epoch=0, partition_epoch=0)
    after = ask(alter(1, 2, leader_epoch=0, partition_epoch=0), before)
    assert after["error"] == "NONE"
    assert (after["partition"]["leader_epoch"], after["partition"]["partition_epoch"]) == (0, 1)


# ----------------------------------------------------------------- B.6: AlterPartition in order

AT_WORK = partition(isr=[1, 2])
RECOVERING = partition(isr=[1], leader_recovery_state="RECOVERING")
FENCED_3 = brokers(1, 2, 4, fenced=(3,))
STOPPING_3 = brokers(1, 2, 4, stopping=(3,))
FOUR = brokers(1, 2, 3, 4)
BACK = {"leader_recovery_state": "RECOVERING"}


@pytest.mark.parametrize(
    ("op", "before", "live", "error"),
    [
        # each check alone
        (alter(1, 2, sender=77), AT_WORK, FOUR, "STALE_BROKER_EPOCH"),
        (alter(1, 2, sender_broker_epoch=100), AT_WORK, FOUR, "STALE_BROKER_EPOCH"),
        (alter(1, 2, sender_broker_epoch=-1), AT_WORK, FOUR, "STALE_BROKER_EPOCH"),
        (alter(1, 2, leader_epoch=6), AT_WORK, FOUR, "NOT_CONTROLLER"),
        (alter(1, 2, partition_epoch=10), AT_WORK, FOUR, "NOT_CONTROLLER"),
        (alter(1, 2, leader_epoch=4), AT_WORK, FOUR, "FENCED_LEADER_EPOCH"),
        (alter(1, 2, sender=2), AT_WORK, FOUR, "INVALID_REQUEST"),
        (alter(1, 2, partition_epoch=8), AT_WORK, FOUR, "INVALID_UPDATE_VERSION"),
        (alter(1, 2, 2), AT_WORK, FOUR, "INVALID_REQUEST"),
        (alter(1, 2, 4), AT_WORK, FOUR, "INVALID_REQUEST"),
        (alter(1, 2, 9), AT_WORK, FOUR, "INVALID_REQUEST"),
        (alter(2, 3), AT_WORK, FOUR, "INVALID_REQUEST"),
        (alter(), AT_WORK, FOUR, "INVALID_REQUEST"),
        (alter(1, 2, **BACK), RECOVERING, FOUR, "INVALID_REQUEST"),
        (alter(1, **BACK), AT_WORK, FOUR, "INVALID_REQUEST"),
        (alter(1, 3), AT_WORK, FENCED_3, "INELIGIBLE_REPLICA"),
        (alter(1, 3), AT_WORK, STOPPING_3, "INELIGIBLE_REPLICA"),
        (alter(1, 2, new_isr=[[1, 101], [2, 102], [3, 99]]), AT_WORK, FOUR, "INELIGIBLE_REPLICA"),
        (alter(1, 2, new_isr=[[1, 101], [2, 102], [3, 0]]), AT_WORK, FOUR, "INELIGIBLE_REPLICA"),
        # two at once: the first in order wins
        (alter(1, 2, sender_broker_epoch=0, leader_epoch=6), AT_WORK, FOUR, "STALE_BROKER_EPOCH"),
        (alter(1, 1, sender=77, leader_epoch=4), AT_WORK, FOUR, "STALE_BROKER_EPOCH"),
        (alter(1, 2, leader_epoch=4, partition_epoch=10), AT_WORK, FOUR, "NOT_CONTROLLER"),
        (alter(1, 2, sender=2, leader_epoch=6), AT_WORK, FOUR, "NOT_CONTROLLER"),
        (alter(1, 2, sender=2, leader_epoch=4), AT_WORK, FOUR, "FENCED_LEADER_EPOCH"),
        (alter(1, 2, leader_epoch=4, partition_epoch=8), AT_WORK, FOUR, "FENCED_LEADER_EPOCH"),
        (alter(1, 2, sender=2, partition_epoch=8), AT_WORK, FOUR, "INVALID_REQUEST"),
        (alter(1, 1, partition_epoch=8), AT_WORK, FOUR, "INVALID_UPDATE_VERSION"),
        (alter(1, 9, partition_epoch=8), AT_WORK, FOUR, "INVALID_UPDATE_VERSION"),
        (alter(1, 9, leader_epoch=4), AT_WORK, FOUR, "FENCED_LEADER_EPOCH"),
        (alter(1, 3, 3), AT_WORK, FENCED_3, "INVALID_REQUEST"),
        (alter(2, 3), AT_WORK, FENCED_3, "INVALID_REQUEST"),
        (alter(1, 3, **BACK), RECOVERING, FENCED_3, "INVALID_REQUEST"),
        (alter(1, 3, partition_epoch=8), AT_WORK, FENCED_3, "INVALID_UPDATE_VERSION"),
    ],
)
def test_alter_partition_refuses(op: Json, before: Json, live: Json, error: str) -> None:
    assert ask(op, before, live) == {"error": error, "partition": before, "brokers": live}


@pytest.mark.parametrize(
    ("registered", "carried", "error"),
    [
        (103, -1, "NONE"),
        (103, 103, "NONE"),
        (0, 0, "NONE"),
        (0, -1, "NONE"),
        (0, 1, "INELIGIBLE_REPLICA"),
        (1, 0, "INELIGIBLE_REPLICA"),
    ],
)
def test_a_member_epoch_of_minus_one_is_not_compared(registered: int, carried: int, error: str) -> None:
    live = brokers(1, 2, 3)
    live["3"]["epoch"] = registered
    assert ask(alter(new_isr=[[1, 101], [2, -1], [3, carried]]), AT_WORK, live)["error"] == error


def test_knobs_drop_the_checks_of_kip_841_and_kip_903() -> None:
    assert ask(alter(1, 2, 3), AT_WORK, FENCED_3, alter_checks_fenced=False)["partition"]["isr"] == [1, 2, 3]
    old = alter(new_isr=[[1, 101], [2, 102], [3, 7]])
    assert ask(old, AT_WORK, alter_checks_epochs=False)["partition"]["isr"] == [1, 2, 3]


def test_a_recovering_leader_may_stay_so_alone() -> None:
    assert ask(alter(1, **BACK), RECOVERING) == {"error": "NONE", "partition": RECOVERING, "brokers": brokers(1, 2, 3)}


def test_completion_that_drops_the_leader_is_applied_and_answered_with_an_error() -> None:
    before = partition(replicas=[2, 3, 1], isr=[1, 2], removing=[1])
    after = ask(alter(1, 2, 3), before)
    assert after["error"] == "NEW_LEADER_ELECTED"
    assert after["partition"] == partition(replicas=[2, 3], isr=[2, 3], leader=2, leader_epoch=6, partition_epoch=10)
