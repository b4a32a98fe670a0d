"""The sign of F-2: a broker that was not fenced is registered anew, and stays in an ISR."""

from __future__ import annotations

from pathlib import Path

import pytest
from audit_stories import BROKERS, TOPIC, audited, change, min_isr, partition
from log_stories import SEGMENT, broker, registered
from log_writer import Told, told_batch

START: tuple[Told, ...] = (min_isr("2"), *BROKERS, TOPIC, partition())
"""Offsets 0 to 6, without ELR; 0 leads, and 0, 1 and 2 are in the ISR."""
AGAIN = broker(3, 0, brokerEpoch=20, fenced=True)
ALONE = (registered(2, brokerId=1, fenced=1), registered(2, brokerId=2, fenced=1), change(isr=[0]))


def flags(tmp_path: Path, *batches: tuple[Told, ...]) -> list[tuple[int, str]]:
    content, base = b"", 0
    for time, told in enumerate((START, *batches)):
        content += told_batch(base, told, time=time)
        base += len(told)
    path = tmp_path / SEGMENT
    path.write_bytes(content)
    found = [flag for flag in audited(path).flags if flag.rule == "registered-in-isr"]
    assert {(flag.hazard, flag.severity) for flag in found} <= {("F-2", "high")}
    return [(flag.offset, flag.message) for flag in found]


@pytest.mark.parametrize(
    ("batches", "offset", "said"),
    [
        ([(AGAIN,)], 7, "stays in the ISR and leads: leader 0, replicas [0, 1, 2], ISR [0, 1, 2], ELR []"),
        ([(broker(3, 1, brokerEpoch=20, fenced=True),)], 7, "stays in the ISR: leader 0"),
        # The others are fenced in the same batch, as after a power failure: 0 stays, though it was not alone.
        ([(AGAIN, change(isr=[0], leader=-1), *ALONE[:2])], 7, "stays in the ISR: leader none"),
        ([ALONE, (AGAIN,)], 10, "stays in the ISR and leads: leader 0, replicas [0, 1, 2], ISR [0]"),
    ],
)
def test_a_broker_that_was_not_fenced_stays_in_the_isr(
    tmp_path: Path, batches: list[tuple[Told, ...]], offset: int, said: str
) -> None:
    ((at, message),) = flags(tmp_path, *batches)
    assert at == offset and said in message


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
def test_other_registrations_are_no_sign(tmp_path: Path, batches: list[tuple[Told, ...]]) -> None:
    assert flags(tmp_path, *batches) == []
