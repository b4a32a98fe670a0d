"""A definition with triggers on both sides says the same, and is used where only its right side names a member."""

from __future__ import annotations

from typing import Any

import pytest
import z3

from elrcheck.proof.any_size.definitions import NamedTerms
from elrcheck.proof.any_size.subterms import triggered_by_both_sides

NODE = z3.DeclareSort("Node")
X, Y = z3.Consts("x y", NODE)
GONE = z3.Const("gone", NODE)
BEFORE, AFTER = (z3.Function(name, NODE, z3.BoolSort()) for name in ("before", "after"))
SEEN = z3.Function("seen", NODE, NODE, z3.BoolSort())
LINKED = z3.Function("known", NODE, NODE, z3.BoolSort())


def by_triggers(*formulas: Any) -> Any:
    solver = z3.Solver()
    solver.set("auto_config", False)
    solver.set("mbqi", False)
    solver.add(*formulas)
    return solver.check()


def test_a_member_that_only_the_state_before_names_is_met() -> None:
    left = z3.ForAll([X], AFTER(X) == z3.And(BEFORE(X), X != GONE), patterns=[AFTER(X)])
    emptied = [z3.ForAll([X], z3.Not(AFTER(X)), patterns=[AFTER(X)]), BEFORE(Y), Y != GONE]
    assert by_triggers(left, *emptied) == z3.unknown
    assert by_triggers(triggered_by_both_sides(left), *emptied) == z3.unsat


def triggers(axiom: Any) -> list[str]:
    return sorted(axiom.pattern(k).arg(0).decl().name() for k in range(axiom.num_patterns()))


def test_only_terms_of_all_variables_and_outside_inner_quantifiers_are_triggers() -> None:
    body = z3.And(LINKED(Y, X), BEFORE(X), SEEN(X, GONE), z3.Exists([GONE], SEEN(X, GONE)))
    left = z3.ForAll([X, Y], SEEN(X, Y) == body, patterns=[SEEN(X, Y)])
    both = triggered_by_both_sides(left)
    assert triggers(both) == ["known", "seen"]
    assert both.body().eq(left.body()), "what it says stays"


def test_a_term_that_also_has_a_constant_is_a_trigger() -> None:
    left = z3.ForAll(
        [X], AFTER(X) == z3.Or(SEEN(GONE, X), LINKED(X, X), z3.Exists([Y], SEEN(Y, X))), patterns=[AFTER(X)]
    )
    assert triggers(triggered_by_both_sides(left)) == ["after", "seen"]


@pytest.mark.parametrize(
    "axiom",
    [
        AFTER(GONE) == BEFORE(GONE),
        z3.ForAll([X], z3.Implies(BEFORE(X), AFTER(X))),
        z3.ForAll([X], SEEN(X, GONE) == BEFORE(X)),
        z3.Exists([X], AFTER(X) == BEFORE(X)),
    ],
)
def test_what_defines_no_function_of_its_variables_stays(axiom: Any) -> None:
    assert triggered_by_both_sides(axiom) is axiom


def test_both_sides_trigger_only_where_that_is_asked_for() -> None:
    scope = NamedTerms()
    left = z3.ForAll([X], AFTER(X) == BEFORE(X), patterns=[AFTER(X)])
    scope.definitions["after"] = (left,)
    assert [triggers(one) for one in scope.needed([AFTER(Y)], ())] == [["after"]]
    assert [triggers(one) for one in scope.needed([AFTER(Y)], (), both_sides=True)] == [["after", "before"]]
