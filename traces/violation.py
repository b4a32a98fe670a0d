"""Which part of a property broke, and for which broker or offset.

A witness is a list of `name=value`, found by going down the false parts of the property:

* a variable of a quantifier, `b=1`: the first element for which it is false;
* of an inclusion what is too much, `partition.isr - replicas={2}`; of a number of brokers who they are;
* other values that are compared, while no broker or offset is named yet;
* where nobody is found any more, `b=none (0 before the step)`: whom the step took away;
* of an implication also whom the premise is about.

Values are named as traces name them; after a step a name has a prime, `partition.leader'`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from elrcheck.lang.algebra import ConcreteAlgebra
from elrcheck.lang.evaluate import MEMO, STATES, Env, Evaluator
from elrcheck.lang.ir import Block, E, Fn, If, Let, Ret
from elrcheck.lang.load import Model
from elrcheck.lang.runtime import Conjunction
from elrcheck.lang.types import RSET
from elrcheck.traces.places import ALIAS, WRAPPERS, place_of, source_text, value_text

Pairs: TypeAlias = tuple[tuple[str, str], ...]
SILENT = ("const", "enumc", "none", "universe", "ordered", "seqnil", "setlit", "param")
OPENED = ("record", "state", "vec", "config")
"""Types of values that are too long for one line."""


@dataclass(frozen=True)
class Broken:
    """The first false conjunct, and the values that make it false, as `name=value, ..`."""

    conjunct: str | None = None
    witness: str | None = None


def explain(model: Model, config: Any, fn: Fn, states: Sequence[Any], before: Any = None) -> Broken:
    """Why an `always` property is false on a state or a step. before: of a state, the one before it."""
    value = fn.source(config, *states)
    conjunct = value.broken[0] if isinstance(value, Conjunction) and value.broken else None
    finder = _Finder(model, config)
    env = finder.env_of(states)
    past = finder.env_of((before,)) if before is not None and len(states) == 1 else None
    found: dict[str, str] = {}
    for name, text in finder.body(fn.body, _At(env, past), finder.why):
        found.setdefault(name, text)
    return Broken(conjunct, ", ".join(f"{name}={text}" for name, text in found.items()) or None)


@dataclass(frozen=True)
class _At:
    """Where in a property. past: the same place in the state before; named: a broker or offset is known.

    lets: what the locals of this function stand for.
    """

    env: Env
    past: Env | None = None
    named: bool = False
    lets: dict[str, E] = field(default_factory=dict)


class _Finder:
    """Goes down the parts that decide."""

    def __init__(self, model: Model, config: Any) -> None:
        self.model = model
        self.evaluator = Evaluator(model.fns, config, ConcreteAlgebra(config.broker_count))

    def env_of(self, states: Sequence[Any]) -> Env:
        ty = self.model.state_ty
        return {STATES: tuple(self.evaluator.structure.lift(s, ty) for s in states), MEMO: {}}

    def body(self, block: Block, at: _At, follow: Callable[[E, _At], Pairs]) -> Pairs:
        """What the expression that a function returns says."""
        ev = self.evaluator.ev
        while not isinstance(block, Ret):
            match block:
                case Let(name=name, value=value, rest=rest):
                    block, at = rest, self._let(at, name, value)
                case If(condition=condition, then=then, orelse=orelse):
                    block = then if ev(condition, at.env) else orelse
                case _:
                    return ()
        return follow(block.value, at) if isinstance(block.value, E) else ()

    # -------------------------------------------------------------------------------- false

    def why(self, e: E, at: _At) -> Pairs:
        """What makes a false expression false."""
        ev = self.evaluator.ev
        match e.kind:
            case "all":
                for holds, value, inner in self.evaluator.over(e, at.env):
                    if holds and not ev(e.args[2], inner):
                        return self._bound(e, value) + self.why(e.args[2], self._inside(at, e, value))
            case "any":
                return self._nobody(e, at)
            case "and" | "conj":
                return self.why(next(part for part in e.args if not ev(part, at.env)), at)
            case "or":
                return next(filter(None, (self.why(part, at) for part in e.args)), ())
            case "implies":
                premise, conclusion = e.args
                return self.why(conclusion, at) + self.who(premise, at) or self._values(premise, at)
            case "not":
                return self.who(e.args[0], at) or self._values(e.args[0], at)
            case _:
                return self._further(e, at, self.why)
        return ()

    def _nobody(self, e: E, at: _At) -> Pairs:
        """Whom the step took away, of those that a false `any` could have been about."""
        if at.past is None:
            return ()
        ev = self.evaluator.ev
        held = [
            value for holds, value, inner in self.evaluator.over(e, at.past) if holds and ev(e.args[2], inner)
        ]
        texts = (text for value in held for _, text in self._bound(e, value))
        before = f" ({','.join(texts)} before the step)" if held else ""
        return ((self._variable(e), f"none{before}"),)

    # --------------------------------------------------------------------------------- true

    def who(self, e: E, at: _At) -> Pairs:
        """The elements that a true expression is about."""
        ev = self.evaluator.ev
        match e.kind:
            case "any":
                for holds, value, inner in self.evaluator.over(e, at.env):
                    if holds and ev(e.args[2], inner):
                        return self._bound(e, value) + self.who(e.args[2], self._inside(at, e, value))
            case "and" | "conj":
                return tuple(pair for part in e.args for pair in self.who(part, at))
            case "or":
                return self.who(next(part for part in e.args if ev(part, at.env)), at)
            case "call" | "ite" | "elet":
                return self._further(e, at, self.who)
            case "var" if e.x in at.lets:
                return self._further(e, at, self.who)
        return ()

    # -------------------------------------------------------------------------------- both

    def _further(self, e: E, at: _At, follow: Callable[[E, _At], Pairs]) -> Pairs:
        """Through what only stands for something else; else the values themselves."""
        match e.kind:
            case "call":
                return self._call(e, at, follow)
            case "ite":
                chosen = bool(self.evaluator.ev(e.args[0], at.env))
                return follow(e.args[1 if chosen else 2], at)
            case "elet":
                return follow(e.args[1], self._let(at, e.x, e.args[0]))
            case "var" if e.x in at.lets:
                return follow(at.lets[e.x], at)
        return self._values(e, at)

    def _call(self, e: E, at: _At, follow: Callable[[E, _At], Pairs]) -> Pairs:
        name, which = e.x
        fn = self.model.fns[name]
        aliases: dict[str, str] = {}
        for (param, _), argument in zip(fn.params, e.args, strict=True):
            place = place_of(self.evaluator, argument, at.env)
            aliases |= {} if place is None else {ALIAS + param: place}

        def env_in(env: Env) -> Env:
            values = {p: self.evaluator.ev(a, env) for (p, _), a in zip(fn.params, e.args, strict=True)}
            return {STATES: tuple(env[STATES][0 if w == "now" else 1] for w in which), MEMO: {}, **values}

        past = None if at.past is None else env_in(at.past)
        return self.body(fn.body, _At({**env_in(at.env), **aliases}, past, at.named), follow)

    def _let(self, at: _At, name: str, value: E) -> _At:
        def bound(env: Env) -> Env:
            return self.evaluator.bind(env, name, self.evaluator.ev(value, env))

        past, place = None if at.past is None else bound(at.past), place_of(self.evaluator, value, at.env)
        env = bound(at.env) | ({} if place is None else {ALIAS + name: place})
        return replace(at, env=env, past=past, lets={**at.lets, name: value})

    def _inside(self, at: _At, e: E, value: Any) -> _At:
        """Within a quantifier, for one element."""
        name, bind = str(e.x[0].x), self.evaluator.bind
        past = None if at.past is None else bind(at.past, name, value)
        return replace(at, env=bind(at.env, name, value), past=past, named=True)

    def _variable(self, e: E) -> str:
        return str(e.x[0].x).rstrip("_")

    def _bound(self, e: E, value: Any) -> Pairs:
        return ((self._variable(e), value_text(self.evaluator, value, e.x[0].ty)),)

    # ------------------------------------------------------------------------------- values

    def _values(self, e: E, at: _At) -> Pairs:
        """What a comparison compares."""
        of_truths = e.kind == "eq" and e.args[0].ty.kind == "bool"
        if e.kind in ("and", "conj") or of_truths:
            return tuple(pair for part in e.args for pair in self._values(part, at))
        if e.kind == "subset":
            small, large = e.args
            over = E("diff", RSET, (small, large))
            name = f"{self._name(small, at, True)} - {self._name(large, at, True)}"
            return ((name, value_text(self.evaluator, self.evaluator.ev(over, at.env), RSET)),)
        found: list[tuple[str, str]] = []
        for operand in e.children():
            if operand.kind in ("min", "max", "add", "sub"):
                found += self._values(operand, at)
                continue
            counted = operand.kind == "card"
            shown = operand.args[0] if counted else operand
            while shown.kind in WRAPPERS:
                shown = shown.args[0]
            of_quantifier = shown.kind == "var" and shown.x not in at.lets and ALIAS + shown.x not in at.env
            if shown.kind in SILENT or shown.ty.kind in OPENED or of_quantifier or (at.named and not counted):
                continue
            value = value_text(self.evaluator, self.evaluator.ev(shown, at.env), shown.ty)
            found.append((self._name(shown, at), value))
        return tuple(found)

    def _name(self, e: E, at: _At, within: bool = False) -> str:
        """The place in the state, or else the source, in parentheses where it would be misread."""
        place = place_of(self.evaluator, e, at.env)
        if place is not None:
            return place
        text = source_text(e)
        return f"({text})" if within and e.kind in ("union", "inter", "diff", "ite") else text
