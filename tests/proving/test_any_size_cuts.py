"""Cuts of goals about sizes: one that is proved closes the goal, and a false one is never assumed."""

from __future__ import annotations

from typing import Any

import pytest
import z3

from elrcheck.proof.any_size.definitions import NamedTerms
from elrcheck.proof.any_size.goal_parts import AXIOM, subset_cuts
from elrcheck.proof.any_size.questions import AT_MEMBERS, WAYS, PartRoute, Premises, Question, Route, Tries

NODE = z3.DeclareSort("Node")
X, Y = z3.Consts("x y", NODE)
LEADER = z3.Const("leader", NODE)
ISR, COPIES, ALIVE = (z3.Function(name, NODE, NODE, z3.BoolSort()) for name in ("isr", "copies", "alive"))
NEEDED = z3.Int("needed")
FOLLOWS = z3.ForAll([X, Y], z3.Implies(ISR(X, Y), z3.And(ALIVE(X, Y), COPIES(X, Y))))


class Sets:
    """The sizes of two sets of a leader, ISR and copies, and the question whether as many copies as needed exist."""

    def __init__(self, *lemmas: Any) -> None:
        self.scope = NamedTerms()
        isr, copies = self._size(ISR), self._size(COPIES)
        self.goal = z3.Implies(isr >= NEEDED, copies >= NEEDED)
        names = [f"lemma {k}" for k in range(len(lemmas))]
        self.premises = Premises(self.scope, [], dict(zip(names, lemmas, strict=True)).__getitem__, names, names)

    def _size(self, members: Any) -> Any:
        with self.scope.variables([NODE]) as (leader,), self.scope.variables([NODE]) as own:
            return self.scope.size(own, members(leader, own[0]), None).decl()(LEADER)


def along_a_cut(sets: Sets, number: int, questions: int) -> Any:
    """The answer of a proof that follows a route with a cut and cannot do anything else."""
    each_member = tuple(Question(WAYS.index(AT_MEMBERS)) for _ in range(questions))
    route = Route(tuple(sets.premises.names), parts=(PartRoute(each_member, "cut", number),))
    return sets.premises._along(route, sets.goal, 4.0)


def test_each_of_two_sets_may_be_a_subset_of_the_other() -> None:
    sets = Sets()
    cuts = list(subset_cuts(sets.goal, sets.scope))
    assert len(cuts) == 2
    for cut in cuts:
        small, large = cut.consequence.children()
        assert not small.eq(large)
    assert list(subset_cuts(NEEDED > 0, sets.scope)) == []


def test_a_cut_and_its_use_imply_the_goal() -> None:
    sets = Sets()
    for cut in subset_cuts(sets.goal, sets.scope):
        use, claimed = cut.goals(sets.goal)
        solver = z3.Solver()
        solver.add(use, claimed, z3.Implies(cut.claim, cut.consequence), z3.Not(sets.goal))
        assert solver.check() == z3.unsat


def test_a_proved_cut_closes_the_goal_and_names_its_axiom() -> None:
    sets = Sets(FOLLOWS)
    assert Tries(sets.premises, 4.0).part_by_part(sets.goal)[0] is not None
    proved = [along_a_cut(sets, number, 2) for number, _ in enumerate(subset_cuts(sets.goal, sets.scope))]
    (by_cut,) = [one for one in proved if one is not None]
    assert by_cut.sizes == {AXIOM}


@pytest.mark.parametrize("lemma", [z3.BoolVal(True), z3.ForAll([X, Y], z3.Implies(COPIES(X, Y), ISR(X, Y)))])
def test_a_false_cut_is_not_assumed(lemma: Any) -> None:
    sets = Sets(lemma)
    assert all(along_a_cut(sets, number, 2) is None for number, _ in enumerate(subset_cuts(sets.goal, sets.scope)))
    assert Tries(sets.premises, 2.0).part_by_part(sets.goal)[0] is None


def test_a_cut_that_does_not_exist_proves_nothing() -> None:
    assert along_a_cut(Sets(FOLLOWS), 7, 2) is None
