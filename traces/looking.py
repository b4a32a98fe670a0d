"""What a condition looks at: its text in the source, the places of the state it reads, and their values.

A place is written as reports write it (`broker[1].view.isr`), with every index worked out, so it can be
found in a trace; an expression that is no place is written as the source has it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from elrcheck.explorer.describe import text as in_words
from elrcheck.lang.evaluate import Env, Evaluator
from elrcheck.lang.ir import E
from elrcheck.lang.types import Ty
from elrcheck.report.tracing import Looked

WRAPPERS = ("get", "some")
OPERATORS = {"eq": "==", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "in": "in", "subset": "<=", "add": "+",
             "sub": "-", "union": "|", "inter": "&", "diff": "-"}  # fmt: skip


def source_text(e: E) -> str:
    """The expression as the model's source has it, on one line."""
    if e.node is not None:
        return ast.unparse(e.node)
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
    place = _place(evaluator, e, env)
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


def _place(evaluator: Evaluator, e: E, env: Env) -> str | None:
    """The path of a place in the state, None for any other expression."""
    match e.kind:
        case "svar":
            which, name = e.x
            return str(name) if which == "now" else f"{name}'"
        case "field":
            base = _place(evaluator, e.args[0], env)
            return None if base is None else f"{base}.{e.x}"
        case "vget" | "sget":
            base = _place(evaluator, e.args[0], env)
            return None if base is None else f"{base}[{evaluator.ev(e.args[1], env)}]"
        case "get" | "some":
            return _place(evaluator, e.args[0], env)
    return None
