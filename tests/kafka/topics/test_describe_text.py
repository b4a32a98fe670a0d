"""Descriptions of topics as Kafka's tools print them: what is read, and what is handed back."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from elrcheck.base.errors import UsageFault
from elrcheck.base.kafka_requests import RiskRequest
from elrcheck.kafka.risk.settings_group import compared, described
from elrcheck.kafka.topics.describe_text import read_description
from elrcheck.kafka.topics.described import settings_of
from support.edits import replaced
from support.invoked import Invoke

ORDERS = (
    "Topic: orders\tTopicId: 9k1d-ZjLQ6W4bzLk5PSzhA\tPartitionCount: 2\tReplicationFactor: 3\t"
    "Configs: min.insync.replicas=2,segment.bytes=1073741824\n"
    "\tTopic: orders\tPartition: 0\tLeader: 1\tReplicas: 1,2,3\tIsr: 1,2,3\tElr: \tLastKnownElr: \n"
    "\tTopic: orders\tPartition: 1\tLeader: none\tReplicas: 2,3,1,4\tIsr: 2\tAdding Replicas: 4\t"
    "Removing Replicas: \tElr: 3\tLastKnownElr: \n"
)
LOGS = "Topic: logs\tTopicId: x\tPartitionCount: 1\tReplicationFactor: 2\tConfigs: \n"
CONFIGS = (
    "Dynamic configs for topic logs are:\n"
    "  unclean.leader.election.enable=true sensitive=false"
    " synonyms={DYNAMIC_TOPIC_CONFIG:unclean.leader.election.enable=true}\n"
    "Default configs for brokers in the entire cluster are:\n"
    "  min.insync.replicas=2 sensitive=false synonyms={DYNAMIC_DEFAULT_BROKER_CONFIG:min.insync.replicas=2}\n"
)


def groups(text: str) -> list[tuple[int, int, bool, tuple[str, ...]]]:
    settings, problems = settings_of(read_description(text), unclean=False)
    assert problems == ()
    return [(g.replication_factor, g.min_insync_replicas, g.unclean, g.names) for g in settings]


def test_topics_and_their_settings_are_read() -> None:
    assert read_description(ORDERS + LOGS + CONFIGS).unread == ()
    assert groups(ORDERS + LOGS) == [(3, 2, False, ("orders",)), (2, 1, False, ("logs",))]
    assert groups(ORDERS + LOGS + CONFIGS) == [(3, 2, False, ("orders",)), (2, 2, True, ("logs",))]


def test_settings_of_a_listener_are_read() -> None:
    mechanism = "listener.name.sasl_ssl.scram-sha-256.sasl.jaas.config=null sensitive=true synonyms={}"
    heading = "Dynamic configs for broker 1 are:\n  "
    assert not read_description(ORDERS + heading + mechanism).unread


def test_blanks_do_for_tabs() -> None:
    assert groups(replaced(ORDERS, "\t", "  ")) == groups(ORDERS)


def test_partitions_of_one_topic_may_have_other_numbers_of_replicas() -> None:
    shrunk = "\tTopic: orders\tPartition: 2\tLeader: 1\tReplicas: 1\tIsr: 1\n"
    assert groups(ORDERS + shrunk) == [(1, 2, False, ("orders (2)",)), (3, 2, False, ("orders (0, 1)",))]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("hello", "not a line of kafka-topics"),
        ("Topic: a\tFoo: 1", "unknown field `Foo`"),
        ("Topic: a", "neither a topic with ReplicationFactor nor a partition"),
        ("Topic: a b\tReplicationFactor: 1", "not a legal topic name"),
        ("Topic: a\tPartition: 0\tReplicas: 1,x", "are not numbers"),
        (f"Topic: a\tPartition: {'9' * 5000}\tReplicas: 1", "are not numbers"),
        ("Topic: a\tReplicationFactor: -3", "a number from 1"),
        ("Topic: a\tReplicationFactor: ³", "a number from 1"),
        ("Topic: a\tReplicationFactor: 3\tReplicationFactor: 3", "twice"),
        ("Topic:\tReplicationFactor: 3", "not a legal topic name"),
        ("min.insync.replicas=2 sensitive=false synonyms={}", "the resource of this setting"),
        ("\0\ufffd", "not a line"),
    ],
)
def test_what_is_not_understood_is_named(line: str, why: str) -> None:
    described = read_description(f"{LOGS}\n{line}\n")
    assert [topic.name for topic in described.topics] == ["logs"]
    (unread,) = described.unread
    assert unread.startswith("line 3: ") and why in unread


PARTITION = "\tTopic: {0}\tPartition: 0\tLeader: 1\tReplicas: 1,2,3\tIsr: 1,2,3\n"


@pytest.mark.parametrize(
    ("header", "why"),
    [
        (
            "ReplicationFacto: 3\tConfigs: min.insync.replicas=2",
            "`ReplicationFacto`; did you mean `ReplicationFactor`?",
        ),
        ("ReplicationFactor: 3\tConfigs: min.insync.replcas=2", "replcas`; did you mean `min.insync.replicas`?"),
        (
            "ReplicationFactor: 3\tConfigs: unclean.leader.elections.enable=true",
            "did you mean `unclean.leader.election.en",
        ),
    ],
)
def test_a_topic_with_a_line_that_is_not_understood_is_left_out(header: str, why: str) -> None:
    """Its settings are unknown, so no default is assumed; equal messages are one."""
    names = [f"t{n}" for n in range(9)]
    text = "".join(f"Topic: {name}\t{header}\n{PARTITION.format(name)}" for name in names)
    described = read_description(LOGS + text)
    assert [topic.name for topic in described.topics] == ["logs"]
    line, topics = described.unread
    assert line.startswith("line 2: unknown ") and why in line
    assert line.endswith("(and 8 more lines: 4, 6, 8 and 5 more)")
    assert topics.startswith("topic t0 is left out") and topics.endswith("(and 8 more topics: t1, t2, t3 and 5 more)")


def test_a_topic_without_a_line_of_its_settings_is_left_out() -> None:
    described = read_description(LOGS + PARTITION.format("a"))
    assert [topic.name for topic in described.topics] == ["logs"]
    assert described.unread == ("topic a is left out, since no line has its settings",)
    configs = "Dynamic configs for topic a are:\n"
    assert len(read_description(LOGS + PARTITION.format("a") + configs).topics) == 2
    assert len(read_description(LOGS + PARTITION.format("a") + configs + "  min.insync.replicas=2\n").topics) == 1


@pytest.mark.parametrize("value", ["min.insync.replicas=two", "unclean.leader.election.enable=maybe"])
def test_a_setting_without_a_meaning_leaves_the_topic_out(value: str) -> None:
    settings, problems = settings_of(read_description(replaced(LOGS, "Configs: ", f"Configs: {value}")), False)
    assert settings == ()
    assert problems[0].startswith("topic logs: ")


def test_groups_that_lose_nothing_by_design_are_searched_first(tmp_path: Path) -> None:
    file = tmp_path / "topics.txt"
    file.write_text(LOGS + ORDERS + CONFIGS + "what\n", encoding="utf-8")
    requests, unread, not_searched = described(RiskRequest("4.1", seconds=20), file)
    assert [(r.topics, r.seconds, r.unclean_leader_election_enable) for r in requests] == [
        (("orders",), 10, False),
        (("logs",), 10, True),
    ]
    assert (len(unread), not_searched) == (1, 0)
    line = "Topic: {}\tPartitionCount: 2\tReplicationFactor: {}\tConfigs: min.insync.replicas={}\n"
    sizes = [("a", 2, 2), ("b", 3, 2), ("c", 3, 2), ("d", 3, 3), ("e", 1, 1)]
    sizes += [(f"f{number}", 4, number) for number in (1, 2, 3, 4)] + [("g", 5, 2)]
    file.write_text("".join(line.format(*each) for each in sizes), encoding="utf-8")
    requests, unread, not_searched = described(RiskRequest("4.1", seconds=20), file)
    assert (requests[0].topics, len(requests), not_searched) == (("b", "c"), 8, 1) and not unread
    assert not any(r.min_insync_replicas == 1 for r in requests[:-1])
    assert len(described(RiskRequest("4.1", seconds=540), file).requests) == 9


def test_a_file_without_a_topic_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "empty.txt"
    file.write_bytes(b"\xff\xfe\0")
    with pytest.raises(UsageFault, match="no topic that can be read"):
        described(RiskRequest("4.1"), file)


def test_comparisons_change_what_they_name() -> None:
    first, other = compared(RiskRequest("4.1", 3, 2), ["kafka=4.3,elr=off,min.insync.replicas=1"])
    assert (first.kafka, first.elr, first.min_insync_replicas) == ("4.1", None, 2)
    assert (other.kafka, other.elr, other.min_insync_replicas) == ("4.3", False, 1)


@pytest.mark.parametrize("text", ["kafka", "kafk=4.3", "elr=maybe", "acks=2", "replication-factor=0", ""])
def test_comparisons_are_read_strictly(text: str) -> None:
    with pytest.raises(UsageFault, match="--compare"):
        compared(RiskRequest("4.1"), [text])


def test_two_releases_side_by_side(invoke: Invoke) -> None:
    code, out, _ = invoke(
        "risk",
        "--kafka",
        "4.1",
        "--replication-factor",
        "2",
        "--min-insync-replicas",
        "2",
        "--event",
        "crash",
        "--events",
        "1",
        "--compare",
        "kafka=3.9",
        "--time-budget",
        "300s",
        "--format",
        "json",
    )
    report = json.loads(out)
    assert code == 1
    assert [part["settings"]["kafka"] for part in (report, *report["others"])] == ["4.1.2", "3.9.1"]
    (difference,) = report["differences"]
    assert (difference["outcome"], difference["here"], difference["there"]) == ("lost", "no", ["lost"])


def test_each_setting_has_a_column_of_its_own(invoke: Invoke) -> None:
    question = ("--kafka", "4.1", "--replication-factor", "2", "--min-insync-replicas", "2", "--event", "crash")
    others = ("--compare", "kafka=3.9", "--compare", "kafka=4.3,elr=off", "--events", "1", "--time-budget", "300s")
    code, out, _ = invoke("risk", *question, *others)
    lines = out.splitlines()
    place = next(number for number, line in enumerate(lines) if line.startswith("outcome"))
    head, row = (re.split(r"  +", line.strip()) for line in lines[place : place + 2])
    assert code == 1 and head[2:] == ["Kafka 4.1.2, ELR on", "Kafka 3.9.1, ELR off", "Kafka 4.3.1, ELR off"]
    assert row[2:] == ["no", "lost", "no"]
    assert lines[-1].startswith("LOST  an acknowledged record can be lost: Kafka 3.9.1, ELR off, ")
    assert "harmless" not in out


@pytest.mark.parametrize(
    "options",
    [
        ("--kafka", "4.9"),
        ("--kafka", "4.1", "--acks", "2"),
        ("--kafka", "3.9", "--elr", "on"),
        (),
        ("--kafka", "4.1", "--event", "strike"),
        ("--kafka", "4.1", "--compare", "x"),
        ("--kafka", "4.1", "--describe", "nothing.txt"),
        ("--kafka", "4.1", "--replication-factor", "7"),
    ],
)
def test_wrong_use_exits_with_2(options: tuple[str, ...], invoke: Invoke) -> None:
    code, out, err = invoke("risk", *options)
    assert (code, out) == (2, "")
    assert "error[" in err and "Traceback" not in err
