"""P-14 where elections are configured to be unclean: what they may do, and what they may not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import pytest

from elrcheck.invariants.modules import load_checked_model
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.lang.runtime import put
from elrcheck.model.choices import RecoveryStrategy
from elrcheck.model.config import Config
from elrcheck.model.state import Recovery, State

CONFIG = Config(
    broker_count=3,
    kills=2,
    fences=1,
    unclean_leader_election_enable=True,
    unclean_recovery_strategy=RecoveryStrategy.DISABLED,
)
STEPS = (("Kill", 1), ("Kill", 0), ("Fence", 2), ("Unfence", 2), ("Fence", 1), ("Fence", 0))
"""Broker 2 leaves the ISR by a fencing; then the other two are gone, and it is elected."""


@pytest.fixture(scope="module")
def plain() -> PlainModel:
    return PlainModel(load_checked_model(), CONFIG)


def behaviour(plain: PlainModel) -> Iterator[State]:
    state = plain.initial()
    yield state
    for action, b in STEPS:
        state = plain.step(state, Label(action, (b,)))
        yield state


def allowed(plain: PlainModel, before: State, after: State, config: Config = CONFIG) -> bool:
    fn = next(fn for fn in plain.model.always if fn.ident == "P-14")
    return PlainModel(plain.model, config).holds(fn, before, after)


def test_the_step_that_takes_the_last_leader_away_may_elect_uncleanly(plain: PlainModel) -> None:
    states = list(behaviour(plain))
    before, after = states[-2:]
    assert (before.partition.leader, after.partition.leader) == (0, 2)
    assert 2 not in before.partition.isr | before.partition.elr
    assert after.partition.recovery == Recovery.RECOVERING
    assert all(allowed(plain, *step) for step in pairwise(states))


def test_it_may_not_where_that_is_not_configured(plain: PlainModel) -> None:
    *_, before, after = behaviour(plain)
    assert not allowed(plain, before, after, replace(CONFIG, unclean_leader_election_enable=False))


def test_it_may_not_while_the_old_leader_may_lead(plain: PlainModel) -> None:
    """Nor without the mark of KIP-704, nor with others beside the winner."""
    *_, before, after = behaviour(plain)
    unfenced = put(after.registration, 0, replace(after.registration[0], fenced=False))
    assert not allowed(plain, before, replace(after, registration=unfenced))
    for wrong in ({"recovery": Recovery.RECOVERED}, {"isr": frozenset({1, 2})}, {"elr": frozenset({1})}):
        changed = replace(after, partition=replace(after.partition, **wrong))
        assert not allowed(plain, before, changed), wrong
