"""The base classes of the nodes of the IR (`elrcheck.lang.expr`)."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Self, dataclass_transform

from elrcheck.lang.types import BOOL, Ty


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(field,))
class FrozenNode:
    """Makes every subclass a frozen dataclass, whose instances are compared by identity."""

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, eq=False)(cls)


class Expr(FrozenNode):
    """Base class of all nodes. `line` is the source line, `node` the syntax (None if derived)."""

    ty: Ty
    line: int = field(default=0, kw_only=True)
    node: ast.AST | None = field(default=None, kw_only=True)

    def at(self, line: int, node: ast.AST) -> Self:
        """Attach a source position to the node; a position that it already has is kept."""
        placed = object.__new__(type(self))
        placed.__dict__.update(self.__dict__, line=self.line or line, node=self.node or node)
        return placed


class TruthExpr(Expr):
    """A node that is always a boolean."""

    ty: Ty = field(default=BOOL, init=False)


class SetExpr(Expr):
    """A node that is always a set."""
