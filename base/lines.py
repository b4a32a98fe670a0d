"""Lines of paths in JSON and TOML texts, for messages: looked for only when something is wrong."""

from __future__ import annotations

import json
import re
from typing import TypeAlias

KeyPath: TypeAlias = tuple[str | int, ...]

_BLANK = re.compile(r"[ \t\r\n]*")
_HEADER = re.compile(r"""(\[\[?)\s*((?:[\w.\s-]|"[^"]*"|'[^']*')+?)\s*\]\]?\s*(?:#.*)?$""")
_KEY = re.compile(r"""((?:[\w.\s-]|"[^"]*"|'[^']*')+?)\s*=""")
_PART = re.compile(r""""([^"]*)"|'([^']*)'|([\w-]+)""")
_LONG = re.compile(r"\"\"\"|'''")


def json_line(text: str, path: KeyPath, start: int = 0) -> int:
    """The line on which the value at a path begins, or the innermost one around it that there is.

    The text is JSON that has been parsed, so nothing is checked again.
    """
    decoder = json.JSONDecoder()
    position = _skip(text, start)
    for step in path:
        found = _member(text, position, step, decoder)
        if found is None:
            break
        position = found
    return text.count("\n", 0, position) + 1


def _member(text: str, position: int, step: str | int, decoder: json.JSONDecoder) -> int | None:
    """Where the value of a field or an element begins."""
    if text[position] != ("{" if isinstance(step, str) else "["):
        return None
    position, index = _skip(text, position + 1), 0
    while text[position] not in "}]":
        key: str | int = index
        if isinstance(step, str):
            key, position = decoder.raw_decode(text, position)
            position = _skip(text, _skip(text, position) + 1)
        if key == step:
            return position
        _, position = decoder.raw_decode(text, position)
        position = _skip(text, position)
        if text[position] == ",":
            position = _skip(text, position + 1)
        index += 1
    return None


def _skip(text: str, position: int) -> int:
    blank = _BLANK.match(text, position)
    return blank.end() if blank else position


def toml_lines(text: str) -> dict[KeyPath, int]:
    """Path -> line of every key and header of a TOML text; arrays of tables count from 0.

    Inline tables are not followed: their keys are on the line of the table.
    """
    found: dict[KeyPath, int] = {}
    arrays: dict[KeyPath, int] = {}
    table: KeyPath = ()
    inside_text = False
    for number, raw in enumerate(text.split("\n"), start=1):
        line, was_inside = raw.strip(), inside_text
        inside_text ^= len(_LONG.findall(raw)) % 2 == 1
        if was_inside:
            continue
        if header := _HEADER.match(line):
            table, words = (), _parts(header[2])
            for position, word in enumerate(words, start=1):
                table = (*table, word)
                if header[1] == "[[" and position == len(words):
                    arrays[table] = arrays.get(table, -1) + 1
                    found.setdefault(table, number)
                if table in arrays:
                    table = (*table, arrays[table])
                found.setdefault(table, number)
        elif key := _KEY.match(line):
            here = table
            for word in _parts(key[1]):
                here = (*here, word)
                found.setdefault(here, number)
    return found


def _parts(dotted: str) -> list[str]:
    return ["".join(found) for found in _PART.findall(dotted)]
