"""Scalar algebras: the operations on booleans, numbers and sets that the structural evaluator needs.

An algebra supplies operations on its own terms (upper-case methods, and `s_*` for sets, whose members are positions
among the values of their type). This base class folds Python constants first, so constants of the configuration,
unrolled indices and unchanged parts vanish in every reading alike. Optionals are numbers with -1 for None, enum values
are positions.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Generic, Never, TypeVar, overload

Symbol = TypeVar("Symbol")
"""A term that is not a Python constant. Truths are symbols or booleans, numbers symbols or integers."""
Members = TypeVar("Members")
"""A set."""

PACKED = 7
"""The maximum size of the sort of a set that is packed into one number; more members would need lanes of more bits."""

COMPARE: dict[str, Callable[[int, int], bool]] = {
    "eq": operator.eq,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}


class Algebra(Generic[Symbol, Members]):
    """Constant folding over terms of unknown kind; subclasses define the upper-case operations."""

    # -- to be defined by an algebra of symbolic terms
    def AND(self, xs: Sequence[Symbol]) -> Symbol | bool:
        raise NotImplementedError

    def OR(self, xs: Sequence[Symbol]) -> Symbol | bool:
        raise NotImplementedError

    def NOT(self, x: Symbol) -> Symbol | bool:
        raise NotImplementedError

    def IFF(self, a: Symbol, b: Symbol) -> Symbol | bool:
        raise NotImplementedError

    def ITE(self, c: Symbol, a: Symbol | int, b: Symbol | int) -> Symbol | int:
        raise NotImplementedError

    def CMP(self, o: str, a: Symbol | int, b: Symbol | int) -> Symbol | bool:
        raise NotImplementedError

    def ADD(self, a: Symbol | int, b: Symbol | int) -> Symbol | int:
        raise NotImplementedError

    def SUB(self, a: Symbol | int, b: Symbol | int) -> Symbol | int:
        raise NotImplementedError

    def DIV(self, a: Symbol | int, b: Symbol | int) -> Symbol | int:
        raise NotImplementedError

    def MOD(self, a: Symbol | int, b: Symbol | int) -> Symbol | int:
        raise NotImplementedError

    def and_(self, xs: Iterable[Symbol | bool]) -> Symbol | bool:
        left: list[Symbol] = []
        for x in xs:
            if x is False:
                return False
            if x is not True:
                left.append(x)
        return True if not left else left[0] if len(left) == 1 else self.AND(left)

    def or_(self, xs: Iterable[Symbol | bool]) -> Symbol | bool:
        left: list[Symbol] = []
        for x in xs:
            if x is True:
                return True
            if x is not False:
                left.append(x)
        return False if not left else left[0] if len(left) == 1 else self.OR(left)

    def not_(self, x: Symbol | bool) -> Symbol | bool:
        return (not x) if isinstance(x, bool) else self.NOT(x)

    def iff(self, a: Symbol | bool, b: Symbol | bool) -> Symbol | bool:
        if isinstance(a, bool):
            return b if a else self.not_(b)
        if isinstance(b, bool):
            return a if b else self.not_(a)
        return True if a is b else self.IFF(a, b)

    @overload
    def ite(self, c: Symbol | bool, a: Symbol | bool, b: Symbol | bool) -> Symbol | bool: ...
    @overload
    def ite(self, c: Symbol | bool, a: Symbol | int, b: Symbol | int) -> Symbol | int: ...
    def ite(self, c: Symbol | bool, a: Symbol | int, b: Symbol | int) -> Symbol | int:
        if isinstance(c, bool):
            return a if c else b
        if a is b or (isinstance(a, int) and isinstance(b, int) and type(a) is type(b) and a == b):
            return a
        if isinstance(a, bool) or isinstance(b, bool):
            # Both alternatives have the same type, so the other one is a truth, too.
            return self.or_([self.and_([c, a]), self.and_([self.not_(c), b])])  # type: ignore[list-item]
        return self.ITE(c, a, b)

    def cmp(self, o: str, a: Symbol | int, b: Symbol | int) -> Symbol | bool:
        if isinstance(a, int) and isinstance(b, int):
            return COMPARE[o](a, b)
        if a is b:
            return o in ("eq", "le", "ge")
        return self.CMP(o, a, b)

    def add(self, a: Symbol | int, b: Symbol | int) -> Symbol | int:
        if isinstance(a, int) and isinstance(b, int):
            return a + b
        if isinstance(b, int) and b == 0:
            return a
        if isinstance(a, int) and a == 0:
            return b
        return self.ADD(a, b)

    def sub(self, a: Symbol | int, b: Symbol | int) -> Symbol | int:
        if isinstance(a, int) and isinstance(b, int):
            return a - b
        if isinstance(b, int) and b == 0:
            return a
        return self.SUB(a, b)

    def div(self, a: Symbol | int, b: Symbol | int) -> Symbol | int:
        """Return the quotient, rounded down, for a positive divisor."""
        if isinstance(a, int) and isinstance(b, int):
            return a // b
        return a if isinstance(b, int) and b == 1 else self.DIV(a, b)

    def mod(self, a: Symbol | int, b: Symbol | int) -> Symbol | int:
        """Return the remainder, from 0 to divisor - 1, for a positive divisor."""
        if isinstance(a, int) and isinstance(b, int):
            return a % b
        return 0 if isinstance(b, int) and b == 1 else self.MOD(a, b)

    def least(self, x: Symbol | int) -> int | None:
        """Return a lower bound of a number; None if none is known."""
        return x if isinstance(x, int) else None

    def greatest(self, x: Symbol | int) -> int | None:
        """Return an upper bound of a number; None if none is known."""
        return x if isinstance(x, int) else None

    # -- sets

    def s_const(self, members: Iterable[int], size: int) -> Members:
        """Return the set with these members. size: the number of values of the type of the members."""
        raise NotImplementedError

    def s_from(self, flags: Sequence[Symbol | bool]) -> Members:
        raise NotImplementedError

    def s_mem(self, s: Members, i: int) -> Symbol | bool:
        raise NotImplementedError

    def s_union(self, a: Members, b: Members) -> Members:
        raise NotImplementedError

    def s_inter(self, a: Members, b: Members) -> Members:
        raise NotImplementedError

    def s_diff(self, a: Members, b: Members) -> Members:
        raise NotImplementedError

    def s_subset(self, a: Members, b: Members) -> Symbol | bool:
        raise NotImplementedError

    def s_eq(self, a: Members, b: Members) -> Symbol | bool:
        raise NotImplementedError

    def s_ite(self, c: Symbol | bool, a: Members, b: Members) -> Members:
        raise NotImplementedError

    def s_card(self, a: Members) -> Symbol | int:
        raise NotImplementedError


class FlagsAlgebra(Algebra[Symbol, list[Symbol | bool]]):
    """Sets as lists of one truth for each possible member."""

    def s_const(self, members: Iterable[int], size: int) -> list[Symbol | bool]:
        inside = set(members)
        return [i in inside for i in range(size)]

    def s_from(self, flags: Sequence[Symbol | bool]) -> list[Symbol | bool]:
        return list(flags)

    def s_mem(self, s: list[Symbol | bool], i: int) -> Symbol | bool:
        return s[i]

    def s_union(self, a: list[Symbol | bool], b: list[Symbol | bool]) -> list[Symbol | bool]:
        return [self.or_([x, y]) for x, y in zip(a, b, strict=True)]

    def s_inter(self, a: list[Symbol | bool], b: list[Symbol | bool]) -> list[Symbol | bool]:
        return [self.and_([x, y]) for x, y in zip(a, b, strict=True)]

    def s_diff(self, a: list[Symbol | bool], b: list[Symbol | bool]) -> list[Symbol | bool]:
        return [self.and_([x, self.not_(y)]) for x, y in zip(a, b, strict=True)]

    def s_subset(self, a: list[Symbol | bool], b: list[Symbol | bool]) -> Symbol | bool:
        return self.and_([self.or_([self.not_(x), y]) for x, y in zip(a, b, strict=True)])

    def s_eq(self, a: list[Symbol | bool], b: list[Symbol | bool]) -> Symbol | bool:
        return self.and_([self.iff(x, y) for x, y in zip(a, b, strict=True)])

    def s_ite(self, c: Symbol | bool, a: list[Symbol | bool], b: list[Symbol | bool]) -> list[Symbol | bool]:
        return [self.ite(c, x, y) for x, y in zip(a, b, strict=True)]

    def s_card(self, a: list[Symbol | bool]) -> Symbol | int:
        total: Symbol | int = 0
        for x in a:
            total = self.add(total, self.ite(x, 1, 0))
        return total


class ConcreteAlgebra(FlagsAlgebra[Never]):
    """Plain values only: everything folds."""

    def s_card(self, a: list[bool]) -> int:
        return sum(a)
