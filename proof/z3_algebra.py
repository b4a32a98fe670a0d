"""Z3 terms as an algebra for the structural evaluator.

Unbounded numbers are mathematical integers; a set is one boolean for each possible member; sizes of sets are compared
by cardinality constraints, which the solver handles far better than sums.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import z3

from elrcheck.lang.algebra import COMPARE, FlagsAlgebra
from elrcheck.lang.structure import Structure
from elrcheck.lang.types import Ty


class Size:
    """The size of a set, expanded when it is compared."""

    def __init__(self, alg: Z3Algebra, flags: list[Any]) -> None:
        self.alg, self.flags = alg, flags

    def number(self) -> Any:
        return FlagsAlgebra.s_card(self.alg, self.flags)

    def at_least(self, k: int) -> Any:
        k -= sum(flag is True for flag in self.flags)
        open_ = [flag for flag in self.flags if not isinstance(flag, bool)]
        if k <= 0:
            return True
        if k > len(open_):
            return False
        return self.alg.or_([self.alg.and_(list(some)) for some in itertools.combinations(open_, k)])

    def compare(self, o: str, k: int) -> Any:
        match o:
            case "ge":
                return self.at_least(k)
            case "gt":
                return self.at_least(k + 1)
            case "lt":
                return self.alg.not_(self.at_least(k))
            case "le":
                return self.alg.not_(self.at_least(k + 1))
            case _:
                return self.alg.and_([self.at_least(k), self.alg.not_(self.at_least(k + 1))])


SWAPPED = {"eq": "eq", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}


class Z3Algebra(FlagsAlgebra[Any]):
    """Booleans are Z3 Bool, numbers Z3 Int. The library is untyped, so its terms are `Any`."""

    def __init__(self) -> None:
        self.ranges: dict[str, tuple[int | None, int | None]] = {}
        """Least and greatest number of each variable, by its name."""
        self._bounds: dict[int, tuple[Any, tuple[int | None, int | None]]] = {}

    def least(self, x: Any) -> int | None:
        return self._bounds_of(x)[0]

    def greatest(self, x: Any) -> int | None:
        return self._bounds_of(x)[1]

    def _bounds_of(self, x: Any) -> tuple[int | None, int | None]:
        """Return bounds of a number: of variables by their types, of sums and choices by their parts."""
        if isinstance(x, Size):
            return 0, len(x.flags)
        if isinstance(x, int):
            return x, x
        if x.get_id() not in self._bounds:  # the entry holds the term, so that Z3 does not reuse its id
            self._bounds[x.get_id()] = x, self._of_parts(x)
        return self._bounds[x.get_id()][1]

    def _of_parts(self, x: Any) -> tuple[int | None, int | None]:
        if z3.is_int_value(x):
            return x.as_long(), x.as_long()
        if x.decl().kind() == z3.Z3_OP_UNINTERPRETED:
            return self.ranges.get(x.decl().name(), (None, None)) if x.num_args() == 0 else (None, None)
        if x.decl().kind() == z3.Z3_OP_ITE:
            (a, b), (p, q) = self._bounds_of(x.arg(1)), self._bounds_of(x.arg(2))
            return None if a is None or p is None else min(a, p), None if b is None or q is None else max(b, q)
        if x.decl().kind() == z3.Z3_OP_ADD:
            lows, highs = zip(*map(self._bounds_of, x.children()), strict=True)
            return None if None in lows else sum(lows), None if None in highs else sum(highs)
        if x.decl().kind() == z3.Z3_OP_SUB and x.num_args() == 2:
            (a, b), (p, q) = self._bounds_of(x.arg(0)), self._bounds_of(x.arg(1))
            return None if a is None or q is None else a - q, None if b is None or p is None else b - p
        if x.decl().kind() in (z3.Z3_OP_MOD, z3.Z3_OP_IDIV) and z3.is_int_value(x.arg(1)):
            (a, b), k = self._bounds_of(x.arg(0)), x.arg(1).as_long()
            if x.decl().kind() == z3.Z3_OP_MOD:
                return 0, k - 1
            return None if a is None else a // k, None if b is None else b // k
        return None, None

    def AND(self, xs: Sequence[Any]) -> Any:
        return z3.And(*xs)

    def OR(self, xs: Sequence[Any]) -> Any:
        return z3.Or(*xs)

    def NOT(self, x: Any) -> Any:
        return z3.Not(x)

    def IFF(self, a: Any, b: Any) -> Any:
        return a == b

    def ITE(self, c: Any, a: Any, b: Any) -> Any:
        return z3.If(c, self.term(a), self.term(b))

    def CMP(self, o: str, a: Any, b: Any) -> Any:
        return COMPARE[o](self.term(a), self.term(b))

    def ADD(self, a: Any, b: Any) -> Any:
        return self.term(a) + self.term(b)

    def SUB(self, a: Any, b: Any) -> Any:
        return self.term(a) - self.term(b)

    def DIV(self, a: Any, b: Any) -> Any:
        return self.term(a) / self.term(b)

    def MOD(self, a: Any, b: Any) -> Any:
        return self.term(a) % self.term(b)

    def term(self, x: Any) -> Any:
        if isinstance(x, Size):
            x = x.number()
        return z3.IntVal(x) if isinstance(x, int) else x

    def s_card(self, a: Any) -> Any:
        return Size(self, a)

    def cmp(self, o: str, a: Any, b: Any) -> Any:
        if isinstance(a, Size) and isinstance(b, int):
            return a.compare(o, b)
        if isinstance(b, Size) and isinstance(a, int):
            return b.compare(SWAPPED[o], a)
        if isinstance(a, Size):
            a = a.number()
        if isinstance(b, Size):
            b = b.number()
        return super().cmp(o, a, b)


def formula(x: Any) -> Any:
    """Convert a truth value of the evaluator to a Z3 formula."""
    return z3.BoolVal(x) if isinstance(x, bool) else x


def variable(structure: Structure, name: str, ty: Ty) -> Any:
    """Create a solver variable for a scalar of a type."""
    if ty.kind == "set":
        return [z3.Bool(f"{name}.{i}") for i in range(structure.count(ty.elem))]
    if ty.kind == "bool":
        return z3.Bool(name)
    if isinstance(structure.alg, Z3Algebra):
        structure.alg.ranges[name] = _range(structure, ty)
    return z3.Int(name)


def within_type(structure: Structure, ty: Ty, value: Any) -> list[Any]:
    """Return the constraints of a scalar's type: the range of an enum, member, length or number."""
    if ty.kind in ("bool", "set"):
        return []
    lo, hi = _range(structure, ty)
    return [value >= lo] + ([] if hi is None else [value <= hi])


def _range(structure: Structure, ty: Ty) -> tuple[int, int | None]:
    """Return the least and the greatest number of a scalar type; None for no greatest."""
    match ty.kind:
        case "enum":
            return 0, len(ty.members) - 1
        case "member":
            return 0, structure.count(ty) - 1
        case "opt" if ty.elem.kind in ("member", "enum"):
            return -1, structure.count(ty.elem) - 1
        case "opt":
            return -1, None if ty.elem.hi is None else structure.limit(ty.elem.hi)
        case _:
            return ty.lo, None if ty.hi is None else structure.limit(ty.hi)
