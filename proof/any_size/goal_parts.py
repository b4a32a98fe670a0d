"""Splits a goal into formulas that together imply it, with constants for its universal variables.

The conclusion is split first. A part that is not proved is split further, into the cases of its premises.

A goal may also be proved by cases of its own lemma in the state before. A step has to preserve a lemma
`for all a, b: P(a, b) implies Q(a, b)`. For the members a and b of the goal, either a premise was false before the
step, or all were true, and then the lemma gives Q before the step. The solver rarely distinguishes these cases itself.

A cut is a fact that is proved by itself before the goal may use it. That a set has enough members often follows because
another set with enough members is a subset of it. The solver does not find which; and the member that a subset would
lack is a new one, at which no lemma is instantiated. A cut claims the subset for one pair, with a name for that member.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import z3

from elrcheck.proof.any_size.definitions import NamedTerms
from elrcheck.proof.any_size.instances import members_of
from elrcheck.proof.any_size.subterms import is_choice, is_universal, subterms

Clause: TypeAlias = tuple[Any, ...]
"""A disjunction, as its formulas."""
MOST_PARTS = 64
"""The maximum number of parts of one goal."""


class Splitting:
    """Splits goals. No two parts of one goal share the name of a constant."""

    def __init__(self) -> None:
        self._numbers = itertools.count()

    def parts(self, goal: Any, *, cases: bool = False) -> list[Any]:
        """Return formulas that together imply the goal. cases: split its premises into cases, too."""
        done: list[Any] = []
        todo: deque[Clause] = deque([(goal,)])
        while todo:
            clause = todo.popleft()
            room = len(done) + len(todo) < MOST_PARTS - 1
            split = self._split(clause, cases, room)
            if split is not None and len(done) + len(todo) + len(split) <= MOST_PARTS:
                todo.extend(split)
            elif not any(map(z3.is_true, clause)):
                done.append(z3.Or(*clause) if len(clause) > 1 else clause[0])
        return done

    def _split(self, clause: Clause, cases: bool, room: bool) -> Sequence[Clause] | None:
        """Return clauses that together imply one, split without branching if possible; None if it cannot be split."""
        branching = None
        for k in reversed(range(len(clause))):
            ways = list(self._ways(clause[k]))
            if not ways:
                continue
            others = clause[:k], clause[k + 1 :]
            whole = [(*others[0], *way, *others[1]) for way in ways]
            if len(ways) == 1:
                return whole
            if branching is None and room and (cases or len(clause) == 1 or not _premise(clause[k])):
                branching = whole
        return branching

    def _ways(self, formula: Any) -> Iterator[Clause]:
        """Yield clauses that together imply a formula; nothing if it cannot be split."""
        if z3.is_not(formula):
            yield from self._ways_not(formula.arg(0))
        elif z3.is_quantifier(formula):
            if formula.is_forall():
                yield (self._with_constants(formula),)
        elif z3.is_and(formula):
            yield from ((part,) for part in formula.children())
        elif z3.is_or(formula):
            yield tuple(formula.children())
        elif z3.is_implies(formula):
            yield (z3.Not(formula.arg(0)), formula.arg(1))
        elif is_choice(formula):
            condition, one, other = formula.children()
            yield (z3.Not(condition), one)
            yield (condition, other)

    def _ways_not(self, formula: Any) -> Iterator[Clause]:
        if z3.is_not(formula):
            yield (formula.arg(0),)
        elif z3.is_quantifier(formula):
            if formula.is_exists():
                yield (z3.Not(self._with_constants(formula)),)
        elif z3.is_or(formula):
            yield from ((z3.Not(part),) for part in formula.children())
        elif z3.is_and(formula):
            yield tuple(z3.Not(part) for part in formula.children())
        elif z3.is_implies(formula):
            yield (formula.arg(0),)
            yield (z3.Not(formula.arg(1)),)
        elif is_choice(formula):
            condition, one, other = formula.children()
            yield (z3.Not(condition), z3.Not(one))
            yield (condition, z3.Not(other))

    def _with_constants(self, quantifier: Any) -> Any:
        sorts = [quantifier.var_sort(k) for k in range(quantifier.num_vars())]
        constants = [z3.Const(f"some!{next(self._numbers)}", sort) for sort in sorts]
        return z3.substitute_vars(quantifier.body(), *reversed(constants))


def _premise(formula: Any) -> bool:
    """Return whether splitting a formula distinguishes cases of a premise."""
    return z3.is_not(formula) or is_choice(formula)


MOST_CASES = 6
"""The maximum number of premises that are distinguished."""
AXIOM = "monotone"
"""The axiom by which the consequence of a cut follows from its claim."""


def cases_before(goal: Any, lemma: Any) -> list[Any]:
    """Return goals that together imply a goal, one for each case of the lemma's premises for the goal's members.

    Empty if the lemma is not about so many members, or has no premise.
    """
    premises = list(_premises(_for_members(lemma, members_of(goal))))[:MOST_CASES]
    if not premises:
        return []
    cases = [[*premises[:k], z3.Not(one)] for k, one in enumerate(premises)]
    return [z3.Implies(z3.And(*case), goal) for case in (*cases, premises)]


def _for_members(lemma: Any, members: Sequence[Any]) -> Any:
    """Return the outer universal quantifiers of a lemma at the members, one after the other; None without enough."""
    if not is_universal(lemma):
        if z3.is_or(lemma) or z3.is_implies(lemma):
            parts = [_for_members(part, members) if is_universal(part) else part for part in lemma.children()]
            return None if any(part is None for part in parts) else lemma.decl()(*parts)
        return lemma
    own, others = members[: lemma.num_vars()], members[lemma.num_vars() :]
    sorts = [lemma.var_sort(k) for k in range(lemma.num_vars())]
    if [one.sort() for one in own] != sorts:
        return None
    return _for_members(z3.substitute_vars(lemma.body(), *reversed(own)), others)


def _premises(clause: Any) -> Iterator[Any]:
    """Yield the premises of a clause, `not P or Q` as `P implies Q`; nothing for None."""
    if clause is None:
        return
    if z3.is_or(clause):
        for part in clause.children():
            yield from _premises(part)
    elif z3.is_implies(clause):
        yield clause.arg(0)
        yield from _premises(clause.arg(1))
    elif z3.is_not(clause):
        yield from clause.arg(0).children() if z3.is_and(clause.arg(0)) else (clause.arg(0),)


# ------------------------------------------------------------------------- cuts


@dataclass(frozen=True)
class Cut:
    """A claim, and what it implies for all finite sets by `AXIOM`."""

    claim: Any
    consequence: Any

    def goals(self, goal: Any) -> tuple[Any, Any]:
        """Return two goals that together imply one: it follows from the consequence, and it or the claim holds."""
        return z3.Implies(self.consequence, goal), z3.Or(goal, self.claim)


def subset_cuts(goal: Any, scope: NamedTerms) -> Iterator[Cut]:
    """Yield, for each two sets of one type whose sizes a goal names, that the first is a subset of the second."""
    parts = subterms(goal, inside_quantifiers=False)
    sizes = [one for one in parts if z3.is_app(one) and one.decl().name() in scope.sizes]
    counted = [(one, scope.sizes[one.decl().name()]) for one in sorted(sizes, key=str)]
    for small, of_small in counted:
        for large, of_large in counted:
            members = of_small.members
            if small.eq(large) or [x.sort() for x in members] != [x.sort() for x in of_large.members]:
                continue
            inside = of_large.counted(large.children()).holds(*members)
            claim = z3.ForAll(list(members), z3.Implies(of_small.counted(small.children()).holds(*members), inside))
            yield Cut(claim, small <= large)
