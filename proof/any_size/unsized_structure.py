"""Operations on values of any size (`unsized_values`), as `Structure` has them for values of a configuration.

A member is a term of an uninterpreted sort; of an ordered sort, a number below the size. Quantifiers range over the
scalars of a value, which may contain no sequences, vectors or sets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import z3

from elrcheck.lang.algebra import Algebra
from elrcheck.lang.source import ModelError
from elrcheck.lang.structure import Structure
from elrcheck.lang.types import Ty
from elrcheck.proof.any_size.definitions import NamedTerms
from elrcheck.proof.any_size.unsized_values import (
    ComputedOnce,
    Members,
    Sizes,
    UnsizedEntries,
    identity,
    no_members,
    put_outside,
)
from elrcheck.proof.any_size.unsized_values import Sequence as Elements
from elrcheck.proof.z3_algebra import Z3Algebra, formula


class AnySizeAlgebra(Z3Algebra):
    """Z3 terms, simplified where two are identical, so that unchanged parts of a state stay visible."""

    def ite(self, c: Any, a: Any, b: Any) -> Any:
        return a if identity(a) == identity(b) else super().ite(c, a, b)

    def cmp(self, o: str, a: Any, b: Any) -> Any:
        same = not isinstance(a, int) and not isinstance(b, int) and a.eq(b)
        return o in ("eq", "le", "ge") if same else Algebra.cmp(self, o, a, b)

    def iff(self, a: Any, b: Any) -> Any:
        return True if identity(a) == identity(b) else super().iff(a, b)


class AnySizeStructure(Structure):
    """Values of types of arbitrary sizes. scope: the bound variables and definitions."""

    alg: AnySizeAlgebra

    def __init__(self, sizes: Sizes, algebra: AnySizeAlgebra) -> None:
        super().__init__(sizes.config, algebra)
        self.sizes, self.scope = sizes, NamedTerms()
        self._sorts: dict[str, Any] = {}

    # ------------------------------------------------------------------------- sorts

    def sort_of(self, ty: Ty) -> Any:
        """Return the solver's sort for a scalar type."""
        match ty.kind:
            case "bool":
                return z3.BoolSort()
            case "member" if not ty.ordered:
                if ty.name not in self._sorts:
                    self._sorts[ty.name] = z3.DeclareSort(ty.name)
                    self.scope.list_members(self._sorts[ty.name], self.sizes.count(ty))
                return self._sorts[ty.name]
            case _:
                return z3.IntSort()

    def member_at(self, ty: Ty, index: Any) -> Any:
        """Return a member by its place in the order of the sort."""
        return index if ty.ordered else self.scope.listed(self.sort_of(ty), self.alg.term(index))

    def place(self, ty: Ty, member: Any) -> Any:
        """Return the place of a member, or of a number, in the order."""
        return member if ty.kind != "member" or ty.ordered else self.scope.place(self.sort_of(ty), member)

    def listing(self, ty: Ty) -> Elements:
        """Return the sequence of all members of a sort in its order."""
        return Elements(self.sizes.count(ty), lambda index: self.member_at(ty, index), True)

    # ------------------------------------------------------------------------- elements of sets, keys of maps

    def scalars(self, ty: Ty) -> list[Any]:
        """Return the solver's sorts for the scalars of a type; raise ModelError if it contains sets or sequences."""
        match ty.kind:
            case "opt":
                return [z3.BoolSort(), *self.scalars(ty.elem)]
            case "record":
                return [sort for part in ty.fields.values() for sort in self.scalars(part)]
            case "bool" | "member" | "nat" | "enum":
                return [self.sort_of(ty)]
        raise ModelError(
            f"a set of {ty}, or a map from it, cannot be read for any size", help="prove it for sizes that --set gives"
        )

    def made_of(self, terms: Iterator[Any], ty: Ty) -> Any:
        """Return the value with these scalars."""
        match ty.kind:
            case "opt":
                return (next(terms), self.made_of(terms, ty.elem))
            case "record":
                return {name: self.made_of(terms, part) for name, part in ty.fields.items()}
            case _:
                return next(terms)

    def terms(self, value: Any, ty: Ty) -> Iterator[Any]:
        """Yield the scalars of a value; those of None are blank, so equal values have equal scalars."""
        match ty.kind:
            case "opt":
                present, held = value
                yield formula(present)
                yield from self.terms(self.ite(present, held, self.blank(ty.elem), ty.elem), ty.elem)
            case "record":
                for name, part in ty.fields.items():
                    yield from self.terms(value[name], part)
            case "bool":
                yield formula(value)
            case _:
                yield self.alg.term(self.as_member(value, ty))

    def as_member(self, value: Any, ty: Ty) -> Any:
        """Return a member as a term, also if the source names it by its number."""
        return self.member_at(ty, value) if ty.kind == "member" and isinstance(value, int) else value

    def within(self, value: Any, ty: Ty) -> Any:
        """Return the formula that a value is of its type: the ranges of its numbers, lengths and enums."""
        alg = self.alg
        match ty.kind:
            case "nat" | "enum" | "member":
                least, most = self._range(ty)
                return alg.and_(
                    [least is None or alg.cmp("le", least, value), most is None or alg.cmp("le", value, most)]
                )
            case "opt":
                return alg.or_([alg.not_(value[0]), self.within(value[1], ty.elem)])
            case "seq":
                most = None if value.listing else self.sizes.limit(ty.hi)
                inside = alg.and_([alg.cmp("le", 0, value.length), most is None or alg.cmp("le", value.length, most)])
                return alg.and_([inside, value.listing or self._all_within(value, ty.elem)])
            case "vec":
                inside = self.for_all(ty.keys, lambda index: self.within(value(index), ty.elem))
                return alg.and_([alg.not_(put_outside(value)), inside])
            case "set":
                if value.extent != "some" or self.within_always(ty.elem):
                    return True
                return self.every_scalar(
                    ty.elem, lambda x: alg.or_([alg.not_(value(x)), self.within(x, ty.elem)]), typed=False
                )
            case "record" | "state":
                return alg.and_([self.within(value[name], part) for name, part in ty.fields.items()])
            case _:
                return True

    def _range(self, ty: Ty) -> tuple[Any, Any]:
        match ty.kind:
            case "enum":
                return 0, len(ty.members) - 1
            case "member":
                return (0, self.alg.sub(self.sizes.count(ty), 1)) if ty.ordered else (None, None)
            case _:
                return ty.lo, self.sizes.limit(ty.hi)

    def within_always(self, ty: Ty) -> bool:
        """Return whether every combination of scalars is a value of the type."""
        match ty.kind:
            case "record":
                return all(self.within_always(part) for part in ty.fields.values())
            case "opt":
                return self.within_always(ty.elem)
            case _:
                return ty.kind == "bool" or (ty.kind == "member" and not ty.ordered)

    def _all_within(self, value: Elements, elem: Ty) -> Any:
        return self.for_all_below(value.length, lambda index: self.within(value.at(index), elem))

    # ------------------------------------------------------------------------- quantifiers

    def every_scalar(self, ty: Ty, holds: Callable[[Any], Any], *, typed: bool = True, some: bool = False) -> Any:
        """Return the formula that all values of a type, or some, satisfy a condition. typed: only values within it."""
        alg = self.alg
        with self.scope.variables(self.scalars(ty)) as bound:
            value = self.made_of(iter(bound), ty)
            inside = self.within(value, ty) if typed else True
            inner = alg.and_([inside, holds(value)]) if some else alg.or_([alg.not_(inside), holds(value)])
        if isinstance(inner, bool):
            return inner
        return z3.Exists(bound, inner) if some else z3.ForAll(bound, inner)

    def for_all(self, ty: Ty, holds: Callable[[Any], Any]) -> Any:
        return self.every_scalar(ty, holds)

    def exists(self, ty: Ty, holds: Callable[[Any], Any]) -> Any:
        return self.every_scalar(ty, holds, some=True)

    def between(self, begin: Any, index: Any, end: Any) -> Any:
        return self.alg.and_([self.alg.cmp("le", begin, index), self.alg.cmp("lt", index, end)])

    def for_all_below(self, end: Any, holds: Callable[[Any], Any], begin: Any = 0, *, some: bool = False) -> Any:
        """Return the formula that all numbers from `begin` to below `end`, or some, satisfy a condition."""
        alg = self.alg
        if isinstance(end, int) and isinstance(begin, int):
            parts = [holds(index) for index in range(begin, end)]
            return alg.or_(parts) if some else alg.and_(parts)
        with self.scope.variables([z3.IntSort()]) as (index,):
            inside = self.between(begin, index, end)
            inner = alg.and_([inside, holds(index)]) if some else alg.or_([alg.not_(inside), holds(index)])
        if isinstance(inner, bool):
            return inner
        return z3.Exists([index], inner) if some else z3.ForAll([index], inner)

    # ------------------------------------------------------------------------- values

    def blank(self, ty: Ty) -> Any:
        match ty.kind:
            case "set":
                return no_members()
            case "opt":
                return (False, self.blank(ty.elem))
            case "seq":
                return Elements(0, ComputedOnce(lambda _: self.blank(ty.elem)))
            case "vec":
                return ComputedOnce(lambda _: self.blank(ty.elem))
            case "member":
                return self.member_at(ty, 0)
            case "record" | "state":
                return {name: self.blank(part) for name, part in ty.fields.items()}
            case "nat":
                return ty.lo if ty.lo > 0 else 0
            case _:
                return super().blank(ty)

    def lift(self, value: Any, ty: Ty) -> Any:
        match ty.kind:
            case "opt":
                return self.blank(ty) if value is None else (True, self.lift(value, ty.elem))
            case "enum":
                return ty.members.index(value.name)
            case "member":
                return self.member_at(ty, value)
            case "bool" | "nat":
                return value
        raise ModelError(f"a constant {ty} cannot be read for any size", help="prove it for sizes that --set gives")

    def some(self, value: Any, ty: Ty) -> Any:
        return (True, self.as_member(value, ty.elem))

    def held(self, value: Any, ty: Ty) -> Any:
        return value[1]

    def is_none(self, value: Any, ty: Ty) -> Any:
        return self.alg.not_(value[0])

    # ------------------------------------------------------------------------- operations

    def ite(self, c: Any, a: Any, b: Any, ty: Ty) -> Any:
        if isinstance(c, bool):
            return a if c else b
        if a is b:
            return a
        alg = self.alg
        match ty.kind:
            case "set":
                if a.extent == b.extent != "some":
                    return a
                return Members(lambda x: alg.ite(c, a(x), b(x)), choice=(c, a, b))
            case "seq":
                if a.listing and b.listing:
                    return a
                at = ComputedOnce(lambda index: self.ite(c, a.at(index), b.at(index), ty.elem))
                return Elements(alg.ite(c, a.length, b.length), at)
            case "opt":
                return (alg.ite(c, a[0], b[0]), self.ite(c, a[1], b[1], ty.elem))
            case "vec":
                outside = alg.ite(c, put_outside(a), put_outside(b))
                return UnsizedEntries(lambda index: self.ite(c, a(index), b(index), ty.elem), outside)
            case "record" | "state":
                return {name: self.ite(c, a[name], b[name], part) for name, part in ty.fields.items()}
            case _:
                return alg.ite(c, self.as_member(a, ty), self.as_member(b, ty))

    def eq(self, a: Any, b: Any, ty: Ty) -> Any:
        if a is b:
            return True
        alg = self.alg
        match ty.kind:
            case "bool":
                return alg.iff(a, b)
            case "set":
                if a.extent == b.extent != "some":
                    return True
                return self.for_all(ty.elem, lambda x: alg.iff(a(x), b(x)))
            case "seq":
                if a.listing and b.listing:
                    return True
                same = self.for_all_below(a.length, lambda index: self.eq(a.at(index), b.at(index), ty.elem))
                return alg.and_([alg.cmp("eq", a.length, b.length), same])
            case "opt":
                return alg.and_([alg.iff(a[0], b[0]), alg.or_([alg.not_(a[0]), self.eq(a[1], b[1], ty.elem)])])
            case "vec":
                return self.for_all(ty.keys, lambda index: self.eq(a(index), b(index), ty.elem))
            case "record" | "state":
                return alg.and_([self.eq(a[name], b[name], part) for name, part in ty.fields.items()])
            case _:
                return alg.cmp("eq", self.as_member(a, ty), self.as_member(b, ty))

    def member(self, element: Any, members: Any, ty: Ty) -> Any:
        """Return the formula that a set has an element."""
        return members(self.as_member(element, ty))

    def subset(self, small: Members, large: Members, elem: Ty) -> Any:
        if small.extent == "none" or large.extent == "all":
            return True
        return self.for_all(elem, lambda x: self.alg.or_([self.alg.not_(small(x)), large(x)]))

    def union(self, a: Members, b: Members) -> Members:
        if a.extent == "all" or b.extent == "none":
            return a
        if b.extent == "all" or a.extent == "none":
            return b
        return Members(lambda x: self.alg.or_([a(x), b(x)]))

    def intersection(self, a: Members, b: Members) -> Members:
        if a.extent == "none" or b.extent == "all":
            return a
        if b.extent == "none" or a.extent == "all":
            return b
        return Members(lambda x: self.alg.and_([a(x), b(x)]))

    def difference(self, a: Members, b: Members) -> Members:
        if a.extent == "none" or b.extent == "none":
            return a
        if b.extent == "all":
            return no_members()
        return Members(lambda x: self.alg.and_([a(x), self.alg.not_(b(x))]))

    def set_of(self, parts: Sequence[tuple[Any, Any]], elem: Ty) -> Members:
        if not parts:
            return no_members()
        return Members(lambda x: self.alg.or_(self.alg.and_([holds, self.eq(x, one, elem)]) for holds, one in parts))

    def take(self, seq: Any, count: Any, elem: Ty) -> Any:
        alg = self.alg
        if seq.listing and not isinstance(count, int) and alg.cmp("eq", count, seq.length) is True:
            return seq
        return Elements(alg.ite(alg.cmp("le", count, seq.length), count, seq.length), seq.at)

    def drop(self, seq: Any, count: Any, elem: Ty) -> Any:
        alg = self.alg
        rest = alg.ite(alg.cmp("le", count, seq.length), alg.sub(seq.length, count), 0)
        return Elements(rest, ComputedOnce(lambda index: seq.at(alg.add(index, count))))

    def cut(self, seq: Any, ty: Ty) -> Any:
        return seq

    def append(self, seq: Any, value: Any, elem: Ty) -> Any:
        alg = self.alg
        at = ComputedOnce(lambda index: self.ite(alg.cmp("eq", index, seq.length), value, seq.at(index), elem))
        return Elements(alg.add(seq.length, 1), at)

    def joined(self, a: Any, b: Any, elem: Ty) -> Any:
        alg = self.alg
        if b.length == 0 and isinstance(b.length, int):
            return a
        if a.length == 0 and isinstance(a.length, int):
            return b
        at = ComputedOnce(
            lambda index: self.ite(alg.cmp("lt", index, a.length), a.at(index), b.at(alg.sub(index, a.length)), elem)
        )
        return Elements(alg.add(a.length, b.length), at)

    def everything(self, ty: Ty) -> Members:
        """Return the set of all values of a type."""
        return Members(lambda x: self.within(x, ty), "all")
