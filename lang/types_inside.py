"""The types that a type consists of, and what is collected from them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from elrcheck.lang.types import Ty


def types_inside(ty: Ty) -> Iterator[tuple[Ty, Any, str]]:
    """Yield the type and those it consists of, each with the class and the field that it stands in.

    The fields of a record come once, wherever the record occurs.
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


def limits_of(ty: Ty) -> set[str]:
    """Return the fields of the configuration that limit a number or a sequence inside a type."""
    return {limit for part, _, _ in types_inside(ty) for limit in (part.hi, part.cap) if isinstance(limit, str)}


def sorts_in(*types: Ty) -> dict[str, Ty]:
    """Return the sorts whose members occur in types, by name."""
    return {part.name: part for ty in types for part, _, _ in types_inside(ty) if part.kind == "member"}
