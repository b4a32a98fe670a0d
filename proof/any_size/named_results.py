"""Names for the long scalars in the result of an operator.

Nested calls of operators would repeat the innermost term at every use. Names, each with its definition, keep the terms
short, and equal results have equal names.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import z3

from elrcheck.lang.types import Ty
from elrcheck.proof.any_size.subterms import subterms
from elrcheck.proof.any_size.unsized_structure import AnySizeStructure
from elrcheck.proof.any_size.unsized_values import ComputedOnce, Members, UnsizedEntries, put_outside
from elrcheck.proof.any_size.unsized_values import Sequence as Elements

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
