"""F-68 on three controllers: one that lost an election and followed the winner ends at each start, and nobody leads.

The leader is paused until the other two stand in one epoch. It is resumed, votes for one of them, and is killed before
it hears that this one won. Nothing else is done than to pause, kill and start processes.
"""

from __future__ import annotations

import time

import pytest

from elrcheck.kafka.jars import Jars
from elrcheck.kafka.patched_jar import patch_of
from support.kafka_jars import jars_or_skip
from support.three_controllers import ThreeControllers, three_controllers

pytestmark = [pytest.mark.slow, pytest.mark.kafka]

FAULT = "Received unexpected invalid request error"
WATCHED = 60.0  # seconds, some election timeouts


def elected(voters: ThreeControllers) -> tuple[int, int, int, int]:
    """An epoch with its third voter, killed before it heard of a leader, the loser, which follows, and the winner."""
    for _ in range(20):
        third, both = voters.split_vote()
        epoch = voters.stored(both[0])[0]
        winner = voters.kill_after_vote(third, epoch)
        if winner is not None:
            loser = both[0] if winner == both[1] else both[1]
            end = time.monotonic() + 10.0
            while time.monotonic() < end and voters.stored(loser)[:2] != (epoch, winner):
                time.sleep(0.05)
            if voters.stored(winner)[:2] == (epoch, winner) and voters.stored(loser) == (epoch, winner, loser):
                return epoch, third, loser, winner
        voters.start(third)
    raise AssertionError("the third always heard who won")


def restarts_of_the_loser(voters: ThreeControllers, *, heard: bool) -> tuple[list[str], int | None]:
    """What each start of the loser ends with, "" for no fault, and who of the other two leads at last.

    heard: before the winner is killed the third is back, and has heard of it.
    """
    epoch, third, loser, winner = elected(voters)
    time.sleep(2.0)  # it fetches records of the epoch
    if heard:
        voters.start(third)
        voters.until(lambda: voters.stored(third)[:2] == (epoch, winner), "the third to hear of the winner")
    voters.kill(winner, loser)
    if not heard:
        voters.start(third)
        voters.until(lambda: "Enabling request processing" in voters.printed(third), "the start of the third")
    ends: list[str] = []
    end = time.monotonic() + WATCHED
    voters.start(loser)
    while voters.leader(epoch) is None and time.monotonic() < end:
        if voters.ended(loser):
            ends.append(FAULT if FAULT in voters.printed(loser) else "")
            voters.start(loser)
        time.sleep(0.2)
    return ends, voters.leader(epoch)


@pytest.mark.parametrize("version", ["4.3.1"])
def test_a_restarted_loser_ends_at_each_start_and_nobody_leads(version: str) -> None:
    with three_controllers(jars_or_skip(version, Jars.CLUSTER)) as voters:
        ends, leader = restarts_of_the_loser(voters, heard=False)
    print(version, len(ends), "starts ended with the fault within", WATCHED, "s")
    assert leader is None and len(ends) >= 3 and set(ends) == {FAULT}


def test_control_if_the_third_has_heard_of_the_winner_one_of_the_two_leads() -> None:
    with three_controllers(jars_or_skip("4.3.1", Jars.CLUSTER)) as voters:
        ends, leader = restarts_of_the_loser(voters, heard=True)
    assert leader is not None and ends == []


def test_with_the_patch_one_of_the_two_leads() -> None:
    kafka = jars_or_skip("4.3.1", Jars.CLUSTER)
    jar, _ = patch_of("F-68", kafka)
    with three_controllers(kafka, [jar]) as voters:
        ends, leader = restarts_of_the_loser(voters, heard=False)
    assert leader is not None and ends == []
