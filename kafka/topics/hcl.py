"""The part of HCL, Terraform's language, that needs no evaluation: blocks, and attributes with literal values.

    resource "kafka_topic" "orders" {
      replication_factor = 3
      config             = { "min.insync.replicas" = "2" }
    }

A value is a string, a number as text, a bool, None, a list or a dictionary. Any other one, such as `var.replicas`,
is skipped and returned as an `Expression`, its text. Text that is not HCL raises HclFault with its line.
Source: HCL Native Syntax Specification, github.com/hashicorp/hcl/blob/main/hclsyntax/spec.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

BLANK = re.compile(r"[ \t\r]+")
COMMENT = re.compile(r"#[^\n]*|//[^\n]*|/\*.*?\*/", re.DOTALL)
NAME = re.compile(r"[^\W\d][\w-]*")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])")
HEREDOC = re.compile(r"<<-?([^\W\d][\w-]*)\r?\n")
ESCAPES = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}
WORDS = {"true": True, "false": False, "null": None}
OPENING = {"{": "}", "[": "]", "(": ")"}
MOST_NESTED = 100


class Expression(NamedTuple):
    """The text of a value that would have to be evaluated."""

    text: str


Value: TypeAlias = "str | bool | list[Value] | dict[str, Value] | Expression | None"


class Attribute(NamedTuple):
    """The value of an attribute, and its line."""

    value: Value
    line: int


@dataclass(frozen=True)
class HclBlock:
    """A block: `kind "label" { .. }`."""

    kind: str
    labels: tuple[str, ...]
    attributes: dict[str, Attribute]
    blocks: tuple[HclBlock, ...]
    line: int


class HclFault(ValueError):
    """Text that is not HCL. line: where it stands, from 1."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(why)
        self.line = line


def read_blocks(text: str) -> Iterator[HclBlock]:
    """Yield the blocks of a file, one after the other; raise HclFault at what is not HCL."""
    reader = _HclReader(text)
    while reader.has_more():
        yield reader.block(0)


class _HclReader:
    def __init__(self, text: str) -> None:
        self._text = text.removeprefix("\ufeff")
        self._at = 0
        self._counted = (0, 1)
        """A position, and its line: lines are counted once."""

    def has_more(self) -> bool:
        """Skip blanks, lines and comments; return whether anything follows."""
        self._skip(lines=True)
        return self._at < len(self._text)

    def block(self, depth: int) -> HclBlock:
        """Read a block that begins here."""
        line, kind = self._line(), self._name("a block")
        return self._block(kind, line, depth)

    def _block(self, kind: str, line: int, depth: int) -> HclBlock:
        """Read labels and body of a block whose kind was read."""
        if depth > MOST_NESTED:
            raise self._fault(f"more than {MOST_NESTED} blocks inside each other")
        labels: list[str] = []
        self._skip()
        while not self._accept("{"):
            label = self._string() if self._peek() == '"' else self._name("a label or `{`")
            if isinstance(label, Expression):
                raise self._fault("a label is an expression")
            labels.append(label)
            self._skip()
        attributes: dict[str, Attribute] = {}
        blocks: list[HclBlock] = []
        while True:
            self._skip(lines=True)
            if self._accept("}"):
                return HclBlock(kind, tuple(labels), attributes, tuple(blocks), line)
            at, name = self._line(), self._name("an attribute, a block or `}`")
            self._skip()
            if self._peek() != "=":
                blocks.append(self._block(name, at, depth + 1))
                continue
            self._at += 1
            if name in attributes:
                raise HclFault(at, f"`{name}` appears twice")
            attributes[name] = Attribute(self._value(depth), at)
            self._skip()
            if self._peek() not in ("\n", "}", ""):
                raise self._fault("the end of the line expected")

    def _value(self, depth: int) -> Value:
        """Read a literal, or skip an expression."""
        self._skip()
        start = self._at
        value = self._literal(depth)
        if not isinstance(value, Expression):
            self._skip()
            if self._peek() in ("\n", ",", "}", "]", ""):
                return value
        self._at = start
        return self._expression()

    def _literal(self, depth: int) -> Value:
        if depth > MOST_NESTED:
            raise self._fault(f"more than {MOST_NESTED} values inside each other")
        following = self._peek()
        if following == '"':
            return self._string()
        if following == "[":
            return self._list(depth + 1)
        if following == "{":
            return self._object(depth + 1)
        if (number := NUMBER.match(self._text, self._at)) is not None:
            self._at = number.end()
            return number[0]
        if (word := NAME.match(self._text, self._at)) is not None and word[0] in WORDS:
            self._at = word.end()
            return WORDS[word[0]]
        return Expression("")

    def _list(self, depth: int) -> Value:
        self._at += 1
        items: list[Value] = []
        while True:
            self._skip(lines=True)
            if self._accept("]"):
                return items
            if (word := NAME.match(self._text, self._at)) is not None and word[0] == "for":
                return Expression("")
            items.append(self._value(depth))
            self._skip(lines=True)
            if not self._accept(",") and self._peek() != "]":
                raise self._fault("`,` or `]` expected")

    def _object(self, depth: int) -> Value:
        self._at += 1
        items: dict[str, Value] = {}
        while True:
            self._skip(lines=True)
            if self._accept("}"):
                return items
            word = NAME.match(self._text, self._at)
            if (word is not None and word[0] == "for") or self._peek() == "(":
                return Expression("")
            key = self._string() if self._peek() == '"' else self._key()
            self._skip()
            if not self._accept("=") and not self._accept(":"):
                raise self._fault("`=` expected")
            if isinstance(key, Expression):
                return key
            if key in items:
                raise self._fault(f"the key `{key}` appears twice")
            items[key] = self._value(depth)
            self._skip()
            if not self._accept(",") and self._peek() not in ("\n", "}"):
                raise self._fault("`,`, `}` or the end of the line expected")

    def _key(self) -> str:
        if (number := NUMBER.match(self._text, self._at)) is not None:
            self._at = number.end()
            return number[0]
        return self._name("a key")

    def _string(self) -> str | Expression:
        """Read a quoted string; one with a template is an expression."""
        start, literal = self._at, True
        parts: list[str] = []
        self._at += 1
        while True:
            sign = self._peek()
            if sign in ("", "\n"):
                raise self._fault("the string does not end on its line")
            if sign == '"':
                self._at += 1
                return "".join(parts) if literal else Expression(self._text[start : self._at])
            if sign == "\\":
                parts.append(self._escaped())
            elif self._text.startswith(("$${", "%%{"), self._at):
                parts.append(sign + "{")
                self._at += 3
            elif self._text.startswith(("${", "%{"), self._at):
                literal = False
                self._at += 1
                self._balanced()
            else:
                parts.append(sign)
                self._at += 1

    def _escaped(self) -> str:
        following = self._text[self._at + 1 : self._at + 2]
        size = {"u": 4, "U": 8}.get(following, 0)
        digits = self._text[self._at + 2 : self._at + 2 + size]
        if size and re.fullmatch(rf"[0-9a-fA-F]{{{size}}}", digits) and int(digits, 16) < 0x110000:
            self._at += 2 + size
            return chr(int(digits, 16))
        if following not in ESCAPES:
            raise self._fault(f"`\\{following}` is not an escape")
        self._at += 2
        return ESCAPES[following]

    def _expression(self) -> Expression:
        """Skip an expression up to the end of its line, or what closes the brackets around it."""
        start = self._at
        while self._peek() not in ("\n", ",", "}", "]", ")", ""):
            self._part()
        text = self._text[start : self._at].strip()
        if not text:
            raise self._fault("a value expected")
        return Expression(text)

    def _part(self) -> None:
        """Skip a part of an expression: a string, something in brackets, a comment, or a character."""
        sign = self._peek()
        heredoc = HEREDOC.match(self._text, self._at)
        if heredoc is not None:
            end = re.compile(rf"^[ \t]*{re.escape(heredoc[1])}[ \t\r]*$", re.MULTILINE)
            ending = end.search(self._text, heredoc.end())
            if ending is None:
                raise self._fault(f"the text does not end with {heredoc[1]}")
            self._at = ending.end()
        elif sign == '"':
            self._string()
        elif sign in OPENING:
            self._balanced()
        elif (comment := COMMENT.match(self._text, self._at)) is not None:
            self._at = comment.end()
        else:
            self._at += 1

    def _balanced(self) -> None:
        """Skip brackets with what is inside them."""
        line, closing = self._line(), [OPENING[self._peek()]]
        self._at += 1
        while closing:
            sign = self._peek()
            if sign == "":
                raise HclFault(line, f"`{closing[-1]}` is missing")
            if sign in OPENING:
                closing.append(OPENING[sign])
                self._at += 1
            elif sign in OPENING.values():
                if sign != closing.pop():
                    raise self._fault(f"`{sign}` closes nothing")
                self._at += 1
            else:
                self._part()

    def _skip(self, lines: bool = False) -> None:
        """Skip blanks and comments; with `lines`, also the ends of lines."""
        while True:
            blank = BLANK.match(self._text, self._at) or COMMENT.match(self._text, self._at)
            if blank is not None:
                self._at = blank.end()
            elif lines and self._peek() == "\n":
                self._at += 1
            elif self._text.startswith("/*", self._at):
                raise self._fault("the comment does not end")
            else:
                return

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _accept(self, sign: str) -> bool:
        if self._peek() != sign:
            return False
        self._at += 1
        return True

    def _name(self, what: str) -> str:
        name = NAME.match(self._text, self._at)
        if name is None:
            sign = f"`{self._peek()}`" if self._peek().strip() else "the end"
            raise self._fault(f"{what} expected, not {sign}")
        self._at = name.end()
        return name[0]

    def _line(self) -> int:
        at, line = self._counted if self._counted[0] <= self._at else (0, 1)
        self._counted = (self._at, line + self._text.count("\n", at, self._at))
        return self._counted[1]

    def _fault(self, why: str) -> HclFault:
        return HclFault(self._line(), why)
