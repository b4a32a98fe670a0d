"""The next state under names of its own is the next state: the names' definitions say no more and no less."""

from __future__ import annotations

from typing import Any

import pytest
import z3

from elrcheck.base.requests import Selection
from elrcheck.declared.select import resolve
from elrcheck.invariants.modules import load_proof_model
from elrcheck.model.choices import RecoveryStrategy
from elrcheck.model.config import Config
from elrcheck.proof.any_size.arbitrary import Arbitrary
from elrcheck.proof.any_size.definitions import symbols
from elrcheck.proof.any_size.next_state import without_copies
from elrcheck.proof.any_size.step_tasks import every_choice, questions
from elrcheck.proof.any_size.steps import Unbounded, UnboundedStep
from elrcheck.proof.z3_algebra import formula
from support.places import protocol

NODE = z3.DeclareSort("Node")
AT, OTHER = z3.Consts("at other", NODE)
F, G = z3.Function("f", NODE, z3.IntSort()), z3.Function("g", NODE, z3.IntSort())


def test_a_choice_that_puts_what_was_there_is_left_out() -> None:
    assert without_copies(z3.If(OTHER == AT, F(AT), F(OTHER))).eq(F(OTHER))
    assert without_copies(z3.If(AT == OTHER, F(AT), F(OTHER))).eq(F(OTHER))
    assert without_copies(z3.If(F(AT) > 0, z3.If(OTHER == AT, F(AT), F(OTHER)), F(OTHER))).eq(F(OTHER))


@pytest.mark.parametrize("put", [F(AT) + 1, G(AT), z3.If(F(AT) > 0, G(AT), F(AT))])
def test_a_choice_that_puts_another_value_stays(put: Any) -> None:
    term = z3.If(OTHER == AT, put, F(OTHER))
    solver = z3.Solver()
    solver.add(without_copies(term) != term)
    assert solver.check() == z3.unsat
    assert not without_copies(term).eq(F(OTHER))


def rule_and_names(system: Unbounded, step: UnboundedStep) -> list[tuple[str, Any, Any]]:
    """The changed fields of a step: as the rule has them without a name, and under names."""
    free = Arbitrary(system.structure, None)
    arguments = {
        name: step.choice.fixed.get(name, free.value(ty, f"argument.{name}")) for name, ty in step.choice.action.params
    }
    named, system.evaluator.named_parts = system.evaluator.named_parts, "none"
    try:
        fields = system.evaluator.action(step.choice.action, system.now, arguments).fields
    finally:
        system.evaluator.named_parts = named
    return [(name, value, step.after[name]) for name, value in fields.items()]


def names_of(system: Unbounded, step: UnboundedStep) -> list[str]:
    """The names that the step's rule has brought."""
    return [name for name in system.scope.definitions if name.startswith((f"after.{step.choice.action.name}(", "is."))]


def assert_same(system: Unbounded, step: UnboundedStep) -> None:
    for name, value, named in rule_and_names(system, step):
        same = formula(system.structure.eq(named, value, system.ty.fields[name]))
        assert questions(system, system.typed, ()).prove(same, 20.0).proved, f"{step.choice.action.name}: {name}"


@pytest.mark.parametrize("name", ["two_phase", "ewd840", "paxos_voting", "chang_roberts"])
def test_a_protocol_has_the_next_state_of_its_rules(name: str) -> None:
    selected = resolve(Selection(model=protocol(name)))
    system = Unbounded(selected.declared.with_lemmas(), selected.config)
    for choice in every_choice(system):
        step = UnboundedStep(system, choice)
        if step.possible:
            assert_same(system, step)


@pytest.fixture(scope="module")
def partition() -> Unbounded:
    return Unbounded(load_proof_model(), Config(unclean_recovery_strategy=RecoveryStrategy.DISABLED, kills=1))


def step_of(system: Unbounded, action: str) -> UnboundedStep:
    return UnboundedStep(system, next(choice for choice in every_choice(system) if choice.action.name == action))


def test_a_long_term_of_the_partition_has_a_name_and_a_definition_that_decides(partition: Unbounded) -> None:
    step = step_of(partition, "Fence")
    assert_same(partition, step)
    names = names_of(partition, step)
    assert names
    saved = dict(partition.scope.definitions)
    try:
        for name in names:
            partition.scope.definitions[name] = ()
        fields = [
            formula(partition.structure.eq(named, value, partition.ty.fields[field]))
            for field, value, named in rule_and_names(partition, step)
        ]
        with_names = [field for field in fields if not symbols(field).isdisjoint(names)]
        assert with_names
        for field in with_names:
            assert not questions(partition, partition.typed, ()).prove(field, 1.0).proved
    finally:
        partition.scope.definitions.update(saved)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("action", "goal", "hints"),
    [("Fence", "CommitConsistent", ()), ("Fence", "LaterLeaderCovers", ()), ("Fence", "QuorumKeeps", ("ViewEpochs",))],
)
def test_a_cell_about_quorums_is_proved(partition: Unbounded, action: str, goal: str, hints: tuple[str, ...]) -> None:
    step = step_of(partition, action)
    conjecture = step.goal(goal)
    assert conjecture is not None
    assert questions(partition, step.premises, [goal, *hints]).prove(conjecture, 60.0).proved
