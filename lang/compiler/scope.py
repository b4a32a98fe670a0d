"""The context in which an expression is compiled, and the type checks.

`Scope` has the source of the function, the names of its module and the compiled functions that it may call. The
subclasses, from `whole_types` to `expressions`, add the syntax.
"""

from __future__ import annotations

import ast
import enum
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NoReturn, Protocol, TypeAlias

from elrcheck.lang import expr
from elrcheck.lang.expr import Expression
from elrcheck.lang.ir import Fn, StateView
from elrcheck.lang.tree import same
from elrcheck.lang.types import BOOL, INT, NONE, Ty, is_finite, is_number, opt, set_of, type_of

Value: TypeAlias = Expression | StateView
"""A compiled expression: a value, or a whole state."""
Env: TypeAlias = dict[str, Value]


class FunctionSource(Protocol):
    """The compiled functions of a model, its configuration class, sorts and state fields."""

    @property
    def config(self) -> type: ...
    @property
    def sorts(self) -> Mapping[str, Ty]: ...
    @property
    def state_fields(self) -> dict[str, Ty]: ...
    def fn(self, function: Callable[..., object], /) -> Fn: ...


class SourceText(Protocol):
    """The source being compiled: positions of nodes, and errors at them."""

    def line_of(self, node: ast.AST, /) -> int: ...
    def error(self, node: ast.AST, message: str, help: str = "", /) -> NoReturn: ...


class Scope:
    """One function, or one query, while it is being compiled."""

    def __init__(self, functions: FunctionSource, source: SourceText, globals_: dict[str, object]) -> None:
        self.functions, self.source, self.globals = functions, source, globals_
        self.used: set[str] = set()
        self.types: tuple[Ty, ...] = ()
        """The types of the parameters and the result, whose sorts need not occur in the state."""

    def fresh(self, name: str) -> str:
        """Return a local name that no other local of the function has."""
        while name in self.used:
            name += "_"
        self.used = self.used | {name}
        return name

    def read(self, node: ast.expr, env: Env) -> Value:
        """Compile an expression, without its position."""
        raise NotImplementedError

    def ex(self, node: ast.expr, env: Env) -> Value:
        """Compile an expression with its position; a node that has one keeps it."""
        compiled = self.read(node, env)
        if isinstance(compiled, StateView) or (compiled.line and compiled.node is not None):
            return compiled
        return compiled.at(self.source.line_of(node), node)

    def part(self, node: ast.expr, env: Env) -> Expression:
        """Compile an expression that is not a whole state."""
        compiled = self.ex(node, env)
        if isinstance(compiled, StateView):
            self.source.error(node, "this is a whole state: name a part of it, such as s.partition")
        return compiled

    # ------------------------------------------------------------------------- types

    def boolean(self, node: ast.expr, env: Env) -> Expression:
        compiled = self.ex(node, env)
        if isinstance(compiled, StateView) or compiled.ty.kind != "bool":
            what = "the state" if isinstance(compiled, StateView) else str(compiled.ty)
            self.source.error(node, f"a condition must be a bool, this is {what}: write an explicit comparison")
        return compiled

    def held(self, node: ast.expr, env: Env) -> Expression:
        """Compile an expression; an optional set or record becomes its element."""
        e = self.part(node, env)
        return expr.Get(e.ty.elem, e) if e.ty.kind == "opt" and e.ty.elem.kind in ("set", "record") else e

    def named(self, target: ast.expr, value: Expression) -> Env:
        """Return the names that an assignment or a 'for' binds to a value, or to the parts of a pair."""
        match target:
            case ast.Name(id=name):
                return {name: value}
            case ast.Tuple(elts=elts) if value.ty.is_pair and len(elts) == len(value.ty.parts):
                parts = [expr.Field(ty, value, field) for field, ty in value.ty.fields.items()]
                inner = [self.named(part, e) for part, e in zip(elts, parts, strict=True)]
                return {name: e for names in inner for name, e in names.items()}
        self.source.error(target, f"{ast.unparse(target)} cannot name {value.ty}", "a name, or a name for each part")

    def number(self, node: ast.expr, env: Env) -> Expression:
        compiled = self.ex(node, env)
        if isinstance(compiled, StateView) or not is_number(compiled.ty.present):
            what = "the state" if isinstance(compiled, StateView) else str(compiled.ty)
            self.source.error(node, f"a number is expected, this is {what}")
        return expr.Get(compiled.ty.elem, compiled) if compiled.ty.kind == "opt" else compiled

    def coerce(self, value: Value, ty: Ty, node: ast.AST) -> Expression:
        """Convert an expression to the required type, or raise an error."""
        if isinstance(value, StateView):
            self.source.error(node, f"expected {ty}, this is a whole state")
        if ty.kind == "opt":
            if isinstance(value, expr.NoneLiteral):
                return expr.NoneLiteral(ty, line=value.line)
            if isinstance(value, expr.Some) and not fits(value.ty, ty):
                value = value.value
            if value.ty.kind != "opt":
                return expr.Some(ty, self.coerce(value, ty.elem, node), line=value.line)
        if value.ty.kind == "opt" and fits(value.ty.elem, ty):
            return expr.Get(ty, value, line=value.line)
        if isinstance(value, expr.Constant) and (value.ty.kind, ty.kind) in (("nat", "member"), ("member", "nat")):
            return expr.Constant(ty, value.value)
        if ty.kind == "seq" and isinstance(value, expr.EmptySequence):
            return expr.EmptySequence(ty)
        if ty.kind == "set" and isinstance(value, expr.SetLiteral) and not fits(value.ty, ty):
            return expr.SetLiteral(ty, tuple(self.coerce(e, ty.elem, node) for e in value.elements), line=value.line)
        if isinstance(value, expr.Image) and ty.kind == "set" and not is_finite(value.ty):
            return replace(value, ty=ty, body=self.coerce(value.body, ty.elem, node))
        if isinstance(value, expr.Union) and ty.kind == "set" and not is_finite(value.ty):
            return replace(value, ty=ty, body=self.coerce(value.body, ty, node))
        if isinstance(value, expr.VectorOf) and ty.kind == "vec" and value.ty.keys == ty.keys:
            return expr.VectorOf(ty, value.variable, self.coerce(value.body, ty.elem, node), line=value.line)
        if isinstance(value, expr.RecordExpr) and ty.is_pair and len(value.values) == len(ty.parts):
            values = tuple(self.coerce(e, part, node) for e, part in zip(value.values, ty.parts, strict=True))
            return expr.RecordExpr(ty, value.names, values, line=value.line)
        if isinstance(value, expr.IfElse) and not fits(value.ty, ty):
            then, orelse = (self.coerce(part, ty, node) for part in (value.then, value.orelse))
            return expr.IfElse(ty, value.condition, then, orelse, line=value.line)
        if not fits(value.ty, ty):
            self.source.error(node, f"expected {ty}, this is {value.ty}")
        return value

    def either(self, condition: Expression, a: Value, b: Value, node: ast.AST) -> Value:
        """Return a choice between two values; between two whole states, field by field."""
        if isinstance(a, StateView) and isinstance(b, StateView):
            both = {name: (value, b.fields[name]) for name, value in a.fields.items()}
            fields = {name: x if same(x, y) else self._either(condition, x, y, node) for name, (x, y) in both.items()}
            return StateView(a.moment, fields, False)
        if isinstance(a, StateView) or isinstance(b, StateView):
            self.source.error(node, "one side is a whole state, the other is not")
        return self._either(condition, a, b, node)

    def _either(self, condition: Expression, a: Expression, b: Expression, node: ast.AST) -> Expression:
        ty = a.ty
        if a.ty.kind == "none" or b.ty.kind == "none":
            other = b.ty if a.ty.kind == "none" else a.ty
            ty = other if other.kind in ("opt", "none") else opt(other)
        elif "opt" in (a.ty.kind, b.ty.kind):
            ty = a.ty if a.ty.kind == "opt" else b.ty
        elif isinstance(a, expr.EmptySequence | expr.SetLiteral) or (
            isinstance(a, expr.Constant) and b.ty.kind == "nat"
        ):
            ty = a.ty if _is_untyped(b) else b.ty
        if ty.kind == "none":
            return a
        return expr.IfElse(ty, condition, self.coerce(a, ty, node), self.coerce(b, ty, node))

    def value(self, value: Any, node: ast.AST) -> Expression:
        """Return a plain value of the module as a constant."""
        if isinstance(value, bool):
            return expr.Constant(BOOL, value)
        if isinstance(value, int):
            return expr.Constant(INT, value)
        if isinstance(value, frozenset) and not value:
            return expr.SetLiteral(self.untyped_set(), ())
        if isinstance(value, enum.Enum):
            return expr.EnumMember(type_of(type(value)), value.name)
        self.source.error(
            node,
            f"the Python value {value!r} cannot be used in a model",
            "constants are bools, whole numbers, enum members and EMPTY; a function is called: f(..)",
        )

    def untyped_set(self) -> Ty:
        """Return the type of a set whose members have no type yet: a set of the model's only sort, if it has one."""
        sorts = list(self.functions.sorts.values())
        return set_of(sorts[0] if len(sorts) == 1 else NONE)

    def alike(self, left: Expression, right: Expression, node: ast.AST) -> tuple[Expression, Expression]:
        """Convert one of two sets, pairs or maps whose own type is not exact, such as EMPTY, to the other's type."""
        vague = left.ty.kind != "vec" and not is_finite(left.ty)
        if not _is_untyped(right) and (vague or isinstance(left, expr.SetLiteral | expr.RecordExpr | expr.VectorOf)):
            return self.coerce(left, right.ty, node), right
        return left, self.coerce(right, left.ty, node)


def _is_untyped(value: Expression) -> bool:
    """Return whether a value is EMPTY in a model with several sorts: a set whose members have no type yet."""
    return isinstance(value, expr.SetLiteral) and value.ty.elem.kind == "none"


def fits(own: Ty, target: Ty) -> bool:
    """Return whether a value of the type `own` is also one of the type `target`."""
    if own.kind == "none" or target.ordered:
        return is_number(own) if target.ordered else target.kind == "opt"
    if own.kind != target.kind or own.cls is not target.cls or (own.kind == "member" and own.name != target.name):
        return own.ordered and target.kind == "nat"
    if own.kind == "opt" and own.flagged != target.flagged:
        return False
    if own.kind == "set" and not _same_positions(own.elem, target.elem):
        return False
    if len(own.parts) != len(target.parts):
        return False
    if own.is_map and not _same_positions(own.keys, target.keys):
        return False
    parts = ((own.arg, target.arg), (own.index, target.index), *zip(own.parts, target.parts, strict=True))
    return all(a is None or b is None or fits(a, b) for a, b in parts)


def _same_positions(own: Ty, target: Ty) -> bool:
    """Return whether values have the same positions in both finite types; numbers with other limits do not."""
    if own.kind == target.kind == "opt":
        return _same_positions(own.elem, target.elem)
    if not all(_same_positions(*parts) for parts in zip(own.parts, target.parts, strict=False)):
        return False
    return own.kind == target.kind and (own.kind != "nat" or (own.lo, own.hi) == (target.lo, target.hi))
