"""Walks over expressions and types, and the end of every `match` over expressions.

A `match` over `Expression` ends in `unsupported(backend, node)`, whose parameter is `Never`: the type checker rejects a
back end that forgets a node, and an unsupported node raises a typed error.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator
from dataclasses import fields
from typing import Any, Never, NoReturn

from elrcheck.lang import expr
from elrcheck.lang.expr import Expression, StateVariable, Variable
from elrcheck.lang.node import Expr
from elrcheck.lang.types import INT, Ty


class UnsupportedNode(Exception):
    """A back end does not support a node. backend, kind: their names."""

    def __init__(self, backend: str, node: Expr) -> None:
        self.backend, self.kind = backend, type(node).__name__
        place = f" (source line {node.line})" if node.line else ""
        super().__init__(f"{backend} cannot print the node '{self.kind}'{place}")


def unsupported(backend: str, node: Never) -> NoReturn:
    """End a `match` over expressions: the type checker verifies that no case is left."""
    raise UnsupportedNode(backend, node)


def children(e: Expression) -> tuple[Expression, ...]:
    """Return the direct subexpressions in source order, without the variable that the node binds."""
    kind: Any = type(e)
    below: list[Expression] = []
    for name in _operands(kind):
        operand = getattr(e, name)
        if isinstance(operand, tuple):
            below += operand
        elif operand is not None:
            below.append(operand)
    return tuple(below)


@functools.cache
def _operands(kind: type[Expr]) -> tuple[str, ...]:
    """Return the fields of a kind of node that hold subexpressions."""
    annotations = ("Expression", "Expression | None", "tuple[Expression, ...]")
    return tuple(field.name for field in fields(kind) if field.type in annotations)


def walk(root: Expression) -> Iterator[Expression]:
    """Yield the node and all nodes below it, each shared node once."""
    todo, seen = [root], set()
    while todo:
        node = todo.pop()
        if id(node) not in seen:
            seen.add(id(node))
            yield node
            todo.extend(children(node))


def free_names(root: Expression) -> set[str]:
    """Return the names of the local variables that occur in an expression."""
    return {node.name for node in walk(root) if isinstance(node, Variable)}


def same(a: Expression, b: Expression) -> bool:
    """Return whether two expressions are the same node, or the same name written twice."""
    match a, b:
        case Variable(), Variable():
            return a.name == b.name
        case StateVariable(), StateVariable():
            return (a.moment, a.name) == (b.moment, b.name)
        case _:
            return a is b


def types_inside(ty: Ty) -> Iterator[tuple[Ty, Any, str]]:
    """Yield (type, class, field) for the type and its parts: the class and field in which each occurs.

    The fields of a record are visited once, wherever the record occurs.
    """
    entered: set[object] = set()

    def visit(ty: Ty, cls: Any, name: str) -> Iterator[tuple[Ty, Any, str]]:
        yield ty, cls, name
        for part in (ty.index, ty.arg):
            if part is not None:
                yield from visit(part, cls, name)
        if ty.is_pair:
            for part in ty.parts:
                yield from visit(part, cls, name)
        elif ty.kind in ("record", "state") and ty.cls not in entered:
            entered.add(ty.cls)
            for field, part in ty.fields.items():
                yield from visit(part, ty.cls, field)

    return visit(ty, ty.cls, "")


def is_natural(e: Expression, signed: Collection[str] = ()) -> bool:
    """Return whether a number is never negative, by its form and the types in it.

    signed: parameters whose argument may be negative, whatever their types promise.
    """
    match e:
        case expr.Constant():
            return e.value >= 0
        case expr.Length() | expr.Cardinality() | expr.Count() | expr.Arithmetic(op="mod"):
            return True
        case expr.Arithmetic(op="max"):
            return is_natural(e.left, signed) or is_natural(e.right, signed)
        case expr.Arithmetic(op="add" | "min"):
            return is_natural(e.left, signed) and is_natural(e.right, signed)
        case expr.Arithmetic(op="div"):
            return is_natural(e.left, signed)
        case expr.IfElse():
            return is_natural(e.then, signed) and is_natural(e.orelse, signed)
        case Variable(name=name) if name in signed:
            return False
    return e.ty != INT and e.ty.lo >= 0


def limits_of(ty: Ty) -> set[str]:
    """Return the fields of the configuration that limit numbers or sequences inside a type."""
    return {limit for part, _, _ in types_inside(ty) for limit in (part.hi, part.cap) if isinstance(limit, str)}


def sorts_in(*types: Ty) -> dict[str, Ty]:
    """Return the sorts whose members occur in types, by name."""
    return {part.name: part for ty in types for part, _, _ in types_inside(ty) if part.kind == "member"}
