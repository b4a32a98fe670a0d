"""The types of the modelling language, written as ordinary Python annotations.

Model source is annotated with aliases that two readers understand::

    Node = Annotated[int, sort("Node", "nodes")]
    Votes = Annotated[tuple[bool, ...], Per(Node)]

To Python and mypy `Node` is `int` and `Votes` is `tuple[bool, ...]`. To the compiler of this package, the `Annotated`
metadata says that a `Node` is a number below the field `nodes` of the configuration, and that `Votes` has one entry for
each node. `Map[Vote, bool]` has one for each value of any finite type. `type_of` turns an annotation into a `Ty`.

There are two kinds of limit:

* `hi` (and the length of a sequence) is part of the meaning: it holds in every reading, also in the proof. It may name
  a `Config` field, so one compiled model serves every configuration.
* `cap` is only the range that a compiled search reserves for an unbounded number. A run that exceeds it is
  inconclusive; the proof and TLA+ do not use it.
"""

from __future__ import annotations

import enum
import re
import types as pytypes
import typing
from collections import Counter
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache, cached_property
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from elrcheck.lang.runtime import Map
from elrcheck.lang.source import ModelError, error_in_field


@dataclass(frozen=True)
class Ty:
    """A type of the language. A tuple of fixed length is a record whose class is tuple.

    kind: bool, nat, enum, member, set, opt, vec, seq, record, state, config or none.
    arg: element type of set, opt, vec and seq. cls: Python class of a record or an enum; Map for a map.
    lo, hi: least and greatest number; hi is also the greatest length of a sequence, or the position of an enum's last
    member.
    size: of a member's sort, a number or a field of the configuration.
    parts: types of the parts of a tuple.
    index: sort whose members index a vec; finite type of the keys of a map.
    word, every, ordered, symmetric: see `sort`.
    """

    kind: str
    name: str = ""
    arg: Ty | None = None
    cls: Any = None
    lo: int = 0
    hi: int | str | None = None
    cap: int | str | None = None
    size: int | str | None = None
    index: Ty | None = None
    word: str = ""
    every: str = ""
    ordered: bool = False
    symmetric: bool = False
    parts: tuple[Ty, ...] = ()

    def __str__(self) -> str:
        match self.kind:
            case "opt":
                return f"{self.arg} | None"
            case "vec":
                return f"Map[{self.index}, {self.arg}]" if self.is_map else f"{self.arg} per {self.index}"
            case "set" if not self.name:
                return f"frozenset[{self.arg}]"
            case "seq":
                return f"Seq[{self.arg}, {self.hi}]"
            case _:
                return self.name

    @property
    def words(self) -> str:
        """The plural of a member of a sort in explanations."""
        return f"{self.word}es" if self.word.endswith("s") else f"{self.word}s"

    @property
    def elem(self) -> Ty:
        """Element type of a set, an optional, a vector or a sequence."""
        if self.arg is None:
            raise TypeError(f"{self} has no element type")
        return self.arg

    @property
    def present(self) -> Ty:
        """The type of a value that is not None."""
        return self.elem if self.kind == "opt" else self

    @property
    def flagged(self) -> bool:
        """Whether an optional is stored as a truth and a value; else None is the number -1."""
        return self.kind == "opt" and (self.elem.kind not in ("member", "nat", "enum") or self.elem.lo < 0)

    @property
    def keys(self) -> Ty:
        """Type of the indices of a vector."""
        if self.index is None:
            raise TypeError(f"{self} has no indices")
        return self.index

    @property
    def counts(self) -> bool:
        """Whether its values are numbers with which a rule counts, so that one may leave the type."""
        return self.kind == "nat" or (self.kind == "member" and self.ordered)

    @property
    def is_map(self) -> bool:
        """Whether it is a `Map`: a vector with keys of any finite type."""
        return self.cls is Map

    @property
    def has_keys(self) -> bool:
        """Whether `put` may name a key that it does not have: a map, or a vector with numbers for its members."""
        return self.is_map or (self.kind == "vec" and self.keys.ordered)

    @cached_property
    def may_lack_key(self) -> bool:
        """Whether its values contain some for which `put` may name a key that they do not have."""
        if self.kind in ("record", "state"):
            return any(part.may_lack_key for part in self.fields.values())
        return self.has_keys or (self.kind in ("vec", "seq", "opt") and self.elem.may_lack_key)

    @cached_property
    def has_sequence(self) -> bool:
        """Whether its values are sequences, or contain some."""
        if self.kind in ("record", "state"):
            return any(part.has_sequence for part in self.fields.values())
        return self.kind == "seq" or (self.kind in ("vec", "opt") and self.elem.has_sequence)

    @property
    def is_pair(self) -> bool:
        """Whether it is a tuple of fixed length, whose fields are numbered."""
        return self.cls is tuple

    @property
    def fields(self) -> dict[str, Ty]:
        """Fields of a record, in order."""
        return {str(k): part for k, part in enumerate(self.parts)} if self.is_pair else record_fields(self.cls)

    def field_of(self, value: Any, name: str) -> Any:
        """Return a field of a plain record."""
        return value[int(name)] if self.is_pair else getattr(value, name)

    def built(self, values: Mapping[str, Any]) -> Any:
        """Return the plain record with these fields."""
        return tuple(values.values()) if self.is_pair else self.cls(**values)

    @cached_property
    def members(self) -> tuple[str, ...]:
        """The names of the members of an enum that may occur, in order; a value is encoded as its position."""
        every = tuple(self.cls.__members__)
        return every if self.hi is None else every[: int(self.hi) + 1]


BOOL = Ty("bool", "bool")
INT = Ty("nat", "int")
NONE = Ty("none", "None")


@dataclass(frozen=True)
class Per:
    """Annotated metadata: a tuple with one entry for each member of a sort."""

    index: Any


@dataclass(frozen=True)
class SeqMark:
    """Annotated metadata: a sequence of at most `limit` elements (a number or a Config field)."""

    limit: int | str


def sort(
    name: str, size: int | str, *, word: str = "", every: str = "", ordered: bool = False, symmetric: bool = False
) -> Ty:
    """Return metadata for a member of a sort, a number from 0: `Node = Annotated[int, sort("Node", "nodes")]`.

    size: of the sort, a number or a field of the configuration; `range(c.nodes)` is all members. word: the word for a
    member in explanations, by default the name in lower case. every: the name of the set of all members in TLA+, by
    default the name of the sort. ordered: members are numbers, as the nodes of a ring are; without it they can only be
    compared for equality. symmetric: the model treats all members alike, which loading checks, so a search may explore
    one state for all that differ only in the names of members (`--symmetry`).
    """
    if ordered and symmetric:
        raise ModelError(f"the sort {name} cannot be ordered and symmetric", help="members with an order are not alike")
    word, every = word or name.lower(), every or name
    return Ty("member", name, size=size, word=word, every=every, ordered=ordered, symmetric=symmetric)


def set_of(elem: Ty) -> Ty:
    return Ty("set", arg=elem)


def nat(name: str, *, lo: int = 0, hi: int | str | None = None, cap: int | str | None = None) -> Ty:
    """Return metadata for a number: `Epoch = Annotated[int, nat("Epoch", cap="max_epoch")]`. lo may be negative."""
    if isinstance(hi, int) and hi < lo:
        raise ModelError(f"{name} has no values: the least is {lo} and the greatest {hi}", help="set lo= and hi=")
    return Ty("nat", name, lo=lo, hi=hi, cap=cap)


def up_to(last: enum.Enum) -> Ty:
    """Return metadata for an enum of which no member after `last` occurs."""
    return Ty("enum", type(last).__name__, cls=type(last), hi=list(type(last)).index(last))


def pair(*parts: Ty) -> Ty:
    """Return the type of a tuple with these parts."""
    return Ty("record", f"tuple[{', '.join(map(str, parts))}]", cls=tuple, parts=parts)


def opt(arg: Ty) -> Ty:
    return Ty("opt", f"{arg} | None", arg)


_SHORT = re.compile(r"\b(?:\w+\.)+(?=\w)")
"""The modules before the names in an annotation."""
_NAMED = re.compile(r"Annotated\[\w+, Ty\([^()\[\]]*\bname='(\w+)'[^()\[\]]*parts=\(\)\)\]")
"""A named sort or number in an annotation."""


class ModelTypeError(TypeError):
    """An annotation is not in the language. help: what to write instead."""

    def __init__(self, hint: object, help: str = "") -> None:
        text = _NAMED.sub(r"\1", _SHORT.sub("", str(hint)))
        name = hint.__name__ if isinstance(hint, type) and not get_args(hint) else text
        super().__init__(f"not a type of the modelling language: {name}")
        self.help = help or _instead(get_origin(hint) or hint)


def _instead(kind: object) -> str:
    """Suggest what to write instead of a Python type."""
    if kind is Counter:
        return "a bag is a map to a bounded number of copies: Map[Message, Copies], with add(), remove(), contents()"
    if kind is set:
        return "a set is a frozenset[T], since values never change"
    if kind in (list, tuple, dict):
        return (
            "one value for each member of a sort is Annotated[tuple[T, ...], Per(Sort)], for each value of "
            "another type Map[K, T]; a sequence is Annotated[tuple[T, ...], SeqMark(limit)]"
        )
    if kind is str:
        return "make an enum.Enum of the values it can have"
    if kind is float:
        return "numbers are whole: int, or Annotated[int, nat(..)] for a field of the state"
    if isinstance(kind, type):
        return f"decorate the class {kind.__name__} with @record, or make it an enum.Enum"
    return (
        "the types are bool, int, nat(..), enums, sort(..), Per(..), Map[K, T], frozenset[T], sequences, T | None "
        "and records"
    )


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
            if isinstance(mark, Per):
                return Ty("vec", "vector", type_of(get_args(base)[0]), index=_index(mark))
            if isinstance(mark, SeqMark):
                return Ty("seq", "Seq", type_of(get_args(base)[0]), hi=mark.limit)
        return type_of(base)
    if origin is frozenset:
        return _set_type(hint)
    if origin is Map:
        return _map_type(hint)
    if origin is tuple and len(get_args(hint)) > 1 and Ellipsis not in get_args(hint):
        return pair(*map(type_of, get_args(hint)))
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


def _index(mark: Per) -> Ty:
    ty = type_of(mark.index)
    if ty.kind == "member":
        return ty
    help = f"a tuple has an entry for each member of a sort: Per(Node); for each {ty} write Map[{ty}, T]"
    raise ModelTypeError(mark, help)


def _map_type(hint: object) -> Ty:
    keys, value = map(type_of, get_args(hint))
    if keys.kind == "member":
        help = f"one value for each member of a sort is a tuple: Annotated[tuple[{value}, ...], Per({keys})]"
        raise ModelTypeError(hint, help)
    _demand_finite(keys, hint, "the keys of a map")
    return Ty("vec", "map", value, index=keys, cls=Map)


def _set_type(hint: object) -> Ty:
    elem = type_of(get_args(hint)[0])
    _demand_finite(elem, hint, "the members of a set")
    return set_of(elem)


def _demand_finite(ty: Ty, hint: object, what: str) -> None:
    if not is_finite(ty):
        help = f"{what} are of a type with finitely many values, and {ty} is infinite"
        raise ModelTypeError(hint, f'{help}: a number has a limit as Annotated[int, nat("Name", hi=3)]')


def record_fields(cls: Any) -> dict[str, Ty]:
    """Return the types of the fields of a record, state or configuration class; resolved once per class."""
    types = cls.__dict__.get("__elr_fields__")
    if types is None:
        try:
            hints = get_type_hints(cls, include_extras=True)
        except NameError as fault:
            own = [f.name for f in fields(cls) if fault.name and fault.name in str(f.type)]
            raise error_in_field(cls, own[0] if own else "", f"{fault}: import it") from None
        try:
            types = {f.name: _field_type(cls, f.name, hints[f.name]) for f in fields(cls)}
        except RecursionError:  # a set of itself: checking its members needs the fields
            own = [f.name for f in fields(cls)]
            name = next((f.name for f in fields(cls) if cls.__name__ in str(f.type)), own[0])
            raise endless(cls, name) from None
        cls.__elr_fields__ = types
    return typing.cast("dict[str, Ty]", types)


def endless(cls: Any, name: str) -> ModelError:
    help = "refer to another record by a member of a sort, and keep the records in a vector per member"
    return error_in_field(cls, name, f"a {cls.__name__} would contain another one, and so on for ever", help)


@cache
def whole_sort(config: Any, name: str) -> Ty | None:
    """Return the type of a configuration's property if it is annotated as a set of members, which is all of them."""
    member = getattr(config, name, None)
    if not isinstance(member, property) or member.fget is None:
        return None
    hint = get_type_hints(member.fget, include_extras=True).get("return")
    ty = type_of(hint) if get_origin(hint) is frozenset else NONE
    return ty if ty.kind == "set" and ty.elem.kind == "member" else None


def optional_fields(cls: Any) -> dict[str, Any]:
    """Return the fields that a stored value may lack, with their defaults."""
    return {part.name: part.default for part in fields(cls) if part.default is not MISSING}


def later_fields(cls: Any) -> dict[str, Any]:
    """Return the fields that were added to a record later, which a written value leaves out at their default.

    These are the fields with a default in a record that also has fields without one.
    """
    optional = optional_fields(cls)
    return optional if len(optional) < len(fields(cls)) else {}


def _field_type(cls: Any, name: str, hint: object) -> Ty:
    try:
        return type_of(hint)
    except ModelTypeError as fault:
        raise error_in_field(cls, name, str(fault), fault.help) from None


def is_finite(ty: Ty) -> bool:
    """Return whether `domain` can list the values of the type under a configuration."""
    match ty.kind:
        case "opt" | "set":
            return is_finite(ty.elem)
        case "record":
            return all(is_finite(part) for part in ty.fields.values())
        case "nat":
            return ty.hi is not None
        case _:
            return ty.kind in ("bool", "member", "enum")


def is_number(ty: Ty) -> bool:
    """Return whether values of the type can be ordered, and added or subtracted."""
    return ty.kind == "nat" or ty.ordered
