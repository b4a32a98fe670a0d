r"""Pretty-print TLA+ text: on one line where it fits, broken over several where it does not.

A document knows its one-line form (`flat`) and how to break itself. Lines are relative to the column
where the document starts, so that composing only means shifting: the first line follows whatever
precedes it, the others are indented by as many spaces. Columns matter in TLA+, where they delimit
a list of conjuncts:

    /\ a
    /\ IF b THEN
           c
       ELSE
           d

Invariant: every line of an item is to the right of its bullet, and a broken list that is an operand of
another expression is put in parentheses. `flat` is None for text that cannot be on one line (comments).
A comment never ends the last line of a document, because a closing bracket may follow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH = 100
INDENT = 4
LONG_HEAD = 28

Lines = list[str]


class Doc:
    """A piece of text; `flat` is its one-line form, or None."""

    flat: str | None

    def broken(self, width: int) -> Lines:
        """Return the lines to use when the one-line form does not fit."""
        raise NotImplementedError


def render(doc: Doc, width: int) -> Lines:
    """Lay the document out on as few lines as it needs."""
    if doc.flat is not None and len(doc.flat) <= width:
        return [doc.flat]
    return doc.broken(width)


def comment_lines(text: str) -> Lines:
    """Return a text as lines of a TLA+ comment."""
    return [f"\\* {line}".rstrip() for line in text.splitlines()]


def indent(lines: Lines, by: int = INDENT) -> Lines:
    return [" " * by + line for line in lines]


def behind(head: str, lines: Lines) -> Lines:
    """Put the lines after a head, later lines aligned with the first."""
    return [head + lines[0], *indent(lines[1:], len(head))]


def _joined(parts: Sequence[Doc], separator: str) -> str | None:
    flats = [part.flat for part in parts]
    return None if None in flats else separator.join(flat for flat in flats if flat is not None)


class PlainText(Doc):
    """Text that stays on one line."""

    def __init__(self, text: str) -> None:
        self.flat: str = text

    def broken(self, width: int) -> Lines:
        return [self.flat]


class Bracketed(Doc):
    """A document between brackets."""

    def __init__(self, opening: str, body: Doc, closing: str) -> None:
        self.opening, self.body, self.closing = opening, body, closing
        self.flat = None if body.flat is None else f"{opening}{body.flat}{closing}"

    def broken(self, width: int) -> Lines:
        lines = behind(self.opening, render(self.body, width - len(self.opening) - len(self.closing)))
        return [*lines[:-1], lines[-1] + self.closing]


class Headed(Doc):
    """`head body`: the body is aligned after a short head, else indented on the next line."""

    def __init__(self, head: str, body: Doc, *, hang: bool = False) -> None:
        self.head, self.body, self.hang = head, body, hang
        self.flat = None if body.flat is None else f"{head} {body.flat}"

    def broken(self, width: int) -> Lines:
        if not self.hang and len(self.head) <= LONG_HEAD:
            return behind(f"{self.head} ", render(self.body, width - len(self.head) - 1))
        return [self.head, *indent(render(self.body, width - INDENT))]


class Items(Doc):
    """A comma list between brackets, one item a line when broken."""

    def __init__(self, opening: str, items: Sequence[Doc], closing: str) -> None:
        self.opening, self.items, self.closing = opening, items, closing
        inside = _joined(items, ", ")
        self.flat = None if inside is None else f"{opening}{inside}{closing}"

    def broken(self, width: int) -> Lines:
        hang = len(self.opening) > LONG_HEAD
        by = INDENT if hang else len(self.opening)
        lines: Lines = []
        for i, item in enumerate(self.items):
            item_lines = render(item, width - by - len(self.closing))
            lines += [*item_lines[:-1], item_lines[-1] + ("," if i < len(self.items) - 1 else self.closing)]
        return [self.opening, *indent(lines)] if hang else behind(self.opening, lines)


class Chain(Doc):
    """Operands of an infix operator; when broken, each further line starts with the operator."""

    def __init__(self, operator: str, operands: Sequence[Doc]) -> None:
        self.operator, self.operands = operator, operands
        self.flat = _joined(operands, f" {operator} ")

    def broken(self, width: int) -> Lines:
        lines = render(_operand(self.operands[0], width), width)
        for operand in self.operands[1:]:
            inner = width - len(self.operator) - 1
            lines += behind(f"{self.operator} ", render(_operand(operand, inner), inner))
        return lines


def _operand(doc: Doc, width: int) -> Doc:
    """Put the operand in parentheses if it will become a bulleted list."""
    fits = doc.flat is not None and len(doc.flat) <= width
    return Bracketed("(", doc, ")") if isinstance(doc, Bullets) and not fits else doc


@dataclass(frozen=True)
class ListItem:
    """One member of a bulleted list.

    inline: what to print when the list is on one line, with the parentheses it needs there.
    """

    doc: Doc
    inline: Doc | None = None
    comment: str = ""
    comment_first: bool = False


class Bullets(Doc):
    r"""A conjunction or disjunction: `a /\ b`, or a list with one item below the other.

    stacked: always a list, as its items lack the parentheses they would need on one line.
    """

    def __init__(self, operator: str, items: Sequence[ListItem], *, stacked: bool = False) -> None:
        self.operator, self.items = operator, items
        plain = [item.inline or item.doc for item in items]
        broken = stacked or any(i.comment for i in items)
        self.flat = None if broken else _joined(plain, f" {operator} ")

    def broken(self, width: int) -> Lines:
        lines: Lines = []
        single = len(self.items) == 1
        bullet = "" if single else f"{self.operator} "
        for i, item in enumerate(self.items):
            item_lines = behind(bullet, render(item.doc, width - len(bullet)))
            if item.comment:
                last = i == len(self.items) - 1
                beside = f"{item_lines[0]}  \\* {item.comment}"
                if len(item_lines) == 1 and len(beside) <= width and not item.comment_first and not last:
                    item_lines = [beside]
                else:
                    item_lines = [f"\\* {item.comment}", *item_lines]
            lines += item_lines
        return lines


class Definitions(Doc):
    """LET definitions IN body."""

    def __init__(self, definitions: Sequence[tuple[str, Doc]], body: Doc, *, stacked: bool) -> None:
        self.definitions, self.body = definitions, body
        defined = _joined([Headed(f"{n} ==", d) for n, d in definitions], " ")
        broken = stacked or body.flat is None or defined is None
        self.flat = None if broken else f"LET {defined} IN {body.flat}"

    def broken(self, width: int) -> Lines:
        definitions, body = [*self.definitions], self.body
        while isinstance(body, Definitions):  # one LET for all: each definition may use those before it
            definitions += body.definitions
            body = body.body
        lines: Lines = []
        for name, doc in definitions:
            lines += render(Headed(f"{name} ==", doc), width - INDENT)
        return [*behind("LET ", lines), *behind("IN  ", render(body, width - INDENT))]


class Conditional(Doc):
    """IF condition THEN a ELSE b; a chain of ELSE IF stays at one column."""

    def __init__(self, condition: Doc, then: Doc, orelse: Doc) -> None:
        self.condition, self.then, self.orelse = condition, then, orelse
        parts = (condition.flat, then.flat, orelse.flat)
        self.flat = None if None in parts else f"IF {parts[0]} THEN {parts[1]} ELSE {parts[2]}"

    def broken(self, width: int) -> Lines:
        clauses, rest = [(self.condition, self.then)], self.orelse
        while isinstance(rest, Conditional):
            clauses.append((rest.condition, rest.then))
            rest = rest.orelse
        flat = [(c.flat, a.flat) for c, a in clauses]
        short = [f"IF {c} THEN {a}" for c, a in flat if c is not None and a is not None]
        if len(short) == len(clauses) and rest.flat is not None:
            lines = [short[0], *(f"ELSE {clause}" for clause in short[1:]), f"ELSE {rest.flat}"]
            if max(map(len, lines)) <= width:
                return lines
        lines = []
        for i, (condition, then) in enumerate(clauses):
            head = "ELSE IF " if i else "IF "
            head_lines = render(condition, width - len(head) - len(" THEN"))
            lines += [f"{head}{head_lines[0]} THEN"] if len(head_lines) == 1 else [*behind(head, head_lines), "THEN"]
            lines += indent(render(then, width - INDENT))
        return [*lines, "ELSE", *indent(render(rest, width - INDENT))]
