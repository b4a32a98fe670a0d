"""A goal by cases of its own lemma in the state before, and lemmas at the members that the goal names.

A step has to preserve a lemma `for all a, b: P(a, b) implies Q(a, b)`. For the members a and b of the goal, either a
premise was false before the step, or all were true, and then the lemma gives Q before the step. The solver rarely
distinguishes these cases itself. Lemmas about two members or more are instantiated at a and b only, where that is
enough, because their instances at all members are what takes the solver's time.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import z3

from elrcheck.proof.any_size.subterms import subterms

MOST_CASES = 6
"""The maximum number of premises that are distinguished."""


def members_of(goal: Any) -> list[Any]:
    """Return the constants of uninterpreted sorts for which `Splitting` has chosen names, in the order of the names."""
    named = (term for term in subterms(goal) if z3.is_const(term) and term.decl().name().startswith("some!"))
    of_sorts = (one for one in named if one.sort().kind() == z3.Z3_UNINTERPRETED_SORT)
    return sorted(of_sorts, key=lambda one: int(one.decl().name().partition("!")[2]))


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
    if not (z3.is_quantifier(lemma) and lemma.is_forall()):
        if z3.is_or(lemma) or z3.is_implies(lemma):
            parts = [_for_members(part, members) if _is_universal(part) else part for part in lemma.children()]
            return None if any(part is None for part in parts) else lemma.decl()(*parts)
        return lemma
    own, others = members[: lemma.num_vars()], members[lemma.num_vars() :]
    sorts = [lemma.var_sort(k) for k in range(lemma.num_vars())]
    if [one.sort() for one in own] != sorts:
        return None
    return _for_members(z3.substitute_vars(lemma.body(), *reversed(own)), others)


def _is_universal(term: Any) -> bool:
    return bool(z3.is_quantifier(term) and term.is_forall())


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


def at_members(lemma: Any, members: Sequence[Any]) -> Any:
    """Return what a lemma about two members or more says of these; another lemma as it is."""
    return _instances(lemma, members) if members and _universal_depth(lemma, members[0].sort()) > 1 else lemma


def _universal_depth(term: Any, sort: Any) -> int:
    """Return how many universal variables of a sort enclose a part of a term, at most."""
    if _is_universal(term):
        own = all(term.var_sort(k) == sort for k in range(term.num_vars()))
        return term.num_vars() + _universal_depth(term.body(), sort) if own else 0
    if z3.is_and(term) or z3.is_or(term):
        return max((_universal_depth(part, sort) for part in term.children()), default=0)
    return 0


def _instances(term: Any, members: Sequence[Any]) -> Any:
    if _is_universal(term):
        if any(term.var_sort(k) != members[0].sort() for k in range(term.num_vars())):
            return term
        chosen = itertools.product(members, repeat=term.num_vars())
        return z3.And([_instances(z3.substitute_vars(term.body(), *values), members) for values in chosen])
    if z3.is_and(term) or z3.is_or(term):
        parts = [_instances(part, members) for part in term.children()]
        return z3.And(parts) if z3.is_and(term) else z3.Or(parts)
    return term
