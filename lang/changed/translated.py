"""Translates values of one model to those of another, whose classes are different and have the same fields."""

from __future__ import annotations

from typing import Any

from elrcheck.lang.runtime import Map
from elrcheck.lang.types import Ty


def same_fields(a: Ty, b: Ty) -> bool:
    """Return whether two types have the same fields at every depth, and b every enum member of a."""
    if a.kind != b.kind or (a.kind == "enum" and not set(a.members) <= set(b.members)):
        return False
    if a.kind in ("record", "state"):
        if a.fields.keys() != b.fields.keys():
            return False
        return all(same_fields(ty, b.fields[name]) for name, ty in a.fields.items())
    parts = ((a.arg, b.arg), (a.index, b.index))
    return all(one is None or other is None or same_fields(one, other) for one, other in parts)


def translated(value: Any, ty: Ty) -> Any:
    """Return the corresponding value of this type; enum members correspond by name."""
    match ty.kind:
        case "enum":
            return ty.cls[value.name]
        case "record" | "state":
            return ty.built({name: translated(ty.field_of(value, name), part) for name, part in ty.fields.items()})
        case "vec" if ty.is_map:
            return Map({translated(key, ty.keys): translated(one, ty.elem) for key, one in value.items()})
        case "vec" | "seq":
            return tuple(translated(one, ty.elem) for one in value)
        case "set":
            return frozenset(translated(one, ty.elem) for one in value)
        case "opt":
            return None if value is None else translated(value, ty.elem)
    return value
