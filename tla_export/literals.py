"""Literals: expressions with one constant value."""

from __future__ import annotations

from elrcheck.lang import expr
from elrcheck.lang.expr import Constant, Expression
from elrcheck.lang.types import BOOL

TRUE, FALSE = Constant(BOOL, True), Constant(BOOL, False)


def is_empty(e: Expression) -> bool:
    """Return whether an expression is the empty set or sequence."""
    return isinstance(e, expr.EmptySequence) or (isinstance(e, expr.SetLiteral) and not e.elements)


def is_literal(e: Expression) -> bool:
    """Return whether an expression is a literal, or a record or vector of literals."""
    if isinstance(e, expr.Some | expr.Get):
        return is_literal(e.value)
    if isinstance(e, expr.VectorOf):
        return is_literal(e.body)
    if isinstance(e, expr.RecordExpr):
        return all(map(is_literal, e.values))
    return is_empty(e) or isinstance(e, expr.Constant | expr.EnumMember | expr.NoneLiteral | expr.ConfigField)


def alike(a: Expression, b: Expression) -> bool:
    """Return whether two expressions are the same literal."""
    match a, b:
        case expr.Constant(), expr.Constant():
            return a.value == b.value and type(a.value) is type(b.value)
        case expr.EnumMember(), expr.EnumMember():
            return a.name == b.name
        case expr.ConfigField(), expr.ConfigField():
            return a.name == b.name
        case expr.NoneLiteral(), expr.NoneLiteral():
            return True
        case ((expr.Some() | expr.Get()), _):
            return alike(a.value, b)
        case _, (expr.Some() | expr.Get()):
            return alike(a, b.value)
        case expr.VectorOf(), expr.VectorOf():
            return alike(a.body, b.body)
        case expr.RecordExpr(), expr.RecordExpr():
            return a.ty.name == b.ty.name and all(map(alike, a.values, b.values))
    return is_empty(a) and is_empty(b)
