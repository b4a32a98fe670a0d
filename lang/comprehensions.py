"""Quantifiers and comprehensions over a scalar algebra, unrolled over the possible elements of their domains.

The base class of the structural evaluator (`elrcheck.lang.evaluate`), which computes the expressions inside.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, TypeAlias

from elrcheck.lang import expr
from elrcheck.lang.algebra import Algebra
from elrcheck.lang.expr import Collecting, Comprehension, Expression
from elrcheck.lang.runtime import ModelConfig
from elrcheck.lang.source import ModelError
from elrcheck.lang.structure import Structure
from elrcheck.lang.tree import children
from elrcheck.lang.types import INT, Ty

Env: TypeAlias = dict[str, Any]
"""Local names with their values; the states and the memo have names that no local can have."""
MEMO = "$memo"


class Comprehensions(ABC):
    """Evaluates binders under one configuration and one algebra."""

    backend = "evaluator"
    config: ModelConfig
    alg: Algebra[Any, Any]
    structure: Structure

    @abstractmethod
    def ev(self, e: Expression, env: Env) -> Any:
        """Return the value of an expression."""

    @staticmethod
    def bind(env: Env, name: str, value: Any) -> Env:
        return {**env, name: value, MEMO: {}}

    def over(self, e: Comprehension, env: Env) -> Iterator[tuple[Any, Any, Env]]:
        """Yield (holds, value, environment) for each possible element. holds: it is in the domain and satisfies the
        condition."""
        alg, value, name = self.alg, self.ev(e.domain, env), e.variable.name
        items: Iterator[tuple[Any, Any]]
        if e.over == "set":
            items = ((alg.s_mem(value, i), x) for i, x in enumerate(self.structure.members(e.variable.ty)))
        elif e.over == "seq":
            items = ((alg.cmp("lt", i, value[0]), x) for i, x in enumerate(value[1]))
        else:
            items = self._numbers(e, value, env)
        for inside, element in items:
            if inside is False:
                continue
            inner = self.bind(env, name, element)
            holds = inside if e.condition is None else alg.and_([inside, self.ev(e.condition, inner)])
            if holds is not False:
                yield holds, element, inner

    def _numbers(self, e: Comprehension, end: Any, env: Env) -> Iterator[tuple[Any, Any]]:
        """Yield (is in the range, number) for each number that may be in a range; ModelError if it has no limit."""
        begin: Any = 0 if e.begin is None else self.ev(e.begin, env)
        try:
            least = begin if e.begin is None or isinstance(begin, int) else self.least(e.begin)
            most = end if isinstance(end, int) else self.most(e.domain)
        except TypeError as fault:
            help = "a number with hi=, the length of a sequence, or the min() of it and one that has a limit"
            raise ModelError(f"line {e.line}: {fault}", help=help) from None
        alg = self.alg
        least, most = self._widened(e, begin, end, least, most)
        return ((alg.and_([alg.cmp("le", begin, i), alg.cmp("lt", i, end)]), i) for i in range(least, most))

    def _widened(self, e: Comprehension, begin: Any, end: Any, least: int, most: int) -> tuple[int, int]:
        """Return the limits of a range that hold for the numbers themselves, of which types may say less.

        An operator may return, and a parameter or field receive, a number that its type does not have.
        """
        lower, upper = self.alg.least(begin), self.alg.greatest(end)
        if lower is None or (upper is None and not isinstance(e.domain, expr.Length)):
            message = f"line {e.line}: a number has no limit here, and a range cannot be unrolled"
            raise ModelError(message, help="a number with hi=, or the min() of it and one that has a limit")
        return min(least, lower), most if upper is None else max(most, upper)

    def setting(self, name: str, ty: Ty) -> Any:
        """Return the value of a field of the configuration."""
        return self.structure.lift(getattr(self.config, name), ty)

    def most(self, e: Expression) -> int:
        """Return an upper bound of a number, from its type or its parts; loops are unrolled up to it."""
        match e:
            case expr.Constant():
                return int(e.value)
            case expr.Arithmetic(op="add"):
                return self.most(e.left) + self.most(e.right)
            case expr.Arithmetic(op="sub"):
                return self.most(e.left) - min(0, self.least(e.right))
            case expr.Arithmetic(op="div"):
                return max(0, self.most(e.left))
            case expr.Arithmetic(op="mod"):
                return self.most(e.right)
            case expr.Arithmetic(op="min"):
                bounded = [a for a in children(e) if not isinstance(a, expr.Field) or a.ty.hi is not None]
                return min(self.most(a) for a in bounded)
            case expr.IfElse():
                return max(self.most(e.then), self.most(e.orelse))
            case expr.Extreme():
                return max(self.most(e.body), self.most(e.default))
            case _:
                return self.structure.limit(e.ty.hi)

    def least(self, e: Expression) -> int:
        """Return a lower bound of a number, from its type or its parts."""
        match e:
            case expr.Constant():
                return int(e.value)
            case expr.Arithmetic(op="sub"):
                return self.least(e.left) - self.most(e.right)
            case expr.Arithmetic(op="mod"):
                return 0
            case expr.Arithmetic(op="div"):
                return min(0, self.least(e.left))
            case expr.Arithmetic(op="max"):
                return max(self.least(e.left), self.least(e.right))
            case expr.Arithmetic(op="min"):
                return min(self.least(e.left), self.least(e.right))
            case expr.Arithmetic():
                return self.least(e.left) + self.least(e.right)
            case expr.IfElse():
                return min(self.least(e.then), self.least(e.orelse))
            case expr.Extreme():
                return min(self.least(e.body), self.least(e.default))
            case expr.Count() | expr.Cardinality():
                return 0
            case _ if e.ty == INT:
                raise TypeError("a number that may be negative has no limit, and a range cannot be unrolled")
            case _:
                return e.ty.lo

    def quantifier(self, e: expr.Quantifier, env: Env) -> Any:
        alg, parts = self.alg, []
        if e.op == "all":
            for holds, _, inner in self.over(e, env):
                parts.append(alg.or_([alg.not_(holds), self.ev(e.body, inner)]))
                if parts[-1] is False:
                    break
            return alg.and_(parts)
        for holds, _, inner in self.over(e, env):
            parts.append(alg.and_([holds, self.ev(e.body, inner)]))
            if parts[-1] is True:
                break
        return alg.or_(parts)

    def collected(self, e: Collecting, env: Env) -> Any:
        alg, structure = self.alg, self.structure
        match e:
            case expr.Count() | expr.Total():
                total: Any = 0
                for holds, _, inner in self.over(e, env):
                    summand = 1 if isinstance(e, expr.Count) else self.ev(e.body, inner)
                    total = alg.add(total, alg.ite(holds, summand, 0))
                return total
            case expr.Union():
                joined = structure.blank(e.ty)
                for holds, _, inner in self.over(e, env):
                    joined = alg.s_union(joined, alg.s_ite(holds, self.ev(e.body, inner), structure.blank(e.ty)))
                return joined
            case expr.Filter():
                flags: list[Any] = [False] * structure.count(e.ty.elem)
                for holds, value, _ in self.over(e, env):
                    flags[structure.position(value, e.ty.elem) or 0] = holds
                return alg.s_from(flags)
            case expr.Image():
                images = [(holds, self.ev(e.body, inner)) for holds, _, inner in self.over(e, env)]
                return structure.set_of(images, e.ty.elem)
            case expr.SequenceFilter():
                chosen = structure.blank(e.ty)
                for holds, value, _ in self.over(e, env):
                    longer = structure.append(chosen, value, e.ty.elem)
                    chosen = structure.ite(holds, longer, chosen, e.ty)
                return chosen
            case expr.First():
                result = structure.blank(e.ty)
                for holds, value, _ in reversed(list(self.over(e, env))):
                    some = value if e.variable.ty.kind == "opt" else structure.some(value, e.ty)
                    result = structure.ite(holds, some, result, e.ty)
                return result
            case expr.Extreme():
                return self._extreme(e, env)

    def _extreme(self, e: expr.Extreme, env: Env) -> Any:
        alg, order = self.alg, "lt" if e.op == "min" else "gt"
        some: Any = False
        best = self.ev(e.default, env)
        for holds, _, inner in self.over(e, env):
            value = self.ev(e.body, inner)
            better = alg.or_([alg.not_(some), alg.cmp(order, value, best)])
            best = alg.ite(alg.and_([holds, better]), value, best)
            some = alg.or_([some, holds])
        return best
