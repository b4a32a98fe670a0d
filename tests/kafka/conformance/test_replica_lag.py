"""Lag by Kafka's clock: whom the model lets leave the ISR, and whom kafka.cluster.Partition removes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from elrcheck.base.requests import Selection
from elrcheck.declared.select import resolve
from elrcheck.kafka.broker_steps import (
    Append,
    Beginning,
    BrokerAnswer,
    BrokerEvent,
    LookForLag,
    Metadata,
    Refused,
    Registered,
    Wait,
)
from elrcheck.kafka.conformance import broker_model
from elrcheck.kafka.conformance.broker_model import BrokerModel, LagClock, begin, decide
from elrcheck.kafka.conformance.broker_part import BROKER
from elrcheck.kafka.conformance.broker_walks import ACTIVE, TOLERANCE, followed, random_walk
from elrcheck.kafka.conformance.broker_walks import ALL as EVERYBODY
from elrcheck.kafka.kafka_oracle import BrokerOracle
from elrcheck.lang.runtime import NotEnabled
from elrcheck.model.broker.isr_proposals import ShrinkIsr
from elrcheck.model.config import Config
from elrcheck.model.replicas import Replica, RSet
from elrcheck.model.state import State
from support.broker_stand_in import StandIn, fetch

CODE = resolve(Selection("code_4_1", "two-brokers")).config
START: tuple[BrokerEvent, ...] = (
    Beginning(1, 11, 1, TOLERANCE),
    ACTIVE,
    Metadata(1, 1, 1, EVERYBODY, EVERYBODY),
    Append(-1),
)
LATE = (Wait(TOLERANCE + 1), LookForLag())


LEAVES: dict[tuple[int, ...], tuple[BrokerEvent, ...]] = {
    (0,): (fetch(0, 1), fetch(2, 1), Wait(TOLERANCE), fetch(2, 1), Append(-1)),
    (0, 2): (fetch(0, 1), fetch(2, 1), Append(-1), Wait(TOLERANCE)),
    (2,): (fetch(0, 1), fetch(2, 1), Wait(TOLERANCE), fetch(0, 1), Append(-1)),
    (): (fetch(0, 1), fetch(2, 1), Append(-1)),
}
"""Who lags 1 ms later, in the same state of the model: both followers are one record behind."""


def at_end(walk: tuple[BrokerEvent, ...]) -> BrokerModel:
    first = walk[0]
    assert isinstance(first, Beginning)
    held = begin(CODE, first)
    for event in walk[1:]:
        held = followed(held, event)
    return held


def may_leave(held: BrokerModel) -> set[int]:
    """Return the followers that the model lets leave alone, by its own guards."""
    free = set()
    for b in held.broker.view.isr - {held.id}:
        try:
            ShrinkIsr(held.config, held.state, held.id, frozenset({b}))
        except NotEnabled:
            continue
        free.add(b)
    return free


def test_a_fetch_from_the_last_end_proves_that_the_follower_had_caught_up_then() -> None:
    clock = LagClock(TOLERANCE).later(10).after_fetch(0, 0, 1).later(20)
    assert clock.after_fetch(0, 1, 2).followers[0].caught_up == clock.now - 20
    assert clock.after_fetch(0, 0, 2).followers[0].caught_up == 0
    assert clock.after_fetch(0, 2, 2).followers[0].caught_up == clock.now


@dataclass(frozen=True)
class Forgetful(LagClock):
    """Does not count a fetch from the log end of the previous one."""

    def after_fetch(self, follower: int, offset: int, end: int) -> LagClock:
        return super().after_fetch(follower, offset if offset >= end else -1, end)


@dataclass(frozen=True)
class Strict(LagClock):
    """A follower lags one millisecond earlier."""

    def is_recent(self, follower: int) -> bool:
        return LagClock.is_recent(self.later(1), follower)


def unexplained(kafka: StandIn, walks: int) -> set[str]:
    """Return the events whose answers differ in walks in which time passes."""
    questions = [random_walk(CODE, 5, number) for number in range(1, 2 * walks, 2)]
    return {
        one.signature.partition(":")[0]
        for walk, answers in zip(questions, kafka.walks(questions), strict=True)
        for one in BROKER.disagreements(CODE, walk, answers)
        if one.known_class is None
    }


@pytest.mark.slow
@pytest.mark.parametrize(("clock", "walks"), [(LagClock, 100), (Strict, 100), (Forgetful, 300)])
def test_another_rule_of_lag_is_found(clock: type[LagClock], walks: int) -> None:
    assert unexplained(StandIn(CODE, clock), walks) == (set() if clock is LagClock else {"LookForLag"})


class Recorded(StandIn):
    """Answers what it answered before."""

    def __init__(self, answers: Sequence[list[BrokerAnswer]]) -> None:
        super().__init__(CODE)
        self.answers = list(answers)

    def walks(self, walks: Sequence[Sequence[BrokerEvent]]) -> list[list[BrokerAnswer]]:
        return self.answers


@pytest.mark.slow
def test_a_model_in_which_only_who_lacks_committed_records_leaves_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """ShrinkIsr has to allow everybody whom Kafka removes."""
    walks = 30
    answered = StandIn(CODE).walks([random_walk(CODE, 5, number) for number in range(1, 2 * walks, 2)])

    def narrow(c: Config, s: State, leader: Replica, out: RSet) -> State:
        sender = s.broker[leader]
        if any((sender.peers[b].log_end_offset or 0) >= sender.high_watermark for b in out):
            raise NotEnabled("out lack committed records")
        return ShrinkIsr(c, s, leader, out)

    monkeypatch.setattr(broker_model, "ShrinkIsr", narrow)
    assert unexplained(Recorded(answered), walks) == {"LookForLag"}


def test_walks_in_which_time_passes_alternate_with_others() -> None:
    passes = [any(isinstance(event, Wait) for event in random_walk(CODE, 7, number)) for number in range(12)]
    assert not any(passes[::2]) and sum(passes[1::2]) >= 5


# ---------------------------------------------------------------------------- Kafka


@pytest.mark.slow
@pytest.mark.kafka
def test_every_set_of_followers_that_may_leave_does_so_at_some_times(broker: BrokerOracle) -> None:
    walks = {out: (*START, *events, Wait(1), LookForLag()) for out, events in LEAVES.items()}
    states = {at_end(walk[:-2]).broker for walk in walks.values()}
    assert len(states) == 1
    for (out, walk), answers in zip(walks.items(), broker.walks(list(walks.values())), strict=True):
        sent = answers[-1].sent
        left = () if sent is None else tuple(b for b in EVERYBODY if b not in {b for b, _ in sent.members})
        assert left == out
        assert decide(at_end(walk[:-1]), walk[-1])[0] == answers[-1]


@pytest.mark.slow
@pytest.mark.kafka
def test_whom_the_model_lets_leave_leaves_when_only_time_passes(broker: BrokerOracle) -> None:
    """After random walks, as far as no request is in flight. A follower that never fetched leaves an empty log too."""
    walks, allowed = [], []
    for number in range(1, 300, 2):
        walk = random_walk(CODE, 11, number)
        held = at_end(walk)
        if held.broker.log and held.broker.view.leader == held.id and not held.waiting:
            walks.append((*walk, *LATE))
            allowed.append(may_leave(held))
    assert sum(map(bool, allowed)) > 20
    for walk, free, answers in zip(walks, allowed, broker.walks(walks), strict=True):
        before, last = answers[-2:]
        if before.in_flight or last.sent is None:
            assert before.in_flight or not free, walk
            continue
        assert set(before.isr) - {b for b, _ in last.sent.members} == free, walk


@pytest.mark.slow
@pytest.mark.kafka
def test_the_watermark_waits_for_a_follower_that_has_caught_up_lately(broker: BrokerOracle) -> None:
    """Follower 2 is refused; for a while the watermark waits for it, unless it is fenced."""
    without = (Metadata(1, 1, 1, EVERYBODY, (0, 1)),)
    caught_up = (*START[:2], *without, Append(-1), fetch(0, 1), fetch(2, 1), Refused("INELIGIBLE_REPLICA"))
    more = (Append(-1), fetch(0, 2))
    fenced = Registered(tuple((b, epoch, "fenced" if b == 2 else state) for b, epoch, state in ACTIVE.brokers))
    walks = [(*caught_up, *more), (*caught_up, fenced, *more), (*caught_up, Wait(TOLERANCE + 1), *more)]
    assert [answers[-1].high_watermark for answers in broker.walks(walks)] == [1, 2, 2]
    classes = {
        one.known_class.id if one.known_class else None
        for walk, answers in zip(walks, broker.walks(walks), strict=True)
        for one in BROKER.disagreements(CODE, walk, answers)
    }
    assert classes == {"watermark-before", "watermark-waits"}
