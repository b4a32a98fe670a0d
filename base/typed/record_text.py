"""Writes a record as the TOML table that it is read from, always in the same order, for diffs.

Fields with their default are omitted, except a table of names, which is written even if it is empty.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from elrcheck.base.typed.records import fields_of

_WIDTH = 100


def table_text(path: str, record: Any, joint: str = "_") -> Iterator[str]:
    """Yield the lines of a dataclass: header, values, then the tables in it. joint: the character between words."""
    yield f"[{path}]"
    tables: dict[str, Any] = {}
    for key, value in _entries(record, type(record), joint):
        if isinstance(value, Mapping) or dataclasses.is_dataclass(value):
            tables[f"{path}.{key}"] = value
        else:
            yield from _line(key, value, joint)
    for inner, value in tables.items():
        yield ""
        if not isinstance(value, Mapping):
            yield from table_text(inner, value, joint)
            continue
        yield f"[{inner}]"
        for name in sorted(value, key=natural):
            yield from _line(_key(name), value[name], joint)


def natural(name: str) -> tuple[tuple[int, str], ...]:
    """Sort key that puts P-2 before P-10."""
    return tuple((int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name))


def text_value(value: str) -> str:
    """Return a TOML basic string; JSON's escapes are a subset of TOML's, except that TOML also escapes DEL."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")


def _entries(record: Any, kind: Any, joint: str) -> Iterator[tuple[str, Any]]:
    """Yield the keys and values of a record, except None and default values."""
    for part in fields_of(kind, joint):
        value = record[part.name] if isinstance(record, Mapping) else getattr(record, part.name)
        if part.inside is not None:
            yield from _entries(value, part.inside, joint)
        elif part.source is None and value is not None and value != part.default:
            yield part.key, value


def _line(key: str, value: Any, joint: str) -> Iterator[str]:
    """Return `key = value`, with a long list on several lines."""
    line = f"{key} = {_value(value, joint)}"
    if len(line) <= _WIDTH or not isinstance(value, tuple):
        yield line
        return
    yield f"{key} = ["
    yield from (f"    {_value(part, joint)}," for part in value)
    yield "]"


def _value(value: Any, joint: str) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case str():
            return text_value(value)
        case Path():
            return text_value(value.as_posix())
        case tuple():
            return f"[{', '.join(_value(part, joint) for part in value)}]"
        case Mapping():
            return _inline(((_key(name), part) for name, part in value.items()), joint)
    entries = _entries(value, type(value), joint)
    return _inline(((key, part) for key, part in entries if part != {}), joint)


def _inline(entries: Iterable[tuple[str, Any]], joint: str) -> str:
    return f"{{ {', '.join(f'{key} = {_value(value, joint)}' for key, value in entries)} }}"


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else text_value(name)
