"""The base classes of the nodes of the IR (`elrcheck.lang.expr`)."""

from __future__ import annotations

import ast
import functools
from collections.abc import Mapping
from dataclasses import MISSING, FrozenInstanceError, dataclass, field, fields
from typing import Any, NoReturn, Self, dataclass_transform

from elrcheck.lang.types import BOOL, Ty


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(field,))
class FrozenNode:
    """Makes every subclass a frozen dataclass, whose instances are compared by identity.

    The subclasses share these methods: generating them for each would take a tenth of the time of a short command.
    """

    def __init_subclass__(cls) -> None:
        cls.__doc__ = cls.__doc__ or cls.__name__
        dataclass(init=False, repr=False, eq=False)(cls)

    def __init__(self, *args: Any, **named: Any) -> None:
        kind: Any = type(self)
        names, defaults, count = _attributes(kind)
        own = self.__dict__
        own.update(defaults, **named)
        own.update(zip(names, args, strict=False))
        if len(own) != count or len(args) > len(names):
            raise TypeError(f"{type(self).__name__} takes {', '.join(names)}, not {args} and {named}")

    def __repr__(self) -> str:
        parts = (f"{part.name}={getattr(self, part.name)!r}" for part in fields(type(self)))  # type: ignore[arg-type]
        return f"{type(self).__qualname__}({', '.join(parts)})"

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise FrozenInstanceError(f"cannot delete field {name!r}")


@functools.cache
def _attributes(kind: type[Any]) -> tuple[tuple[str, ...], Mapping[str, object], int]:
    """Return the names of the positional arguments, the defaults, and the number of all attributes."""
    every = fields(kind)
    names = tuple(part.name for part in every if part.init and not part.kw_only)
    return names, {part.name: part.default for part in every if part.default is not MISSING}, len(every)


class Expr(FrozenNode):
    """Base class of all nodes. line: in the source; node: the syntax, None if derived."""

    ty: Ty
    line: int = field(default=0, kw_only=True)
    node: ast.AST | None = field(default=None, kw_only=True)

    def at(self, line: int, node: ast.AST) -> Self:
        """Return the node with a source position; it keeps one that it already has."""
        placed = object.__new__(type(self))
        placed.__dict__.update(self.__dict__, line=self.line or line, node=self.node or node)
        return placed


class TruthExpr(Expr):
    """A node that is always a boolean."""

    ty: Ty = field(default=BOOL, init=False)


class SetExpr(Expr):
    """A node that is always a set."""
