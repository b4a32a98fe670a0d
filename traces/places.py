"""What a condition looks at: its text in the source, the places of the state it reads, and their values.

A place is written as reports write it (`broker[1].view.isr`), with every index worked out, so it can be
found in a trace; an expression that is no place is written as the source has it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from elrcheck.lang.evaluate import Env, Evaluator
from elrcheck.lang.ir import E
from elrcheck.lang.types import Ty
from elrcheck.results.trace_reports import Looked
from elrcheck.traces.describe import text as in_words

ALIAS = "@"
"""In an environment: before the name of a local that is a place, for its path."""
WRAPPERS = ("get", "some")
OPERATORS = {"eq": "==", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "in": "in", "subset": "<=", "add": "+",
             "sub": "-", "union": "|", "inter": "&", "diff": "-"}  # fmt: skip


def source_text(e: E) -> str:
    """The expression as the model's source has it, on one line."""
    if e.node is not None:
        return _single(ast.unparse(e.node))
    if e.kind in WRAPPERS:
        return source_text(e.args[0])
    parts = [source_text(part) for part in e.children()]
    if e.kind in OPERATORS and len(parts) == 2:
        return f"{parts[0]} {OPERATORS[e.kind]} {parts[1]}"
    if e.kind in ("and", "or"):
        return f" {e.kind} ".join(parts)
    if e.kind in ("const", "var", "enumc", "param"):
        return str(e.x)
    return f"{e.kind}({', '.join(parts)})"


def _single(text: str) -> str:
    """Without the second pair of parentheses that `ast.unparse` puts around a generator: all((x for ..))."""
    opened: list[int] = []
    doubled: set[int] = set()
    for place, char in enumerate(text):
        if char == "(":
            opened.append(place)
        elif char == ")" and opened:
            begin = opened.pop()
            if text[begin - 1 : begin] == "(" and text[place + 1 : place + 2] == ")" and begin > 1:
                doubled |= {begin, place} if opened and opened[-1] == begin - 1 else set()
    return "".join(char for place, char in enumerate(text) if place not in doubled)


def value_text(evaluator: Evaluator, value: Any, ty: Ty) -> str:
    """An evaluator's value in the words of reports."""
    return in_words(evaluator.structure.lower(value, ty), ty)


def looked_at(evaluator: Evaluator, e: E, env: Env) -> tuple[Looked, ...]:
    """The values behind an expression: its operands that are no constants, then the places in them."""
    found: dict[str, str] = {}
    for operand in e.children():
        for text, value in _values(evaluator, operand, env):
            found.setdefault(text, value)
    return tuple(Looked(text, value) for text, value in found.items())


def _values(evaluator: Evaluator, e: E, env: Env) -> Iterator[tuple[str, str]]:
    while e.kind in WRAPPERS:
        e = e.args[0]
    if e.kind in ("const", "enumc", "none", "universe", "ordered", "seqnil") or e.ty.kind == "config":
        return
    place = place_of(evaluator, e, env)
    if e.ty.kind not in ("record", "state") or (e.ty.kind == "record" and e.ty.name == "Entry"):
        shown = value_text(evaluator, evaluator.ev(e, env), e.ty)
        yield place or source_text(e), shown
    if place is None and e.kind not in ("var", "param"):
        for part in e.children():
            if not _binds(e, part):
                yield from _values(evaluator, part, env)


def _binds(e: E, part: E) -> bool:
    """Whether a part of a comprehension is about its own variable, which has no value outside."""
    return isinstance(e.x, tuple) and bool(e.x) and isinstance(e.x[0], E) and part is not e.args[0]


def place_of(evaluator: Evaluator, e: E, env: Env) -> str | None:
    """The path of a place in the state, None for any other expression."""
    match e.kind:
        case "svar":
            which, name = e.x
            return str(name) if which == "now" else f"{name}'"
        case "field":
            base = place_of(evaluator, e.args[0], env)
            return None if base is None else f"{base}.{e.x}"
        case "vget" | "sget":
            base = place_of(evaluator, e.args[0], env)
            return None if base is None else f"{base}[{evaluator.ev(e.args[1], env)}]"
        case "var":
            known = env.get(ALIAS + str(e.x))
            return None if known is None else str(known)
        case "get" | "some":
            return place_of(evaluator, e.args[0], env)
    return None
