"""A printed TLA+ expression with its precedence, and the context in which an expression is printed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from elrcheck.lang import expr
from elrcheck.tla_export.pretty import Doc

LOOSE, IMPLIES, OR, AND, NOT, COMPARE, SETS, SUM, APPLY, ATOM = 0, 1, 2, 3, 4, 5, 6, 7, 15, 20
COMPARED: dict[expr.Order, str] = {"lt": "<", "le": "<=", "gt": ">", "ge": ">="}
ARITHMETIC: dict[expr.Operator, str] = {"add": "+", "sub": "-", "div": "\\div", "mod": "%"}
SETS_INFIX: dict[expr.SetOperator, str] = {"union": "\\cup", "inter": "\\cap", "diff": "\\"}


@dataclass(frozen=True)
class Printed:
    """A document and its precedence."""

    doc: Doc
    prec: int = ATOM


@dataclass(frozen=True)
class PrintScope:
    """The context of an expression: its function, its local names, and whether "now" means next."""

    fn: str
    local: Mapping[str, str]
    primed: bool = False

    def bind(self, name: str, text: str) -> PrintScope:
        return replace(self, local={**self.local, name: text})
