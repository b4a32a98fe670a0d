"""The parts of a goal say what the goal says: no part is missing, and none asks more."""

from __future__ import annotations

import random
from typing import Any

import pytest
import z3

from elrcheck.proof.any_size.goal_parts import MOST_PARTS, Splitting

NODE, NODES = z3.EnumSort("PartNode", ["n0", "n1", "n2"])
LEADS, VOTES = (z3.Function(name, NODE, z3.BoolSort()) for name in ("leads", "votes"))
TRUTHS = z3.Bools("p q r")
X = z3.Const("x", NODE)


def drawn(chance: random.Random, depth: int) -> Any:
    """A formula, drawn at random."""
    if depth == 0:
        return chance.choice([*TRUTHS, LEADS(chance.choice(NODES)), VOTES(X), LEADS(X), z3.BoolVal(True)])
    one, other, third = (drawn(chance, depth - 1) for _ in range(3))
    return chance.choice(
        [
            z3.And(one, other),
            z3.Or(one, other, third),
            z3.Not(one),
            z3.Implies(one, other),
            z3.If(one, other, third),
            z3.ForAll([X], one),
            z3.Exists([X], one),
        ]
    )


def said_by(parts: list[Any], goal: Any) -> Any:
    """All parts, for all values of the constants that the goal does not have."""
    constants = {str(term): term for part in parts for term in constants_of(part) if str(term).startswith("some!")}
    whole = z3.And(*parts)
    return z3.ForAll(list(constants.values()), whole) if constants else whole


def constants_of(term: Any) -> set[Any]:
    if z3.is_quantifier(term):
        return constants_of(term.body())
    if z3.is_const(term):
        return {term}
    return {one for part in term.children() for one in constants_of(part)}


def holds(claim: Any) -> bool:
    """Return whether Z3 refutes the negation; it gives up on a few goals, but not with every seed."""
    answer = z3.unknown
    for seed in range(20):
        solver = z3.Solver()
        solver.set("random_seed", seed)
        solver.set("timeout", 5000)
        solver.add(z3.Not(claim))
        answer = solver.check()
        if answer != z3.unknown:
            break
    return bool(answer == z3.unsat)


@pytest.mark.parametrize("cases", [False, True])
@pytest.mark.parametrize("seed", range(60))
def test_parts_say_what_the_goal_says(seed: int, cases: bool) -> None:
    goal = z3.ForAll([X], drawn(random.Random(seed), 4))
    parts = Splitting().parts(goal, cases=cases)
    assert len(parts) <= MOST_PARTS
    assert holds(said_by(parts, goal) == goal)


def test_the_cases_of_a_premise_are_parts_where_they_are_wanted() -> None:
    p, q, r = TRUTHS
    goal = z3.Implies(z3.Or(p, q), r)
    assert len(Splitting().parts(goal)) == 1
    assert len(Splitting().parts(goal, cases=True)) == 2


def test_parts_of_parts_have_other_constants() -> None:
    splitting = Splitting()
    goal = z3.ForAll([X], z3.Or(LEADS(X), z3.Not(z3.Or(*TRUTHS, z3.Exists([X], VOTES(X))))))
    (part,) = splitting.parts(goal)
    cases = splitting.parts(part, cases=True)
    assert len(cases) == 4
    assert len({str(one) for case in cases for one in constants_of(case) if str(one).startswith("some!")}) == 2


def test_a_goal_of_very_many_cases_has_few_parts_that_still_imply_it() -> None:
    pairs = [z3.Bools(f"a{k} b{k}") for k in range(12)]
    goal = z3.Or(*(z3.And(a, b) for a, b in pairs))
    parts = Splitting().parts(goal)
    assert 1 < len(parts) <= MOST_PARTS
    assert holds(z3.Implies(z3.And(*parts), goal))
