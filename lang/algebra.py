"""Scalar algebras: what the structural evaluator needs to know about booleans, numbers and sets.

An algebra supplies operations on its own terms (upper-case methods and `s_*` for sets of brokers);
this base class folds Python constants before it is asked, so configuration constants, unrolled
indices and unchanged parts vanish in every reading alike. Optionals are numbers with -1 for None,
enum values are positions.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

COMPARE: dict[str, Callable[[int, int], bool]] = {
    "eq": operator.eq,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}


class Algebra:
    """Constant folding over terms of unknown kind; subclasses define the upper-case operations."""

    def __init__(self, brokers: int) -> None:
        self.brokers = brokers

    # -- to be defined by an algebra of symbolic terms
    def AND(self, xs: Sequence[Any]) -> Any:
        raise NotImplementedError

    def OR(self, xs: Sequence[Any]) -> Any:
        raise NotImplementedError

    def NOT(self, x: Any) -> Any:
        raise NotImplementedError

    def IFF(self, a: Any, b: Any) -> Any:
        raise NotImplementedError

    def ITE(self, c: Any, a: Any, b: Any) -> Any:
        raise NotImplementedError

    def CMP(self, o: str, a: Any, b: Any) -> Any:
        raise NotImplementedError

    def ADD(self, a: Any, b: Any) -> Any:
        raise NotImplementedError

    def SUB(self, a: Any, b: Any) -> Any:
        raise NotImplementedError

    def and_(self, xs: Iterable[Any]) -> Any:
        left = []
        for x in xs:
            if x is False:
                return False
            if x is not True:
                left.append(x)
        return True if not left else left[0] if len(left) == 1 else self.AND(left)

    def or_(self, xs: Iterable[Any]) -> Any:
        left = []
        for x in xs:
            if x is True:
                return True
            if x is not False:
                left.append(x)
        return False if not left else left[0] if len(left) == 1 else self.OR(left)

    def not_(self, x: Any) -> Any:
        return (not x) if isinstance(x, bool) else self.NOT(x)

    def iff(self, a: Any, b: Any) -> Any:
        if isinstance(a, bool):
            return b if a else self.not_(b)
        if isinstance(b, bool):
            return a if b else self.not_(a)
        return True if a is b else self.IFF(a, b)

    def ite(self, c: Any, a: Any, b: Any) -> Any:
        if isinstance(c, bool):
            return a if c else b
        if a is b or (isinstance(a, int) and isinstance(b, int) and type(a) is type(b) and a == b):
            return a
        if isinstance(a, bool) or isinstance(b, bool):
            return self.or_([self.and_([c, a]), self.and_([self.not_(c), b])])
        return self.ITE(c, a, b)

    def cmp(self, o: str, a: Any, b: Any) -> Any:
        if isinstance(a, int) and isinstance(b, int):
            return COMPARE[o](a, b)
        if a is b:
            return o in ("eq", "le", "ge")
        return self.CMP(o, a, b)

    def add(self, a: Any, b: Any) -> Any:
        if isinstance(a, int) and isinstance(b, int):
            return a + b
        if isinstance(b, int) and b == 0:
            return a
        if isinstance(a, int) and a == 0:
            return b
        return self.ADD(a, b)

    def sub(self, a: Any, b: Any) -> Any:
        if isinstance(a, int) and isinstance(b, int):
            return a - b
        if isinstance(b, int) and b == 0:
            return a
        return self.SUB(a, b)

    # -- sets of brokers, by default lists of one boolean term for each broker

    def s_const(self, members: Iterable[int]) -> Any:
        inside = set(members)
        return [i in inside for i in range(self.brokers)]

    def s_from(self, flags: Sequence[Any]) -> Any:
        return list(flags)

    def s_mem(self, s: Any, i: int) -> Any:
        return s[i]

    def s_union(self, a: Any, b: Any) -> Any:
        return [self.or_([x, y]) for x, y in zip(a, b, strict=True)]

    def s_inter(self, a: Any, b: Any) -> Any:
        return [self.and_([x, y]) for x, y in zip(a, b, strict=True)]

    def s_diff(self, a: Any, b: Any) -> Any:
        return [self.and_([x, self.not_(y)]) for x, y in zip(a, b, strict=True)]

    def s_subset(self, a: Any, b: Any) -> Any:
        return self.and_([self.or_([self.not_(x), y]) for x, y in zip(a, b, strict=True)])

    def s_eq(self, a: Any, b: Any) -> Any:
        return self.and_([self.iff(x, y) for x, y in zip(a, b, strict=True)])

    def s_ite(self, c: Any, a: Any, b: Any) -> Any:
        return [self.ite(c, x, y) for x, y in zip(a, b, strict=True)]

    def s_card(self, a: Any) -> Any:
        total: Any = 0
        for x in a:
            total = self.add(total, self.ite(x, 1, 0))
        return total


class ConcreteAlgebra(Algebra):
    """Plain values only: everything folds. Sets are tuples of Python booleans."""

    def s_card(self, a: Any) -> Any:
        return sum(a)
