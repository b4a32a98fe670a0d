"""The source text of a condition, the places of the state that it reads, and their values.

A place is written as in reports (`broker[1].view.isr`), with every index evaluated, so that the reader can look it up
in a trace; any other expression is written as in the source.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from elrcheck.lang import expr
from elrcheck.lang.algebra import ConcreteAlgebra
from elrcheck.lang.comprehensions import MEMO, Env
from elrcheck.lang.domains import key_text
from elrcheck.lang.evaluate import STATES, Evaluator
from elrcheck.lang.expr import Call, Expression, Quantifier
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.lang.runtime import ModelConfig
from elrcheck.lang.tree import children
from elrcheck.lang.types import Ty
from elrcheck.results.trace_reports import Looked
from elrcheck.traces.describe import is_log_record
from elrcheck.traces.describe import text as in_words


class Environments:
    """The evaluator of one model under one configuration, and the environments that it needs."""

    def __init__(self, model: Model, config: ModelConfig) -> None:
        self.model = model
        self.evaluator = Evaluator(model.fns, config, ConcreteAlgebra())

    def env_of(self, states: Sequence[Any], fn: Fn | None = None, args: Sequence[Any] = ()) -> Env:
        """Return the environment of a state or a step, with these values of the parameters of a function."""
        lift = self.evaluator.structure.lift
        env: Env = {STATES: tuple(lift(state, self.model.state_ty) for state in states), MEMO: {}}
        params = () if fn is None else fn.params
        return env | {name: lift(value, ty) for (name, ty), value in zip(params, args, strict=True)}

    def env_of_call(self, e: Call, env: Env) -> Env:
        """Return the environment of the body of a called function."""
        params = self.model.fns[e.function].params
        values = {name: self.evaluator.ev(argument, env) for (name, _), argument in zip(params, e.args, strict=True)}
        return {STATES: tuple(env[STATES][0 if moment == "now" else 1] for moment in e.states), MEMO: {}, **values}

    def bound(self, e: Quantifier, value: Any) -> tuple[str, str]:
        """Return the name of a quantifier's variable, and the element that it stands for."""
        return e.variable.name.rstrip("_"), value_text(self.evaluator, value, e.variable.ty)

    def aliases(self, names: Iterable[tuple[str, Expression]], env: Env) -> dict[str, str]:
        """Return the places of the state that names stand for, under which reports show them."""
        places = {ALIAS + name: place_of(self.evaluator, value, env) for name, value in names}
        return {key: place for key, place in places.items() if place is not None}

    def aliases_of_call(self, e: Call, env: Env) -> dict[str, str]:
        """Return the places that the parameters of a called function stand for."""
        names = [name for name, _ in self.model.fns[e.function].params]
        return self.aliases(zip(names, e.args, strict=True), env)


ALIAS = "@"
"""Prefix of an environment key: with the name of a local that stands for a place, the key of its path."""
INFIX: dict[expr.Order | expr.SetOperator | expr.Operator, str] = {
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "union": "|",
    "inter": "&",
    "diff": "-",
    "add": "+",
    "sub": "-",
    "div": "//",
    "mod": "%",
}


def unwrapped(e: Expression) -> Expression:
    """Strip the conversions between an optional and its element from an expression."""
    while isinstance(e, expr.Some | expr.Get):
        e = e.value
    return e


def source_text(e: Expression) -> str:
    """Format an expression on one line as in the model's source; a derived one as the source would."""
    if e.node is not None:
        return _single(ast.unparse(e.node))
    parts = [source_text(part) for part in children(e)]
    match e:
        case expr.Some() | expr.Get():
            return parts[0]
        case expr.Constant():
            return str(e.value)
        case expr.Variable() | expr.EnumMember() | expr.ConfigField():
            return e.name
        case expr.Field():
            return f"{parts[0]}.{e.name}"
        case expr.IsNone():
            return f"{parts[0]} is None"
        case expr.Equal():
            return " == ".join(parts)
        case expr.MemberExpr():
            return " in ".join(parts)
        case expr.Subset():
            return " <= ".join(parts)
        case expr.Junction():
            return f" {e.op} ".join(parts)
        case expr.Compare() | expr.SetOperation() | expr.Arithmetic():
            return f" {INFIX[e.op]} ".join(parts) if e.op in INFIX else f"{e.op}({', '.join(parts)})"
        case expr.Length():
            return f"len({parts[0]})"
        case expr.Elements():
            return f"frozenset({parts[0]})"
        case expr.IfElse():
            return f"{parts[1]} if {parts[0]} else {parts[2]}"
        case _:
            return f"{type(e).__name__.removesuffix('Expr')}({', '.join(parts)})"


def _single(text: str) -> str:
    """Remove the second pair of parentheses that `ast.unparse` puts around a generator: all((x for ..))."""
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
    """Format an evaluator's value as reports do."""
    return in_words(evaluator.structure.lower(value, ty), ty)


def looked_at(evaluator: Evaluator, operands: Iterable[Expression], env: Env) -> tuple[Looked, ...]:
    """List the values behind an expression: its operands, except constants, then the places in them."""
    values: dict[str, str] = {}
    for operand in operands:
        for text, value in _values(evaluator, operand, env):
            values.setdefault(text, value)
    return tuple(Looked(text, value) for text, value in values.items())


def _values(evaluator: Evaluator, e: Expression, env: Env) -> Iterator[tuple[str, str]]:
    e = unwrapped(e)
    match e:
        case (
            expr.Constant()
            | expr.EnumMember()
            | expr.NoneLiteral()
            | expr.WholeSort()
            | expr.SortList()
            | expr.EmptySequence()
            | expr.WholeConfig()
        ):
            return
    place = place_of(evaluator, e, env)
    if e.ty.kind not in ("record", "state") or (e.ty.kind == "record" and is_log_record(e.ty)):
        value = value_text(evaluator, evaluator.ev(e, env), e.ty)
        yield place or source_text(e), value
    if place is None:
        for part in _outside(e):
            yield from _values(evaluator, part, env)


def _outside(e: Expression) -> tuple[Expression, ...]:
    """Return the operands that have a value outside the expression, because they do not use a variable it binds."""
    match e:
        case expr.Binder():
            return (e.domain,) if e.begin is None else (e.begin, e.domain)
        case expr.VectorOf():
            return ()
        case _:
            return children(e)


def place_of(evaluator: Evaluator, e: Expression, env: Env) -> str | None:
    """Return the path of a place in the state; None for any other expression."""
    match e:
        case expr.StateVariable():
            return e.name if e.moment == "now" else f"{e.name}'"
        case expr.Field():
            base = place_of(evaluator, e.record, env)
            return None if base is None else f"{base}.{e.name}"
        case expr.VectorGet():
            base, keys = place_of(evaluator, e.vector, env), e.vector.ty.keys
            key = key_text(evaluator.structure.lower(evaluator.ev(e.index, env), keys))
            return None if base is None else f"{base}[{key}]"
        case expr.SequenceGet():
            base = place_of(evaluator, e.sequence, env)
            return None if base is None else f"{base}[{evaluator.ev(e.index, env)}]"
        case expr.Variable():
            alias = env.get(ALIAS + e.name)
            return None if alias is None else str(alias)
        case expr.Some() | expr.Get():
            return place_of(evaluator, e.value, env)
    return None
