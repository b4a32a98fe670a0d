"""The values of finite types under a configuration."""

from __future__ import annotations

import dataclasses
import enum
import itertools
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar, overload

from elrcheck.lang.runtime import ModelConfig
from elrcheck.lang.source import ModelError
from elrcheck.lang.types import Ty, type_of

T = TypeVar("T")
MOST = 1 << 16
"""The maximum number of values of a type that are listed."""


def domain(ty: Ty, config: ModelConfig) -> Sequence[Any]:
    """Return all plain values of a type in ascending order; ModelError if they are more than MOST, or infinite."""
    match ty.kind:
        case "bool":
            return [False, True]
        case "member":
            return range(size_of(ty, config))
        case "opt":
            return [None, *domain(ty.elem, config)]
        case "enum":
            return [ty.cls[name] for name in ty.members]
        case "set":
            members = domain(ty.elem, config)
            _demand_few(ty, 2.0 ** len(members))
            masks = range(1 << len(members))
            return [frozenset(x for i, x in enumerate(members) if mask >> i & 1) for mask in masks]
        case "record":
            parts = [domain(part, config) for part in ty.fields.values()]
            count = 1.0
            for part in parts:
                count *= len(part)
            _demand_few(ty, count)
            return [values if ty.is_pair else ty.cls(*values) for values in itertools.product(*parts)]
        case "nat" if ty.hi is not None:
            top = getattr(config, ty.hi) if isinstance(ty.hi, str) else ty.hi
            _demand_few(ty, int(top) - ty.lo + 1)
            return range(ty.lo, int(top) + 1)
    raise ModelError(f"a parameter of type {ty} has no finite domain")


@overload
def every(c: ModelConfig, kind: type[T]) -> Sequence[T]: ...
@overload
def every(c: ModelConfig, kind: Any) -> Sequence[Any]: ...
def every(c: ModelConfig, kind: Any) -> Sequence[Any]:
    """Return all values of a finite type in ascending order: `for v in every(c, Vote)`, `frozenset(every(c, Vote))`.

    `every(c, frozenset[Node])` is all subsets. Raise ModelError for an infinite type.
    """
    return domain(type_of(kind), c)


def size_of(ty: Ty, config: ModelConfig) -> int:
    """Return the number of members of a sort."""
    return int(getattr(config, ty.size)) if isinstance(ty.size, str) else int(ty.size or 0)


def _demand_few(ty: Ty, count: float) -> None:
    if count > MOST:
        message = f"{ty} has {count:.0f} values under this configuration, more than {MOST}"
        raise ModelError(message, help="a smaller configuration, or a type with fewer values")


def in_order(values: Iterable[Any]) -> list[Any]:
    """Sort plain values of one finite type in the order of `domain`."""
    return sorted(values, key=_rank)


def key_text(key: Any) -> str:
    """Format a key of a map for a path, without spaces: BUSY, (1,0), (sender=0,round=2), {0,1}."""
    if key is None:
        return "none"
    if isinstance(key, bool):
        return str(key).lower()
    if isinstance(key, enum.Enum):
        return key.name
    if isinstance(key, tuple):
        return f"({','.join(map(key_text, key))})"
    if isinstance(key, frozenset):
        return f"{{{','.join(map(key_text, in_order(key)))}}}"
    if dataclasses.is_dataclass(key):
        parts = (f"{part.name}={key_text(getattr(key, part.name))}" for part in dataclasses.fields(key))
        return f"({','.join(parts)})"
    return str(key)


def _rank(value: Any) -> Any:
    """Return the sort key of a value; None comes first."""
    if value is None:
        return -1
    if isinstance(value, enum.Enum):
        return list(type(value)).index(value)
    if isinstance(value, tuple):
        return tuple(map(_rank, value))
    if isinstance(value, frozenset):
        return sorted(map(_rank, value), reverse=True)
    if dataclasses.is_dataclass(value):
        return tuple(_rank(getattr(value, part.name)) for part in dataclasses.fields(value))
    return value
