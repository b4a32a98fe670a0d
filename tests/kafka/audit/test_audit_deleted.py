"""The sign of F-64: a topic is deleted, and the controller's index of ELR members still has brokers of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from elrcheck.report.formats import render
from support.audit_stories import CLEAR, SHRINK, START, audited, change, min_isr, partition, written
from support.log_stories import T, U, broker, registered
from support.log_writer import RecordFields

GONE: RecordFields = ("REMOVE_TOPIC_RECORD", 0, {"topicId": T})
OTHER: RecordFields = ("REMOVE_TOPIC_RECORD", 0, {"topicId": U})
WRITE = (min_isr("3"), CLEAR)
"""Another value, so that nothing is flagged before."""
AGAIN = change(isr=[0], eligibleLeaderReplicas=[1])
TWO = (partition(partitionId=1), change(partitionId=1, isr=[0], eligibleLeaderReplicas=[1, 2]))


def flags(tmp_path: Path, *batches: tuple[RecordFields, ...]) -> list[tuple[int, str, int, str]]:
    report = audited(written(tmp_path, START, *batches))
    deleted = [flag for flag in report.flags if flag.rule == "deleted-after-clearing"]
    assert {(flag.hazard, flag.severity) for flag in deleted} <= {("F-64", "high")}
    drawn = {(line.topic, line.partition) for line in report.timelines}
    assert {(flag.topic, flag.partition) for flag in deleted} <= drawn
    assert render(report, "html")
    return [(flag.offset, flag.topic, flag.partition, flag.message) for flag in deleted]


def test_a_topic_that_is_deleted_after_its_elr_was_cleared(tmp_path: Path) -> None:
    ((offset, topic, number, message),) = flags(tmp_path, SHRINK, WRITE, (GONE,))
    assert (offset, topic, number) == (13, "orders", 0)
    assert "broker 1 of an ELR that was cleared cannot register after an unclean shutdown" in message
    assert message.endswith("; broker 1 is not active")


def test_brokers_that_have_registered_since_are_one_crash_away(tmp_path: Path) -> None:
    back = (registered(2, brokerId=1, fenced=-1), registered(2, brokerId=2, fenced=-1))
    ((_, _, number, message),) = flags(tmp_path, (*SHRINK, *TWO), WRITE, back, (GONE,))
    assert number == 1 and "brokers [1, 2] of an ELR" in message and "active" not in message


def test_one_that_was_unregistered_is_named(tmp_path: Path) -> None:
    unregistered: RecordFields = ("UNREGISTER_BROKER_RECORD", 0, {"brokerId": 1, "brokerEpoch": 9})
    ((*_, message),) = flags(tmp_path, SHRINK, WRITE, (unregistered,), (GONE,))
    assert message.endswith("; broker 1 is not active")


@pytest.mark.parametrize(
    "write", [WRITE, (min_isr("3", (2, "orders")), ("CLEAR_ELR_RECORD", 0, {"topicName": "orders"}))]
)
def test_it_stays_so_when_the_broker_was_in_the_isr_since(tmp_path: Path, write: tuple[RecordFields, ...]) -> None:
    """BrokersToElrs.remove leaves an entry where two were."""
    came = (change(isr=[0, 1], eligibleLeaderReplicas=[]), registered(2, brokerId=1, fenced=-1))
    assert flags(tmp_path, SHRINK, write, (AGAIN,), came, (GONE,)) != []


@pytest.mark.parametrize(
    "batches",
    [
        [SHRINK, (GONE,)],  # the control: nothing was written, and the deletion takes the ELR out
        [SHRINK, WRITE],  # the topic exists
        [WRITE, (GONE,)],  # there was no ELR
        [SHRINK, WRITE, (AGAIN,), (GONE,)],  # 1 is in the ELR again, so the deletion takes it out
        [SHRINK, (change(isr=[0, 1, 2], eligibleLeaderReplicas=[]),), WRITE, (GONE,)],
        [SHRINK, WRITE, (("TOPIC_RECORD", 0, {"name": "t1", "topicId": U}),), (OTHER,)],
        [SHRINK, WRITE, (broker(3, 1, brokerEpoch=20, fenced=True),)],
    ],
)
def test_other_deletions_and_writes_are_no_sign(tmp_path: Path, batches: list[tuple[RecordFields, ...]]) -> None:
    assert flags(tmp_path, *batches) == []


def test_a_topic_of_the_same_name_is_another_one(tmp_path: Path) -> None:
    created: tuple[RecordFields, ...] = (("TOPIC_RECORD", 0, {"name": "orders", "topicId": U}), partition(topicId=U))
    deleted = flags(tmp_path, SHRINK, WRITE, (GONE,), created, (OTHER,))
    assert [offset for offset, *_ in deleted] == [13]
