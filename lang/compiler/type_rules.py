"""Checks of a model's types: limits exist, records do not contain themselves, state numbers have limits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from elrcheck.lang.source import ModelError, error_in_field, near
from elrcheck.lang.tree import types_inside
from elrcheck.lang.types import Ty, endless, record_fields


def demand_end(cls: Any, inside: tuple[Any, ...] = ()) -> None:
    """Raise ModelError for a field by which a record contains one of its own class."""
    for name, part in record_fields(cls).items():
        for record in _records_in(part):
            if record in (*inside, cls):
                raise endless(cls, name)
            demand_end(record, (*inside, cls))


def _records_in(ty: Ty) -> Iterator[Any]:
    """Yield the classes of the records in a type, without those inside other records."""
    if ty.kind == "record" and not ty.is_pair:
        yield ty.cls
    for part in (*ty.parts, *(part for part in (ty.index, ty.arg) if part is not None)):
        yield from _records_in(part)


def check_limits(ty: Ty, config: Any) -> None:
    """Raise ModelError for a limit that is no number or configuration field, or an optional sequence or vector."""
    names = [field.name for field in fields(config)]
    names += [name for cls in config.__mro__ for name, value in vars(cls).items() if isinstance(value, property)]
    for part, cls, field in types_inside(ty):
        if part.kind == "opt" and part.elem.kind in ("opt", "seq", "vec"):
            message = f"not a type of the modelling language: {part}"
            help = "None stands beside any type but sequences and vectors; a record that has one can be None"
            raise error_in_field(cls, field, message, help) if cls else ModelError(message, help=help)
        for limit in (part.hi, part.cap, part.size):
            if isinstance(limit, str) and limit not in names:
                what = "size" if limit == part.size else "limit"
                message = f"the {what} '{limit}' of {part} is not a field of {config.__name__}"
                help = near(limit, names) or f"declare it in {config.__name__}"
                raise error_in_field(cls, field, message, help) if cls else ModelError(message, help=help)


def demand_room(ty: Ty) -> None:
    """Raise ModelError for a number in a state without a limit."""
    for part, cls, field in types_inside(ty):
        if part.kind == "nat" and part.hi is None and part.cap is None:
            name = field.title().replace("_", "")
            help = f'Annotated[int, nat("{name}", hi=3)] limits it in the protocol, cap=7 in a search only'
            raise error_in_field(cls, field, "a search has to reserve room for a number", help)
