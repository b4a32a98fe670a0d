"""Parse the values that TLC prints, or that a .cfg or a trace file contains, without type information.

A parsed value is plain, immutable and hashable Python:

    TRUE, FALSE         bool            {a, b}, 1..3        frozenset
    7, -1, (-1)         int             <<a, b>>            tuple
    "text"              str             [f |-> v]           Fn with str keys
    NoLeader            ModelValue      (k :> v @@ ..)      Fn

In TLA+ a function whose domain is 1..n *is* a sequence, a function on strings *is* a record and the
empty function *is* <<>>; TLC prints whichever form its internal class suggests, and the fields of a
record in no fixed order. `fn` therefore normalises: equal TLA+ values parse to equal Python values.
The one trap left is Python's own: `True == 1`. TLA+ sets are homogeneous, so it cannot merge members
of one set; the typed reader in `elrcheck.tla_export.reading.values` distinguishes booleans and integers.

The text is untrusted, so the parser is a plain recursive descent with a depth limit: it evaluates
nothing, and every error is a ValueSyntaxError that quotes the offending text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NoReturn

MAX_DEPTH = 100
MAX_INTERVAL = 100_000

IDENTIFIER = re.compile(r"(?!WF_|SF_)[0-9_]*[A-Za-z][A-Za-z0-9_]*\Z")
TOKEN = re.compile(
    r'\s*(?:(?P<text>"(?:[^"\\]|\\.)*")'
    r"|(?P<number>-?\d+(?!\w))"
    r"|(?P<mark><<|>>|\|->|:>|@@|\.\.|[\[\]{}(),])"
    r"|(?P<name>[A-Za-z0-9_]+(?:![A-Za-z0-9_]+)*))"
)
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", '"': '"', "\\": "\\"}
UNESCAPE = {value: key for key, value in ESCAPES.items()}


class ValueSyntaxError(ValueError):
    """The text is not a TLA+ value."""


@dataclass(frozen=True)
class ModelValue:
    """A TLC model value: equal only to itself, different from every string and number."""

    name: str


class TlaFunction(Mapping["Parsed", "Parsed"]):
    """A finite function that is not a sequence; with string keys, a record."""

    __slots__ = ("_hash", "_map")

    def __init__(self, items: Iterable[tuple[Parsed, Parsed]]) -> None:
        self._map = dict(items)
        self._hash = hash(frozenset(self._map.items()))

    def __getitem__(self, key: Parsed) -> Parsed:
        return self._map[key]

    def __iter__(self) -> Iterator[Parsed]:
        return iter(self._map)

    def __len__(self) -> int:
        return len(self._map)

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"Fn({self._map!r})"


Parsed = bool | int | str | ModelValue | frozenset["Parsed"] | tuple["Parsed", ...] | TlaFunction


def is_int(value: object) -> bool:
    """Return whether a value is an integer but not a boolean."""
    return isinstance(value, int) and not isinstance(value, bool)


def fn(items: Iterable[tuple[Parsed, Parsed]]) -> Parsed:
    """Build the function with these pairs, as a tuple if its domain is 1..n."""
    mapping = dict(items)
    if all(isinstance(k, int) and is_int(k) and 1 <= k <= len(mapping) for k in mapping):
        return tuple(mapping[i] for i in range(1, len(mapping) + 1))
    return TlaFunction(mapping.items())


def quote(text: str) -> str:
    """Format a TLA+ string literal."""
    return '"' + "".join("\\" + UNESCAPE[c] if c in UNESCAPE else c for c in text) + '"'


def unquote(literal: str) -> str:
    """Decode a TLA+ string literal, given with its quotes."""
    return re.sub(r"\\(.)", lambda m: ESCAPES.get(m[1], m[0]), literal[1:-1])


def parse(text: str) -> Parsed:
    """Parse the whole text as one value; raise ValueSyntaxError if it is not one."""
    reader = _ValueReader(text)
    value = reader.value(0)
    if reader.here < len(reader.tokens):
        reader.fail("more text after the value")
    return value


class _ValueReader:
    """One pass over the tokens of a text; `here` is the next one."""

    def __init__(self, text: str) -> None:
        self.tokens: list[tuple[str, str]] = []
        self.here = 0
        at = 0
        while match := TOKEN.match(text, at):
            self.tokens.append((match.lastgroup or "", match[match.lastgroup or 0]))
            at = match.end()
        if rest := text[at:].strip():
            raise ValueSyntaxError(f"not part of a TLA+ value: {rest[:40]!r}")

    def fail(self, why: str) -> NoReturn:
        near = " ".join(text for _, text in self.tokens[max(0, self.here - 3) : self.here + 3])
        raise ValueSyntaxError(f"{why} (near {near!r})" if near else f"{why} (empty text)")

    def peek(self) -> str:
        kind, text = self.tokens[self.here] if self.here < len(self.tokens) else ("end", "")
        return text if kind == "mark" else ""

    def take(self, kind: str | None = None, mark: str | None = None) -> str:
        if self.here >= len(self.tokens):
            self.fail("the value is cut short")
        actual, text = self.tokens[self.here]
        if (kind is not None and actual != kind) or (mark is not None and (actual, text) != ("mark", mark)):
            self.fail(f"expected {mark or kind}, found {text}")
        self.here += 1
        return text

    def value(self, depth: int) -> Parsed:
        """Read a value, with `a :> b @@ c :> d` and `a..b` around the atoms."""
        if depth > MAX_DEPTH:
            self.fail(f"nested deeper than {MAX_DEPTH}")
        first = self.atom(depth)
        if self.peek() == "..":
            self.here += 1
            return self.interval(first, self.atom(depth))
        if self.peek() != ":>":
            return first
        pairs: dict[Parsed, Parsed] = {}
        key = first
        while True:
            self.take(mark=":>")
            pairs.setdefault(key, self.atom(depth))  # f @@ g: the left one wins
            if self.peek() != "@@":
                return fn(pairs.items())
            self.here += 1
            key = self.atom(depth)

    def interval(self, low: Parsed, high: Parsed) -> Parsed:
        if not (isinstance(low, int) and isinstance(high, int) and is_int(low) and is_int(high)):
            self.fail("an interval needs two integers")
        if high - low >= MAX_INTERVAL:
            self.fail(f"an interval of more than {MAX_INTERVAL} numbers")
        return frozenset(range(low, high + 1))

    def listed(self, close: str, depth: int) -> list[Parsed]:
        members: list[Parsed] = []
        while self.peek() != close:
            if members:
                self.take(mark=",")
            members.append(self.value(depth + 1))
        self.here += 1
        return members

    def atom(self, depth: int) -> Parsed:
        if self.here >= len(self.tokens):
            self.fail("the value is cut short")
        kind, text = self.tokens[self.here]
        self.here += 1
        if kind == "text":
            return unquote(text)
        if kind == "number":
            return int(text) if len(text) < 40 else self.fail("a number of more than 39 digits")
        if kind == "name":
            return text == "TRUE" if text in ("TRUE", "FALSE") else ModelValue(text)
        match text:
            case "<<":
                return tuple(self.listed(">>", depth))
            case "{":
                return frozenset(self.listed("}", depth))
            case "(":
                inside = self.value(depth + 1)
                self.take(mark=")")
                return inside
            case "[":
                return self.record(depth)
        self.here -= 1
        self.fail(f"a value cannot start with {text}")

    def record(self, depth: int) -> Parsed:
        pairs: dict[Parsed, Parsed] = {}
        while self.peek() != "]":
            if pairs:
                self.take(mark=",")
            name = self.take("name")
            if name in pairs:
                self.fail(f"field {name} twice")
            self.take(mark="|->")
            pairs[name] = self.value(depth + 1)
        self.here += 1
        return fn(pairs.items())


def text_of(value: Parsed) -> str:
    """Return the canonical one-line TLA+ text of a parsed value; it needs the modules Integers, Sequences and TLC."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return str(value) if value >= 0 else f"({value})"
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, ModelValue):
        return value.name
    if isinstance(value, tuple):
        return "<<" + ", ".join(text_of(v) for v in value) + ">>"
    if isinstance(value, frozenset):
        return "{" + ", ".join(sorted(map(text_of, value), key=_by_length)) + "}"
    keys = sorted(value, key=lambda key: _by_length(text_of(key)))
    if all(isinstance(k, str) and IDENTIFIER.match(k) for k in keys):
        return "[" + ", ".join(f"{k} |-> {text_of(value[k])}" for k in keys) + "]"
    return "(" + " @@ ".join(f"{text_of(k)} :> {text_of(value[k])}" for k in keys) + ")"


def _by_length(text: str) -> tuple[int, str]:
    """Return a key that sorts texts the same way every time, and natural numbers by value."""
    return len(text), text
