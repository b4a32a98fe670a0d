"""`what-if`: registrations, elections, new partitions, and the shape of questions and answers.

The expected values are worked out by hand from docs/semantics.md (B.3, B.8, B.17).
"""

from __future__ import annotations

from typing import Any

import pytest

from elrcheck.kafka.what_if.ask import answer
from support.what_if_questions import Json, brokers


def question(op: Json, live: Json | None = None, top: Json | None = None, **changed: Any) -> Json:
    """Replicas 1, 2, 3, all in sync, 1 leads; min ISR 2. `changed` are fields of the partition."""
    return {
        "min_isr": 2,
        **(top or {}),
        "brokers": brokers(1, 2, 3) if live is None else live,
        "partition": {
            "replicas": [1, 2, 3],
            "isr": [1, 2, 3],
            "elr": [],
            "last_known_elr": [],
            "adding": [],
            "removing": [],
            "leader": 1,
            "leader_epoch": 5,
            "partition_epoch": 9,
            "leader_recovery_state": "RECOVERED",
            **changed,
        },
        "op": op,
    }


def line(reply: Json) -> str:
    """error: leader | ISR | ELR | LastKnownELR | leader epoch . partition epoch"""
    p = reply["partition"]
    columns = [",".join(map(str, p[name])) or "-" for name in ("isr", "elr", "last_known_elr")]
    epochs = f"{p['leader_epoch']}.{p['partition_epoch']}"
    return f"{reply['error']}: " + " | ".join([str(p["leader"]), *columns, epochs])


# ---------------------------------------------------------------------------- B.3: registration


@pytest.mark.parametrize(
    ("variant", "clean", "broker", "before", "expected"),
    [
        ("kip_full", True, 2, {"isr": [1, 2]}, "NONE: 1 | 1 | 2 | - | 5.10"),
        ("kip_full", False, 2, {"isr": [1, 2]}, "NONE: 1 | 1 | - | 2 | 5.10"),
        ("kip_full", True, 1, {"isr": [1, 2]}, "NONE: 2 | 2 | 1 | - | 6.10"),
        ("kip_full", False, 1, {"isr": [1, 2]}, "NONE: 2 | 2 | - | 1 | 6.10"),
        ("kip_full", True, 2, {"isr": [1], "elr": [2]}, "NONE: 1 | 1 | 2 | - | 5.9"),
        ("kip_full", False, 2, {"isr": [1], "elr": [2]}, "NONE: 1 | 1 | - | 2 | 5.10"),
        ("kip_full", False, 3, {"isr": [1, 2]}, "NONE: 1 | 1,2 | - | - | 5.9"),
        ("kip_full", False, 1, {"isr": [1]}, "NONE: -1 | - | - | 1 | 6.10"),
        ("kip_full", True, 1, {"isr": [1]}, "NONE: -1 | - | 1 | - | 6.10"),
        ("code_4_1", False, 2, {"isr": [1, 2]}, "NONE: 1 | 1 | - | - | 5.10"),
        ("code_4_1", True, 2, {"isr": [1, 2]}, "NONE: 1 | 1 | 2 | - | 5.10"),
        ("code_4_1", False, 1, {"isr": [1]}, "NONE: -1 | - | - | 1 | 6.10"),
        # The file is sent but not compared: every restart is unclean (F-3).
        ("code_2024_10", True, 2, {"isr": [1, 2]}, "NONE: 1 | 1 | - | - | 5.10"),
        # Without ELR the older code does nothing at all, not even to the leader (F-2).
        ("legacy", False, 1, {"isr": [1, 2]}, "NONE: 1 | 1,2 | - | - | 5.9"),
        ("legacy_strict", True, 2, {"isr": [1, 2]}, "NONE: 1 | 1,2 | - | - | 5.9"),
    ],
)
def test_registration(variant: str, clean: bool, broker: int, before: Json, expected: str) -> None:
    op = {"type": "register", "broker": broker, "clean": clean}
    reply = answer(question(op, top={"variant": variant}, **before))
    assert line(reply) == expected
    anew = {"fenced": True, "in_controlled_shutdown": False, "epoch": 101 + broker}
    assert reply["brokers"] == {**brokers(1, 2, 3), str(broker): anew}


def test_registration_ends_a_controlled_shutdown() -> None:
    op = {"type": "register", "broker": 2, "clean": True}
    reply = answer(question(op, brokers(1, 3, stopping=(2,)), isr=[1, 3]))
    assert reply["brokers"]["2"] == {"fenced": True, "in_controlled_shutdown": False, "epoch": 103}


@pytest.mark.parametrize("clean", [True, False])
def test_registration_in_4_1_with_elr_off_is_like_fencing(clean: bool) -> None:
    top = {"variant": "code_4_1", "elr_enabled": False}
    op = {"type": "register", "broker": 1, "clean": clean}
    assert line(answer(question(op, top=top, isr=[1, 2]))) == "NONE: 2 | 2 | - | - | 6.10"
    assert line(answer(question(op, top=top, isr=[1]))) == "NONE: -1 | 1 | - | - | 6.10"


def test_an_elr_member_in_controlled_shutdown_does_not_lead() -> None:
    op = {"type": "fence", "broker": 1}
    reply = answer(question(op, brokers(1, stopping=(2, 3)), isr=[1], elr=[2]))
    assert line(reply) == "NONE: -1 | - | 1,2 | - | 6.10"


@pytest.mark.parametrize(
    ("op", "live"),
    [
        ({"type": "fence", "broker": 2}, brokers(1, 3, fenced=(2,))),
        ({"type": "unfence", "broker": 2}, brokers(1, 2, 3)),
        ({"type": "fence", "broker": 4}, brokers(1, 2, 3, fenced=(4,))),
    ],
)
def test_fencing_twice_changes_nothing(op: Json, live: Json) -> None:
    asked_of = question(op, live, isr=[3, 1, 2])
    same = asked_of["partition"]
    assert answer(asked_of) == {"error": "NONE", "partition": same, "brokers": live}


# ---------------------------------------------------------------------------- B.8 and B.17

PREFERRED = {"type": "elect_leaders", "election_type": "PREFERRED"}
UNCLEAN = {"type": "elect_leaders", "election_type": "UNCLEAN"}
BALANCE = {"type": "balance_preferred"}
PERIODIC = {"type": "maybe_elect_unclean"}
ALLOWED = {"unclean_leader_election_enable": True}
GONE = {"isr": [], "leader": -1}


@pytest.mark.parametrize(
    ("op", "live", "top", "before", "expected"),
    [
        (PREFERRED, None, {}, {}, "ELECTION_NOT_NEEDED: 1 | 1,2,3 | - | - | 5.9"),
        (PREFERRED, None, {}, {"leader": 2}, "NONE: 1 | 1,2,3 | - | - | 6.10"),
        (PREFERRED, None, {}, {"leader": 2, "isr": [2, 3]}, "PREFERRED_LEADER_NOT_AVAILABLE: 2 | 2,3 | - | - | 5.9"),
        (
            PREFERRED,
            brokers(2, 3, fenced=(1,)),
            {},
            {**GONE, "elr": [1]},
            "PREFERRED_LEADER_NOT_AVAILABLE: -1 | - | 1 | - | 5.9",
        ),
        (PREFERRED, brokers(2, 3, fenced=(1,)), {}, {**GONE, "elr": [3]}, "NONE: 3 | 3 | - | - | 6.10"),
        # F-29: it may elect the last known leader, uncleanly and unasked.
        (
            PREFERRED,
            brokers(2, 3, fenced=(1,)),
            {"variant": "code_4_1"},
            {**GONE, "last_known_elr": [3]},
            "NONE: 3 | 3 | - | - | 6.10",
        ),
        (UNCLEAN, None, {}, {}, "ELECTION_NOT_NEEDED: 1 | 1,2,3 | - | - | 5.9"),
        # E-21: the topic's setting is ignored.
        (UNCLEAN, brokers(2, fenced=(1, 3)), {}, {**GONE, "elr": [1]}, "NONE: 2 | 2 | - | 1 | 6.10"),
        (
            UNCLEAN,
            brokers(2, fenced=(1, 3)),
            {"variant": "legacy"},
            {"isr": [1], "leader": -1},
            "NONE: 2 | 2 | - | - | 6.10",
        ),
        (
            UNCLEAN,
            brokers(fenced=(1, 2, 3)),
            {},
            {**GONE, "elr": [1]},
            "ELIGIBLE_LEADERS_NOT_AVAILABLE: -1 | - | 1 | - | 5.9",
        ),
        (
            UNCLEAN,
            brokers(2, fenced=(1, 3)),
            {"variant": "code_4_0"},
            {**GONE, "last_known_elr": [3]},
            "NONE: 3 | 3 | - | - | 6.10",
        ),
        (
            UNCLEAN,
            brokers(2, fenced=(1, 3)),
            {"variant": "code_4_1"},
            {**GONE, "last_known_elr": [3]},
            "NONE: 2 | 2 | - | - | 6.10",
        ),
        (BALANCE, None, {}, {"leader": 2}, "NONE: 1 | 1,2,3 | - | - | 6.10"),
        (BALANCE, None, {}, {}, "NONE: 1 | 1,2,3 | - | - | 5.9"),
        (BALANCE, None, {}, {"leader": 2, "isr": [2, 3]}, "NONE: 2 | 2,3 | - | - | 5.9"),
        (BALANCE, brokers(2, 3, stopping=(1,)), {}, {"leader": 2}, "NONE: 2 | 1,2,3 | - | - | 5.9"),
        (PERIODIC, None, ALLOWED, {}, "NONE: 1 | 1,2,3 | - | - | 5.9"),
        (PERIODIC, brokers(2, fenced=(1, 3)), {}, {**GONE, "elr": [1]}, "NONE: -1 | - | 1 | - | 5.9"),
        (PERIODIC, brokers(2, fenced=(1, 3)), ALLOWED, {**GONE, "elr": [1]}, "NONE: 2 | 2 | - | 1 | 6.10"),
    ],
)
def test_elections(op: Json, live: Json | None, top: Json, before: Json, expected: str) -> None:
    election = question(op, live, top, **before)
    reply = answer(election)
    assert line(reply) == expected
    was, now = election["partition"], reply["partition"]
    outside = now["leader"] != -1 and now["leader"] not in was["isr"] + was["elr"]
    assert now["leader_recovery_state"] == ("RECOVERING" if outside else "RECOVERED")
    assert reply["brokers"] == election["brokers"]


def test_a_broker_event_elects_uncleanly_where_the_topic_allows_it() -> None:
    reply = answer(question({"type": "fence", "broker": 1}, top=ALLOWED, isr=[1]))
    assert line(reply) == "NONE: 2 | 2 | - | 1 | 6.10"
    assert reply["partition"]["leader_recovery_state"] == "RECOVERING"


def test_a_new_partition() -> None:
    live = brokers(1, 4, fenced=(2,), stopping=(3,))
    reply = answer({"brokers": live, "op": {"type": "create_partition", "replicas": [3, 4, 1, 2]}})
    assert reply["partition"] == {
        "replicas": [3, 4, 1, 2],
        "isr": [4, 1],
        "elr": [],
        "last_known_elr": [],
        "adding": [],
        "removing": [],
        "leader": 4,
        "leader_epoch": 0,
        "partition_epoch": 0,
        "leader_recovery_state": "RECOVERED",
    }
    assert (reply["error"], reply["brokers"]) == ("NONE", live)


def test_a_new_partition_needs_an_active_replica() -> None:
    live = brokers(1, fenced=(2,), stopping=(3,))
    for replicas in ([2, 3], []):
        op = {"type": "create_partition", "replicas": replicas}
        refused = answer({"brokers": live, "partition": None, "op": op})
        assert refused == {"error": "INVALID_REPLICA_ASSIGNMENT", "partition": None, "brokers": live}


def test_a_new_partition_below_min_isr_has_no_elr() -> None:
    op = {"type": "create_partition", "replicas": [1, 2, 3]}
    reply = answer(question(op, brokers(1, fenced=(2, 3)), top={"min_isr": 3}))
    assert line(reply) == "NONE: 1 | 1 | - | - | 0.0"


def test_effective_min_isr_is_at_most_the_number_of_replicas() -> None:
    op = {"type": "fence", "broker": 1}
    reply = answer(question(op, brokers(1, 2), top={"min_isr": 3}, replicas=[1, 2], isr=[1, 2]))
    assert line(reply) == "NONE: 2 | 2 | 1 | - | 6.10"
    reply = answer(question(op, brokers(1, 2), top={"min_isr": 1}, replicas=[1, 2], isr=[1, 2]))
    assert line(reply) == "NONE: 2 | 2 | - | - | 6.10"


def test_the_raw_builder_takes_every_input() -> None:
    op = {
        "type": "change",
        "target_isr": [3, 2],
        "target_replicas": [3, 1, 2],
        "target_adding": [],
        "target_removing": [],
        "election": "PREFERRED",
        "unclean_shutdown_replicas": [1],
        "acceptable_leaders": [2, 3],
        "leader_recovery_state": "RECOVERING",
    }
    after = answer(question(op, top={"min_isr": 3}))["partition"]
    assert (after["replicas"], after["isr"], after["leader"]) == ([3, 1, 2], [3, 2], 3)
    assert (after["elr"], after["last_known_elr"]) == ([], [1])
    assert (after["leader_epoch"], after["partition_epoch"]) == (6, 10)
    assert after["leader_recovery_state"] == "RECOVERING"
