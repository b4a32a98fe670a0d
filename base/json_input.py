"""JSON objects from a text, strictly: one object, or any number of them one after the other.

JSON Lines is the special case of one object on each line.  Duplicate keys, NaN and infinities are
refused, and an error names line and column in the whole text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from elrcheck.base.errors import UsageFault


@dataclass(frozen=True)
class Given:
    """One object of the input and the line it starts on."""

    line: int
    value: dict[str, Any]


def read_objects(raw: bytes, name: str) -> Iterator[Given]:
    """The objects of `raw`, each as soon as it is decoded; UsageFault at the first bad one."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        line = raw[: fault.start].count(b"\n") + 1
        raise UsageFault("json-malformed", "the input is not UTF-8 text", where=f"{name}:{line}") from fault
    decoder = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant)
    position = _skip(text, 0)
    if position == len(text):
        raise UsageFault("json-malformed", "the input is empty", where=name, help="give one JSON object")
    while position < len(text):
        line = text.count("\n", 0, position) + 1
        try:
            value, end = decoder.raw_decode(text, position)
        except json.JSONDecodeError as fault:
            raise UsageFault(
                "json-malformed", f"not valid JSON: {fault.msg}", where=f"{name}:{fault.lineno}:{fault.colno}"
            ) from fault
        except (ValueError, RecursionError) as fault:
            why = "nested too deeply" if isinstance(fault, RecursionError) else str(fault)
            raise UsageFault("json-malformed", f"not valid JSON: {why}", where=f"{name}:{line}") from fault
        if not isinstance(value, dict):
            raise UsageFault("json-malformed", "expected a JSON object", where=f"{name}:{line}")
        yield Given(line, value)
        position = _skip(text, end)


def _skip(text: str, position: int) -> int:
    while position < len(text) and text[position] in " \t\r\n":
        position += 1
    return position


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise ValueError(f"key {key!r} is given twice in one object")
            seen.add(key)
    return made


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a JSON number")
