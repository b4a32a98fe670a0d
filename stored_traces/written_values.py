"""The notation in which users write actions, places in a state and values.

Fetch(f=1, leader=0)              an action as reports write it; a bool left out is false
broker.1.high_watermark           a place in the state: fields and numbers of members
[0, 2]   "RECOVERING"   "none"    a set or list of members, an enum member, an absent optional
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, TypeAlias

from elrcheck.base.errors import did_you_mean
from elrcheck.lang.domains import size_of
from elrcheck.lang.ir import Fn
from elrcheck.lang.plain import Label
from elrcheck.lang.types import Ty

NONE = "none"


@dataclass(frozen=True)
class Notation:
    """A model's notation for a sequence as one text. words: a description of it, for errors."""

    read: Callable[[str], tuple[Any, ...]]
    words: str


Notations: TypeAlias = Mapping[str, Notation]
"""Notations by the name of the type of the elements."""


class Unreadable(ValueError):
    """A text or value that cannot be read; `help` may say what to write instead."""

    def __init__(self, why: str, help: str | None = None) -> None:
        super().__init__(why)
        self.help = help


# ------------------------------------------------------------------------------------ actions


def read_call(text: str, actions: Mapping[str, Fn], config: Any) -> Label:
    """Parse an action whose arguments are given by name."""
    call = re.fullmatch(r"\s*(\w+)\s*\((.*)\)\s*", text)
    if call is None:
        raise Unreadable(f"`{text}` is not an action", "write it as in Fetch(f=1, leader=0)")
    name, inside = call.groups()
    if name not in actions:
        raise Unreadable(f"unknown action `{name}`", did_you_mean(name, actions))
    params = dict(actions[name].params)
    arguments: dict[str, Any] = {}
    for part in words_of(inside):
        key, equals, word = (piece.strip() for piece in part.partition("="))
        if not equals:
            raise Unreadable(f"{name}: `{part.strip()}` has no name", f"{name} takes {', '.join(params)}")
        if key not in params:
            raise Unreadable(f"{name} has no argument `{key}`", did_you_mean(key, params))
        if key in arguments:
            raise Unreadable(f"{name}: `{key}` is given twice")
        try:
            arguments[key] = _argument(params[key], word, config)
        except Unreadable as fault:
            raise Unreadable(f"{name}: `{key}`: {fault}", fault.help) from fault
    missing = [key for key, ty in params.items() if key not in arguments and ty.kind != "bool"]
    if missing:
        raise Unreadable(f"{name} needs {' and '.join(f'`{key}`' for key in missing)}")
    return Label(name, tuple(arguments.get(key, False) for key in params))


def words_of(arguments: str) -> list[str]:
    """Split arguments at commas, except those within the braces of a set."""
    words: list[str] = re.findall(r"(?:[^,{}]|\{[^{}]*\})+", arguments)
    return words


def _argument(ty: Ty, word: str, config: Any) -> Any:
    """Parse an argument in the notation of reports."""
    match ty.kind:
        case "bool" if word.lower() in ("true", "false"):
            return word.lower() == "true"
        case "member" | "nat" if re.fullmatch(r"[0-9]{1,9}", word):
            return read_value(ty, int(word), config)
        case "set" if re.fullmatch(r"\{[\d,\s]*\}", word):
            return read_value(ty, [int(b) for b in re.findall(r"\d+", word)], config)
        case "opt":
            return None if word == NONE else _argument(ty.elem, word, config)
        case "enum":
            return read_value(ty, word, config)
    raise Unreadable(f"`{word}` is not {_expected_text(ty)}")


# ------------------------------------------------------------------------------------- places


def place(ty: Ty, path: str, config: Any) -> tuple[Ty, tuple[str | int, ...]]:
    """Return the type of the leaf at a dotted path, and the path with its indices as integers."""
    keys: list[str | int] = []
    for word in path.split("."):
        if ty.kind in ("record", "state"):
            if word not in ty.fields:
                raise Unreadable(f"`{path}`: there is no `{word}`", did_you_mean(word, ty.fields))
            keys.append(word)
            ty = ty.fields[word]
        elif ty.kind == "vec" and not ty.is_map:
            if not word.isdecimal() or int(word) >= size_of(ty.keys, config):
                sort, count = ty.keys, size_of(ty.keys, config)
                raise Unreadable(f"`{path}`: there is no {sort.word} `{word}`", f"{sort.words}: 0 to {count - 1}")
            keys.append(int(word))
            ty = ty.elem
        else:
            raise Unreadable(f"`{path}`: nothing is inside {_expected_text(ty)}")
    if ty.kind in ("record", "state"):
        raise Unreadable(f"`{path}` is not a leaf", "it has " + ", ".join(ty.fields))
    return ty, tuple(keys)


def get(value: Any, keys: Sequence[str | int]) -> Any:
    """Return the value at a place."""
    for key in keys:
        value = value[key] if isinstance(key, int) else getattr(value, key)
    return value


def put_at(value: Any, keys: Sequence[str | int], new: Any) -> Any:
    """Return the value with one place changed."""
    if not keys:
        return new
    key = keys[0]
    if isinstance(key, int):
        return (*value[:key], put_at(value[key], keys[1:], new), *value[key + 1 :])
    return replace(value, **{key: put_at(getattr(value, key), keys[1:], new)})


def format_place(keys: Sequence[str | int]) -> str:
    """Format a place as reports write it: broker[1].log."""
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys).removeprefix(".")


# ------------------------------------------------------------------------------------- values


def read_value(ty: Ty, raw: Any, config: Any, notations: Notations = MappingProxyType({})) -> Any:
    """Convert a TOML value to a model value of this type."""
    match ty.kind:
        case "bool" if isinstance(raw, bool):
            return raw
        case "nat" if _is_number(raw):
            return raw
        case "member" if _is_number(raw):
            if raw >= size_of(ty, config):
                raise Unreadable(f"there is no {ty.word} {raw}, only 0 to {size_of(ty, config) - 1}")
            return raw
        case "enum" if isinstance(raw, str):
            for member, value in ty.cls.__members__.items():
                if member.lower() == raw.lower():
                    return value
            raise Unreadable(f"{ty.name} has no member `{raw}`", did_you_mean(raw, ty.members))
        case "set" if isinstance(raw, list):
            members = [read_value(ty.elem, one, config, notations) for one in raw]
            if len(set(members)) < len(members):
                raise Unreadable("a member is listed twice")
            return frozenset(members)
        case "opt":
            return None if raw == NONE else read_value(ty.elem, raw, config, notations)
        case "seq" if isinstance(raw, str) and ty.elem.name in notations:
            return notations[ty.elem.name].read(raw)
        case "seq" | "vec" if isinstance(raw, list) and not ty.is_map:
            if ty.kind == "vec" and len(raw) != size_of(ty.keys, config):
                raise Unreadable(f"expected {size_of(ty.keys, config)} values, one per {ty.keys.word}, not {len(raw)}")
            return tuple(read_value(ty.elem, one, config, notations) for one in raw)
    raise Unreadable(f"expected {_expected_text(ty, notations)}, not {raw!r}")


def _is_number(raw: object) -> bool:
    return isinstance(raw, int) and not isinstance(raw, bool) and raw >= 0


def _expected_text(ty: Ty, notations: Notations = MappingProxyType({})) -> str:
    match ty.kind:
        case "bool":
            return "true or false"
        case "nat":
            return "a whole number"
        case "member":
            return f"a {ty.word}"
        case "set" if ty.elem.kind == "member":
            return f"a set of {ty.elem.words}"
        case "enum":
            return "one of " + ", ".join(ty.members)
        case "opt":
            return f"{_expected_text(ty.elem, notations)}, or none"
        case "seq" if ty.elem.name in notations:
            return notations[ty.elem.name].words
    return f"a {ty}"
