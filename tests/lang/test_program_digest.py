"""Digests of programs: equal exactly where a search could not tell the programs apart by their text."""

from __future__ import annotations

from dataclasses import replace

import pytest

from elrcheck.base.requests import Selection
from elrcheck.declared.select import resolve
from elrcheck.invariants.modules import load_whole_model
from elrcheck.kafka.mutation.rule_proof import partition_mutants
from elrcheck.lang.lowering.dag import Dag
from elrcheck.lang.lowering.lower import lower
from elrcheck.lang.lowering.program import Check, Instance, Leaf, Program
from elrcheck.lang.lowering.program_digest import numbered_digest, program_digest
from elrcheck.lang.lowering.relower import relower


def program(first: str = "x", *, step: int = 1, limit: int = 4, top: int = 7) -> Program:
    """Two leaves, of which the one named first has the smaller node ids; x goes up, y follows it."""
    dag = Dag()
    order = (0, 1) if first == "x" else (1, 0)
    variables = {leaf: dag.var(leaf, 0, top) for leaf in order}
    x, y = variables[0], variables[1]
    up = Instance("Up", (), (dag.lt(x, limit),), {0: dag.add(x, step)}, (), {1: dag.eq(x, y)})
    follow = Instance("Follow", (), (dag.lt(y, x),), {1: x}, (dag.eq(dag.band(x, y), dag.band(y, x)),))
    checks = (Check("together", "always", "state", dag.lt(dag.add(x, y), 7)), Check("up-from-equal", "always", "step"))
    return Program(dag, (Leaf("x", 0, top), Leaf("y", 0, top)), (up, follow), checks, ((0, 0),))


def test_the_order_of_construction_is_no_part_of_a_program() -> None:
    plain, other = program(), program("y")
    assert plain.instances[0].step_checks[1].args != other.instances[0].step_checks[1].args
    assert program_digest(plain) == program_digest(other)


@pytest.mark.parametrize("change", [{"step": 2}, {"limit": 5}, {"top": 6}])
def test_a_step_a_guard_and_a_range_are_part_of_the_system(change: dict[str, int]) -> None:
    assert program_digest(program()).system != program_digest(program(**change)).system


def test_instances_and_starts_are_part_of_the_system_and_properties_are_not() -> None:
    plain = program()
    digest = program_digest(plain)
    changed = [
        replace(plain, instances=plain.instances[::-1]),
        replace(plain, instances=plain.instances[:1]),
        replace(plain, init=((1, 0),)),
        replace(plain, instances=(replace(plain.instances[0], within=(plain.dag.zero,)), plain.instances[1])),
    ]
    assert digest.system not in {program_digest(one).system for one in changed}
    assert numbered_digest(plain) == numbered_digest(replace(plain))
    numbered = [numbered_digest(one) for one in (plain, *changed)]
    assert len(set(numbered)) == len(numbered)
    fewer = program_digest(replace(plain, checks=plain.checks[:1], instances=_bare(plain)))
    assert fewer.system == digest.system and fewer.checks == digest.checks[:1]


def test_a_property_is_named_by_what_it_says_and_not_by_its_name() -> None:
    plain = program()
    state, step = program_digest(plain).checks
    renamed = replace(plain, checks=(replace(plain.checks[0], name="other"), plain.checks[1]))
    assert program_digest(renamed).checks == (state, step)
    assert numbered_digest(renamed) != numbered_digest(plain), "a checkpoint has hits by name"
    reached = replace(plain, checks=(replace(plain.checks[0], kind="sometimes"), plain.checks[1]))
    assert program_digest(reached).checks[0] != state
    unasked = replace(plain, instances=_bare(plain))
    assert program_digest(unasked).checks[1] != step


def _bare(plain: Program) -> tuple[Instance, ...]:
    return tuple(replace(one, step_checks={}) for one in plain.instances)


def test_an_instance_that_open_numbers_switch_off_does_not_count() -> None:
    """What a rule makes of a crash is not part of a configuration without crashes."""

    def with_budget(step: int, budget: int) -> Program:
        dag = Dag()
        x, allowed = dag.var(0, 0, 7), dag.var(1, 0, 1)
        crash = Instance("Crash", (), (dag.eq(allowed, 1), dag.lt(x, 4)), {0: dag.add(x, step)})
        leaves = (Leaf("x", 0, 7), Leaf("config.crashes", 0, 1))
        return Program(dag, leaves, (crash,), (), ((0, budget),), parameters=(1,))

    def system(step: int, budget: int) -> str:
        return program_digest(with_budget(step, budget)).system

    assert system(1, 0) == system(2, 0) and system(1, 1) != system(2, 1)


@pytest.mark.slow
def test_a_changed_rule_changes_the_digest_where_it_changes_the_program() -> None:
    """Each change, lowered by itself, against what comparing nodes in one graph says."""
    mutants = partition_mutants(load_whole_model())
    config = resolve(Selection("kip_full", "two-brokers-quiet", ("fences=1",))).config
    original = lower(mutants.model, config)
    digest = program_digest(original.program)
    assert program_digest(lower(mutants.model, config).program) == digest
    counts = {True: 0, False: 0}
    for function, name in mutants.names(("fence_target", "ShrinkIsr"))[::5]:
        changed = mutants.make(mutants.find(function, name))
        if changed is None:
            continue
        change = relower(original, changed.model, changed.affected)
        assert change is not None
        other = program_digest(change.program)
        steps = [pair for pair in change.instances if pair[0] is not None or pair[1] is not None]
        assert (other == digest) == change.same, name
        assert other.system == digest.system or steps, name
        counts[change.same] += 1
    assert counts[True] and counts[False], counts
