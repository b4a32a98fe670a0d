"""`what-if` and brokers that are not registered: the answers of Kafka's controller, and answers that are asked on."""

from __future__ import annotations

from typing import Any

import pytest

from elrcheck.base.errors import UsageFault
from elrcheck.base.strict import JsonSource, Node
from elrcheck.kafka.what_if.ask import answer, both_sides
from elrcheck.kafka.what_if.question import CODES
from elrcheck.report.what_if_text import what_if_text
from support.what_if_questions import Json, alter, ask, brokers, partition

GONE: Json = {"registered": False, "epoch": 103}
LIVE = {**brokers(1, 2), "3": GONE}


@pytest.mark.parametrize(
    ("op", "error"),
    [
        ({"type": "unregister", "broker": 3}, "BROKER_ID_NOT_REGISTERED"),
        ({"type": "unfence", "broker": 3}, "STALE_BROKER_EPOCH"),
        ({"type": "controlled_shutdown", "broker": 3}, "STALE_BROKER_EPOCH"),
        ({"type": "directory_failed", "broker": 3}, "STALE_BROKER_EPOCH"),
        ({"type": "assign_directories", "broker": 3}, "STALE_BROKER_EPOCH"),
        ({"type": "fence", "broker": 3}, "NONE"),
        ({"type": "reassign", "target": [1, 3]}, "INVALID_REPLICA_ASSIGNMENT"),
        ({"type": "create_partition", "replicas": [1, 3]}, "INVALID_REPLICA_ASSIGNMENT"),
        (alter(1, 2, 3), "INELIGIBLE_REPLICA"),
        (alter(1, 2, sender=3), "STALE_BROKER_EPOCH"),
    ],
)
def test_requests_about_a_broker_that_is_not_registered(op: Json, error: str) -> None:
    before = partition(isr=[1, 2])
    reply = ask(op, before, LIVE)
    assert reply["error"] == error
    assert reply["partition"]["isr"] == [1, 2] and reply["partition"]["partition_epoch"] == 9
    assert reply["brokers"]["3"] == {"fenced": True, "in_controlled_shutdown": False, **GONE}


def chained(reply: Json, op: Json, **knobs: Any) -> Json:
    """The answer to a question about what an earlier answer left."""
    return ask(op, reply["partition"], reply["brokers"], **knobs)


def test_an_answer_says_what_is_unregistered_to_the_next_question() -> None:
    """Its epoch in a clean-shutdown file then vouches for nothing, and it cannot be assigned again."""
    knobs = {"variant": "code_4_1", "elr_enabled": True}
    before = {name: value for name, value in partition(isr=[1], elr=[3]).items() if name != "last_known_leader"}
    gone = ask({"type": "unregister", "broker": 3}, before, brokers(1, 2, fenced=(3,)), **knobs)
    assert gone["brokers"]["3"]["registered"] is False and gone["partition"]["elr"] == [3], "F-21"
    assert chained(gone, {"type": "reassign", "target": [1, 2, 3]}, **knobs)["error"] == "INVALID_REPLICA_ASSIGNMENT"
    back = chained(gone, {"type": "register", "broker": 3, "clean": True}, **knobs)
    assert "registered" not in back["brokers"]["3"] and back["brokers"]["3"]["epoch"] > 103
    assert back["partition"]["elr"] == [], "its shutdown counts as unclean"


def test_the_text_says_that_a_broker_is_unregistered_and_back() -> None:
    def text(op: Json, live: Json) -> str:
        question = {
            "variant": "code_4_1",
            "brokers": live,
            "partition": {"replicas": [1, 2, 3], "isr": [1, 2]},
            "op": op,
        }
        return what_if_text(op, *both_sides(Node(question, JsonSource("", CODES, root=""))))

    assert "broker 3 registered: true -> false" in text({"type": "unregister", "broker": 3}, brokers(1, 2, 3))
    assert "broker 3 registered: false -> true" in text({"type": "register", "broker": 3, "clean": True}, LIVE)


@pytest.mark.parametrize("fields", [{"fenced": False}, {"in_controlled_shutdown": True}])
def test_a_broker_without_registration_has_no_session(fields: Json) -> None:
    with pytest.raises(UsageFault, match="not registered is fenced"):
        ask({"type": "balance_preferred"}, partition(), {**LIVE, "3": {**GONE, **fields}})


@pytest.mark.parametrize("target", [[1, 1, 2], [1, 9], [9, 9]])
@pytest.mark.parametrize(("kind", "field"), [("reassign", "target"), ("create_partition", "replicas")])
def test_an_assignment_names_registered_brokers_once(kind: str, field: str, target: list[int]) -> None:
    """ReplicationControlManager.validateManualPartitionAssignment refuses both, for topics and reassignments."""
    reply = ask({"type": kind, field: target})
    assert (reply["error"], reply["partition"]) == ("INVALID_REPLICA_ASSIGNMENT", partition())


def test_without_a_leader_nobody_sends_an_isr_by_default() -> None:
    op = {"type": "alter_partition", "new_isr": [1, 2]}
    question = {"variant": "code_4_1", "partition": {"replicas": [1, 2], "isr": [], "elr": [1]}, "op": op}
    with pytest.raises(UsageFault, match="no leader") as caught:
        answer(question)
    assert caught.value.help is not None and "sender" in caught.value.help
    assert answer({**question, "op": {**op, "sender": 1}})["error"] == "INVALID_REQUEST"
