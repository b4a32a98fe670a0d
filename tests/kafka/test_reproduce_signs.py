"""What `reproduce` says where the signs of a finding stay away, on a cluster that no process stands behind."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from elrcheck.kafka.cluster.cluster_clients import PartitionState, RefusedByKafka
from support.edits import replaced
from support.fake_cluster import WHOLE, FakeCluster
from support.followed_recipe import SIGN, Follow, follower, step

SEND = step('send = "orders-0"')
ALONE = 'instead = { wait = "orders-0", isr = [0], seconds = 1 }'
AT_ONCE = step('answered = "orders-0"', "seconds = 1", ALONE)


@pytest.fixture
def follow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Follow:
    return follower(tmp_path, monkeypatch)


def test_a_record_that_is_not_acknowledged_without_the_finding(follow: Follow) -> None:
    cluster = FakeCluster(state=replace(WHOLE, isr=(0,)), unanswered=[15], loses=1)
    steps = SEND + AT_ONCE + step("stop = 0")
    report = follow(cluster, leaderless=steps, control=False, patience=0.1)
    assert (report.outcome, report.acknowledged, report.left) == ("not-reproduced", 15, 15)
    assert "answers for records 15 of orders-0: not within 0 s; instead orders-0 has" in report.message
    assert report.steps[-1].result == report.message and ("stop", 0) not in cluster.done


def test_one_that_is_not_acknowledged_for_another_reason_is_inconclusive(follow: Follow) -> None:
    report = follow(FakeCluster(unanswered=[15]), leaderless=SEND + AT_ONCE, control=False, patience=0.1)
    assert report.outcome == "inconclusive" and "nor the sign of its absence" in report.message
    answered = FakeCluster(state=replace(WHOLE, isr=(0,)))
    assert follow(answered, leaderless=SEND + AT_ONCE, control=False, patience=0.1).left == 16
    plain = SEND + step('answered = "orders-0"', "seconds = 1")
    late = follow(FakeCluster(unanswered=[15]), leaderless=plain, control=False, patience=0.1)
    assert late.outcome == "inconclusive"


def test_a_state_from_before_an_error_decides_nothing(follow: Follow, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = FakeCluster()
    left = [WHOLE, replace(WHOLE, replicas=(1,)), replace(WHOLE, replicas=(1,))]

    def describe(_: str) -> PartitionState:
        if not left:
            raise RefusedByKafka("TimeoutException", "nobody answers")
        return left.pop(0)

    monkeypatch.setattr(cluster, "describe", describe)
    report = follow(cluster, sign=SIGN, control=False, patience=0.1)
    assert report.outcome == "inconclusive" and "nobody answers" in report.message and not left


def test_a_late_answer_counts(follow: Follow) -> None:
    cluster = FakeCluster(state=replace(WHOLE, isr=(0,)), unanswered=[15], loses=1)
    late = step("resume = 1", "finally = true")
    report = follow(cluster, leaderless=SEND + AT_ONCE + late, control=False, patience=0.1)
    assert (report.outcome, report.acknowledged, report.left) == ("lost", 16, 15)
    assert "instead" in report.message


@pytest.mark.parametrize(
    ("sign", "printed"),
    [
        ('said = 100\npattern = "resigns"', 'said = 1, pattern = "registers"'),
        ('log = "orders-0"\nbroker = 2\nend = 99', 'log = "orders-0", broker = 2, end = 15'),
        ('log = "orders-0"\nbroker = 2\nend = 99', 'wait = "orders-0", leader = 0'),
    ],
)
def test_other_signs_that_stay_away(follow: Follow, sign: str, printed: str) -> None:
    steps = step(sign, "seconds = 1", f"instead = {{ {printed}, seconds = 1 }}")
    report = follow(FakeCluster(says=["registers"]), leaderless=steps, control=False, patience=0.1)
    assert report.outcome == "not-reproduced" and "; instead " in report.message
    gone = FakeCluster(says=[], state=replace(WHOLE, leader=-1))
    other = replaced(steps, "end = 15", "end = 16") if "end = 15" in printed else steps
    neither = follow(gone, leaderless=other, control=False, patience=0.1)
    assert neither.outcome == "inconclusive"


def test_an_election_that_is_not_needed(follow: Follow) -> None:
    election = step('elect = "orders-0"', 'type = "unclean"', "if-needed = true")
    needless = FakeCluster(fails=["elect"], refusal="ElectionNotNeededException")
    report = follow(needless, leaderless=election, control=False, patience=0.1)
    assert report.outcome == "not-reproduced"
    assert report.steps[-1].result == "ElectionNotNeededException: elect is refused"
    other = follow(FakeCluster(fails=["elect"]), leaderless=election, control=False, patience=0.1)
    assert other.outcome == "inconclusive"
    always = replaced(election, "if-needed = true", "")
    again = FakeCluster(fails=["elect"], refusal="ElectionNotNeededException")
    assert follow(again, leaderless=always, control=False, patience=0.1).outcome == "inconclusive"


def test_a_cancellation_that_only_a_build_without_the_finding_refuses(follow: Follow) -> None:
    steps = step('cancel = "orders-0"', 'absent-if = "InvalidReplicaAssignment"')
    fails = {"fails": ["reassign"], "refusal": "InvalidReplicaAssignmentException"}
    first = 'reassign = "orders-0"\nto = [1]\n[[step]]\nwait = "orders-0"\nreplicas = [1]\nseconds = 1'
    report = follow(FakeCluster(**fails), leaderless=steps, without=first, control=False, patience=0.1)
    assert report.outcome == "not-reproduced" and "the request is refused" in report.message
    other = FakeCluster(fails=["reassign"])
    report = follow(other, leaderless=steps, without=first, control=False, patience=0.1)
    assert report.outcome == "inconclusive"
