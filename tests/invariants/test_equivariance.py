"""One instance of an action stands for others only where brokers are interchangeable."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest

from elrcheck.lang.changed.altered import planted
from elrcheck.lang.load import Model
from elrcheck.model.choices import RecoveryStrategy
from elrcheck.model.config import Config
from elrcheck.proof import transition
from elrcheck.proof.equivariance import Equivariance, generators, orbit
from elrcheck.proof.obligations import Prover
from elrcheck.proof.transition import Transitions
from elrcheck.proving.step_failure import step_failure
from support.planted_rules import planted_rule

SMALL = Config(log_slots=1, unclean_recovery_strategy=RecoveryStrategy.DISABLED)
THREE = replace(SMALL, broker_count=3, min_isr=2, kills=1, elections=1, clean_stops=1)


@pytest.fixture(scope="module")
def reduced(proof_model: Model) -> Transitions:
    return Transitions(proof_model, THREE, any_order=True)


def chosen(transitions: Transitions) -> set[tuple[str, Any]]:
    return {(one.action, args) for one in transitions.instances for args in one.alike}


@pytest.mark.slow
def test_orbits_are_the_choices_of_all_instances(proof_model: Model, reduced: Transitions) -> None:
    whole = Transitions(proof_model, THREE)
    assert len(reduced.instances) * 2 < len(whole.instances)
    assert chosen(reduced) == chosen(whole)
    assert sum(len(one.alike) for one in reduced.instances) == len(whole.instances), "each choice once"


@pytest.mark.slow
def test_the_list_has_any_order(reduced: Transitions) -> None:
    """And only orders: the solver finds each permutation, and nothing else."""
    import z3

    assert reduced.listed == {f"partition.replicas[{k}]" for k in range(3)}
    both = zip(reduced.scalars, reduced.slots, strict=True)
    places = [scalar for scalar, slot in both if slot.path in reduced.listed]
    solver, orders = z3.Solver(), set()
    solver.add(reduced.type_invariant)
    while solver.check() == z3.sat:
        order = tuple(solver.model()[place].as_long() for place in places)
        orders.add(order)
        solver.add(z3.Or(*(place != b for place, b in zip(places, order, strict=True))))
    assert orders == set(permutations(range(3)))


def test_a_step_keeps_the_order(reduced: Transitions) -> None:
    prover = Prover(reduced, reduced.model.lemmas, 60.0)
    for one in reduced.instances:
        assert prover.frame(prover.open_step(one), one).verdict == "proved", one.action


def test_what_looks_at_numbers(proof_model: Model) -> None:
    """The solver confirms what only seems to: the one member of a set, and the set of all replicas."""
    alike = Equivariance(proof_model, THREE)
    assert not alike.holds(proof_model.fns["initial_replicas"])
    assert alike.holds(proof_model.fns["no_view"]) and alike.holds(proof_model.fns["stored_last_known_leader"])
    assert all(alike.holds(fn) for fn in proof_model.lemmas)
    by_name = proof_model.actions_by_name
    assert not alike.holds(by_name["ChangeMinIsr"])
    for name in ("Fence", "ControllerAlters", "ElectPreferred", "Fetch"):
        assert alike.holds(by_name[name])


@pytest.mark.slow
def test_the_set_of_replicas_is_a_constant_with_spare_brokers(proof_model: Model) -> None:
    """Then brokers differ by being replicas, and nothing stands for anything else."""
    spare = Transitions(proof_model, replace(SMALL, broker_count=3, min_isr=1, spare_brokers=1), any_order=True)
    assert (spare.alike, spare.listed) == (None, frozenset())
    assert all(one.alike == (one.args,) for one in spare.instances)


def test_a_lemma_that_looks_at_numbers_ends_it(proof_model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    holds = Equivariance.holds
    lemma = proof_model.lemmas[-1]
    monkeypatch.setattr(transition.Equivariance, "holds", lambda self, fn: fn is not lemma and holds(self, fn))
    assert Transitions(proof_model, replace(SMALL, broker_count=2), any_order=True).alike is None


@pytest.mark.slow
def test_a_fault_of_one_broker_is_not_hidden(proof_model: Model) -> None:
    """Kill of broker 2 alone leaves a type; the instance of broker 0 must not stand for it."""
    faulty = "s.spent.kills - 1 if b == 2 else s.spent.kills + 1"
    changed, original, plain = planted_rule(proof_model, "Kill", "s.spent.kills + 1", faulty)
    with planted(original, plain):
        transitions = Transitions(changed, THREE, any_order=True)
        assert transitions.alike is not None
        prover = Prover(transitions, changed.lemmas, None)
        kills = [one for one in transitions.instances if one.action == "Kill"]
        assert [one.args for one in kills] == [(0,), (1,), (2,)]
        answers = [prover.types(prover.open_step(one), one) for one in kills]
        assert [answer.verdict for answer in answers] == ["proved", "proved", "refuted"]
        assert step_failure(changed, THREE, kills[2], None, answers[2]).replayed


@pytest.mark.parametrize("brokers", [1, 2, 3, 4])
def test_two_renamings_make_all_others(brokers: int) -> None:
    renamings = {tuple(range(brokers))}
    while more := {tuple(to[b] for b in one) for one in renamings for to in generators(brokers)} - renamings:
        renamings |= more
    assert renamings == set(permutations(range(brokers)))


def test_orbit_of_a_choice(proof_model: Model) -> None:
    shrink = next(fn for fn in proof_model.actions if fn.name == "ShrinkIsr")
    choices = orbit(shrink, (0, frozenset({1, 2})), 3)
    assert choices[0] == (0, frozenset({1, 2})) and set(choices) == {(b, frozenset(range(3)) - {b}) for b in range(3)}
