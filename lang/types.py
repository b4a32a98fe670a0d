"""The types of the modelling language, written as ordinary Python annotations.

Model source is annotated with aliases that mean something to two readers. To Python and mypy
`RSet` is `frozenset[int]` and `Vec[Epoch]` is `tuple[int, ...]`; to the compiler of this package
the `Annotated` metadata says that the first is a set of brokers and the second has one entry for
each broker. `type_of` turns an annotation into the `Ty` the IR carries.

Two kinds of limit exist, and they must not be confused:

* `hi` (and the length of a sequence) is part of the meaning: it holds in every reading, the proof
  included. It may name a `Config` field, so one compiled model serves every configuration.
* `cap` is only the range that a compiled search reserves for an unbounded number. Exceeding it makes
  a run inconclusive and never cuts silently; the proof and TLA+ do not use it.
"""

from __future__ import annotations

import enum
import types as pytypes
import typing
from collections.abc import Iterator
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cached_property
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

from elrcheck.lang.source import error_in_field, near


@dataclass(frozen=True)
class Ty:
    """A type of the language.

    kind: bool, nat, enum, replica, set, opt, vec, seq, record, state, config or none.
    arg: element type of opt, vec and seq. cls: the Python class of a record or an enum.
    """

    kind: str
    name: str = ""
    arg: Ty | None = None
    cls: Any = None
    lo: int = 0
    hi: int | str | None = None
    cap: int | str | None = None

    def __str__(self) -> str:
        match self.kind:
            case "opt":
                return f"{self.arg} | None"
            case "vec":
                return f"Vec[{self.arg}]"
            case "seq":
                return f"Seq[{self.arg}, {self.hi}]"
            case _:
                return self.name

    @property
    def elem(self) -> Ty:
        """Element type of an optional, a vector or a sequence."""
        if self.arg is None:
            raise TypeError(f"{self} has no element type")
        return self.arg

    @property
    def fields(self) -> dict[str, Ty]:
        """Fields of a record, in order."""
        return record_fields(self.cls)

    @cached_property
    def members(self) -> tuple[str, ...]:
        """Return the names of the members that may occur, in order; a value is encoded as its position."""
        every = tuple(self.cls.__members__)
        return every if self.hi is None else every[: int(self.hi) + 1]


BOOL = Ty("bool", "bool")
INT = Ty("nat", "int")
REPLICA = Ty("replica", "Replica")
RSET = Ty("set", "RSet", REPLICA)
NONE = Ty("none", "None")
CONFIG = Ty("config", "Config")


@dataclass(frozen=True)
class VecMark:
    """Annotated metadata: a tuple with one entry for each broker, indexed by broker id."""


@dataclass(frozen=True)
class SeqMark:
    """Annotated metadata: a sequence of at most `limit` elements (a number or a Config field)."""

    limit: int | str


T = TypeVar("T")

Replica = Annotated[int, REPLICA]
RSet = Annotated[frozenset[int], RSET]
Vec = Annotated[tuple[T, ...], VecMark()]


def nat(name: str, *, hi: int | str | None = None, cap: int | str | None = None) -> Ty:
    """Metadata for a natural number: `Epoch = Annotated[int, nat("Epoch", cap="max_epoch")]`."""
    return Ty("nat", name, lo=0, hi=hi, cap=cap)


def up_to(last: enum.Enum) -> Ty:
    """Metadata for an enum of which no member after `last` occurs, such as a field with fewer values."""
    return Ty("enum", type(last).__name__, cls=type(last), hi=list(type(last)).index(last))


def opt(arg: Ty) -> Ty:
    return Ty("opt", f"{arg} | None", arg)


class ModelTypeError(TypeError):
    """An annotation that is not in the language. help: what to write instead."""

    def __init__(self, hint: object) -> None:
        name = hint.__name__ if isinstance(hint, type) and not get_args(hint) else hint
        super().__init__(f"not a type of the modelling language: {name}")
        self.help = _instead(get_origin(hint) or hint)


def _instead(kind: object) -> str:
    """Suggest what to write instead of a Python type that the language does not have."""
    if kind in (set, frozenset):
        return "a set of brokers is RSet"
    if kind in (list, tuple):
        return "one value for each broker is Vec[T]; a sequence is Annotated[tuple[T, ...], SeqMark(limit)]"
    if kind is dict:
        return "one value for each broker is Vec[T]; there are no other maps"
    if kind is str:
        return "make an enum.Enum of the values it can have"
    if kind is float:
        return "numbers are natural: int, or Annotated[int, nat(..)] for a field of the state"
    if isinstance(kind, type):
        return f"decorate the class {kind.__name__} with @record, or make it an enum.Enum"
    return "the types are bool, int, nat(..), enums, Replica, RSet, Vec[T], sequences, T | None and records"


def type_of(hint: object) -> Ty:
    """Return the language type of a resolved Python annotation; ModelTypeError for one without a type."""
    if isinstance(hint, Ty):
        return hint
    if hint is bool:
        return BOOL
    if hint is int:
        return INT
    origin = get_origin(hint)
    if origin is Annotated:
        base, *marks = get_args(hint)
        for mark in marks:
            if isinstance(mark, Ty):
                return mark
            if isinstance(mark, VecMark):
                return Ty("vec", "Vec", type_of(get_args(base)[0]))
            if isinstance(mark, SeqMark):
                return Ty("seq", "Seq", type_of(get_args(base)[0]), hi=mark.limit)
        return type_of(base)
    if origin in (typing.Union, pytypes.UnionType):
        inner = [a for a in get_args(hint) if a is not type(None)]
        if len(inner) == 1 and len(get_args(hint)) == 2:
            return opt(type_of(inner[0]))
    if isinstance(hint, type):
        if issubclass(hint, enum.Enum):
            return Ty("enum", hint.__name__, cls=hint)
        if getattr(hint, "__elr_role__", None) == "config":
            return Ty("config", hint.__name__, cls=hint)
        if is_dataclass(hint) and getattr(hint, "__elr_role__", None) in ("record", "state"):
            return Ty(hint.__elr_role__, hint.__name__, cls=hint)  # type: ignore[attr-defined]
    raise ModelTypeError(hint)


def record_fields(cls: Any) -> dict[str, Ty]:
    """Return the types of the fields of a record, state or configuration class; resolved once per class."""
    types = cls.__dict__.get("__elr_fields__")
    if types is None:
        try:
            hints = get_type_hints(cls, include_extras=True)
        except NameError as fault:
            own = [f.name for f in fields(cls) if fault.name and fault.name in str(f.type)]
            raise error_in_field(cls, own[0] if own else "", f"{fault}: import it") from None
        types = {f.name: _field_type(cls, f.name, hints[f.name]) for f in fields(cls)}
        cls.__elr_fields__ = types
    return typing.cast("dict[str, Ty]", types)


def optional_fields(cls: Any) -> dict[str, Any]:
    """Return the fields that a stored value may lack, with their defaults."""
    return {part.name: part.default for part in fields(cls) if part.default is not MISSING}


def later_fields(cls: Any) -> dict[str, Any]:
    """Return the fields that were added to a record later, which a written value leaves out at their default.

    They have a default behind fields that have none. A record of defaults alone, such as the counters of a
    search, has no fields of this kind.
    """
    optional = optional_fields(cls)
    return optional if len(optional) < len(fields(cls)) else {}


def _field_type(cls: Any, name: str, hint: object) -> Ty:
    try:
        return type_of(hint)
    except ModelTypeError as fault:
        raise error_in_field(cls, name, str(fault), fault.help) from None


def is_finite(ty: Ty) -> bool:
    """Return whether the values of the type can be listed under a configuration (`elrcheck.lang.load.domain`)."""
    if ty.kind == "opt":
        return is_finite(ty.elem)
    return ty.kind in ("bool", "replica", "enum", "set") or (ty.kind == "nat" and ty.hi is not None)


def types_inside(ty: Ty) -> Iterator[tuple[Ty, Any, str]]:
    """Yield the type and those it consists of, each with the class and the field that it stands in.

    The fields of a record come once, wherever the record occurs.
    """
    entered: set[object] = set()

    def visit(ty: Ty, cls: Any, name: str) -> Iterator[tuple[Ty, Any, str]]:
        yield ty, cls, name
        if ty.arg is not None:
            yield from visit(ty.arg, cls, name)
        if ty.kind in ("record", "state") and ty.cls not in entered:
            entered.add(ty.cls)
            for field, part in ty.fields.items():
                yield from visit(part, ty.cls, field)

    return visit(ty, ty.cls, "")


def limits_of(ty: Ty) -> set[str]:
    """Return the fields of the configuration that limit a number or a sequence inside a type."""
    return {limit for part, _, _ in types_inside(ty) for limit in (part.hi, part.cap) if isinstance(limit, str)}


def check_limits(ty: Ty, config: Any) -> None:
    """Require every limit in a type to be a number or a configuration field; ModelError names the field."""
    names = [field.name for field in fields(config)]
    names += [name for name, value in vars(config).items() if isinstance(value, property)]
    for part, cls, field in types_inside(ty):
        for limit in (part.hi, part.cap):
            if isinstance(limit, str) and limit not in names:
                message = f"the limit '{limit}' is no field of {config.__name__}"
                raise error_in_field(cls, field, message, near(limit, names) or f"declare it in {config.__name__}")
