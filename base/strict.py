"""The one strict reader: a value of a JSON or TOML document that knows where it is written.

A `Node` is a value, its path and its document. Its methods check the type of the value and return the nodes inside it,
so a fault always says what is wrong, where, and what to write instead:

    error[config-unknown-key]: unknown key `brokerz` in [sizes]
      --> mine.toml:4
       = help: did you mean `brokers`?

    error[trace-file]: expected true or false, not 1
      --> cex.json:7: $.states[3].view.armed

An unknown key is refused before a missing one, because a misspelt key is both.
"""

from __future__ import annotations

import enum
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NoReturn, TypeAlias, TypeVar

from elrcheck.base.errors import UsageFault, did_you_mean

T = TypeVar("T")
D = TypeVar("D")
M = TypeVar("M", bound=enum.Enum)
KeyPath: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True)
class Codes:
    """The error codes of a document, by default all the same as `bad_value`.

    malformed: the text is not JSON or TOML; unreadable: there is no text.
    """

    bad_value: str
    unknown_key: str = ""
    missing_key: str = ""
    malformed: str = ""
    unreadable: str = ""

    def __post_init__(self) -> None:
        for code in fields(self):
            if not getattr(self, code.name):
                object.__setattr__(self, code.name, self.bad_value)


class DocumentSource(ABC):
    """The document of a node: its name, and the wording of its faults.

    joint: the character between the words of a key, where Python has an underscore.
    """

    OBJECT: ClassVar[str]
    joint = "_"

    def __init__(self, name: str, codes: Codes) -> None:
        self.name, self.codes = name, codes

    @abstractmethod
    def where(self, path: KeyPath) -> str:
        """Return file, line and path, as far as they are known."""

    def label(self, path: KeyPath) -> str:
        """Return the start of a message about a value, if `where` does not name the key."""
        return ""

    def inside(self, path: KeyPath) -> str:
        """Return the name of the table with an unknown key, if `where` does not name it."""
        return ""


@dataclass(slots=True)  # not frozen: a large trace has millions of them, and that would cost a quarter more
class Node:
    """A value of a document. key: its name or index in the parent node, `up`."""

    value: Any
    source: DocumentSource
    key: str | int | None = None
    up: Node | None = None

    @property
    def path(self) -> KeyPath:
        steps: list[str | int] = []
        node: Node | None = self
        while node is not None and node.key is not None:
            steps.append(node.key)
            node = node.up
        return tuple(reversed(steps))

    @property
    def where(self) -> str:
        return self.source.where(self.path)

    # -- faults

    def fail(self, why: str, help: str | None = None, *, code: str = "") -> NoReturn:
        raise UsageFault(code or self.source.codes.bad_value, why, where=self.where or None, help=help)

    def bad(self, why: str, help: str | None = None) -> NoReturn:
        """Fail with the name of the key in front, unless the place names it."""
        self.fail(self.source.label(self.path) + why, help)

    def expected(self, what: str, help: str | None = None) -> NoReturn:
        self.bad(f"expected {what}, not {format_value(self.value, self.source.OBJECT)}", help)

    # -- what is inside

    def inside(self, key: str | int) -> Node:
        """Return the node of a part without its value, for faults about a value that was already read."""
        return Node(None, self.source, key, self)

    def object(self, required: Collection[str] = (), optional: Collection[str] | None = ()) -> Node:
        """Return this node if it is an object with the required keys and no unknown one; None allows any key."""
        members = self._members()
        if optional is not None and [k for k in members if k not in optional and k not in required]:
            self.reject_unknown((*required, *optional))
        for key in required:
            if key not in members:
                self[key]
        return self

    def reject_unknown(self, allowed: Collection[str]) -> None:
        for key in self.value:
            if key not in allowed:
                code, inside = self.source.codes.unknown_key, self.source.inside(self.path)
                self.inside(key).fail(f"unknown key `{key}`{inside}", did_you_mean(key, allowed), code=code)

    def _members(self) -> dict[str, Any]:
        """Return the value if it is an object; fail otherwise."""
        if not isinstance(self.value, dict):
            self.expected(self.source.OBJECT)
        return self.value

    def __contains__(self, key: str) -> bool:
        return key in self._members()

    def __getitem__(self, key: str) -> Node:
        """Return a field of an object; fail if it is missing."""
        if key not in self._members():
            self.inside(key).fail(f"`{key}` is missing", code=self.source.codes.missing_key)
        return Node(self.value[key], self.source, key, self)

    def get(self, key: str, default: Any = None) -> Node:
        """Return a field of an object, or a node with the default."""
        return Node(self._members().get(key, default), self.source, key, self)

    def maybe(self, key: str, read: Callable[[Node], T], default: D) -> T | D:
        """Return `read` of a field, or the default if there is no such field."""
        return read(self[key]) if key in self else default

    def fields(self) -> Iterator[tuple[str, Node]]:
        """Yield the fields of an object, in the order of the document."""
        return ((key, Node(value, self.source, key, self)) for key, value in self._members().items())

    def map(self, read: Callable[[Node], T]) -> dict[str, T]:
        return {key: read(node) for key, node in self.fields()}

    def items(self) -> list[Node]:
        if not isinstance(self.value, list):
            self.expected("a list")
        return [Node(value, self.source, index, self) for index, value in enumerate(self.value)]

    # -- what it is

    def text(self) -> str:
        if not isinstance(self.value, str):
            self.expected("a text")
        return self.value

    def texts(self) -> tuple[str, ...]:
        return tuple(node.text() for node in self.items())

    def boolean(self) -> bool:
        if not isinstance(self.value, bool):
            self.expected("true or false")
        return self.value

    def integer(self, least: int | None = None) -> int:
        value = self.value
        if not isinstance(value, int) or isinstance(value, bool) or (least is not None and value < least):
            self.expected("a whole number" if least is None else f"a whole number, {least} or more")
        return value

    def natural(self) -> int:
        return self.integer(least=0)

    def positive(self) -> int:
        return self.integer(least=1)

    def choice(self, allowed: Iterable[str]) -> str:
        """Return the value if it is one of these texts."""
        names = list(allowed)
        if self.value not in names:
            near = did_you_mean(self.value, names) if isinstance(self.value, str) else None
            self.expected(" or ".join(names), near)
        return str(self.value)

    def member(self, kind: type[M]) -> M:
        """Return the member of an Enum with exactly this name."""
        return kind[self.choice(kind.__members__)]


def format_value(value: object, object_word: str = "an object") -> str:
    """Return a value in short form for a message, in the words of the notation."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case dict():
            return object_word
        case list():
            return "a list"
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


class JsonSource(DocumentSource):
    """A JSON document. text, start: its source and the position at which it begins, to find lines.

    root: the name of the whole document in a path; if empty, a path is `isr[1]` instead of `$.isr[1]`. before: number
    of lines of a stream before the text.
    """

    OBJECT = "an object"

    def __init__(
        self, name: str, codes: Codes, text: str = "", start: int = 0, root: str = "$", before: int = 0
    ) -> None:
        super().__init__(name, codes)
        self.text, self.start, self.root, self.before = text, start, root, before

    def where(self, path: KeyPath) -> str:
        written = self.root
        for step in path:
            if isinstance(step, int):
                written += f"[{step}]"
            elif self.root and not step.isidentifier():
                written += f"[{step!r}]"
            else:
                written += f".{step}" if written else step
        if not self.name:
            return written
        line = f":{self.before + json_line(self.text, path, self.start)}" if self.text else ""
        return f"{self.name}{line}" + (f": {written}" if written else "")


class TomlSource(DocumentSource):
    """A TOML document. A place is a line, and a message names the key."""

    OBJECT = "a table"

    def __init__(self, name: str, codes: Codes, text: str = "", joint: str = "_") -> None:
        super().__init__(name, codes)
        self.text, self.joint = text, joint
        self._lines: Mapping[KeyPath, int] | None = None

    def where(self, path: KeyPath) -> str:
        """Return the line of the path, or of the nearest table around it that has one."""
        if self._lines is None:
            self._lines = toml_lines(self.text)
        for end in range(len(path), 0, -1):
            if path[:end] in self._lines:
                return f"{self.name}:{self._lines[path[:end]]}"
        return self.name

    def label(self, path: KeyPath) -> str:
        names = [step for step in path if isinstance(step, str)]
        return f"`{names[-1]}`: " if names else ""

    def inside(self, path: KeyPath) -> str:
        names = [step for step in path if isinstance(step, str)]
        return f" in [{'.'.join(names)}]" if names else ""


# ------------------------------------------------- lines of paths, only computed for faults

_BLANK = re.compile(r"[ \t\r\n]*")
_HEADER = re.compile(r"""(\[\[?)((?:[\w.\s-]|"[^"]*"|'[^']*')++)\]\]?\s*(?:#.*)?$""")
_KEY = re.compile(r"""((?:[\w.\s-]|"[^"]*"|'[^']*')++)=""")
"""Possessive, so that a very long line is scanned only once."""
_PART = re.compile(r""""([^"]*)"|'([^']*)'|([\w-]+)""")
_LONG = re.compile(r"\"\"\"|'''")


def json_line(text: str, path: KeyPath, start: int = 0) -> int:
    """Return the line on which the value at a path begins, or the innermost existing value around it.

    text: valid JSON.
    """
    decoder = json.JSONDecoder()
    position = skip_blank(text, start)
    for step in path:
        inner = _member(text, position, step, decoder)
        if inner is None:
            break
        position = inner
    return text.count("\n", 0, position) + 1


def _member(text: str, position: int, step: str | int, decoder: json.JSONDecoder) -> int | None:
    """Return the position at which the value of a field or an element begins, or None."""
    if text[position] != ("{" if isinstance(step, str) else "["):
        return None
    position, index = skip_blank(text, position + 1), 0
    while text[position] not in "}]":
        key: str | int = index
        if isinstance(step, str):
            key, position = decoder.raw_decode(text, position)
            position = skip_blank(text, skip_blank(text, position) + 1)
        if key == step:
            return position
        _, position = decoder.raw_decode(text, position)
        position = skip_blank(text, position)
        if text[position] == ",":
            position = skip_blank(text, position + 1)
        index += 1
    return None


def skip_blank(text: str, position: int) -> int:
    """Return the position after the blanks of JSON at a position."""
    blank = _BLANK.match(text, position)
    return blank.end() if blank else position


def toml_lines(text: str) -> dict[KeyPath, int]:
    """Return the line of every key and header of a TOML text, by path; arrays of tables count from 0.

    Inline tables are not followed: their keys are on the line of the table.
    """
    lines: dict[KeyPath, int] = {}
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
                    lines.setdefault(table, number)
                if table in arrays:
                    table = (*table, arrays[table])
                lines.setdefault(table, number)
        elif key := _KEY.match(line):
            here = table
            for word in _parts(key[1]):
                here = (*here, word)
                lines.setdefault(here, number)
    return lines


def _parts(dotted: str) -> list[str]:
    return ["".join(groups) for groups in _PART.findall(dotted)]
