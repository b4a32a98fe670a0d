"""`what-if` through the scenarios E-n and hazards F-n of docs/semantics.md, event by event.

Every line was worked out by hand from the rules of that document, not copied from an answer.
"""

from __future__ import annotations

from typing import Any

import pytest

from support.what_if_questions import Json, alter, ask, brokers, fence, partition, register, unfence

# ----------------------------------------------------------------- E-n: scripted scenarios


class Story:
    """A partition that lives through several events; what matters of it is one short line."""

    def __init__(self, before: Json, live: Json, **knobs: Any) -> None:
        self.partition, self.brokers, self.knobs = before, live, knobs

    def then(self, op: Json) -> str:
        after = ask(op, self.partition, self.brokers, **self.knobs)
        assert after["error"] == "NONE"
        self.partition, self.brokers = after["partition"], after["brokers"]
        return self.line()

    def expand(self, *isr: int) -> str:
        """The leader's AlterPartition with everything up to date."""
        p, leader = self.partition, self.partition["leader"]
        members = [[b, self.brokers[str(b)]["epoch"]] for b in isr]
        epochs = {"leader_epoch": p["leader_epoch"], "partition_epoch": p["partition_epoch"]}
        sender_epoch = self.brokers[str(leader)]["epoch"]
        return self.then(alter(sender=leader, sender_broker_epoch=sender_epoch, new_isr=members, **epochs))

    def line(self) -> str:
        """leader | ISR | ELR | LastKnownELR | last known leader | leader epoch . partition epoch"""
        p = self.partition
        lists = [p["isr"], sorted(p["elr"]), sorted(p["last_known_elr"])]
        columns = [",".join(map(str, ids)) or "-" for ids in lists]
        epochs = f"{p['leader_epoch']}.{p['partition_epoch']}"
        return " | ".join([str(p["leader"]), *columns, str(p["last_known_leader"]), epochs])


def start(*replicas: int, **changed: Any) -> Json:
    """A partition just created: the first replica leads, everybody is in sync."""
    fresh = {"isr": [*replicas], "leader": replicas[0], "leader_epoch": 0, "partition_epoch": 0, **changed}
    return partition(replicas=[*replicas], **fresh)


def test_e1_last_replica_standing() -> None:
    story = Story(start(0, 1, 2), brokers(0, 1, 2))
    assert story.then(fence(0)) == "1 | 1,2 | - | - | -1 | 1.1"
    assert story.then(fence(1)) == "2 | 2 | 1 | - | -1 | 2.2"
    assert story.then(fence(2)) == "-1 | - | 1,2 | - | 2 | 3.3"
    assert story.then(unfence(0)) == "-1 | - | 1,2 | - | 2 | 3.3"
    assert story.then(unfence(1)) == "1 | 1 | 2 | - | -1 | 4.4"
    assert story.then(register(2, False)) == "1 | 1 | - | 2 | -1 | 4.5"
    assert story.then(unfence(2)) == "1 | 1 | - | 2 | -1 | 4.5"
    assert story.expand(1, 2) == "1 | 1,2 | - | - | -1 | 4.6"


@pytest.mark.parametrize("variant", ["legacy", "legacy_strict"])
def test_e1_without_elr_the_last_member_stays_and_leads_again(variant: str) -> None:
    story = Story(start(0, 1, 2), brokers(0, 1, 2), variant=variant)
    assert story.then(fence(0)) == "1 | 1,2 | - | - | -1 | 1.1"
    assert story.then(fence(1)) == "2 | 2 | - | - | -1 | 2.2"
    assert story.then(fence(2)) == "-1 | 2 | - | - | -1 | 3.3"
    assert story.then(unfence(0)) == "-1 | 2 | - | - | -1 | 3.3"
    assert story.then(unfence(1)) == "-1 | 2 | - | - | -1 | 3.3"
    assert story.then(register(2, False)) == "-1 | 2 | - | - | -1 | 3.3"
    assert story.then(unfence(2)) == "2 | 2 | - | - | -1 | 4.4"


def test_e2_four_brokers_min_isr_three() -> None:
    story = Story(start(0, 1, 2, 3), brokers(0, 1, 2, 3), min_isr=3)
    assert story.then(fence(3)) == "0 | 0,1,2 | - | - | -1 | 0.1"
    assert story.then(fence(2)) == "0 | 0,1 | 2 | - | -1 | 0.2"
    assert story.then(fence(1)) == "0 | 0 | 1,2 | - | -1 | 0.3"
    assert story.then(fence(0)) == "-1 | - | 0,1,2 | - | 0 | 1.4"
    assert story.then(register(1, False)) == "-1 | - | 0,2 | 1 | 0 | 1.5"
    assert story.then(unfence(3)) == "-1 | - | 0,2 | 1 | 0 | 1.5"
    assert story.then(unfence(2)) == "2 | 2 | 0 | 1 | -1 | 2.6"
    assert story.expand(2, 3) == "2 | 2,3 | 0 | 1 | -1 | 2.7"
    assert story.then(register(0, True)) == "2 | 2,3 | 0 | 1 | -1 | 2.7"
    assert story.then(unfence(0)) == "2 | 2,3 | 0 | 1 | -1 | 2.7"
    assert story.expand(2, 3, 0) == "2 | 2,3,0 | - | - | -1 | 2.8"


def test_e2_an_elr_member_in_the_proposed_isr_leaves_the_elr() -> None:
    """The gap F-45 of the published TLA+ formula: 0 would be in both."""
    before = start(0, 1, 2, 3, isr=[2], elr=[0], last_known_elr=[1], leader=2)
    story = Story(before, brokers(0, 2, fenced=(1, 3)), min_isr=3)
    assert story.expand(2, 0) == "2 | 2,0 | - | 1 | -1 | 0.1"


def test_e5_clean_elr_recovery() -> None:
    story = Story(start(1, 2, 3), brokers(1, 2, 3))
    assert story.expand(1, 3) == "1 | 1,3 | - | - | -1 | 0.1"
    assert story.expand(1) == "1 | 1 | 3 | - | -1 | 0.2"
    assert story.then(fence(1)) == "3 | 3 | 1 | - | -1 | 1.3"
    assert story.then(register(1, False)) == "3 | 3 | - | 1 | -1 | 1.4"
    assert story.then(unfence(1)) == "3 | 3 | - | 1 | -1 | 1.4"
    assert story.expand(3, 1) == "3 | 3,1 | - | - | -1 | 1.5"


def test_e6_fence_order_decides_who_is_eligible() -> None:
    story = Story(start(1, 2, 3), brokers(1, 2, 3))
    assert [story.then(fence(b)) for b in (1, 2, 3)][-1] == "-1 | - | 2,3 | - | 3 | 3.3"
    assert story.then(register(1, False)) == "-1 | - | 2,3 | - | 3 | 3.3"
    assert story.then(register(2, False)) == "-1 | - | 3 | 2 | 3 | 3.4"
    assert story.then(register(3, False)) == "-1 | - | - | 2,3 | 3 | 3.5"
    other = Story(start(1, 2, 3), brokers(1, 2, 3))
    assert [other.then(fence(b)) for b in (3, 2, 1)][-1] == "-1 | - | 1,2 | - | 1 | 1.3"


@pytest.mark.parametrize(
    ("variant", "lines"),
    [
        ("kip_full", ["-1 | - | 2,3 | - | 3 | 3.3", "-1 | - | 2,3 | - | 3 | 3.3"]),
        ("code_4_0", ["-1 | - | 2,3 | 3 | -1 | 3.3", "-1 | - | 2,3 | 3 | -1 | 3.3"]),
        # Every restart is unclean, and the dead last known leader is elected by its own registration.
        ("code_2024_10", ["-1 | - | 3 | 3 | -1 | 3.4", "3 | 3 | - | - | -1 | 4.5"]),
    ],
)
def test_e28_everybody_restarts_cleanly(variant: str, lines: list[str]) -> None:
    story = Story(start(1, 2, 3), brokers(1, 2, 3), variant=variant)
    for b in (1, 2, 3):
        story.then(fence(b))
    assert [story.then(register(b, True)) for b in (2, 3)] == lines


# ----------------------------------------------------------------- B.7: completion gates


@pytest.mark.parametrize(
    ("variant", "isr", "error", "line"),
    [
        # E-18: five replicas become three; 4 and 5 leave.
        ("kip_full", (5, 1, 4), "NONE", "5 | 5,1,4 | - | - | -1 | 5.10"),
        ("code_4_1", (5, 1, 4), "NONE", "5 | 5,1,4 | - | - | -1 | 5.10"),
        ("legacy_strict", (5, 1, 4), "NEW_LEADER_ELECTED", "1 | 1 | - | - | -1 | 6.10"),
        ("kip_full", (5, 1, 2, 4), "NEW_LEADER_ELECTED", "1 | 1,2 | - | - | -1 | 6.10"),
        ("code_4_1", (5, 1, 2, 4), "NONE", "5 | 5,1,2,4 | - | - | -1 | 5.10"),
    ],
)
def test_e18_completion_gates(variant: str, isr: tuple[int, ...], error: str, line: str) -> None:
    before = partition(replicas=[1, 2, 3, 4, 5], isr=[4, 5], removing=[4, 5], leader=5)
    story = Story(before, brokers(1, 2, 3, 4, 5), variant=variant)
    after = ask(alter(*isr, sender=5), before, story.brokers, variant=variant)
    story.partition = after["partition"]
    assert (after["error"], story.line()) == (error, line)


@pytest.mark.parametrize(("variant", "elr"), [("kip_full", []), ("code_4_1", [3])])
def test_f20_elr_of_a_replica_that_left(variant: str, elr: list[int]) -> None:
    """[1,2,3] with ISR [1], ELR {3} becomes [1]; the gate is the code's, that of the KIP would wait."""
    before = partition(isr=[1], elr=[3], removing=[2, 3])
    op = {"type": "change"}
    after = ask(op, before, variant=variant, reassign_gate="ALL_TARGETS")["partition"]
    assert (after["replicas"], after["isr"], after["elr"]) == ([1], [1], elr)
    assert (after["leader"], after["leader_epoch"], after["partition_epoch"]) == (1, 6, 10)


# ----------------------------------------------------------------- F-n: hazards


@pytest.mark.parametrize(
    ("variant", "op", "line"),
    [
        # F-1: any trigger elects the fenced last known leader; fixed in 4.1.
        ("code_4_0", unfence(1), "3 | 3 | - | - | -1 | 6.10"),
        ("code_4_1", unfence(1), "-1 | - | - | 3 | -1 | 5.9"),
        ("code_4_0", unfence(3), "3 | 3 | - | - | -1 | 6.10"),
        ("code_4_1", unfence(3), "3 | 3 | - | - | -1 | 6.10"),
    ],
)
def test_f1_last_known_leader(variant: str, op: Json, line: str) -> None:
    before = partition(isr=[], last_known_elr=[3], leader=-1)
    story = Story(before, brokers(fenced=(1, 2, 3)), variant=variant)
    assert story.then(op) == line
    recovering = "RECOVERING" if line.startswith("3") else "RECOVERED"
    assert story.partition["leader_recovery_state"] == recovering


@pytest.mark.parametrize(
    ("variant", "line"), [("code_4_0", "3 | 3 | - | - | -1 | 6.10"), ("code_4_1", "-1 | - | - | 3 | -1 | 5.10")]
)
def test_f1_own_unclean_registration(variant: str, line: str) -> None:
    before = partition(isr=[], elr=[3], last_known_elr=[3], leader=-1)
    assert Story(before, brokers(fenced=(1, 2, 3)), variant=variant).then(register(3, False)) == line


def test_the_kip_waits_without_the_recovery_manager() -> None:
    before = partition(isr=[], last_known_elr=[2, 3], leader=-1, last_known_leader=3)
    story = Story(before, brokers(fenced=(1, 2, 3)))
    assert story.then(unfence(3)) == "-1 | - | - | 2,3 | 3 | 5.9"


@pytest.mark.parametrize(
    ("knobs", "line"),
    [
        ({"variant": "kip_full"}, "-1 | 1 | - | - | -1 | 6.10"),
        ({"variant": "code_4_1"}, "2 | 2 | - | - | -1 | 6.10"),
        ({"variant": "code_4_1", "downgrade_ignores_elr": True}, "-1 | 1 | - | - | -1 | 6.10"),
    ],
)
def test_f28_elr_switched_off_with_a_stored_elr(knobs: Json, line: str) -> None:
    before = partition(isr=[1], elr=[2])
    assert Story(before, brokers(1, 2, 3), elr_enabled=False, **knobs).then(fence(1)) == line


@pytest.mark.parametrize(("again", "elr"), [(True, []), (False, [3])])
def test_f27_elr_after_an_election_from_it(again: bool, elr: list[int]) -> None:
    """min ISR was lowered to 1 while there was no leader: the new ISR is not below it."""
    before = partition(isr=[], elr=[2, 3], leader=-1, last_known_leader=2)
    after = ask(unfence(2), before, brokers(fenced=(1, 2, 3)), min_isr=1, recheck_elr_after_election=again)
    assert (after["partition"]["isr"], after["partition"]["elr"]) == ([2], elr)
