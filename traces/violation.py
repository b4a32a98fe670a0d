"""Finds the part of a property that broke, and the members and values it broke for.

A witness is a list of `name=value` pairs, collected by descending into the false parts of the property:

* for a false `all`, the first element that fails: `b=1`;
* for a false `any`, the elements that satisfied it before the step: `b=nobody (0 before the step)`;
* for a false inclusion, the excess elements: `partition.isr - replicas={2}`; for a count, its elements;
* for other comparisons, the values compared, unless an element has been named already;
* for an implication, also the elements that the premise is about.

Values are named as in traces; in the state after a step a name has a prime, `partition.leader'`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from elrcheck.lang import expr
from elrcheck.lang.comprehensions import Env
from elrcheck.lang.expr import Expression
from elrcheck.lang.ir import Block, Fn, If, Let, Ret, StateView
from elrcheck.lang.load import Model
from elrcheck.lang.runtime import Conjunction, ModelConfig
from elrcheck.lang.tree import children
from elrcheck.traces.places import ALIAS, Environments, place_of, source_text, unwrapped, value_text

Pairs: TypeAlias = tuple[tuple[str, str], ...]
OPENED = ("record", "state", "vec", "config")
"""Kinds of types whose values are too long for one line."""


@dataclass(frozen=True)
class BrokenPart:
    """The first false conjunct, and the values that make it false, as `name=value, ..`."""

    conjunct: str | None = None
    witness: str | None = None


def explain(model: Model, config: ModelConfig, fn: Fn, states: Sequence[Any], before: Any = None) -> BrokenPart:
    """Explain why an `always` property is false on a state or a step. before: the predecessor of a state."""
    value = fn.source(config, *states)
    conjunct = value.broken[0] if isinstance(value, Conjunction) and value.broken else None
    finder = _Finder(model, config)
    env = finder.env_of(states)
    past = finder.env_of((before,)) if before is not None and len(states) == 1 else None
    values: dict[str, str] = {}
    for name, text in finder.body(fn.body, _Position(env, past), finder.why):
        values.setdefault(name, text)
    return BrokenPart(conjunct, ", ".join(f"{name}={text}" for name, text in values.items()) or None)


@dataclass(frozen=True)
class _Position:
    """A position in a property. past: the environment in the previous state, if there is one.

    named: an element has been named already. lets: the expressions that the function's locals stand for.
    """

    env: Env
    past: Env | None = None
    named: bool = False
    lets: dict[str, Expression] = field(default_factory=dict)


class _Finder(Environments):
    """Descends into the parts that decide a property."""

    def body(self, block: Block, at: _Position, follow: Callable[[Expression, _Position], Pairs]) -> Pairs:
        """Apply `follow` to the expression that a function's body returns."""
        ev = self.evaluator.ev
        while not isinstance(block, Ret):
            match block:
                case Let(name=name, value=value, rest=rest):
                    block, at = rest, self._let(at, name, value)
                case If(condition=condition, then=then, orelse=orelse):
                    block = then if ev(condition, at.env) else orelse
                case _:
                    return ()
        return () if isinstance(block.value, StateView) else follow(block.value, at)

    # -------------------------------------------------------------------------------- false

    def why(self, e: Expression, at: _Position) -> Pairs:
        """Collect the values that make a false expression false."""
        ev = self.evaluator.ev
        match e:
            case expr.Quantifier(op="all"):
                for holds, value, inner in self.evaluator.over(e, at.env):
                    if holds and not ev(e.body, inner):
                        return (self.bound(e, value), *self.why(e.body, self._inside(at, e, value)))
                return ()
            case expr.Quantifier():
                return self._lost_witnesses(e, at)
            case expr.Junction(op="and") | expr.NamedConjunction():
                return self.why(next(part for part in e.parts if not ev(part, at.env)), at)
            case expr.Junction():
                return next(filter(None, (self.why(part, at) for part in e.parts)), ())
            case expr.Implies():
                broken = self.why(e.conclusion, at) + self.who(e.premise, at)
                return broken or self._values(e.premise, at)
            case expr.Not():
                return self.who(e.operand, at) or self._values(e.operand, at)
            case _:
                return self._further(e, at, self.why)

    def _lost_witnesses(self, e: expr.Quantifier, at: _Position) -> Pairs:
        """Return, for a false `any`, the elements that satisfied it before the step."""
        if at.past is None:
            return ()
        ev = self.evaluator.ev
        held = [value for holds, value, inner in self.evaluator.over(e, at.past) if holds and ev(e.body, inner)]
        texts = (self.bound(e, value)[1] for value in held)
        before = f" ({','.join(texts)} before the step)" if held else ""
        nothing = "nobody" if e.variable.ty.kind == "member" else "none"
        return ((e.variable.name.rstrip("_"), nothing + before),)

    # --------------------------------------------------------------------------------- true

    def who(self, e: Expression, at: _Position) -> Pairs:
        """Collect the elements that a true expression is about."""
        ev = self.evaluator.ev
        match e:
            case expr.Quantifier(op="any"):
                for holds, value, inner in self.evaluator.over(e, at.env):
                    if holds and ev(e.body, inner):
                        return (self.bound(e, value), *self.who(e.body, self._inside(at, e, value)))
            case expr.Junction(op="and") | expr.NamedConjunction():
                return tuple(pair for part in e.parts for pair in self.who(part, at))
            case expr.Junction():
                return self.who(next(part for part in e.parts if ev(part, at.env)), at)
            case expr.Call() | expr.IfElse() | expr.LetIn():
                return self._further(e, at, self.who)
            case expr.Variable() if e.name in at.lets:
                return self._further(e, at, self.who)
        return ()

    # -------------------------------------------------------------------------------- both

    def _further(self, e: Expression, at: _Position, follow: Callable[[Expression, _Position], Pairs]) -> Pairs:
        """Descend through calls, conditionals and locals; collect the values of any other expression."""
        match e:
            case expr.Call():
                return self._call(e, at, follow)
            case expr.IfElse():
                chosen = bool(self.evaluator.ev(e.condition, at.env))
                return follow(e.then if chosen else e.orelse, at)
            case expr.LetIn():
                return follow(e.body, self._let(at, e.name, e.value))
            case expr.Variable() if e.name in at.lets:
                return follow(at.lets[e.name], at)
        return self._values(e, at)

    def _call(self, e: expr.Call, at: _Position, follow: Callable[[Expression, _Position], Pairs]) -> Pairs:
        aliases = self.aliases_of_call(e, at.env)
        past = None if at.past is None else self.env_of_call(e, at.past)
        inside = _Position({**self.env_of_call(e, at.env), **aliases}, past, at.named)
        return self.body(self.model.fns[e.function].body, inside, follow)

    def _let(self, at: _Position, name: str, value: Expression) -> _Position:
        def bound(env: Env) -> Env:
            return self.evaluator.bind(env, name, self.evaluator.ev(value, env))

        past = None if at.past is None else bound(at.past)
        env = bound(at.env) | self.aliases([(name, value)], at.env)
        return replace(at, env=env, past=past, lets={**at.lets, name: value})

    def _inside(self, at: _Position, e: expr.Quantifier, value: Any) -> _Position:
        """Return the position in a quantifier's body, for one element."""
        name, bind = e.variable.name, self.evaluator.bind
        past = None if at.past is None else bind(at.past, name, value)
        return replace(at, env=bind(at.env, name, value), past=past, named=True)

    # ------------------------------------------------------------------------------- values

    def _values(self, e: Expression, at: _Position) -> Pairs:
        """Collect the values that a comparison compares."""
        match e:
            case expr.Junction(op="and") | expr.NamedConjunction():
                return self._all_values(e.parts, at)
            case expr.Equal() if e.left.ty.kind == "bool":
                return self._all_values((e.left, e.right), at)
            case expr.Subset():
                over = expr.SetOperation(e.small.ty, "diff", e.small, e.large)
                name = f"{self._name(e.small, at, True)} - {self._name(e.large, at, True)}"
                return ((name, value_text(self.evaluator, self.evaluator.ev(over, at.env), over.ty)),)
        pairs: list[tuple[str, str]] = []
        for operand in children(e):
            if isinstance(operand, expr.Arithmetic):
                pairs += self._values(operand, at)
            else:
                pairs += self._operand(operand, at)
        return tuple(pairs)

    def _all_values(self, parts: Iterable[Expression], at: _Position) -> Pairs:
        return tuple(pair for part in parts for pair in self._values(part, at))

    def _operand(self, e: Expression, at: _Position) -> Pairs:
        """Return one side of a comparison with its value; empty if that is not informative."""
        counted = isinstance(e, expr.Cardinality)
        operand = unwrapped(e.members if isinstance(e, expr.Cardinality) else e)
        if operand.ty.kind in OPENED or (at.named and not counted):
            return ()
        match operand:
            case (
                expr.Constant()
                | expr.EnumMember()
                | expr.NoneLiteral()
                | expr.WholeSort()
                | expr.SortList()
                | expr.EmptySequence()
            ):
                return ()
            case expr.SetLiteral() | expr.ConfigField():
                return ()
            case expr.Variable() if operand.name not in at.lets and ALIAS + operand.name not in at.env:
                return ()  # of a quantifier, which has named it
        value = value_text(self.evaluator, self.evaluator.ev(operand, at.env), operand.ty)
        return ((self._name(operand, at), value),)

    def _name(self, e: Expression, at: _Position, within: bool = False) -> str:
        """Return the place in the state, else the source text, in parentheses where it is ambiguous."""
        place = place_of(self.evaluator, e, at.env)
        if place is not None:
            return place
        text = source_text(e)
        return f"({text})" if within and isinstance(e, expr.SetOperation | expr.IfElse) else text
