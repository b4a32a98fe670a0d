"""`elrcheck audit --bootstrap`: what is flagged of a cluster as it is now, and what is one step away."""

from __future__ import annotations

from pathlib import Path

import pytest

from elrcheck.base.errors import EnvironmentFault, ExitCode, NothingChecked, UsageFault
from elrcheck.kafka.audit.rules import audit_rules
from elrcheck.report.words.audit_words import release_in_words
from support.live_cluster import FakeCluster, partition, shrunk, topic

NEXT_STEPS = audit_rules().next_steps

FENCED_1 = {0: False, 1: True, 2: True, 3: False}
LOW = [
    ("rewrite-clears-elr", "F-25"),
    ("directories-clear-elr", "F-23"),
    ("unregistration-keeps-elr", "F-21"),
    ("downgrade-keeps-elr", "F-28"),
]


def test_a_healthy_cluster_has_no_flag() -> None:
    cluster = FakeCluster([topic("orders", *(partition(n) for n in range(3))), topic("other", partition())])
    report = cluster.audited()
    assert (report.verdict, report.flags, report.partitions) == ("no_sign", (), 4)
    assert report.cluster is not None
    assert (report.cluster.kafka, report.cluster.elr_version, report.cluster.topics) == ("4.1", 1, 2)
    assert (report.cluster.brokers, report.cluster.offset) == ((0, 1, 2, 3), 512)
    assert cluster.requests.count("partitions") == 1  # without a flag there is no second look


def test_an_elr_member_outside_the_replicas_is_critical() -> None:
    record = shrunk([2], [0, 1], replicas=(2,), leader=2)
    report = FakeCluster([topic("orders", record)]).audited()
    assert report.exit_code is ExitCode.FINDING
    first = report.flags[0]
    assert (first.rule, first.hazard, first.severity) == ("elr-outside-replicas", "F-20", "critical")
    assert first.message == "ELR [0, 1] is not within the replicas [2]"
    assert (first.topic, first.partition, first.path) == ("orders", 0, "kafka://localhost:9092")
    assert [flag.rule for flag in report.flags[1:]] == ["downgrade-keeps-elr"]


def test_a_stored_elr_while_the_feature_is_off_is_critical() -> None:
    cluster = FakeCluster([topic("orders", shrunk([0], [1]))], elr=0, brokers=FENCED_1)
    assert cluster.flagged() == [("elr-while-off", "F-28")]


def test_an_elr_in_use_is_one_step_from_findings_that_operators_can_avoid() -> None:
    record = shrunk([0], [1], offline_replicas=[1, 2])
    cluster = FakeCluster([topic("orders", record)], brokers=FENCED_1)
    assert cluster.flagged() == LOW
    assert cluster.audited().exit_code is ExitCode.HOLDS  # notes leave the verdict alone
    cluster.level = 30
    assert cluster.flagged() == [sign for sign in LOW if sign[1] != "F-23"]  # fixed in 4.3.0


def test_a_reassignment_whose_end_leaves_a_broker_in_the_elr() -> None:
    """From [0, 1] to [2] with min.insync.replicas 2, which completes when 2 has joined."""
    answered = partition(replicas=(2, 0, 1), isr_nodes=[0, 1])
    moving = {"replicas": [2, 0, 1], "adding_replicas": [2], "removing_replicas": [0, 1]}
    cluster = FakeCluster([topic("orders", answered)], moving={("orders", 0): moving})
    assert cluster.flagged() == [("completion-leaves-elr", "F-20"), ("reassignment-with-elr", "F-20")]
    (flag, _) = cluster.audited().flags
    assert flag.message == "when it completes, [0, 1] stay in the ELR of replicas [2]"
    cluster.elr = 0
    assert cluster.flagged() == []


def test_a_reassignment_whose_cancellation_leaves_a_broker_in_the_elr() -> None:
    """From [0, 1] to [0, 2, 3]: 2 has joined, 3 has not, and 1 is down."""
    answered = partition(replicas=(0, 2, 3, 1), isr_nodes=[0, 2], offline_replicas=[1, 3])
    moving = {"replicas": [0, 2, 3, 1], "adding_replicas": [2, 3], "removing_replicas": [1]}
    cluster = FakeCluster([topic("orders", answered)], moving={("orders", 0): moving})
    cluster.brokers |= {1: True, 3: True}
    assert cluster.flagged() == [("cancel-leaves-elr", "F-20"), ("reassignment-with-elr", "F-20")]
    assert "[2] stay in the ELR of replicas [0, 1]" in cluster.audited().flags[0].message


def test_a_reassignment_without_danger_is_a_note() -> None:
    answered = partition(replicas=(0, 1, 2, 3), isr_nodes=[0, 1, 2])
    moving = {"replicas": [0, 1, 2, 3], "adding_replicas": [3], "removing_replicas": [0]}
    cluster = FakeCluster([topic("orders", answered)], moving={("orders", 0): moving})
    assert cluster.flagged() == [("reassignment-with-elr", "F-20")]
    assert cluster.audited().verdict == "no_sign"


def test_switching_the_feature_while_a_partition_has_no_leader() -> None:
    down = {0: True, 1: True, 2: True, 3: False}
    off = partition(leader=-1, isr_nodes=[0], offline_replicas=[0, 1, 2])
    assert FakeCluster([topic("orders", off)], elr=0, brokers=down).flagged() == [("upgrade-keeps-leaderless", "F-26")]
    on = shrunk([], [0], leader=-1, offline_replicas=[0, 1, 2])
    assert ("downgrade-without-candidate", "F-57") in FakeCluster([topic("o", on)], brokers=down).flagged()


def test_a_leader_that_lags_behind_the_metadata() -> None:
    cluster = FakeCluster(lag={0: 42_000, 1: 42_000})
    (flag,) = cluster.audited().flags
    assert (flag.rule, flag.hazard, flag.severity) == ("leader-lags", "F-51", "high")
    assert flag.message == "leader 0 had read all metadata 42 s ago"
    cluster = FakeCluster([topic("orders", partition(0, (0, 2, 3)))], lag={1: 42_000})
    report = cluster.audited()
    assert (report.verdict, report.flags) == ("inconclusive", ()) and report.cluster is not None
    assert report.cluster.unseen == ("current data, if broker 1 answered: its metadata is stale",)
    cluster.brokers[1] = True  # a fenced broker is not asked
    assert cluster.audited().verdict == "no_sign"


def test_a_log_directory_that_is_offline_while_its_broker_runs() -> None:
    record = shrunk([0, 2], [1], offline_replicas=[1])
    assert ("directory-offline", "F-52") in FakeCluster([topic("orders", record)]).flagged()
    fenced = FakeCluster([topic("orders", record)], brokers={0: False, 1: True, 2: False})
    assert ("directory-offline", "F-52") not in fenced.flagged()


def test_the_last_member_of_the_isr_with_unclean_elections() -> None:
    answered = partition(isr_nodes=[0])
    cluster = FakeCluster([topic("orders", answered)], elr=0, unclean="true")
    assert cluster.flagged() == [("unclean-successor", None)]
    assert cluster.audited().flags[0].message == "ISR [0]: if leader 0 stops, 1 leads, which is not in it"
    cluster.unclean = "false"
    assert cluster.flagged() == []


def test_a_broker_in_the_elr_that_is_not_registered() -> None:
    cluster = FakeCluster([topic("orders", shrunk([0], [1]))], brokers={0: False, 2: True})
    assert ("elr-unregistered", "F-21") in cluster.flagged()


def test_a_flag_of_the_first_look_alone_is_dropped() -> None:
    """The state between two records of the controller, in which an eligible broker is not yet elected."""

    class Settles(FakeCluster):
        def configs(self, topics, names):  # type: ignore[no-untyped-def]
            answer = super().configs(topics, names)
            self.topics_now = [topic("orders", partition())]
            return answer

    cluster = Settles([topic("orders", shrunk([], [1], leader=-1))])
    assert cluster.flagged() == []
    assert cluster.requests.count("partitions") == 2


def test_pages_are_followed_by_their_cursor() -> None:
    topics = [topic(f"t{n:04}", *(partition(i) for i in range(3))) for n in range(700)]
    cluster = FakeCluster(topics, page=500)
    report = cluster.audited()
    assert report.partitions == 2100 and report.verdict == "no_sign"
    assert cluster.requests.count("partitions") == 5  # 4 full pages and a rest
    assert cluster.requests.count("configs") == 2


def test_brokers_before_the_elr_are_asked_by_the_older_request() -> None:
    cluster = FakeCluster(level=21, elr=None, missing=frozenset({"partitions"}))
    report = cluster.audited()
    assert (report.verdict, report.flags) == ("no_sign", ())
    assert report.cluster is not None and (report.cluster.kafka, report.cluster.unseen) == ("3.9", ())


@pytest.mark.parametrize(
    ("denied", "message"),
    [
        ("configs", "min.insync.replicas of 1 topic"),
        ("quorum", "how far brokers have read the metadata"),
        ("reassignments", "reassignments"),
        ("partitions", "ELR and LastKnownELR"),
    ],
)
def test_what_cannot_be_seen_is_said_and_leaves_the_verdict_open(denied: str, message: str) -> None:
    report = FakeCluster(denied=frozenset({denied})).audited()
    assert report.exit_code is ExitCode.INCONCLUSIVE and report.cluster is not None
    assert any(text.startswith(message) and "not authorized" in text for text in report.cluster.unseen)


def test_nothing_is_flagged_by_a_min_isr_that_the_user_may_not_read() -> None:
    """Kafka's default, 1, would make every ELR beside a leader break P-11."""
    cluster = FakeCluster([topic("orders", shrunk([0], [1]))], denied=frozenset({"configs"}))
    report = cluster.audited()
    assert {flag.severity for flag in report.flags} == {"low"} and report.verdict == "inconclusive"
    many = FakeCluster([topic(f"t{number}", partition()) for number in range(1001)], denied=frozenset({"configs"}))
    described = many.audited().cluster
    assert described is not None and described.unseen == (
        "settings of topics: the user is not authorized",
        "min.insync.replicas of 1,001 topics: the user is not authorized",
    )


@pytest.mark.parametrize("denied", ["features", "cluster"])
def test_without_features_or_brokers_nothing_can_be_judged(denied: str) -> None:
    with pytest.raises(EnvironmentFault, match="the user is not authorized"):
        FakeCluster(denied=frozenset({denied})).audited()


def test_a_cluster_without_kraft_or_without_topics_is_refused() -> None:
    class Zookeeper(FakeCluster):
        def features(self):  # type: ignore[no-untyped-def]
            return {}

    with pytest.raises(UsageFault, match="does not run with KRaft"):
        Zookeeper().audited()
    with pytest.raises(NothingChecked):
        FakeCluster([]).audited()


def test_every_rule_about_a_next_step_is_tested_here() -> None:
    source = Path(__file__).read_text(encoding="utf-8")
    assert {rule for rule in NEXT_STEPS if f'"{rule}"' not in source} == set()


@pytest.mark.parametrize(
    ("source", "below", "counts"),
    [
        ("DYNAMIC_TOPIC_CONFIG", "DYNAMIC_DEFAULT_BROKER_CONFIG", True),
        ("DYNAMIC_DEFAULT_BROKER_CONFIG", "STATIC_BROKER_CONFIG", True),
        ("STATIC_BROKER_CONFIG", "DEFAULT_CONFIG", True),
        ("DYNAMIC_BROKER_CONFIG", "DYNAMIC_DEFAULT_BROKER_CONFIG", False),
    ],
)
def test_the_min_isr_that_counts_for_the_controller(source: str, below: str, counts: bool) -> None:
    """With a value of 1 the ELR would have to be empty, because the ISR has a member (P-11)."""
    record = shrunk([0], [1], offline_replicas=[1, 2])
    cluster = FakeCluster([topic("orders", record)], brokers=FENCED_1, min_isr_source=source, min_isr_below=below)
    assert ("P-11" not in [rule for rule, _ in cluster.flagged()]) == counts


@pytest.mark.parametrize(("level", "kafka"), [(21, "3.9"), (27, "4.1"), (30, "4.3 or later")])
def test_the_release_is_told_by_what_brokers_support(level: int, kafka: str) -> None:
    cluster = FakeCluster(level=level).audited().cluster
    assert cluster is not None and cluster.kafka == kafka.partition(" ")[0]
    assert release_in_words(cluster).startswith(f"Kafka {kafka}, ")
