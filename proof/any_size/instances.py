"""Instances of lemmas at the members that a question names, where lemmas for all members take the solver's time.

A lemma that names new values (a least element, the size of a set, a member that must exist) gives the solver new
members for which to instantiate it again, without end. At the members of the goal and the arguments of the step it is
mostly enough; a lemma without such values stays general, because it says something about each new member, too.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import z3

from elrcheck.proof.any_size.subterms import is_choice, is_universal, opened, subterms

_NAMED = "some!"
"""The beginning of the names that `Splitting` chooses."""
LENGTH = ".length"
"""The end of the name of a sequence's length."""


def members_of(goal: Any) -> list[Any]:
    """Return the constants of uninterpreted sorts for which `Splitting` has chosen names, in the order of the names."""
    return [one for one in _named(goal) if one.sort().kind() == z3.Z3_UNINTERPRETED_SORT]


def numbers_of(goal: Any) -> list[Any]:
    """Return the numbers for which `Splitting` has chosen names, in the order of the names."""
    return [one for one in _named(goal) if z3.is_int(one)]


def _named(goal: Any) -> list[Any]:
    named = (term for term in subterms(goal) if z3.is_const(term) and term.decl().name().startswith(_NAMED))
    return sorted(named, key=lambda one: int(one.decl().name().partition("!")[2]))


def lengths_of(goal: Any) -> list[Any]:
    """Return the lengths of sequences that a goal names outside its quantifiers."""
    parts = subterms(goal, inside_quantifiers=False)
    named = (one for one in parts if z3.is_app_of(one, z3.Z3_OP_UNINTERPRETED) and one.decl().name().endswith(LENGTH))
    return [one for one in named if z3.is_int(one)]


@dataclass(frozen=True)
class Places:
    """Where lemmas are instantiated. lengths: functions from a member to the length of its sequence; named: lengths
    that the goal names; defined: names of functions with a definition, None if all lemmas are instantiated.
    """

    members: Sequence[Any]
    lengths: Sequence[Any]
    named: Sequence[Any]
    defined: Collection[str] | None

    @cached_property
    def indices(self) -> list[Any]:
        """Numbers for universal variables, beside all numbers that the solver tries.

        The place behind the last element of one log tells whether another log is longer.
        """
        pairs = itertools.product(self.lengths, self.members)
        of_members = [length(one) for length, one in pairs if length.domain(0) == one.sort()]
        return list({one.get_id(): one for one in (*self.named, *of_members)}.values())

    def instances(self, lemma: Any) -> Any:
        """Return what a lemma about two members or more says of these if it names new values; another one as it is."""
        spares = self.defined is not None and not self._names_values(lemma)
        return lemma if spares or self._depth(lemma) < 2 else self._at(lemma)

    def _at(self, term: Any) -> Any:
        if is_universal(term):
            if self._values(term):
                return z3.And([self._at(one) for one in _with_values(term, self._values(term))])
            numbers = all(term.var_sort(k) == z3.IntSort() for k in range(term.num_vars()))
            return z3.And(term, *map(self._at, _with_values(term, self.indices))) if numbers else term
        if z3.is_and(term) or z3.is_or(term):
            parts = [self._at(part) for part in term.children()]
            return z3.And(parts) if z3.is_and(term) else z3.Or(parts)
        if z3.is_implies(term):
            return z3.Implies(term.arg(0), self._at(term.arg(1)))
        if is_choice(term):
            return z3.If(term.arg(0), self._at(term.arg(1)), self._at(term.arg(2)))
        return term

    def _values(self, quantifier: Any) -> list[Any]:
        """Return the members of the sort of a quantifier's variables; none if they are of several sorts."""
        sorts = [quantifier.var_sort(k) for k in range(quantifier.num_vars())]
        return [one for one in self.members if all(one.sort() == sort for sort in sorts)]

    def _depth(self, term: Any) -> int:
        """Return how many universal variables for members enclose a part of a term, at most."""
        if is_universal(term):
            return term.num_vars() + self._depth(term.body()) if self._values(term) else 0
        if z3.is_and(term) or z3.is_or(term):
            return max(map(self._depth, term.children()), default=0)
        return 0

    def _names_values(self, term: Any, holds: bool = True) -> bool:
        """Return whether a formula, or its negation, names a value by a definition or says that one exists."""
        if z3.is_quantifier(term):
            return term.is_forall() != holds or self._names_values(term.body(), holds)
        if z3.is_not(term):
            return self._names_values(term.arg(0), not holds)
        if z3.is_implies(term):
            return self._names_values(term.arg(0), not holds) or self._names_values(term.arg(1), holds)
        if z3.is_and(term) or z3.is_or(term):
            return any(self._names_values(part, holds) for part in term.children())
        if is_choice(term):
            condition, *either = term.children()
            both = self._names_values(condition) or self._names_values(condition, False)
            return both or any(self._names_values(part, holds) for part in either)
        return any(z3.is_quantifier(part) or self._is_defined(part) for part in subterms(term))

    def _is_defined(self, term: Any) -> bool:
        return bool(z3.is_app(term) and term.num_args() > 0 and term.decl().name() in (self.defined or ()))


def at_numbers(formula: Any, numbers: Sequence[Any], depth: int = 0) -> Any:
    """Return a formula that also says, for each of its universal numbers, what it says of these numbers.

    Bounds alone, such as `0 <= n < bound`, are no term at which the solver would instantiate a quantifier. depth: of
    quantifiers around the formula.
    """
    if is_universal(formula):
        own, body = opened(formula, depth)
        whole = z3.ForAll(own, at_numbers(body, numbers, depth + 1))
        if not all(map(z3.is_int, own)):
            return whole
        return z3.And(whole, *(at_numbers(one, numbers, depth) for one in _with_values(formula, numbers)))
    if z3.is_and(formula) or z3.is_or(formula):
        parts = [at_numbers(part, numbers, depth) for part in formula.children()]
        return z3.And(parts) if z3.is_and(formula) else z3.Or(parts)
    if z3.is_implies(formula):
        return z3.Implies(formula.arg(0), at_numbers(formula.arg(1), numbers, depth))
    return formula


def _with_values(quantifier: Any, values: Sequence[Any]) -> Iterator[Any]:
    chosen = itertools.product(values, repeat=quantifier.num_vars())
    return (z3.substitute_vars(quantifier.body(), *reversed(one)) for one in chosen)
