"""Parses JSON and TOML strictly; every document becomes a `Node`.

Python's parsers accept duplicate keys, NaN and infinities, or fail in ways of their own on numbers of thousands of
digits, endless nesting, bytes that are not UTF-8 and files without an end. All of it is refused here, with the file and
the line.
"""

from __future__ import annotations

import codecs
import json
import math
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, NoReturn

from elrcheck.base.errors import UsageFault
from elrcheck.base.strict import Codes, JsonSource, Node, TomlSource, skip_blank

JSON_LIMIT = 512 * 2**20
TOML_LIMIT = 64 * 2**20
DOTTED = re.compile(r"""(?<![\w.-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){64}""")
"""A key with too many parts: tomllib needs memory quadratic in their number."""
UTF_16 = "it is UTF-16, as `>` of PowerShell writes it: save it as UTF-8"
_MOST_DIGITS = 30
_MOST_BITS = 256
"""Limit of a number in a TOML file: a hexadecimal one may have any length, and Python refuses to print it."""
_LONG = re.compile(rf"[0-9]{{{_MOST_DIGITS}}}")
"""Matches any number that may have too many digits."""

SETTINGS = Codes(
    bad_value="config-bad-value",
    unknown_key="config-unknown-key",
    missing_key="config-missing-key",
    malformed="config-not-toml",
    unreadable="config-unreadable",
)
"""The error codes of a settings, scope or grid file."""


def toml_codes(code: str) -> Codes:
    """Return the codes of a TOML file that is read like a configuration without being one."""
    return Codes(code, malformed=SETTINGS.malformed, unreadable=SETTINGS.unreadable)


# ------------------------------------------------------------------------------------- bytes


def read_text(file: Path | Traversable, codes: Codes, limit: int) -> str:
    """Return the UTF-8 text of a file of at most `limit` bytes."""
    name = str(file)
    try:
        with file.open("rb") as stream:
            raw: bytes = stream.read(limit + 1)  # a device or a pipe may have no end
    except OSError as fault:
        raise UsageFault(codes.unreadable, f"cannot read the file: {fault.strerror or fault}", where=name) from fault
    except ValueError as fault:  # a NUL or half a character in a name that comes from another file
        raise UsageFault(codes.unreadable, f"not the name of a file: {name!r}") from fault
    return decode(raw, name, codes, limit)


def decode(
    raw: bytes, name: str, codes: Codes, limit: int, *, what: str = "the file", before: int = 0, bom: bool = True
) -> str:
    """Return the text of UTF-8 bytes. what, before: their name and the lines before them, for messages.

    bom: the bytes may begin with a byte order mark.
    """
    if len(raw) > limit:
        raise UsageFault(codes.malformed, f"{what} is larger than {limit // 2**20} MiB", where=name)
    try:
        return raw.decode("utf-8-sig" if bom else "utf-8")
    except UnicodeDecodeError as fault:
        line = before + raw.count(b"\n", 0, fault.start) + 1
        help = UTF_16 if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else None
        raise UsageFault(codes.malformed, "the file is not UTF-8 text", where=f"{name}:{line}", help=help) from fault


# -------------------------------------------------------------------------------------- JSON


def read_json(path: Path, codes: Codes) -> Node:
    """Return the document in a file."""
    return parse_json(read_text(path, codes, JSON_LIMIT), str(path), codes)


def parse_json(text: str, name: str, codes: Codes) -> Node:
    """Return the document of a text, which must hold exactly one."""
    value, end = _decoded(text, skip_blank(text, 0), name, codes)
    if end < len(text):
        _refuse(text, end, name, codes, "there is more after the end of the document")
    return Node(value, JsonSource(name, codes, text))


def parse_objects(parts: Iterable[bytes], name: str, codes: Codes) -> Iterator[Node]:
    """Yield the objects of a stream, such as JSON Lines, each as soon as its end has been read.

    parts: the stream in pieces of whole lines. Text that no further line can complete to an object is refused at
    once, so that no reader waits for ever.
    """
    text, before, empty = "", 0, True
    for number, part in enumerate(parts):
        lines = before + text.count("\n")
        text += decode(part, name, codes, JSON_LIMIT, what="a line", before=lines, bom=number == 0)
        decoder = _DECODER if _LONG.search(text) else _SHORT_NUMBERS
        position = skip_blank(text, 0)
        while position < len(text):
            empty = False
            try:
                value, end = _decoded(text, position, name, codes, before, decoder)
            except _Unfinished:
                break
            if not isinstance(value, dict):
                _refuse(text, position, name, codes, "expected a JSON object", before=before)
            yield Node(value, JsonSource(name, codes, text, position, root="", before=before))
            position = end
        before += text.count("\n", 0, position)
        text = text[position:]
    if text:
        _decoded(text, skip_blank(text, 0), name, codes, before)
    if empty:
        raise UsageFault(codes.malformed, "the input is empty", where=name, help="give one JSON object")


class _Unfinished(Exception):
    """Raised if the text read so far may be the beginning of a document."""


class _RefusedValue(ValueError):
    """Raised for a value that the json module would accept."""


def _decoded(
    text: str, position: int, name: str, codes: Codes, before: int = 0, more: json.JSONDecoder | None = None
) -> tuple[Any, int]:
    """Return the value that begins at a position, and the position after it and the blanks behind.

    more: the decoder of an unfinished text, which raises _Unfinished if the value may continue; None for a whole text.
    """
    try:
        value, end = (more or _DECODER).raw_decode(text, position)
        return value, skip_blank(text, end)
    except json.JSONDecodeError as fault:
        if more and fault.pos >= len(text.rstrip()):
            raise _Unfinished from fault
        _refuse(text, fault.pos, name, codes, f"not valid JSON: {fault.msg}", column=True, before=before)
    except _RefusedValue as fault:
        _refuse(text, position, name, codes, f"not valid JSON: {fault}", before=before)
    except RecursionError:
        _refuse(text, position, name, codes, "not valid JSON: nested too deeply", before=before)


def _refuse(
    text: str, position: int, name: str, codes: Codes, why: str, *, column: bool = False, before: int = 0
) -> NoReturn:
    where = f"{name}:{before + text.count(chr(10), 0, position) + 1}"
    if column:
        where += f":{position - text.rfind(chr(10), 0, position)}"
    raise UsageFault(codes.malformed, why, where=where)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise _RefusedValue(f"key `{twice}` is given twice in one object")
    return members


def _integer(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise _RefusedValue(f"a number of more than {_MOST_DIGITS} digits")
    return int(digits)


def _number(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise _RefusedValue("a number that is too large")
    return value


def _constant(name: str) -> NoReturn:
    raise _RefusedValue(f"{name} is not a JSON number")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique, parse_int=_integer, parse_float=_number, parse_constant=_constant
)
_SHORT_NUMBERS = json.JSONDecoder(object_pairs_hook=_unique, parse_float=_number, parse_constant=_constant)
"""A faster decoder, for a text in which no number has too many digits."""


def lay_out(document: Mapping[str, Any]) -> str:
    """Return JSON text with one line for each top-level key and for each element of a top-level array."""
    parts = []
    for key, value in document.items():
        if isinstance(value, list) and value:
            body = "[\n" + ",\n".join(f"  {_compact(item)}" for item in value) + "\n ]"
        else:
            body = _compact(value)
        parts.append(f" {_compact(key)}: {body}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


# -------------------------------------------------------------------------------------- TOML


def read_toml(file: Path | Traversable, codes: Codes = SETTINGS, joint: str = "_") -> Node:
    """Return the document in a file. joint: the character between the words of its keys."""
    name = str(file)
    text = read_text(file, codes, TOML_LIMIT)
    if deep := DOTTED.search(text):
        _refuse(text, deep.start(), name, codes, "a key with too many parts")
    try:
        data = tomllib.loads(text)
        _reject_huge(data)
    except tomllib.TOMLDecodeError as fault:
        match = re.search(r"^(.*) \(at (?:line (\d+), column (\d+)|end of document)\)$", str(fault), re.S)
        why, line, column = match.groups() if match else (str(fault), None, None)
        at = f"{name}:{line}:{column}" if line else f"{name}:{text.count(chr(10)) + 1}"
        raise UsageFault(codes.malformed, f"not valid TOML: {why}", where=at) from fault
    except RecursionError as fault:
        raise UsageFault(codes.malformed, "tables are nested too deeply", where=name) from fault
    except ValueError as fault:
        raise UsageFault(codes.malformed, "a number with too many digits", where=name) from fault
    return Node(data, TomlSource(name, codes, text, joint))


def _reject_huge(value: object) -> None:
    """Raise ValueError for a number too large for any setting."""
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            _reject_huge(part)
    elif isinstance(value, int) and value.bit_length() > _MOST_BITS:
        raise ValueError("huge")
