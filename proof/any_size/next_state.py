"""Names for the scalars of the state after a step, and for the long ones in the result of an operator.

A rule makes a scalar of the next state a long term, which a goal would repeat at every use, and nested calls of
operators would repeat the innermost term. With a name the goal stays short, and the term stands once, in a definition
that some function always satisfies; equal results have equal names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal, TypeAlias

import z3

from elrcheck.lang.types import Ty
from elrcheck.proof.any_size.subterms import subterms
from elrcheck.proof.any_size.unsized_structure import AnySizeStructure
from elrcheck.proof.any_size.unsized_values import ComputedOnce, Members, UnsizedEntries, put_outside
from elrcheck.proof.any_size.unsized_values import Sequence as Elements
from elrcheck.proof.z3_algebra import formula

Named: TypeAlias = Literal["none", "rules", "all"]
"""Operators whose results have names: those called by rules, or by lemmas, too. Neither is best: names make a goal
short, but hide terms on which the solver would instantiate a lemma."""
LONG = 12
"""The maximum number of nodes of a term that is repeated rather than named."""


def named_result(structure: AnySizeStructure, value: Any, ty: Ty, name: str) -> Any:
    """Return an equal value in which names stand for long scalars."""
    match ty.kind:
        case "record" | "state":
            return {field: named_result(structure, value[field], part, name) for field, part in ty.fields.items()}
        case "vec" if not ty.is_map:
            entry = lambda index: named_result(structure, value(index), ty.elem, name)  # noqa: E731
            return UnsizedEntries(entry, put_outside(value))
        case "set" if value.extent == "some" and len(structure.scalars(ty.elem)) == 1:
            return Members(lambda x: _scalar(structure, value(x), name), choice=value.choice)
        case "opt":
            return (_scalar(structure, value[0], name), named_result(structure, value[1], ty.elem, name))
        case "seq" if not value.listing and z3.is_expr(value.length):
            at = ComputedOnce(lambda index: named_result(structure, value.at(index), ty.elem, name))
            return Elements(_scalar(structure, value.length, name), at)
        case "bool" | "member" | "nat" | "enum":
            return _scalar(structure, value, name)
    return value


def _scalar(structure: AnySizeStructure, value: Any, name: str) -> Any:
    if not z3.is_expr(value) or is_short(value):
        return value
    return structure.scope.define(name, [value.sort()], [value], [], lambda one: [one == value])[0]


def is_short(term: Any) -> bool:
    """Return whether a term is repeated rather than named."""
    return not any(number > LONG or z3.is_quantifier(part) for number, part in enumerate(subterms(term), start=1))


At: TypeAlias = Callable[[Sequence[Any]], Any]
"""A value as a function of the indices on its path."""


class NextState:
    """Names the scalars of a value that differ from those of the value before."""

    def __init__(self, structure: AnySizeStructure, prefix: str) -> None:
        self.structure, self.prefix = structure, prefix
        self._scalars: dict[str, Callable[..., Any]] = {}

    def named(self, after: Any, before: Any, ty: Ty, path: str) -> Any:
        """Return a value equal to `after` in which names stand for scalars."""
        return after if after is before else self._value(ty, path, (), lambda _: after, lambda _: before)

    def _value(self, ty: Ty, path: str, indices: tuple[Any, ...], after: At, before: At) -> Any:
        match ty.kind:
            case "record" | "state":
                return {
                    name: self._value(part, f"{path}.{name}", indices, _field(after, name), _field(before, name))
                    for name, part in ty.fields.items()
                }
            case "vec" if not ty.is_map:
                entry, entry_before = _entry(after), _entry(before)
                named = lambda x: self._value(ty.elem, f"{path}[]", (*indices, x), entry, entry_before)  # noqa: E731
                return UnsizedEntries(named, put_outside(after(indices)))
            case "set":
                whole = after(indices)
                if whole.extent != "some" or len(self.structure.scalars(ty.elem)) > 1:
                    return whole
                member = partial(self._member, path, indices, after, before)
                return Members(member, whole.extent, whole.choice)
            case "opt" if ty.elem.kind in ("member", "nat", "bool", "enum"):
                parts = (_field(after, 0), _field(before, 0)), (_field(after, 1), _field(before, 1))
                return (self._scalar(f"{path}.present", indices, *parts[0]), self._scalar(path, indices, *parts[1]))
            case "seq" if not after(indices).listing:
                at, at_before = (lambda i: after(i[:-1]).at(i[-1])), (lambda i: before(i[:-1]).at(i[-1]))
                length = self._scalar(f"{path}.length", indices, lambda i: after(i).length, lambda i: before(i).length)
                return Elements(
                    length,
                    ComputedOnce(
                        lambda i: self._value(
                            ty.elem, f"{path}[]", (*indices, self.structure.alg.term(i)), at, at_before
                        )
                    ),
                )
            case "bool" | "member" | "nat" | "enum":
                return self._scalar(path, indices, after, before)
        return after(indices)

    def _member(self, path: str, indices: tuple[Any, ...], after: At, before: At, x: Any) -> Any:
        return self._scalar(path, (*indices, x), _entry(after), _entry(before))

    def _scalar(self, path: str, indices: tuple[Any, ...], after: At, before: At) -> Any:
        if path not in self._scalars:
            self._scalars[path] = self._defined(
                path, [self.structure.alg.term(x).sort() for x in indices], after, before
            )
        return self._scalars[path](*map(self.structure.alg.term, indices))

    def _defined(self, path: str, sorts: Sequence[Any], after: At, before: At) -> Callable[..., Any]:
        """Return the function of a scalar; define a new one unless the scalar is unchanged or a short term."""
        scope = self.structure.scope
        with scope.variables(sorts) as own:
            term = after(tuple(own))
            if not z3.is_expr(term):
                return lambda *indices: after(indices)
            old, term = before(tuple(own)), without_copies(term)
            if z3.is_expr(old) and (term.eq(old) or z3.simplify(term).eq(z3.simplify(old))):
                return lambda *indices: before(indices)
            if is_short(term):
                return lambda *indices: z3.substitute(term, *zip(own, indices, strict=True))
            function = z3.Function(f"{self.prefix}{path}", *sorts, term.sort())
            applied = function(*own)
            body = z3.simplify(term)
            stated = z3.ForAll(own, applied == body, patterns=[applied]) if own else applied == body
        scope.definitions[function.name()] = (formula(stated),)
        return lambda *indices: function(*indices)


def without_copies(term: Any) -> Any:
    """Return an equal term without choices that write the old value: `f(a) if x == a else f(x)` is `f(x)`."""
    if not (z3.is_app(term) and term.decl().kind() == z3.Z3_OP_ITE):
        return term
    condition, one, other = term.arg(0), without_copies(term.arg(1)), without_copies(term.arg(2))
    if one.eq(other):
        return other
    if z3.is_eq(condition) and z3.is_const(condition.arg(0)):
        x, there = condition.children()
        if z3.substitute(other, (x, there)).eq(z3.substitute(one, (x, there))):
            return other
    return z3.If(condition, one, other)


def _field(value: At, name: Any) -> At:
    return lambda indices: value(indices)[name]


def _entry(value: At) -> At:
    return lambda indices: value(indices[:-1])(indices[-1])
