"""Escapes text of foreign origin: of a log, a trace, a file's name, a setting, an answer of a broker.

Such text may hold an escape sequence that rewrites the terminal, a bell, a line break followed by `::error::`, which a
CI job obeys, or a character that reverses the text after it. Each of these becomes a visible escape, such as ``\\x1b``
or ``\\n``, so the text stays recognisable and has no effect.

Output is escaped last: a whole report before a renderer sees it (`printable_report`), each line of a terminal page,
errors, and progress. JSON is not, because it has escapes of its own. A backslash is not doubled, so a backslash and an
``n`` in a name look like a line break.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeVar

T = TypeVar("T")

_INVISIBLE = (
    "\x00-\x1f\x7f-\x9f"  # C0 with tab and line breaks, DEL, C1
    "\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e"  # format characters, by code point
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e007f"
)
_ESCAPED = re.compile(f"[{_INVISIBLE}]|#(?=#\\w*\\[)")
"""Also the first character of ``##[group]`` and ``##vso[..]``, which runners obey anywhere in a line."""
_COMMAND = re.compile(r"^(\s*):(?=:[\w-].*::)")
"""A workflow command at the start of a line. GitHub's runner skips blanks before it."""
_NAMES = {"\t": r"\t", "\n": r"\n", "\r": r"\r"}


def shortened(text: str, most: int = 60) -> str:
    """Return a text of at most so many characters; one that goes on ends with three dots."""
    return text if len(text) <= most else text[: most - 3] + "..."


def printable(text: str) -> str:
    """Return the text on one line, with every control or format character as a visible escape."""
    return _ESCAPED.sub(_escape, text)


def printable_line(text: str) -> str:
    """Return a whole line as printable text that is not a workflow command either."""
    return _COMMAND.sub(r"\1\\x3a", printable(text))


def printable_report(report: T) -> T:
    """Return the report with every text printable; the same object if that changes nothing.

    report: data: structs, mappings, sequences, numbers, texts.
    """
    return _walk(report)  # type: ignore[no-any-return]


def _escape(match: re.Match[str]) -> str:
    sign = match[0]
    code = ord(sign)
    if sign in _NAMES:
        return _NAMES[sign]
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _walk(value: Any) -> Any:
    if type(value) is str:
        return printable(value) if _ESCAPED.search(value) else value
    if isinstance(value, tuple | list):
        parts = [_walk(part) for part in value]
        if all(new is old for new, old in zip(parts, value, strict=True)):
            return value
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if isinstance(value, Mapping):
        pairs = [(_walk(key), _walk(part)) for key, part in value.items()]
        if all(k is o and v is p for (k, v), (o, p) in zip(pairs, value.items(), strict=True)):
            return value
        return dict(pairs)
    if hasattr(value, "__struct_fields__"):
        from msgspec import structs  # only for reports: `elrcheck --help` does without

        fields = {name: getattr(value, name) for name in value.__struct_fields__}
        changed = {name: new for name, old in fields.items() if (new := _walk(old)) is not old}
        return structs.replace(value, **changed) if changed else value
    return value
