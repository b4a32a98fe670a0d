"""The context in which an expression is compiled, and the type checks.

`Scope` holds the function being compiled: its source, the names of its module and the compiled functions
it may call. `calls` and `expressions` add the syntax as successive subclasses.
"""

from __future__ import annotations

import ast
import enum
from collections.abc import Callable
from typing import Any, NoReturn, Protocol, TypeAlias

from elrcheck.lang.expr import (
    Constant,
    EmptySequence,
    EnumMember,
    Expression,
    Get,
    IfElse,
    NoneLiteral,
    SetLiteral,
    Some,
    VectorOf,
)
from elrcheck.lang.ir import Fn, StateView
from elrcheck.lang.tree import same
from elrcheck.lang.types import BOOL, INT, Ty, opt, type_of

Value: TypeAlias = Expression | StateView
"""What an expression of the source stands for: a value, or a whole state."""
Env: TypeAlias = dict[str, Value]


class FunctionSource(Protocol):
    """The compiled functions of a model, and the classes of its state and its configuration."""

    @property
    def config(self) -> type: ...
    @property
    def state_fields(self) -> dict[str, Ty]: ...
    def fn(self, function: Callable[..., object], /) -> Fn: ...


class SourceText(Protocol):
    """The source being compiled: the position of a node, and how a mistake is reported."""

    def line_of(self, node: ast.AST, /) -> int: ...
    def error(self, node: ast.AST, message: str, help: str = "", /) -> NoReturn: ...


class Scope:
    """One function, or one query, while it is being compiled."""

    def __init__(self, functions: FunctionSource, source: SourceText, globals_: dict[str, object]) -> None:
        self.functions, self.source, self.globals = functions, source, globals_
        self.used: set[str] = set()

    def fresh(self, name: str) -> str:
        """Return a local name that no other local of the function has."""
        while name in self.used:
            name += "_"
        self.used = self.used | {name}
        return name

    def read(self, node: ast.expr, env: Env) -> Value:
        """Compile an expression of the source, without its position."""
        raise NotImplementedError

    def ex(self, node: ast.expr, env: Env) -> Value:
        """Compile an expression of the source. A node keeps the first position it is given."""
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

    def number(self, node: ast.expr, env: Env) -> Expression:
        compiled = self.ex(node, env)
        if (
            isinstance(compiled, StateView)
            or compiled.ty.kind not in ("nat", "opt")
            or (compiled.ty.kind == "opt" and compiled.ty.elem.kind != "nat")
        ):
            what = "the state" if isinstance(compiled, StateView) else str(compiled.ty)
            self.source.error(node, f"a number is expected, this is {what}")
        return Get(compiled.ty.elem, compiled) if compiled.ty.kind == "opt" else compiled

    def coerce(self, value: Value, ty: Ty, node: ast.AST) -> Expression:
        """Convert an expression to the required type, or report an error."""
        if isinstance(value, StateView):
            self.source.error(node, f"expected {ty}, this is a whole state")
        if ty.kind == "opt":
            if value.ty.kind == "none":
                return NoneLiteral(ty, line=value.line)
            if value.ty.kind != "opt":
                return Some(ty, self.coerce(value, ty.elem, node), line=value.line)
        if value.ty.kind == "opt" and ty.kind == value.ty.elem.kind:
            return Get(ty, value, line=value.line)
        if ty.kind == "replica" and isinstance(value, Constant):
            return Constant(ty, value.value)
        if ty.kind == "seq" and isinstance(value, EmptySequence):
            return EmptySequence(ty)
        fits = value.ty.kind == ty.kind and (ty.kind not in ("enum", "record") or value.ty.cls is ty.cls)
        if fits and ty.kind in ("vec", "seq", "opt"):
            fits = value.ty.elem.kind == ty.elem.kind or value.ty.elem.kind == "none"
        if not fits:
            self.source.error(node, f"expected {ty}, this is {value.ty}")
        if isinstance(value, VectorOf):
            return VectorOf(ty, value.variable, self.coerce(value.body, ty.elem, node), line=value.line)
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
        elif isinstance(a, EmptySequence) or (isinstance(a, Constant) and b.ty.kind == "nat"):
            ty = b.ty
        if ty.kind == "none":
            return a
        return IfElse(ty, condition, self.coerce(a, ty, node), self.coerce(b, ty, node))

    def value(self, value: Any, node: ast.AST) -> Expression:
        """Return a plain value of the module as a constant."""
        if isinstance(value, bool):
            return Constant(BOOL, value)
        if isinstance(value, int):
            return Constant(INT, value)
        if isinstance(value, frozenset) and not value:
            return SetLiteral(())
        if isinstance(value, enum.Enum):
            return EnumMember(type_of(type(value)), value.name)
        self.source.error(
            node,
            f"the Python value {value!r} cannot be used in a model",
            "constants are bools, whole numbers, enum members and EMPTY; a function is called: f(..)",
        )
