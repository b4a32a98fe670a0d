"""Lemmas at the members of a question: which are instantiated there, and that no instance says more than its lemma."""

from __future__ import annotations

from typing import Any

import pytest
import z3

from elrcheck.proof.any_size.definitions import NamedTerms
from elrcheck.proof.any_size.instances import Places, lengths_of, members_of

NODE = z3.DeclareSort("Node")
X, Y = z3.Consts("x y", NODE)
K = z3.Int("k")
ONE, OTHER, ACTS = z3.Consts("some!2 some!10 argument.n", NODE)
LEADS, CONTENDS = (z3.Function(name, NODE, z3.BoolSort()) for name in ("leads", "contends"))
COVERS = z3.Function("covers", NODE, NODE, z3.BoolSort())
LEAST, LENGTH, OTHER_LENGTH = (z3.Function(name, NODE, z3.IntSort()) for name in ("least", "log.length", "length"))
ENTRY = z3.Function("log", NODE, z3.IntSort(), z3.IntSort())

PREFIX = z3.ForAll([K], z3.Or(K < 0, LENGTH(X) <= K, z3.And(LENGTH(Y) > K, ENTRY(X, K) == ENTRY(Y, K))))
"""The log of x is a prefix of that of y."""
SOMEBODY = z3.Exists([Z := z3.Const("z", NODE)], COVERS(X, Z))


def about_two(what: Any) -> Any:
    return z3.ForAll([X], z3.Or(z3.Not(LEADS(X)), z3.ForAll([Y], z3.Or(z3.Not(CONTENDS(Y)), what))))


NAMING = {
    "a member that exists": about_two(z3.And(COVERS(X, Y), SOMEBODY)),
    "a defined number": about_two(LEAST(X) < LENGTH(Y)),
    "a premise for all": about_two(z3.Implies(z3.Not(SOMEBODY), COVERS(X, Y))),
    "a choice": about_two(z3.If(SOMEBODY, COVERS(X, Y), PREFIX)),
    "an equivalence": about_two(COVERS(X, Y) == SOMEBODY),
    "an index": about_two(z3.And(SOMEBODY, PREFIX)),
}
GENERAL = {
    "two members": about_two(COVERS(X, Y)),
    "two logs": about_two(PREFIX),
    "a refusal": about_two(z3.Not(SOMEBODY)),
    "one member": z3.ForAll([X], z3.Or(z3.Not(LEADS(X)), SOMEBODY)),
    "another sort": z3.ForAll([K, z3.Int("i")], z3.Exists([z3.Int("j")], z3.Int("j") > K + z3.Int("i"))),
}


def places(*members: Any) -> Places:
    return Places(members or (ONE, OTHER), [LENGTH], [], {"least"})


def valid(formula: Any) -> bool:
    solver = z3.Solver()
    solver.set("timeout", 10_000)
    solver.add(z3.Not(formula))
    return bool(solver.check() == z3.unsat)


def test_the_members_of_a_goal_are_in_the_order_of_their_names() -> None:
    assert members_of(z3.And(LEADS(OTHER), LEADS(X), z3.Const("some!3", z3.IntSort()) > 0, LEADS(ONE))) == [ONE, OTHER]


def test_the_lengths_of_a_goal_are_those_outside_its_quantifiers() -> None:
    goal = z3.And(LENGTH(ONE) < OTHER_LENGTH(OTHER), z3.ForAll([X], LENGTH(X) > 0))
    assert lengths_of(goal) == [LENGTH(ONE)]


@pytest.mark.parametrize("name", NAMING)
def test_a_lemma_that_names_new_values_is_instantiated_and_says_no_more_than_before(name: str) -> None:
    at = places().instances(NAMING[name])
    assert valid(z3.Implies(NAMING[name], at))
    assert not at.eq(NAMING[name]) and not (z3.is_quantifier(at))


@pytest.mark.parametrize("name", GENERAL)
def test_a_lemma_without_new_values_or_about_one_member_stays_general(name: str) -> None:
    assert places().instances(GENERAL[name]) is GENERAL[name]


def test_an_instance_is_about_the_members_and_about_no_other() -> None:
    lemma = NAMING["a member that exists"]
    at = places(ONE, ACTS).instances(lemma)
    assert valid(z3.Implies(z3.And(at, LEADS(ONE), CONTENDS(ACTS)), COVERS(ONE, ACTS)))
    assert not valid(z3.Implies(z3.And(at, LEADS(ONE), CONTENDS(OTHER)), COVERS(ONE, OTHER)))


def test_a_universal_number_has_the_lengths_of_the_members_and_stays() -> None:
    assert {str(one) for one in places().indices} == {"log.length(some!2)", "log.length(some!10)"}
    at = places().instances(NAMING["an index"])
    assert valid(z3.Implies(z3.And(at, LEADS(ONE), CONTENDS(OTHER), LENGTH(OTHER) >= 0), LENGTH(ONE) <= LENGTH(OTHER)))
    third = z3.And(at, LEADS(ONE), CONTENDS(OTHER), LENGTH(ONE) > 3)
    assert valid(z3.Implies(third, ENTRY(ONE, 3) == ENTRY(OTHER, 3)))


def test_the_size_of_a_set_of_an_argument_is_the_size_that_lemmas_name() -> None:
    scope = NamedTerms()
    scope.arguments[ACTS.decl().name()] = ACTS

    def size(of: Any) -> Any:
        with scope.variables([NODE]) as own:
            return scope.size(own, COVERS(of, own[0]), None)

    with scope.variables([NODE]) as (leader,):
        of_all = size(leader).decl()
    of_argument, of_other = size(ACTS), size(OTHER)

    assert valid(z3.Implies(z3.And(scope.needed([of_argument], ())), of_argument == of_all(ACTS)))
    assert not valid(z3.Implies(z3.And(scope.needed([of_other], ())), of_other == of_all(OTHER)))
