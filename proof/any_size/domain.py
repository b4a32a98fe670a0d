"""The domain of a quantifier, choice or extreme of any size: the members of a set or sort, or numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import z3

from elrcheck.lang import expr
from elrcheck.lang.comprehensions import Env
from elrcheck.lang.evaluate import Evaluator
from elrcheck.lang.expr import Comprehension
from elrcheck.proof.any_size.unsized_structure import AnySizeStructure
from elrcheck.proof.any_size.unsized_values import Members, no_members
from elrcheck.proof.z3_algebra import formula


class Domain:
    """The domain of a binder: members of a set or sort, numbers of a range, or indices of a sequence.

    members: the set, if it is one. length: of the sequence, or the end of the range; None for members.
    """

    def __init__(self, evaluator: Evaluator, structure: AnySizeStructure, e: Comprehension, env: Env) -> None:
        self.evaluator, self.structure, self.alg = evaluator, structure, structure.alg
        self.e, self.env = e, env
        value = evaluator.ev(e.domain, env)
        self.ty, self.begin = e.variable.ty, 0
        self.length: Any = None
        self.members: Members = no_members()
        self.element: Callable[[Any], Any] = lambda x: x
        if e.over == "set":
            self.members = value
        elif e.over == "range":
            self.begin = 0 if e.begin is None else evaluator.ev(e.begin, env)
            self.length = value
        elif value.listing:
            self.members = self.structure.everything(self.ty)
        else:
            self.length, self.element = value.length, value.at

    @property
    def of_members(self) -> bool:
        return self.length is None

    def holds(self, x: Any) -> tuple[Any, Env]:
        """Return the formula that a value is in the domain and satisfies its condition, and the environment inside."""
        inside = self.members(x) if self.of_members else self.structure.between(self.begin, x, self.length)
        return self._conditioned(inside, x)

    def _conditioned(self, inside: Any, x: Any) -> tuple[Any, Env]:
        inner = self.evaluator.bind(self.env, self.e.variable.name, self.element(x))
        if inside is False or self.e.condition is None:
            return inside, inner
        return self.alg.and_([inside, self.evaluator.ev(self.e.condition, inner)]), inner

    def all(self, body: Callable[[Env], Any], *, some: bool = False) -> Any:
        """Return the formula that the body holds for all of the domain, or for some."""

        def one(holds: Any, inner: Env) -> Any:
            if holds is False:
                return not some
            return self.alg.and_([holds, body(inner)]) if some else self.alg.or_([self.alg.not_(holds), body(inner)])

        if self.of_members:
            if self.members.extent == "none":
                return not some
            return self.structure.every_scalar(self.ty, lambda x: one(*self.holds(x)), some=some)
        return self.structure.for_all_below(
            self.length, lambda x: one(*self._conditioned(True, x)), self.begin, some=some
        )

    def _condition(self) -> tuple[list[Any], Any]:
        """Return the scalars of a new variable, and the formula that it is in the domain and satisfies the condition.

        The variables are for a definition, which binds them itself.
        """
        structure = self.structure
        sorts = structure.scalars(self.ty) if self.of_members else [z3.IntSort()]
        with structure.scope.variables(sorts) as own:
            value = structure.made_of(iter(own), self.ty) if self.of_members else own[0]
            return own, formula(self.alg.and_([self.holds(value)[0], self._typed(value)]))

    def _typed(self, value: Any) -> Any:
        return self.structure.within(value, self.ty) if self.of_members else True

    def chosen(self, *, of_set: bool = False) -> tuple[Any, Callable[[Any], Any]]:
        """Return the count of numbers that satisfy the condition, and the function that lists them, ascending.

        of_set: name the last of those that leave no number out, too; a list, whose length follows, needs no such name.
        """
        own, condition = self._condition()
        (x,) = own
        y = z3.Int("y!chosen")
        at_y = z3.substitute(condition, (x, y))
        length, begin = self.alg.term(self.length), self.alg.term(self.begin)

        def axioms(count: Any, listed: Any, place: Any) -> list[Any]:
            i, j = z3.Ints("i!chosen j!chosen")
            inside = z3.And(i >= 0, i < count)
            closed = z3.ForAll([x, y], z3.Implies(z3.And(begin <= x, x < y, y < length, at_y), condition))
            upto = z3.ForAll([x], z3.Implies(z3.And(begin <= x, x < begin + count), condition))
            behind = z3.Implies(begin + count < length, z3.Not(z3.substitute(condition, (x, begin + count))))
            last = z3.Implies(count >= 1, z3.substitute(condition, (x, begin + count - 1)))
            straight = z3.ForAll([i], z3.Implies(inside, listed(i) == begin + i), patterns=[listed(i)])
            return [
                z3.And(count >= 0, z3.Or(count <= length - begin, count == 0)),
                z3.ForAll(
                    [i],
                    z3.Implies(inside, z3.And(z3.substitute(condition, (x, listed(i))), place(listed(i)) == i)),
                    patterns=[listed(i)],
                ),
                z3.ForAll(
                    [i, j],
                    z3.Implies(z3.And(inside, i < j, j < count), listed(i) < listed(j)),
                    patterns=[z3.MultiPattern(listed(i), listed(j))],
                ),
                z3.ForAll(
                    [x],
                    z3.Implies(condition, z3.And(place(x) >= 0, place(x) < count, listed(place(x)) == x)),
                    patterns=[place(x)],
                ),
                z3.Implies(closed, z3.And(upto, behind, straight, *([last] if of_set else []))),
                (count >= 1) == z3.Exists([x], condition),
            ]

        whole = z3.IntSort()
        about = [condition, length, begin]
        count, listed, _ = self.structure.scope.define(
            "counted" if of_set else "chosen", [whole, (whole, whole), (whole, whole)], about, own, axioms
        )
        return count, listed

    def first(self) -> tuple[Any, Any]:
        """Return the formula that some of the domain satisfies the condition, and the first that does."""
        structure = self.structure
        if isinstance(self.length, int) and self.length == 0:
            return False, structure.blank(self.ty)
        own, condition = self._condition()
        (x,) = own

        def order(y: Any) -> Any:
            return structure.place(self.ty, y) if self.of_members else y

        def axioms(some: Any, first: Any) -> list[Any]:
            least = z3.ForAll([x], z3.Implies(condition, order(first) <= order(x)))
            return [
                some == z3.Exists([x], condition),
                z3.Implies(some, z3.And(z3.substitute(condition, (x, first)), least)),
            ]

        some, first = self.structure.scope.define("first", [z3.BoolSort(), x.sort()], [condition], own, axioms)
        return some, self.element(first)

    def extreme(self, e: expr.Extreme) -> Any:
        """Return the least or greatest body over the domain; the default if it is empty."""
        default = self.alg.term(self.evaluator.ev(e.default, self.env))
        if (self.of_members and self.members.extent == "none") or (isinstance(self.length, int) and self.length == 0):
            return self.evaluator.ev(e.default, self.env)
        structure = self.structure
        sorts = structure.scalars(self.ty) if self.of_members else [z3.IntSort()]
        with structure.scope.variables(sorts) as own:
            value = structure.made_of(iter(own), self.ty) if self.of_members else own[0]
            holds, inner = self.holds(value)
            condition = formula(self.alg.and_([holds, self._typed(value)]))
            body = self.alg.term(self.evaluator.ev(e.body, inner))

        def axioms(best: Any) -> list[Any]:
            bound = best <= body if e.op == "min" else best >= body
            attained = z3.Exists(own, z3.And(condition, best == body))
            return [
                z3.ForAll(own, z3.Implies(condition, bound)),
                z3.Or(attained, z3.And(z3.Not(z3.Exists(own, condition)), best == default)),
            ]

        return self.structure.scope.define(e.op, [z3.IntSort()], [condition, body, default], own, axioms)[0]
