"""Arbitrary values of a type of the modelling language as Z3 terms, and their values in a solver model.

A symbolic value has one solver variable for each scalar of its type, as `Structure.leaves` lists them.
`within` states the type's constraints: ranges, and blank slots after the end of a sequence.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import z3

from elrcheck.lang.algebra import ConcreteAlgebra
from elrcheck.lang.structure import Structure
from elrcheck.lang.types import Ty
from elrcheck.proof.z3_algebra import Size, Z3Algebra, formula, variable, within_type


@dataclass(frozen=True, eq=False)
class Scalar:
    """One scalar of a symbolic value: its path, type and term (a list of terms for a set)."""

    path: str
    ty: Ty
    term: Any


@dataclass(frozen=True, eq=False)
class Symbolic:
    """An arbitrary value of a type: the evaluator's value, its scalars, and the constraints of its type."""

    ty: Ty
    value: Any
    scalars: tuple[Scalar, ...]
    within: Any


def arbitrary(structure: Structure, ty: Ty, name: str) -> Symbolic:
    """Create a symbolic value. name: the unique prefix of its variables' names."""
    assert isinstance(structure.alg, Z3Algebra)
    scalars = tuple(
        Scalar(path, leaf, variable(structure, path, leaf))
        for path, leaf, _ in structure.leaves(structure.blank(ty), ty, name)
    )
    value = structure.rebuild(iter([s.term for s in scalars]), ty)
    parts = [part for s in scalars for part in within_type(structure, s.ty, s.term)]
    parts += [part for _, part in blank_parts(structure, value, ty)]
    return Symbolic(ty, value, scalars, z3.And(*parts))


def blank_parts(structure: Structure, value: Any, ty: Ty, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield (path, formula): slots behind the end of a sequence, and the content of None, are blank.

    So equal values are equal part by part.
    """
    match ty.kind:
        case "seq":
            length, slots = value
            for k, (place, slot) in enumerate(zip(structure.indices(ty), slots, strict=True)):
                blank = structure.eq(slot, structure.blank(ty.elem), ty.elem)
                yield f"{path}[{k}]", formula(structure.alg.or_([structure.alg.cmp("lt", place, length), blank]))
                yield from blank_parts(structure, slot, ty.elem, f"{path}[{k}]")
        case "opt" if ty.flagged:
            present, held = value
            blank = structure.eq(held, structure.blank(ty.elem), ty.elem)
            yield path, formula(structure.alg.or_([present, blank]))
            yield from blank_parts(structure, held, ty.elem, path)
        case "vec":
            for i, entry in enumerate(value):
                yield from blank_parts(structure, entry, ty.elem, f"{path}[{i}]")
        case "record" | "state":
            for name, part in ty.fields.items():
                yield from blank_parts(structure, value[name], part, f"{path}.{name}" if path else name)


def sequences(value: Any, ty: Ty, path: str = "") -> Iterator[tuple[str, Any, list[tuple[Any, Ty]]]]:
    """Yield (path, length, [(slot, type)]) for every sequence in a value."""
    match ty.kind:
        case "seq":
            yield path, value[0], [(slot, ty.elem) for slot in value[1]]
        case "vec":
            for i, entry in enumerate(value):
                yield from sequences(entry, ty.elem, f"{path}[{i}]")
        case "record" | "state":
            for name, part in ty.fields.items():
                yield from sequences(value[name], part, f"{path}.{name}" if path else name)


def terms_of(scalar: Any) -> list[Any]:
    """Return the terms of a scalar, of which a set has one for each possible member."""
    return scalar if isinstance(scalar, list) else [scalar]


def constant(solved: Any, term: Any) -> Any:
    """Return the Python value of a scalar term in a solver model."""
    if isinstance(term, list):
        return [constant(solved, t) for t in term]
    if isinstance(term, Size):
        term = term.number()
    if isinstance(term, (bool, int)):
        return term
    value = solved.eval(term, model_completion=True)
    return z3.is_true(value) if z3.is_bool(value) else value.as_long()


def read(solved: Any, structure: Structure, value: Any, ty: Ty) -> Any:
    """Return the plain value of a symbolic value in a solver model."""
    plain = Structure(structure.config, ConcreteAlgebra())
    scalars = [constant(solved, term) for _, _, term in structure.leaves(value, ty)]
    return plain.lower(plain.rebuild(iter(scalars), ty), ty)
