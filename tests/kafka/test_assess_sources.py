"""`assess` of topics and releases that files, logs and live clusters name."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from elrcheck.base.kafka_requests import RiskRequest
from elrcheck.kafka.risk.settings_group import group_of
from support.assessments import TWO_TOPICS, assess
from support.audit_stories import BROKERS, START, TOPIC, feature, min_isr, partition, written
from support.invoked import Invoke
from support.live_cluster import FakeCluster
from support.log_stories import T
from support.places import ROOT
from support.wire_broker import WireBroker, listening


def test_settings_that_lose_most_come_first(invoke: Invoke, tmp_path: Path) -> None:
    sizes = ((3, 2, "false"), (2, 2, "false"), (3, 1, "false"), (2, 1, "false"), (3, 2, "true"), (1, 1, "false"))
    topic = "Topic: {}\tPartitionCount: {}\tReplicationFactor: {}\tConfigs: min.insync.replicas={}"
    unclean = ",unclean.leader.election.enable={}\n"
    lines = [
        (topic + unclean).format(f"{name}{n}", partitions, *one)
        for name, partitions in (("t", 1), ("u", 2))
        for n, one in enumerate(sizes)
    ]
    file = tmp_path / "topics.txt"
    file.write_text("".join(lines))
    report = assess("4.3", topics=(file,))
    assert [group.topics for group in report.groups] == [(f"t{n}", f"u{n}") for n in (5, 4, 3, 2, 1, 0)]
    _, out, _ = invoke("assess", "--kafka", "4.3", "--topics", str(file))
    settings = re.findall(r"BY DESIGN    ([\w.]+):", out)
    assert settings[:2] == ["replication.factor", "unclean.leader.election.enable"] and len(settings) == 5
    assert "partition 0" not in out
    verbose = invoke("assess", "--kafka", "4.3", "--topics", str(file), "-v")[1].splitlines()
    assert verbose.count("  t5") == 1, "with -v each topic has a line"


def test_without_settings_the_topics_of_a_log_are_assessed(invoke: Invoke) -> None:
    log = str(ROOT / "tests" / "data" / "metadata_log" / "lost-4.1.1")
    groups = json.loads(invoke("assess", "--log", log, "--format", "json")[1])["groups"]
    sizes = [(each["settings"]["replication_factor"], each["settings"]["min_insync_replicas"]) for each in groups]
    assert ("c" in [topic for group in groups for topic in group["topics"]]) and (3, 2) in sizes
    sizes = ("--replication-factor", "4", "--min-insync-replicas", "3")
    (group,) = json.loads(invoke("assess", "--log", log, *sizes, "--format", "json")[1])["groups"]
    assert (group["settings"]["replication_factor"], group["topics"]) == (4, [])
    code, _, err = invoke("assess", "--kafka", "4.1", *sizes, "--topics", log)
    assert code == 2 and "--replication-factor is a setting of one topic" in err


def test_omitted_settings_are_reported_as_assumed(invoke: Invoke, tmp_path: Path) -> None:
    both = "note         replication.factor 3 and min.insync.replicas 1 are assumed"
    code, out, _ = invoke("assess", "--kafka", "4.3", "--fail-on", "flag")
    assert code == 0 and f"{both}: give" in out and "the assumed settings allow a loss" in " ".join(out.split())
    for form in ("markdown", "html"):
        assert "min.insync.replicas 1 are assumed" in invoke("assess", "--kafka", "4.3", "--format", form)[1]
    _, out, _ = invoke("assess", "--kafka", "4.3", "--replication-factor", "3")
    assert "note         min.insync.replicas 1 is assumed: give --min-insync-replicas" in out
    _, out, _ = invoke("assess", "--kafka", "4.3", "--replication-factor", "3", "--min-insync-replicas", "1")
    assert "assumed" not in out and "the settings allow a loss" in " ".join(out.split())
    log = str(written(tmp_path, feature(1), *BROKERS))
    assert f"{both}, since what was audited has no topic" in invoke("assess", "--kafka", "4.3", "--log", log)[1]


def test_topics_may_inherit_settings_that_are_not_on_record(invoke: Invoke, tmp_path: Path) -> None:
    """A log has no server.properties; kafka-topics.sh prints what a topic inherits, and Terraform does not."""
    files = {
        "topics.txt": TWO_TOPICS,
        "a.tf": 'resource "kafka_topic" "a" {\n  name = "a"\n  partitions = 3\n  replication_factor = 3\n}\n',
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "log").mkdir()
    log = str(written(tmp_path / "log", feature(1), *BROKERS, TOPIC, partition()))
    notes = [
        " ".join(note for group in json.loads(out)["groups"] for note in group["notes"])
        for question in (("--log", log), ("--topics", "a.tf"), ("--topics", "topics.txt"))
        for out in [invoke("assess", "--kafka", "4.3", *question, "--format", "json")[1]]
    ]
    inherited = "min.insync.replicas of 1 topic is not on record; Kafka's default, 1, is assumed"
    assert [inherited in each for each in notes] == [True, True, False]
    assert ["unclean.leader.election.enable of 1 topic is" in each for each in notes] == [True, True, False]


def test_a_topic_of_two_logs_counts_once_as_the_later_one_has_it(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("later", "middle", "removed")]
    for folder in folders:
        folder.mkdir()
    middle = written(folders[1], *START)
    later = written(folders[0], *START, min_isr("3", (2, "orders")))
    removed = written(folders[2], *START, feature(1), ("REMOVE_TOPIC_RECORD", 0, {"topicId": T}))
    for logs, least in (((later, middle), 3), ((middle, later), 3), ((middle,), 2)):
        (group,) = assess("4.3", logs=logs).groups
        assert (group.topics, group.settings.min_insync_replicas) == (("orders",), least)
    (group,) = assess("4.3", logs=(removed, later)).groups
    assert group.topics == () and group.assumed == ("replication.factor", "min.insync.replicas")


def test_logs_are_named_by_a_pattern(invoke: Invoke) -> None:
    pattern = str(ROOT / "tests" / "data" / "metadata_log" / "*-4.1.1")
    report = json.loads(invoke("assess", "--kafka", "4.1", "--log", pattern, "--format", "json")[1])
    assert {Path(name).name for name in report["looked_at"]} >= {"lost-4.1.1", "control-4.1.1"}


def test_a_thousand_topics_are_read(tmp_path: Path) -> None:
    lines = [
        f"Topic: t{n}\tPartitionCount: 1\tReplicationFactor: 3\tConfigs: min.insync.replicas={1 + n % 2}"
        for n in range(1000)
    ]
    file = tmp_path / "topics.txt"
    file.write_text("\n".join(lines))
    assert [len(group.topics) for group in assess("4.1", topics=(file,)).groups] == [500, 500]


def test_of_many_topics_each_finding_is_printed_once(invoke: Invoke, tmp_path: Path) -> None:
    settings = (
        "min.insync.replicas=1,unclean.leader.election.enable=true",
        "min.insync.replicas=2",
        "min.insync.replicas=4",
    )
    lines = [f"Topic: t{n}\tPartitionCount: 2\tReplicationFactor: 3\tConfigs: {settings[n % 3]}" for n in range(900)]
    file = tmp_path / "topics.txt"
    file.write_text("\n".join(lines))
    question = ("assess", "--kafka", "4.3", "--topics", str(file))
    _, out, _ = invoke(*question)
    ids = [re.findall(r"F-\d+:", line)[0] for line in out.splitlines() if line.startswith(("CAN LOSE  ", "OUTAGE  "))]
    assert len(ids) == len(set(ids)) > 10 and {"F-20:", "F-51:", "F-62:"} <= set(ids)
    assert out.startswith("Kafka 4.3.1, replication factor 3, acks=all, ELR on: 900 topics, 3 kinds of settings\n")
    assert "  topics     300 of 900: t0, t3, t6, t9, t12, t15 and 294 more" in out, "F-62 needs unclean elections"
    assert "t2, t5, t8, t11, t14, t17 and 294 more: min.insync.replicas 4 of 3 replicas counts as 3" in " ".join(
        out.split()
    )
    assert len(out.splitlines()) < 150 and "t899" not in out and "t899" in invoke(*question, "-v")[1]
    assert out.count("  do ") < invoke(*question, "-v")[1].count("  do "), "an outage is in a line"


@pytest.mark.parametrize(("fail_on", "code"), [("loss", 1), ("outage", 1), ("flag", 0), ("never", 0)])
def test_what_fails(fail_on: str, code: int, invoke: Invoke) -> None:
    assert invoke("assess", "--kafka", "4.1", "--fail-on", fail_on)[0] == code


def test_beside_a_log_it_says_what_an_audit_cannot_see(invoke: Invoke) -> None:
    for name, code, flags in (("lost-4.1.1", 1, 2), ("control-4.1.1", 0, 0)):
        log = str(ROOT / "tests" / "data" / "metadata_log" / name)
        ended, out, _ = invoke("assess", "--kafka", "4.1", "--log", log, "--fail-on", "flag", "--format", "json")
        report = json.loads(out)
        assert (ended, len(report["flags"])) == (code, flags) and len(report["looked_at"]) == 1
        assert {"F-51", "F-58", "F-63"} <= {each["finding"] for each in report["invisible"]}
        _, text, _ = invoke("assess", "--kafka", "4.1", "--log", log)
        assert text.index("audited") < text.index("CAN LOSE") and "LOST" not in text, "the news comes first"
        word = "VIOLATED  2 flags in " if flags else "AT RISK  no sign of a loss in "
        assert text.splitlines()[-1].startswith(word) and report["verdict"] == word.split("  ")[0].lower().replace(
            " ", "_"
        )


@pytest.mark.parametrize(("level", "release"), [(25, "4.0.2"), (27, "4.1.2"), (30, "4.3.1"), (31, "4.3.1")])
def test_a_live_cluster_says_its_release(level: int, release: str, invoke: Invoke) -> None:
    """Also one of the newest line, which may be of a later release: the report says so."""
    with listening(WireBroker(FakeCluster(level=level))) as address:
        code, out, err = invoke("assess", "--bootstrap", address, "--format", "json")
    assert code == 1, err
    (group,) = json.loads(out)["groups"]
    assert (group["settings"]["kafka"], group["settings"]["elr"]) == (release, True)
    assert any("or later" in note for note in group["notes"]) == (release == "4.3.1")


def test_a_log_says_the_release_of_the_brokers_that_are_registered_in_it(invoke: Invoke) -> None:
    logs = [str(ROOT / "tests" / "data" / "metadata_log" / name) for name in ("lost-4.1.1", "control-4.1.1")]
    for log, elr in zip(logs, (True, False), strict=True):
        (group,) = json.loads(invoke("assess", "--log", log, "--format", "json")[1])["groups"]
        assert (group["settings"]["kafka"], group["settings"]["elr"]) == ("4.1.2", elr)
        seen, inherited = group["notes"]
        assert seen == "the brokers run Kafka 4.1, assessed as 4.1.2: name another release with --kafka"
        assert inherited.startswith("unclean.leader.election.enable of 1 topic is not on record")
    for named, release, elr in (("4.3", "4.3.1", True), ("3.9", "3.9.1", False)):
        (group,) = json.loads(invoke("assess", "--log", logs[0], "--kafka", named, "--format", "json")[1])["groups"]
        assert (group["settings"]["kafka"], group["settings"]["elr"]) == (release, elr)
        assert group["notes"][0] == f"assessed as Kafka {release}, as --kafka says; the brokers run 4.1"


def test_a_description_with_impossible_numbers(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text(
        "Topic: a\tPartitionCount: 1\tReplicationFactor: 3\tConfigs: min.insync.replicas=9999999999\n"
    )
    code, _, err = invoke("assess", "--kafka", "4.1", "--topics", "t.txt")
    assert code == 2 and "must be a number from 1 to 999999999, not `9999999999`" in err and "help" not in err


def test_without_a_release_it_asks_for_one(invoke: Invoke) -> None:
    code, _, err = invoke("assess")
    assert code == 2 and "--kafka 4.1" in err


def test_more_in_sync_replicas_than_replicas_count_as_all(invoke: Invoke) -> None:
    """Partition.effectiveMinIsr takes the smaller number: a write needs every replica, and is not refused for good."""
    question = ("--kafka", "4.1", "--replication-factor", "3", "--min-insync-replicas", "5")
    out = invoke("assess", *question)[1]
    assert "min.insync.replicas 5 of 3 replicas counts as 3, in Kafka too" in out
    assert "While one of the 3 replicas is down, every write with acks=all is refused" in " ".join(out.split())
    five, three = (group_of(RiskRequest("4.1", 3, least)).config for least in (5, 3))
    assert five == three


def test_settings_that_the_user_may_not_read_are_assumed_and_named(invoke: Invoke) -> None:
    with listening(WireBroker(FakeCluster(denied=frozenset({"configs"})))) as address:
        out = invoke("assess", "--bootstrap", address)[1]
    assert "min.insync.replicas of 1 topic is not on record; Kafka's default, 1, is assumed" in out
    with listening(WireBroker(FakeCluster())) as address:
        assert "min.insync.replicas of 1 topic is not on record" not in invoke("assess", "--bootstrap", address)[1]
