"""Signs in registrations: one that was not fenced stays in an ISR (F-2); one has lost a directory (F-52)."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.audit_stories import BROKERS, TOPIC, audited, change, feature, min_isr, partition
from support.log_stories import SEGMENT, broker, registered
from support.log_writer import RecordFields, batch_of

START: tuple[RecordFields, ...] = (min_isr("2"), *BROKERS, TOPIC, partition())
"""Offsets 0 to 6, without ELR; 0 leads, and 0, 1 and 2 are in the ISR."""
AGAIN = broker(3, 0, brokerEpoch=20, fenced=True)
HAZARDS = {"registered-in-isr": ("F-2", "high"), "registered-without-directory": ("F-52", "critical")}
ALONE = (registered(2, brokerId=1, fenced=1), registered(2, brokerId=2, fenced=1), change(isr=[0]))


def flags(tmp_path: Path, *batches: tuple[RecordFields, ...], rule: str = "registered-in-isr") -> list[tuple[int, str]]:
    content, base = b"", 0
    for time, steps in enumerate((START, *batches)):
        content += batch_of(base, steps, time=time)
        base += len(steps)
    path = tmp_path / SEGMENT
    path.write_bytes(content)
    raised = [flag for flag in audited(path).flags if flag.rule == rule]
    assert {(flag.hazard, flag.severity) for flag in raised} <= {HAZARDS[rule]}
    return [(flag.offset, flag.message) for flag in raised]


@pytest.mark.parametrize(
    ("batches", "offset", "words"),
    [
        ([(AGAIN,)], 7, "stays in the ISR and leads: leader 0, replicas [0, 1, 2], ISR [0, 1, 2], ELR []"),
        ([(broker(3, 1, brokerEpoch=20, fenced=True),)], 7, "stays in the ISR: leader 0"),
        # The others are fenced in the same batch, as after a power failure: 0 stays, though it was not alone.
        ([(AGAIN, change(isr=[0], leader=-1), *ALONE[:2])], 7, "stays in the ISR: leader none"),
        ([ALONE, (AGAIN,)], 10, "stays in the ISR and leads: leader 0, replicas [0, 1, 2], ISR [0]"),
    ],
)
def test_a_broker_that_was_not_fenced_stays_in_the_isr(
    tmp_path: Path, batches: list[tuple[RecordFields, ...]], offset: int, words: str
) -> None:
    ((at, message),) = flags(tmp_path, *batches)
    assert at == offset and words in message


@pytest.mark.parametrize(
    "batches",
    [
        [(registered(2, brokerId=0, fenced=1),), (AGAIN,)],  # it was fenced first, and the controller kept it
        [(AGAIN, change(isr=[1, 2], leader=1))],  # 4.0 takes it out, behind the registration
        [(change(isr=[1, 2], leader=1), AGAIN)],  # or before it
        [ALONE, (AGAIN, change(leader=-1))],  # the last member stays, but leads no more
        [(broker(3, 0, brokerEpoch=20, fenced=False),)],  # the same incarnation: nothing was restarted
        [(broker(3, 3, brokerEpoch=20, fenced=True),)],  # it is in no ISR
        [(("UNREGISTER_BROKER_RECORD", 0, {"brokerId": 0, "brokerEpoch": 9}),), (AGAIN,)],
    ],
)
def test_other_registrations_are_no_sign(tmp_path: Path, batches: list[tuple[RecordFields, ...]]) -> None:
    assert flags(tmp_path, *batches) == []


OLD, NEW = "KvUvGCJJQgi3w52y-cTS0A", "0jmoEaBNSBKMG7TXUKkbTw"
NONE = "AAAAAAAAAAAAAAAAAAAAAA"
PLACED = change(directories=[OLD, NONE, NONE])
TWO = broker(3, 0, brokerEpoch=10, fenced=False, logDirs=[OLD, NEW])
AWAY = (
    feature(1),
    TWO,
    PLACED,
    change(isr=[1], leader=1, eligibleLeaderReplicas=[0]),
    *ALONE[1:2],
    registered(2, brokerId=0, fenced=1),
)
"""Offsets 7 to 12: 0 has the partition in OLD, has stopped, and is eligible."""
LESS = broker(3, 0, brokerEpoch=20, fenced=True, logDirs=[NEW])
MOVED = change(directories=[NEW, NONE, NONE])


@pytest.mark.parametrize(
    ("batches", "offset"),
    [
        ([AWAY, (LESS,)], 13),
        ([AWAY, (LESS,), (MOVED,)], 13),
        ([AWAY, (MOVED,), (LESS,)], 14),  # the broker names its directory before it registers
        ([AWAY[1:3], AWAY[3:], (registered(2, brokerId=1, fenced=1), change(leader=-1)), (LESS,)], 14),
        # Without ELR the last member stays in the ISR, and leads when it is back.
        ([AWAY[1:3], ALONE, (change(leader=-1), registered(2, brokerId=0, fenced=1)), (LESS,)], 14),
    ],
)
def test_a_broker_that_lost_a_directory_and_stays_eligible(
    tmp_path: Path, batches: list[tuple[RecordFields, ...]], offset: int
) -> None:
    ((at, message),) = flags(tmp_path, *batches, rule="registered-without-directory")
    assert at == offset and f"broker 0 is registered without log directory {OLD}" in message


UNCLEAN = change(eligibleLeaderReplicas=[])


@pytest.mark.parametrize(
    "batches",
    [
        [AWAY, (broker(3, 0, brokerEpoch=20, fenced=True, logDirs=[OLD]),)],  # the other one is lost
        [AWAY, (LESS, UNCLEAN)],  # the control: the shutdown counts as unclean
        [AWAY, (MOVED,), (UNCLEAN, LESS)],
        [AWAY, (broker(3, 0, brokerEpoch=20, fenced=True),)],  # a broker that tells no directories
        [AWAY, (broker(3, 1, brokerEpoch=20, fenced=True, logDirs=[NEW]),)],  # another broker
        [AWAY[:3], (MOVED,), AWAY[3:], (LESS,)],  # the replica was moved while the broker ran
        [
            AWAY,
            (MOVED,),
            (change(directories=[OLD, NONE, NONE]),),
            (broker(3, 0, brokerEpoch=20, fenced=True, logDirs=[OLD]),),
        ],
        [(TWO,), (LESS,)],  # no directory was told of its replica
    ],
)
def test_other_directories_are_no_sign(tmp_path: Path, batches: list[tuple[RecordFields, ...]]) -> None:
    assert flags(tmp_path, *batches, rule="registered-without-directory") == []


def test_a_directory_that_was_left_counts_once(tmp_path: Path) -> None:
    """The next registration has the directory of the replica."""
    again = broker(3, 0, brokerEpoch=30, fenced=True, logDirs=[NEW])
    raised = flags(tmp_path, AWAY, (MOVED,), (LESS,), (again,), rule="registered-without-directory")
    assert [offset for offset, _ in raised] == [14]
