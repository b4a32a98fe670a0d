"""Signs that a reassignment, or a raised min.insync.replicas, leaves records on too few replicas."""

from __future__ import annotations

from pathlib import Path

import pytest

from elrcheck.kafka.audit.rules import audit_rules
from elrcheck.results.audit_report import AuditFlag
from support.audit_stories import BROKERS, START, TOPIC, audited, change, feature, min_isr, partition
from support.log_stories import SEGMENT, T, broker, registered
from support.log_writer import RecordFields, batch_of

JUDGED = ("completed-with-few", "cancelled-with-few", "raised-while-shrinking", "raised-while-fencing")
SHRINKS = change(isr=[0, 1], eligibleLeaderReplicas=[2])

RULES = audit_rules().by_name


def flags(tmp_path: Path, *batches: tuple[int, tuple[RecordFields, ...]]) -> list[AuditFlag]:
    """Of these rules, in a log of batches, each with its time."""
    content, base = b"", 0
    for time, steps in batches:
        content += batch_of(base, steps, time=time)
        base += len(steps)
    path = tmp_path / SEGMENT
    path.write_bytes(content)
    return [flag for flag in audited(path).flags if flag.rule in JUDGED]


def moved(isr: list[int], **more: object) -> tuple[RecordFields, ...]:
    """From 0, 1 to 1, 2, with this ISR."""
    answered = partition(replicas=[1, 2, 0], isr=isr, addingReplicas=[2], removingReplicas=[0], **more)
    return (feature(1), min_isr("2"), *BROKERS, TOPIC, answered)


def ended(**more: object) -> tuple[RecordFields, ...]:
    return (change(addingReplicas=[], removingReplicas=[], **more),)


def test_a_reassignment_that_completes_with_one_member_is_flagged(tmp_path: Path) -> None:
    (flag,) = flags(tmp_path, (1, moved([0])), (2, ended(replicas=[1, 2], isr=[2], leader=2)))
    assert (flag.rule, flag.hazard, flag.severity, flag.offset) == ("completed-with-few", "F-60", "high", 8)
    assert "from [1, 2, 0] completes with ISR [2] of replicas [1, 2], min.insync.replicas 2" in flag.message


def test_a_cancellation_that_leaves_one_member_is_flagged(tmp_path: Path) -> None:
    (flag,) = flags(tmp_path, (1, moved([0, 2])), (2, ended(replicas=[1, 0], isr=[0])))
    assert (flag.rule, flag.hazard, flag.offset) == ("cancelled-with-few", "F-61", 8)
    assert flag.message.endswith("the ISR was [0, 2]")


def test_an_event_is_over_once_every_replica_is_in_the_isr(tmp_path: Path) -> None:
    """And again open when it happens again; a partition that is deleted has nothing left of it."""
    few = ended(replicas=[1, 2], isr=[2], leader=2)
    back, again = (change(isr=[1, 2]),), (change(replicas=[1, 2, 0], addingReplicas=[0], isr=[2, 0]),)
    (flag,) = flags(tmp_path, (1, moved([0])), (2, few), (3, (change(leader=2),)))
    assert (flag.event, flag.until) == (True, None) and flag.remedy == RULES[flag.rule].remedy
    first, second = flags(tmp_path, (1, moved([0])), (2, few), (3, back), (4, again), (5, few))
    assert (first.offset, first.until, first.until_time) == (8, 9, "1970-01-01T00:00:00.003Z")
    assert first.remedy == RULES[first.rule].afterwards
    assert (second.rule, second.offset, second.until) == ("cancelled-with-few", 11, None)
    (flag,) = flags(tmp_path, (1, moved([0])), (2, few), (3, (("REMOVE_TOPIC_RECORD", 0, {"topicId": T}),)))
    assert flag.until == 9


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([0, 1, 2], {"replicas": [1, 2], "isr": [1, 2], "leader": 1}),  # completes with all
        ([0, 2, 1], {"replicas": [1, 0], "isr": [0, 1]}),  # is cancelled with all
        ([0], {"replicas": [1, 0]}),  # is cancelled; there was one member before
        ([0], {"replicas": [1, 2, 0], "isr": [0, 2]}),  # it was not all that was asked for
        ([0], {"replicas": [1, 2], "isr": [2], "leader": 2, "eligibleLeaderReplicas": [1]}),  # 1 has all
    ],
)
def test_other_ends_are_not(tmp_path: Path, before: list[int], after: dict[str, object]) -> None:
    assert flags(tmp_path, (1, moved(before)), (2, ended(**after))) == []


def test_one_replica_is_enough_where_one_is_asked_for(tmp_path: Path) -> None:
    """min.insync.replicas asks for no more than there are replicas."""
    answered = partition(replicas=[0, 1], isr=[0, 1], removingReplicas=[0])
    start = (feature(1), min_isr("2"), *BROKERS, TOPIC, answered)
    assert flags(tmp_path, (1, start), (2, ended(replicas=[1], isr=[1], leader=1))) == []


@pytest.mark.parametrize("resource", [(4, ""), (2, "orders")])
def test_an_isr_that_shrinks_just_after_the_value_is_raised(tmp_path: Path, resource: tuple[int, str]) -> None:
    raised = min_isr("3", resource)
    (flag,) = flags(tmp_path, (1_000, START), (9_000, (raised,)), (9_400, (SHRINKS,)))
    assert (flag.rule, flag.hazard, flag.severity, flag.offset) == ("raised-while-shrinking", "F-53", "high", 9)
    assert "400 ms after min.insync.replicas was raised from 2 to 3" in flag.message


def test_the_batch_with_the_value_counts_too(tmp_path: Path) -> None:
    (flag,) = flags(tmp_path, (1_000, START), (9_000, (min_isr("3"), SHRINKS)))
    assert flag.offset == 9 and "0 ms after" in flag.message


FENCED = registered(2, brokerId=2, fenced=1)
STOPS = registered(2, brokerId=2, inControlledShutdown=1)


@pytest.mark.parametrize("steps", [(SHRINKS, FENCED), (FENCED, SHRINKS), (STOPS, SHRINKS)])
def test_a_broker_that_is_fenced_just_after_the_value_is_raised(
    tmp_path: Path, steps: tuple[RecordFields, ...]
) -> None:
    """F-24: the leader may read both at once."""
    (flag,) = flags(tmp_path, (1_000, START), (9_000, (min_isr("3"),)), (22_700, steps))
    assert (flag.rule, flag.hazard, flag.severity) == ("raised-while-fencing", "F-24", "medium")
    assert "13700 ms after min.insync.replicas was raised from 2 to 3" in flag.message


OTHER_LEADER = change(isr=[1, 2], leader=1, eligibleLeaderReplicas=[0])


@pytest.mark.parametrize(
    "batches",
    [
        [(9_000, (min_isr("3"),)), (24_001, (SHRINKS,))],  # the leader has read it by then
        [(9_000, (min_isr("3"),)), (24_001, (SHRINKS, FENCED))],
        [(9_000, (min_isr("3"),)), (9_100, (change(isr=[0, 1]), FENCED))],  # without ELR
        [(9_000, (min_isr("3"),)), (9_100, (OTHER_LEADER,))],  # an election
        [(9_000, (min_isr("1"),)), (9_100, (change(isr=[0], eligibleLeaderReplicas=[]),))],  # lowered
        [(9_000, (min_isr("3", (2, "other")),)), (9_100, (change(isr=[0], eligibleLeaderReplicas=[1, 2]),))],
        [(9_000, (min_isr("2", (2, "orders")),)), (9_100, (min_isr("3"),)), (9_200, (SHRINKS,))],
    ],
)
def test_other_shrinks_are_not(tmp_path: Path, batches: list[tuple[int, tuple[RecordFields, ...]]]) -> None:
    assert flags(tmp_path, (1_000, START), *batches) == []


def test_a_topic_that_is_created_with_the_value_raises_nothing(tmp_path: Path) -> None:
    cluster = (feature(1), *(broker(3, b, fenced=False) for b in range(4)))
    created = (TOPIC, min_isr("3", (2, "orders")), partition())
    assert flags(tmp_path, (1, cluster), (2, created), (3, (SHRINKS,))) == []
