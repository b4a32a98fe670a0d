"""Queries: single expressions of the modelling language, entered by a user, compiled and evaluated.

A query is parsed and type-checked like the model's source and never executed by Python. Its names are `s`, the state;
`t`, the state after the next step; `c`, the configuration; and the operators, enums and constants of the model. The
model itself may use a missing value where nothing depends on it; a query reports it: `s.broker[s.partition.leader]` has
no value while there is no leader.
"""

from __future__ import annotations

import ast
import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from elrcheck.lang import expr
from elrcheck.lang.algebra import ConcreteAlgebra
from elrcheck.lang.compiler.expressions import Expressions
from elrcheck.lang.compiler.scope import Env, Value
from elrcheck.lang.comprehensions import MEMO
from elrcheck.lang.comprehensions import Env as Values
from elrcheck.lang.evaluate import STATES, Evaluator
from elrcheck.lang.expr import Expression
from elrcheck.lang.ir import Fn, StateView, state_view
from elrcheck.lang.load import Model
from elrcheck.lang.runtime import ModelConfig
from elrcheck.lang.tree import sorts_in, types_inside, walk
from elrcheck.lang.types import Ty, record_fields

LONGEST = 2000
"""Maximum length of an expression, in characters."""
WIDEST = 1000
"""Maximum length of a `range`, where it is known at compile time."""
BUILTINS = ("len", "all", "any", "sum", "min", "max", "frozenset", "tuple", "next", "implies", "range")


class QueryError(Exception):
    """An error in an expression. begin, end: the characters concerned; meant: names that are valid there."""

    def __init__(self, message: str, begin: int = 0, end: int = 0, word: str = "") -> None:
        super().__init__(message)
        self.begin, self.end, self.word = begin, max(end, begin + 1), word
        self.meant: tuple[str, ...] = ()


class NoValue(Exception):
    """The expression has no value in this state; the message says why."""


@dataclass(frozen=True)
class Query:
    """A compiled expression. is_step: it reads a state and the next one."""

    text: str
    expression: Expression
    is_step: bool

    @property
    def ty(self) -> Ty:
        return self.expression.ty


def compile_query(model: Model, text: str) -> Query:
    """Compile an expression; raise QueryError if it is not in the language."""
    if len(text) > LONGEST:
        raise QueryError(f"an expression may have {LONGEST} characters, this has {len(text)}")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except SyntaxError as fault:
        begin = max(0, (fault.offset or 1) - 1)
        raise QueryError(f"this is not an expression: {fault.msg}", begin) from fault
    except (ValueError, RecursionError, MemoryError) as fault:
        raise QueryError("this is not an expression") from fault
    source = _QueryText(text.strip())
    reader = _QueryReader(_CompiledFunctions(model), source, _scope(model))
    fields = model.state_fields
    whole_config = expr.WholeConfig(Ty("config", model.config.__name__))
    env: Env = {"c": whole_config, "s": state_view("now", fields), "t": state_view("next", fields)}
    try:
        expression = reader.ex(tree, env)
    except RecursionError as fault:
        raise QueryError("the expression is too deep") from fault
    if isinstance(expression, StateView):
        source.error(tree, "this is a whole state: choose a part of it, such as s.partition")
    if expression.ty.kind in ("config", "none"):
        source.error(tree, "this is not a value of a state")
    is_step = any(isinstance(node, ast.Name) and node.id == "t" for node in ast.walk(tree))
    return Query(text.strip(), expression, is_step)


class Asker:
    """Evaluates queries over plain states of one configuration."""

    def __init__(self, model: Model, config: ModelConfig) -> None:
        self.ty = model.state_ty
        self.evaluator = _CarefulEvaluator(model.fns, config, ConcreteAlgebra())

    def value(self, query: Query, *states: object) -> Any:
        """Evaluate a query to a plain value; raise NoValue if it has none. states: one, or two for a step."""
        structure = self.evaluator.structure
        env: Values = {STATES: tuple(structure.lift(state, self.ty) for state in states), MEMO: {}}
        return structure.lower(self.evaluator.ev(query.expression, env), query.ty)


# ---------------------------------------------------------------------------- compiling


@dataclass(frozen=True)
class _QueryText:
    """The text of a query, in the role of a function's source."""

    text: str

    def line_of(self, node: ast.AST) -> int:
        return int(getattr(node, "lineno", 1))

    def error(self, node: ast.AST, message: str, help: str = "") -> NoReturn:
        """Raise QueryError at a node; the help is about model functions and is left out."""
        lines = self.text.splitlines(keepends=True)
        at = self.line_of(node) - 1
        above = sum(map(len, lines[:at]))
        begin = len(lines[at].encode()[: getattr(node, "col_offset", 0)].decode(errors="replace"))
        end = begin + 1
        if getattr(node, "end_lineno", None) == at + 1:
            end = len(lines[at].encode()[: getattr(node, "end_col_offset", 0)].decode(errors="replace"))
        word = node.func if isinstance(node, ast.Call) else node
        name = getattr(word, "attr", None) or getattr(word, "id", "")
        message = message.removesuffix(" (decorate it with @op)").removesuffix(": import it")
        raise QueryError(message, above + begin, above + end, str(name))


class _CompiledFunctions:
    """The compiled functions of a model, in the role of the frontend."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.state, self.config = model.state, model.config
        self.state_fields = model.state_fields
        self.sorts = sorts_in(model.state_ty)

    def fn(self, function: Callable[..., object]) -> Fn:
        return self.model.fns[function.__name__]


class _QueryReader(Expressions):
    """Reads expressions of the language from untrusted text."""

    def __init__(self, compiled: _CompiledFunctions, source: _QueryText, scope: dict[str, object]) -> None:
        super().__init__(compiled, source, scope)
        self.compiled = compiled

    def ex(self, node: ast.expr, env: Env) -> Value:
        """Read an expression as in a model; a failure without a message becomes an error at the innermost place."""
        try:
            value = super().ex(node, env)
        except QueryError as fault:
            if not fault.meant and fault.word:
                fault.meant = self._meant(node, fault, env)
            raise
        except (AttributeError, IndexError, KeyError, TypeError, ValueError, AssertionError):
            self.source.error(node, "this is not an expression of the modelling language")
        if isinstance(value, expr.Binder) and value.over == "range":
            numbers = (e.value for e in walk(value.domain) if isinstance(e, expr.Constant))
            if any(int(number) > WIDEST for number in numbers):
                self.source.error(node, f"a range of more than {WIDEST} numbers")
        return value

    def _meant(self, node: ast.expr, fault: QueryError, env: Env) -> tuple[str, ...]:
        """Return the names that are valid at the place of an error."""
        if isinstance(node, ast.Attribute):
            records = (ty for ty, _, _ in types_inside(self.compiled.model.state_ty) if ty.kind == "record")
            fields = {name for ty in records for name in ty.fields}
            enums = (v for v in self.globals.values() if isinstance(v, type) and issubclass(v, enum.Enum))
            members = {name for cls in enums for name in cls.__members__}
            own = {*self.compiled.state_fields, *fields, *record_fields(self.compiled.config), *members}
            return tuple(sorted(own))
        if isinstance(node, ast.Name | ast.Call):
            return tuple(sorted({*env, *self.globals, *BUILTINS}))
        return ()


def _scope(model: Model) -> dict[str, object]:
    """Return the names of a query: operators, properties, and the enums, records and constants of their modules."""
    scope: dict[str, object] = {}
    for fn in model.fns.values():
        for name, value in fn.source.__globals__.items():
            is_class = isinstance(value, type) and (
                issubclass(value, enum.Enum) or getattr(value, "__elr_role__", None) == "record"
            )
            if is_class or (isinstance(value, frozenset) and not value):
                scope[name] = value
    return {**scope, **{fn.name: fn.source for fn in model.fns.values()}}


# ---------------------------------------------------------------------------- evaluating


class _CarefulEvaluator(Evaluator):
    """Raises NoValue where the query itself uses a missing value. Inside operators of the model such a value may be
    anything, as everywhere in the language."""

    def __init__(self, fns: Mapping[str, Fn], config: ModelConfig, algebra: ConcreteAlgebra) -> None:
        super().__init__(fns, config, algebra)
        self.depth = 0

    def call(self, fn: Fn, states: tuple[Mapping[str, Any], ...], args: Mapping[str, Any]) -> Any:
        self.depth += 1
        try:
            return super().call(fn, states, args)
        finally:
            self.depth -= 1

    def element(self, e: expr.Get, env: Values) -> Any:
        if not self.depth and self.structure.is_none(self.ev(e.value, env), e.value.ty):
            raise NoValue(f"{_text(e.value)} is none")
        return super().element(e, env)

    def vector_entry(self, e: expr.VectorGet, env: Values) -> Any:
        index, keys = self.ev(e.index, env), e.vector.ty.keys
        if not self.depth and self.structure.position(index, keys) is None:
            raise NoValue(f"there is no {keys.word or keys} {index}")
        return super().vector_entry(e, env)

    def sequence_entry(self, e: expr.SequenceGet, env: Values) -> Any:
        (length, _), index = self.ev(e.sequence, env), self.ev(e.index, env)
        if not self.depth and not 0 <= index < length:
            raise NoValue(f"{_text(e.sequence)} has {length} elements, none at {index}")
        return super().sequence_entry(e, env)


def _text(e: Expression) -> str:
    return "the value" if e.node is None else ast.unparse(e.node)
