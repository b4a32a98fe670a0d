"""Splits a goal into formulas that together imply it, with constants for its universal variables.

The conclusion is split first. A part that is not proved is split further, into the cases of its premises.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import z3

from elrcheck.proof.any_size.subterms import is_choice

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
