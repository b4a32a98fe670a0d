"""`what-if` for what operators do, with answers worked out by hand from the rules of the controller."""

from __future__ import annotations

from typing import Any

import pytest

from elrcheck.base.errors import UsageFault
from support.what_if_questions import Json, alter, ask, brokers, fence, partition


def elect(kind: str, **more: Any) -> Json:
    return {"type": "elect_leaders", "election_type": kind, **more}


def changed(answer: Json, before: Json, **expected: Any) -> None:
    """The partition is as before but for what is named."""
    assert answer["error"] == "NONE"
    assert answer["partition"] == {**before, **expected}


LEADERLESS = partition(isr=[], elr=[], last_known_elr=[1, 2], leader=-1)


# ---------------------------------------------------------------------------- controlled shutdown


def test_controlled_shutdown_of_the_leader_hands_over_and_keeps_it_unfenced() -> None:
    before = partition()
    reply = ask({"type": "controlled_shutdown", "broker": 1}, before)
    changed(reply, before, isr=[2, 3], leader=2, leader_epoch=6, partition_epoch=10)
    assert reply["brokers"]["1"] == {"fenced": False, "in_controlled_shutdown": True, "epoch": 101}


def test_controlled_shutdown_below_min_isr_makes_it_eligible() -> None:
    before = partition(isr=[1, 2])
    reply = ask({"type": "controlled_shutdown", "broker": 2}, before)
    changed(reply, before, isr=[1], elr=[2], partition_epoch=10)


def test_controlled_shutdown_asked_twice_changes_nothing() -> None:
    before = partition(isr=[2, 3], leader=2)
    reply = ask({"type": "controlled_shutdown", "broker": 1}, before, brokers(2, 3, stopping=(1,)))
    changed(reply, before)


# ---------------------------------------------------------------------------- ElectLeaders v3


@pytest.mark.parametrize("kind", ["DESIGNATION", "LONGEST_LOG_AGGRESSIVE", "LONGEST_LOG_BALANCED"])
def test_new_election_types_need_a_partition_without_leader(kind: str) -> None:
    more = {"desired_leader": 2} if kind == "DESIGNATION" else {}
    before = partition()
    reply = ask(elect(kind, **more), before)
    assert (reply["error"], reply["partition"]) == ("ELECTION_NOT_NEEDED", before)


@pytest.mark.parametrize("kind", ["DESIGNATION", "LONGEST_LOG_AGGRESSIVE", "LONGEST_LOG_BALANCED"])
def test_released_code_has_no_new_election_types(kind: str) -> None:
    before = partition(isr=[], leader=-1, last_known_elr=[])
    del before["last_known_leader"]
    more = {"desired_leader": 2} if kind == "DESIGNATION" else {}
    assert ask(elect(kind, **more), before, variant="code_4_1")["error"] == "UNSUPPORTED_VERSION"


def test_a_designated_stranger_to_isr_and_elr_is_elected_uncleanly() -> None:
    before = LEADERLESS
    changed(
        ask(elect("DESIGNATION", desired_leader=3), before),
        before,
        isr=[3],
        elr=[],
        last_known_elr=[1, 2],
        leader=3,
        leader_epoch=6,
        partition_epoch=10,
        leader_recovery_state="RECOVERING",
    )


@pytest.mark.parametrize(
    ("desired", "live", "error"),
    [
        (None, brokers(1, 2, 3), "INVALID_REQUEST"),
        (4, brokers(1, 2, 3, 4), "INVALID_REQUEST"),  # no replica
        (2, brokers(1, 3, fenced=(2,)), "ELIGIBLE_LEADERS_NOT_AVAILABLE"),
        (2, brokers(1, 3, stopping=(2,)), "ELIGIBLE_LEADERS_NOT_AVAILABLE"),
    ],
)
def test_designations_that_are_refused(desired: int | None, live: Json, error: str) -> None:
    reply = ask(elect("DESIGNATION", desired_leader=desired), LEADERLESS, live)
    assert (reply["error"], reply["partition"]) == (error, LEADERLESS)


@pytest.mark.parametrize(
    ("kind", "elr", "live", "error"),
    [
        # Balanced needs an empty ELR and the whole LastKnownELR (1 and 2) back.
        ("LONGEST_LOG_BALANCED", [], brokers(1, 2, fenced=(3,)), "NONE"),
        ("LONGEST_LOG_BALANCED", [], brokers(1, 3, fenced=(2,)), "ELIGIBLE_LEADERS_NOT_AVAILABLE"),
        ("LONGEST_LOG_BALANCED", [3], brokers(1, 2, fenced=(3,)), "ELIGIBLE_LEADERS_NOT_AVAILABLE"),
        # Aggressive needs anybody.
        ("LONGEST_LOG_AGGRESSIVE", [3], brokers(1, fenced=(2, 3)), "NONE"),
        ("LONGEST_LOG_AGGRESSIVE", [], brokers(fenced=(1, 2, 3)), "ELIGIBLE_LEADERS_NOT_AVAILABLE"),
    ],
)
def test_longest_log_starts_a_recovery_and_elects_nobody_yet(kind: str, elr: list[int], live: Json, error: str) -> None:
    before = {**LEADERLESS, "elr": elr}
    reply = ask(elect(kind), before, live)
    assert (reply["error"], reply["partition"]) == (error, before)


# ---------------------------------------------------------------------------- reassignment


def test_one_replica_is_moved() -> None:
    """E-17: [1,2,3] to [1,2,4] with ISR [1,2]."""
    live = brokers(1, 2, 3, 4)
    before = partition(isr=[1, 2], leader_epoch=1, partition_epoch=2)
    started = ask({"type": "reassign", "target": [1, 2, 4]}, before, live)
    changed(started, before, replicas=[1, 2, 4, 3], adding=[4], removing=[3], partition_epoch=3)
    done = ask(alter(1, 2, 4, leader_epoch=1, partition_epoch=3), started["partition"], live)
    changed(done, before, replicas=[1, 2, 4], isr=[1, 2, 4], leader_epoch=2, partition_epoch=4)


@pytest.mark.parametrize(
    ("gate", "completes"), [("KIP", False), ("ADDING", True), ("ALL_TARGETS", False), ("TRUNK_2025", True)]
)
def test_completion_with_one_final_member(gate: str, completes: bool) -> None:
    """E-19: [0,1,2] to [0,1,3] with ISR [2]; 3 joins, which leaves [3] as the final ISR."""
    live = brokers(0, 1, 2, 3)
    before = partition(replicas=[0, 1, 3, 2], isr=[2], adding=[3], removing=[2], leader=2)
    reply = ask(alter(2, 3, sender=2), before, live, reassign_gate=gate)
    if completes:
        assert reply["error"] == "NEW_LEADER_ELECTED"
        after = reply["partition"]
        assert (after["replicas"], after["isr"], after["leader"]) == ([0, 1, 3], [3], 3)
        assert (after["leader_epoch"], after["partition_epoch"]) == (6, 10)
    else:
        changed(reply, before, isr=[2, 3], partition_epoch=10)


def test_a_change_of_mind_removes_what_was_being_added() -> None:
    before = partition(replicas=[1, 2, 4, 3], adding=[4], removing=[3])
    reply = ask({"type": "reassign", "target": [1, 2, 5]}, before, brokers(1, 2, 3, 4, 5))
    changed(reply, before, replicas=[1, 2, 5, 3, 4], adding=[5], removing=[3, 4], partition_epoch=10)


def test_fewer_replicas_are_a_reassignment_that_completes_at_once() -> None:
    """3 is removed; 1 and 2 are in sync, so nothing is waited for; a removal moves the leader epoch."""
    before = partition()
    reply = ask({"type": "reassign", "target": [1, 2]}, before)
    changed(reply, before, replicas=[1, 2], isr=[1, 2], leader_epoch=6, partition_epoch=10)


def test_an_empty_target_is_refused() -> None:
    reply = ask({"type": "reassign", "target": []})
    assert (reply["error"], reply["partition"]) == ("INVALID_REPLICA_ASSIGNMENT", partition())


CANCEL: Json = {"type": "cancel_reassignment"}


def test_there_is_nothing_to_cancel() -> None:
    reply = ask(CANCEL)
    assert (reply["error"], reply["partition"]) == ("NO_REASSIGNMENT_IN_PROGRESS", partition())


def test_cancelling_goes_back_to_the_old_replicas() -> None:
    before = partition(replicas=[1, 2, 4, 3], isr=[1, 2, 4], adding=[4], removing=[3])
    changed(
        ask(CANCEL, before, brokers(1, 2, 3, 4)),
        before,
        replicas=[1, 2, 3],
        isr=[1, 2],
        adding=[],
        removing=[],
        leader_epoch=6,
        partition_epoch=10,
    )


def test_cancelling_below_min_isr() -> None:
    """E-20: the KIP refuses; 4.1 accepts and leaves 4 in the ELR although it is not a replica (F-20)."""
    live = brokers(1, 2, 3, 4)
    before = partition(replicas=[1, 2, 3, 4], isr=[1, 4], adding=[4])
    reply = ask(CANCEL, before, live)
    assert (reply["error"], reply["partition"]) == ("INVALID_REPLICA_ASSIGNMENT", before)
    del before["last_known_leader"]
    changed(
        ask(CANCEL, before, live, variant="code_4_1"),
        before,
        replicas=[1, 2, 3],
        isr=[1],
        elr=[4],
        adding=[],
        leader_epoch=6,
        partition_epoch=10,
    )


def test_cancelling_when_only_added_replicas_are_in_sync() -> None:
    """The code forces the first replica in, if the topic allows unclean elections, and looks clean."""
    live = brokers(1, 2, 3, 4)
    before = partition(replicas=[1, 2, 3, 4], isr=[4], adding=[4], leader=4)
    del before["last_known_leader"]
    refused = ask(CANCEL, before, live, variant="code_4_1")
    assert (refused["error"], refused["partition"]) == ("INVALID_REPLICA_ASSIGNMENT", before)
    reply = ask(CANCEL, before, live, variant="code_4_1", unclean_leader_election_enable=True)
    after = reply["partition"]
    assert reply["error"] == "NONE"
    assert (after["isr"], after["leader"], after["leader_recovery_state"]) == ([1], 1, "RECOVERED")
    assert (after["leader_epoch"], after["partition_epoch"]) == (6, 10)


# ---------------------------------------------------------------------------- min.insync.replicas


def set_min_isr(value: int, level: str = "topic", **more: Any) -> Json:
    return {"type": "set_min_isr", "level": level, "value": value, **more}


@pytest.mark.parametrize(
    ("variant", "isr", "elr"),
    [
        ("kip_full", [1, 2], []),  # E-27: the ISR alone has the new number of members
        ("kip_full", [1], [2, 3]),
        ("code_2024_10", [1, 2], [3]),
        ("code_4_1", [1], []),
    ],
)
def test_lowering_min_isr(variant: str, isr: list[int], elr: list[int]) -> None:
    before = partition(isr=isr, elr=[b for b in (2, 3) if b not in isr])
    if variant != "kip_full":
        del before["last_known_leader"]
    cleared = elr != before["elr"]
    reply = ask(set_min_isr(2), before, variant=variant, min_isr=3)
    changed(reply, before, elr=elr, partition_epoch=10 if cleared else 9)


@pytest.mark.parametrize(
    ("value", "error"), [(2**31 - 1, "NONE"), (2**31, "INVALID_CONFIG"), (10**20, "INVALID_CONFIG")]
)
def test_a_value_is_an_int_of_java(value: int, error: str) -> None:
    assert ask(set_min_isr(value), partition(isr=[1, 2, 3]), variant="kip_full")["error"] == error


def test_the_same_value_clears_at_the_cluster_but_not_at_the_topic() -> None:
    before = partition(isr=[1], elr=[2, 3])
    del before["last_known_leader"]
    changed(ask(set_min_isr(2), before, variant="code_4_0"), before)
    changed(ask(set_min_isr(2, "cluster"), before, variant="code_4_0"), before, elr=[], partition_epoch=10)


def test_raising_min_isr_adds_nobody() -> None:
    before = partition(isr=[1, 2])
    changed(ask(set_min_isr(3), before), before)


@pytest.mark.parametrize("op", [set_min_isr(0), set_min_isr(-3), set_min_isr(2, "broker", broker=1)])
def test_values_that_are_refused(op: Json) -> None:
    reply = ask(op)
    assert (reply["error"], reply["partition"]) == ("INVALID_CONFIG", partition())


def test_a_broker_may_have_its_own_value_without_elr() -> None:
    before = partition()
    changed(ask(set_min_isr(1, "broker", broker=1), before, elr_enabled=False), before)


def test_an_unknown_level_names_the_known_ones() -> None:
    with pytest.raises(UsageFault) as caught:
        ask(set_min_isr(2, "group"))
    assert caught.value.where == "op.level"
    assert "topic, cluster, broker" in str(caught.value.help)


# ---------------------------------------------------------------------------- kip_phase1


def test_phase_one_elects_the_last_known_leader_once_it_is_back() -> None:
    before = partition(isr=[], last_known_elr=[1, 2], last_known_leader=2, leader=-1)
    other = ask({"type": "unfence", "broker": 1}, before, brokers(fenced=(1, 2, 3)), variant="kip_phase1")
    changed(other, before)
    back = ask({"type": "unfence", "broker": 2}, before, brokers(fenced=(1, 2, 3)), variant="kip_phase1")
    assert (back["partition"]["leader"], back["partition"]["isr"]) == (2, [2])
    assert back["partition"]["leader_recovery_state"] == "RECOVERING"


def test_fencing_an_added_replica_keeps_it_out_of_the_elr_when_the_isr_is_enough() -> None:
    before = partition(replicas=[1, 2, 3, 4], isr=[1, 2, 4], adding=[4])
    changed(ask(fence(4), before, brokers(1, 2, 3, 4)), before, isr=[1, 2], partition_epoch=10)


@pytest.mark.parametrize("target", [[1, 9], [9], [9, 9]])
def test_a_reassignment_to_an_unknown_broker_is_refused_by_the_controller(target: list[int]) -> None:
    """As Kafka's validateManualPartitionAssignment does."""
    before = partition()
    refused = ask({"type": "reassign", "target": target}, before)
    assert (refused["error"], refused["partition"]) == ("INVALID_REPLICA_ASSIGNMENT", before)


def test_minus_one_as_the_last_known_leader_is_read_and_written() -> None:
    """4.0 stores it where there was no leader already, and elects nobody from then on."""
    before = partition(isr=[], leader=-1, last_known_elr=[-1])
    del before["last_known_leader"]
    for variant, error in (("code_4_0", "ELIGIBLE_LEADERS_NOT_AVAILABLE"), ("code_4_1_1", "NONE")):
        reply = ask(elect("UNCLEAN"), before, variant=variant)
        assert reply["error"] == error
        assert (reply["partition"]["last_known_elr"] == [-1]) == (variant == "code_4_0")
    with pytest.raises(UsageFault, match="-1 is not a broker"):
        ask(elect("UNCLEAN"), before, variant="kip_full")
