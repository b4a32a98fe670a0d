"""A digest of a model's compiled functions and their types.

These and the values of a configuration determine a program; comments, layout, and the way in which a file computes its
declarations do not. Every node is written once, with numbers in place of its operands.
"""

from __future__ import annotations

import enum
import functools
import hashlib
import sys
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from elrcheck.lang.load import LISTS, Model
from elrcheck.lang.types import Ty, record_fields

PLACES = ("line", "node")
"""The fields of a node about its source."""


def model_digest(model: Model) -> str:
    """Return a digest, the same in every process, that only equal models share."""
    writer = _Writer()
    parts = [sys.version, writer.of(model.state_ty), writer.class_(model.config)]
    for kind in ("init", "bound"):
        parts.append(f"{kind} {getattr(model, kind).name}")
    for kind in LISTS:
        parts.append(f"{kind} {' '.join(fn.name for fn in getattr(model, kind))}")
    for name, fn in model.fns.items():
        params = [f"{param}:{writer.of(ty)}" for param, ty in fn.params]
        head = f"{name} {fn.kind} {fn.ident} {fn.states} {fn.has_config} {params} {writer.of(fn.ret)}"
        parts.append(f"{head} {writer.of(fn.body)}")
    return hashlib.sha256("\n".join([*writer.lines, *parts]).encode()).hexdigest()


class _Writer:
    """Numbers nodes, types and classes, and writes a line for each."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._numbers: dict[int, str] = {}
        self._types: dict[Ty, str] = {}

    def of(self, value: Any) -> str:
        """Return the text of a value: its number, or the value itself if it is plain."""
        if value is None or isinstance(value, bool | int | str):
            return repr(value)
        if isinstance(value, tuple):
            return f"({','.join(map(self.of, value))})"
        if isinstance(value, Mapping):
            return f"{{{','.join(f'{key}:{self.of(part)}' for key, part in value.items())}}}"
        if isinstance(value, Ty):
            number = self._types.get(value)
            if number is None:
                number = self._types[value] = self._line(value)
            return number
        if isinstance(value, type):
            return self.class_(value)
        number = self._numbers.get(id(value))
        if number is None:
            number = self._numbers[id(value)] = self._line(value)
        return number

    def class_(self, kind: type) -> str:
        """Return the number of an enum or a record; its line has the members or fields."""
        number = self._numbers.get(id(kind))
        if number is None:
            number = self._numbers[id(kind)] = f"#{kind.__qualname__}.{len(self._numbers)}"
            inside = ",".join(kind.__members__) if issubclass(kind, enum.Enum) else self.of(_fields_of(kind))
            self.lines.append(f"{number} = {inside}")
        return number

    def _line(self, node: Any) -> str:
        kind: Any = type(node)
        names = _parts(kind)
        self.lines.append(f"{kind.__name__} {' '.join([self.of(getattr(node, name)) for name in names])}")
        return f"#{len(self.lines)}"


def _fields_of(kind: type) -> Mapping[str, Ty]:
    return record_fields(kind) if hasattr(kind, "__dataclass_fields__") else {}


@functools.cache
def _parts(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind) if field.name not in PLACES)
