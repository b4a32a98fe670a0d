"""What `reproduce` makes of a recipe, on a cluster that no process stands behind."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from junitparser import JUnitXml

from elrcheck.base.errors import ExitCode, UsageFault
from elrcheck.base.kafka_requests import ReproduceRequest
from elrcheck.catalogue.recipe_notation import recipe_file
from elrcheck.catalogue.recipe_notation.recipe_signs import ExpectedPartition
from elrcheck.kafka.cluster.cluster import ClusterFault
from elrcheck.kafka.jars import Jars
from elrcheck.kafka.reproduce import reproduce
from elrcheck.kafka.reproduce.recipe_run import ranges
from elrcheck.kafka.reproduce.reproduce import shape_of
from elrcheck.kafka.reproduce.signs import fits
from elrcheck.report.formats import render
from elrcheck.results.reproduce_report import wilson
from support.edits import replaced
from support.fake_cluster import WHOLE, FakeCluster
from support.followed_recipe import SIGN, Follow, follower, step
from support.places import SCHEMAS

LEADERLESS = '[[step]]\nleaderless = "orders-0"\nseconds = 1'


@pytest.fixture
def follow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Follow:
    return follower(tmp_path, monkeypatch)


def test_lost_with_its_control_beside_it(follow: Follow) -> None:
    run, control = FakeCluster(loses=6), FakeCluster()
    report = follow(run, control)
    assert (report.outcome, report.acknowledged, report.left) == ("lost", 15, 9)
    assert report.missing == "orders-0: 9-14" and report.expected
    assert report.control is not None
    assert (report.control.outcome, report.control.left) == ("not-reproduced", 15)
    assert report.exit_code is ExitCode.FINDING
    assert [call for call in run.done if call[0] in ("stop", "kill")] == [("stop", 1)]
    assert [call for call in control.done if call[0] in ("stop", "kill")] == [("kill", 1)]
    (state,) = report.states
    assert (state.step, state.partition, state.leader, state.replicas) == (4, "orders-0", 0, (1,))
    text = render(report, "text")
    assert "run       6 of 15 acknowledged records are lost (orders-0: 9-14)" in text
    assert "control   ELR off: nothing is lost; 15 of 15 acknowledged records can be read" in text
    assert text.splitlines()[-1].startswith("LOST  F-20/small on Kafka 4.1.1, ")


def test_a_control_that_loses_records_too_proves_nothing(follow: Follow) -> None:
    report = follow(FakeCluster(loses=6), FakeCluster(loses=1))
    assert report.outcome == "lost" and report.exit_code is ExitCode.INCONCLUSIVE
    assert "the control shows the same" in render(report, "text")


def test_nothing_is_lost(follow: Follow) -> None:
    report = follow(FakeCluster(), control=False)
    assert (report.outcome, report.left, report.control) == ("not-reproduced", 15, None)
    assert report.exit_code is ExitCode.HOLDS
    assert "note      timing matters: the copy is slow" in render(report, "text")


def test_without_its_sign_the_recipe_ends(follow: Follow) -> None:
    cluster = FakeCluster()
    report = follow(cluster, sign=SIGN, control=False)
    assert (report.outcome, report.acknowledged, report.left) == ("not-reproduced", 10, 10)
    assert "with elr=[0]: not within 1 s; it has leader=0 replicas=[1]" in report.message
    assert ("stop", 1) not in cluster.done
    followed = follow(FakeCluster(loses=1, state=replace(WHOLE, elr=(0,))), sign=SIGN, control=False)
    assert followed.outcome == "lost"


def test_a_partition_without_leader_is_unavailable(follow: Follow) -> None:
    absent = replace(WHOLE, leader=-1)
    report = follow(FakeCluster(state=absent), FakeCluster(), leaderless=LEADERLESS)
    assert report.outcome == "unavailable" and report.exit_code is ExitCode.FINDING
    assert "orders-0 had no leader for 1 s: leader=none" in report.message
    assert report.states[-1].leader is None
    assert report.control is not None and report.control.outcome == "not-reproduced"


def test_a_partition_that_acknowledges_nothing_is_unavailable_whoever_leads_it(follow: Follow) -> None:
    unserved = step('unserved = "orders-0"', "seconds = 1")
    report = follow(FakeCluster(unanswered=[15], loses=1), FakeCluster(), leaderless=unserved)
    assert (report.outcome, report.acknowledged, report.left) == ("unavailable", 15, 15)
    assert "orders-0 acknowledged nothing for 1 s: leader=0" in report.message and report.states[-1].leader == 0
    assert report.control is not None and (report.control.outcome, report.control.left) == ("not-reproduced", 16)


def test_a_refusal_that_is_predicted(follow: Follow) -> None:
    election = '[[step]]\nelect = "orders-0"\ntype = "unclean"\nrefused = "InvalidRequest"'
    report = follow(FakeCluster(fails=["elect"], loses=1), sign=election, control=False)
    (step,) = [step for step in report.steps if step.text.startswith("elect ")]
    assert report.outcome == "lost" and step.result == "InvalidRequestException: elect is refused"
    granted = follow(FakeCluster(), sign=election, control=False)
    assert granted.outcome == "not-reproduced"
    assert granted.message == "orders-0: the unclean election is not refused"
    other = replaced(election, "InvalidRequest", "ElectionNotNeeded")
    assert follow(FakeCluster(fails=["elect"]), sign=other, control=False).outcome == "inconclusive"


def test_the_controller_and_the_log_of_a_replica(follow: Follow) -> None:
    steps = "\n".join(
        f"[[step]]\n{one}"
        for one in (
            'pause = "controller"',
            'resume = "controller"',
            'kill = "controller"',
            'start = "controller"',
            'lose-log = "orders-0"\nbroker = 1',
            'lose-log = "orders-0"\nbroker = 1\nfrom = 7',
        )
    )
    cluster = FakeCluster()
    follow(cluster, leaderless=steps, control=False)
    expected = [("pause", 100), ("resume", 100), ("kill", 100), ("start", 100)]
    expected += [("lose log", 1, "orders-0"), ("lose log", 1, "orders-0", 7)]
    assert [call for call in cluster.done if call in expected] == expected


def test_a_topic_is_deleted(follow: Follow) -> None:
    steps = '[[step]]\ncreate = "old"\npartitions = [[0]]\n[[step]]\ndelete = "old"'
    cluster = FakeCluster()
    report = follow(cluster, leaderless=steps, control=False)
    assert [call[:2] for call in cluster.done][-3:-1] == [("create", "old"), ("delete topic", "old")]
    assert "delete old" in render(report, "text")
    refused = follow(FakeCluster(fails=["delete topic"]), leaderless=steps, control=False)
    assert refused.outcome == "inconclusive" and "(delete old) failed" in refused.message


def test_a_release_is_not_told_of_a_feature_that_it_does_not_know() -> None:
    (recipe,) = [one for one in recipe_file.packaged_recipes() if one.id == "F-61/cancel"]
    assert shape_of(recipe, "run", "3.9.1").features == {}
    assert shape_of(recipe, "run", "4.0.0").features == {"eligible.leader.replicas.version": 0}


def test_a_step_that_kafka_refuses_is_named_and_the_control_left_out(follow: Follow) -> None:
    report = follow(FakeCluster(fails=["reassign"]), FakeCluster())
    assert report.outcome == "inconclusive" and report.exit_code is ExitCode.INCONCLUSIVE
    assert report.message.startswith("step 3 (reassign orders-0, to [1]) failed: InvalidRequestException")
    assert (report.left, report.control, report.acknowledged) == (None, None, 10)


def test_a_wait_that_is_too_long_is_inconclusive(follow: Follow) -> None:
    report = follow(FakeCluster(fails=["describe"]), patience=0.1)
    assert report.outcome == "inconclusive" and "step 4 (wait orders-0" in report.message


def test_a_cluster_that_does_not_start_is_inconclusive(follow: Follow, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ClusterFault("node 1 ended with 1", "OutOfMemoryError")

    cluster = FakeCluster()
    monkeypatch.setattr(cluster, "create", fail)
    report = follow(cluster)
    assert report.outcome == "inconclusive"
    assert "node 1 ended with 1\nOutOfMemoryError" in report.message


def test_an_interrupt_ends_the_cluster(follow: Follow, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    cluster = FakeCluster()

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cluster, "start", interrupt)
    with pytest.raises(KeyboardInterrupt):
        follow(cluster, keep=tmp_path / "kept")
    assert cluster.ended and (tmp_path / "kept" / "run" / "kept").exists()


def test_logs_are_kept_in_an_empty_folder_only(follow: Follow, tmp_path: Path) -> None:
    report = follow(FakeCluster(loses=1), FakeCluster(), keep=tmp_path / "kept")
    assert report.kept == str(tmp_path / "kept")
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == ["control", "run"]
    with pytest.raises(UsageFault) as caught:
        follow(FakeCluster(), keep=tmp_path / "kept")
    assert caught.value.code == "keep-taken"


def test_a_release_that_is_too_old_or_new(follow: Follow) -> None:
    with pytest.raises(UsageFault) as caught:
        follow(FakeCluster(), kafka="3.9.1")
    assert caught.value.code == "recipe-version"
    report = follow(FakeCluster(), kafka="4.4.0", control=False)
    assert not report.expected and "does not name this release" in render(report, "text")


def test_classes_of_a_patch_go_before_those_of_kafka(follow: Follow, tmp_path: Path) -> None:
    patch = tmp_path / "patch.jar"
    cluster = FakeCluster()
    report = follow(cluster, control=False, classes=(patch,))
    assert report.classes == (str(patch),) and not report.expected
    text = render(report, "text")
    assert f"classes   {patch}" in text and "not all those of the release" in text
    assert "does not name this release" not in text
    assert cluster.jars == (patch, tmp_path / "CLUSTER")


def test_the_patch_of_the_finding_is_built(follow: Follow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The jar, behind classes that are given; every format names the patch."""
    mine, built = tmp_path / "mine.jar", tmp_path / "F-20.jar"
    changed = ("org/apache/kafka/controller/PartitionChangeBuilder.java",)
    monkeypatch.setattr(reproduce, "patch_of", lambda finding, kafka: (built, changed))
    run, control = FakeCluster(), FakeCluster()
    report = follow(run, control, classes=(mine,), patched=True)
    assert report.classes == (str(mine), str(built)) and report.patched == changed
    assert run.jars == control.jars == (mine, built, tmp_path / "CLUSTER")
    note = "Kafka had the patch of F-20, which changes PartitionChangeBuilder.java"
    for form in ("text", "markdown", "junit", "github"):
        assert note in render(report, form), form
    assert json.loads(render(report, "json"))["patched"] == list(changed)
    assert not report.expected


def test_which_kafka_has_to_be_said() -> None:
    for request in (ReproduceRequest("F-20"), ReproduceRequest("F-20", kafka="4.1.1", home=Path("x"))):
        with pytest.raises(UsageFault) as caught:
            reproduce.class_path_of(request)
        assert "--kafka VERSION or --kafka-home DIR" in caught.value.message


def test_other_formats(follow: Follow) -> None:
    report = follow(FakeCluster(loses=6), FakeCluster())
    document = json.loads(render(report, "json"))
    schema = json.loads((SCHEMAS / "elrcheck.reproduce-1.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator(schema).validate(document)
    assert document["control"]["left"] == 15 and document["order"] == "small"
    (suite,) = JUnitXml.fromstring(render(report, "junit").encode())
    assert (suite.name, suite.tests, suite.failures) == ("Kafka 4.1.1", 2, 1)
    assert "6 of 15 acknowledged records are lost" in render(report, "markdown")


def test_several_runs_have_a_rate(follow: Follow, tmp_path: Path) -> None:
    clusters = [FakeCluster(), FakeCluster(loses=2), FakeCluster(fails=["reassign"]), FakeCluster(loses=6)]
    control = FakeCluster()
    report = follow(*clusters, control, runs=4, keep=tmp_path / "kept", elr=[1, 1, 1, 1, 0])
    assert (report.outcome, report.left) == ("lost", 13) and report.exit_code is ExitCode.FINDING
    assert report.control is not None and report.control.outcome == "not-reproduced"
    repeated = report.repeated
    assert repeated is not None and (repeated.asked, repeated.ended, repeated.shown) == (4, 3, 2)
    assert [run.outcome for run in repeated.runs] == ["not-reproduced", "lost", "inconclusive", "lost"]
    names = sorted(path.name for path in (tmp_path / "kept").iterdir())
    assert names == ["control", "run-1", "run-2", "run-3", "run-4"]
    words = "it shows in 2 of 3 runs: 21 % to 94 % with a confidence of 95 %; lost in each: 2, 6; 1 more"
    assert words in render(report, "text") and words in render(report, "markdown")
    schema = json.loads((SCHEMAS / "elrcheck.reproduce-1.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator(schema).validate(json.loads(render(report, "json")))


def test_an_interrupt_leaves_the_runs_that_are_over(follow: Follow, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    second = FakeCluster()
    monkeypatch.setattr(second, "start", interrupt)
    report = follow(FakeCluster(loses=2), second, FakeCluster(), runs=3, elr=[1, 1])
    assert report.exit_code is ExitCode.INTERRUPTED and report.control is None
    assert report.repeated is not None and len(report.repeated.runs) == 1
    assert "it shows in 1 of 1 runs" in render(report, "text")
    assert "interrupted after 1 of 3" in render(report, "text")


def test_the_interval_of_a_rate() -> None:
    assert wilson(0, 0) == (0.0, 1.0)
    low, high = wilson(0, 20)
    assert low == 0.0 and round(high, 3) == 0.161
    low, high = wilson(5, 20)
    assert (round(low, 3), round(high, 3)) == (0.112, 0.469)


def test_records_are_sent_while_steps_are_done(follow: Follow) -> None:
    stream = '[[step]]\nstream = "orders-0"\nrate = 50\n[[step]]\nstream-end = "orders-0"'
    cluster = FakeCluster(loses=1)
    report = follow(cluster, leaderless=stream, control=False)
    assert ("stream", "orders-0", 15, 50) in cluster.done
    assert (report.acknowledged, report.left) == (114, 114)  # the record that is lost was not acknowledged


def test_every_record_that_was_sent_is_answered_and_those_for_the_leader_alone_do_not_count(follow: Follow) -> None:
    send, leader = '[[step]]\nsend = "orders-0"\n', "records = 2\nacks = 1\nvia = 0\n"
    steps = f'{send}{send}[[step]]\nproduce = "orders-0"\n{leader}[[step]]\nanswered = "orders-0"\n'
    cluster = FakeCluster(loses=2)
    report = follow(cluster, leaderless=steps, control=False)
    assert ("produce", "orders-0", 17, 2, "1", 0) in cluster.done
    assert (report.acknowledged, report.left) == (17, 17)  # 10, 5, and the two that were sent
    assert report.steps[-1].result == "record 15: acknowledged; record 16: acknowledged"


def test_a_record_of_a_transaction_counts_once_its_commit_has_succeeded(follow: Follow) -> None:
    def begin(producer: str) -> str:
        return step('begin = "orders-0"', f'producer = "{producer}"')

    steps = begin("x") + begin("y") + step('commit = "x"')
    cluster = FakeCluster(loses=2)
    report = follow(cluster, leaderless=steps, control=False)
    assert [call for call in cluster.done if call[0] in ("begin", "commit")] == [
        ("begin", "x", "orders-0", 15),
        ("begin", "y", "orders-0", 16),
        ("commit", "x"),
    ]
    assert (report.outcome, report.acknowledged, report.missing) == ("lost", 16, "orders-0: 15")
    refused = follow(FakeCluster(fails=["commit"]), leaderless=steps, control=False)
    assert (refused.outcome, refused.acknowledged) == ("inconclusive", 15)


def test_small_parts() -> None:
    assert ranges({1, 2, 3, 7, 9, 10}) == "1-3, 7, 9-10" and ranges(set()) == ""
    assert fits(WHOLE, ExpectedPartition(leader=(1, 0), isr=(1, 0), isr_size=2))
    assert not fits(WHOLE, ExpectedPartition(replicas=(1, 0))) and not fits(WHOLE, ExpectedPartition(elr=(1,)))
    assert Jars.CLUSTER.value != Jars.BROKER.value
