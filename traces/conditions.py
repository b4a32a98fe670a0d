"""A condition as a tree of the parts that decide it.

The tree is built from the IR that every engine runs, evaluated over plain values:

* a named conjunction keeps all its parts; a false `and` keeps only its first false part;
* a quantifier decided by one element keeps that element as its witness, and the body for it; a false
  `any` keeps the body for each element;
* an implication keeps its premise, and its conclusion if the premise holds;
* a call continues in the operator's body, with its arguments, and a local in the expression it names;
* every other expression is a comparison, with the values that it compares.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from elrcheck.base.typed.configuration import setting_text
from elrcheck.lang import expr
from elrcheck.lang.comprehensions import Env
from elrcheck.lang.expr import Expression
from elrcheck.lang.guards import settings_read, waivers
from elrcheck.lang.ir import Block, Fn, If, Let, Require, Ret, StateView, requires
from elrcheck.lang.tree import children
from elrcheck.results.trace_reports import Clause, Looked
from elrcheck.results.trace_view import Argument
from elrcheck.traces.places import Environments, looked_at, source_text

MEANS = "="
"""Prefix of an environment key: with the name of a local, the key of the expression it stands for."""
DEEPEST = 12
"""Maximum depth of a tree; deeper parts become leaves."""


@dataclass(frozen=True)
class Guards:
    """The guards of one action instance, in order of evaluation; those in `later` were not reached."""

    evaluated: tuple[Clause, ...]
    later: tuple[str, ...]

    @property
    def refused(self) -> str | None:
        return next((clause.name for clause in self.evaluated if not clause.value), None)


class Conditions(Environments):
    """Evaluates conditions of one model under one configuration and records why they hold or fail."""

    def of_property(self, fn: Fn, states: Sequence[Any]) -> Clause:
        """Evaluate a property on a state, or on a step."""
        return self._block(fn.body, self.env_of(states), 0)

    def of_wait(self, fn: Fn, state: Any, args: Sequence[Any]) -> tuple[Clause, Clause]:
        """Evaluate the premise and the conclusion of a `leads_to` property in a state."""
        value, env = self._returned(fn.body, self.env_of((state,), fn, args))
        assert isinstance(value, expr.RecordExpr), f"{fn.name} returns LeadsTo(..)"
        parts = dict(zip(value.names, value.values, strict=True))
        return self.clause(parts["premise"], env), self.clause(parts["conclusion"], env)

    def of_action(self, fn: Fn, state: Any, args: Sequence[Any]) -> Guards:
        """Evaluate the guards of an action instance, up to the first one that refuses."""
        env = self.env_of((state,), fn, args)
        evaluated: list[Clause] = []
        block: Block = fn.body
        while not isinstance(block, Ret):
            block, env = self._next(block, env, evaluated)
            if evaluated and not evaluated[-1].value:
                return Guards(tuple(evaluated), tuple(dict.fromkeys(g.name for g in requires(block))))
        return Guards(tuple(evaluated), ())

    def _next(self, block: Block, env: Env, evaluated: list[Clause]) -> tuple[Block, Env]:
        ev = self.evaluator
        match block:
            case Let(name=name, value=value, rest=rest):
                meaning = {**self.aliases([(name, value)], env), MEANS + name: value}
                return rest, {**ev.bind(env, name, ev.ev(value, env)), **meaning}
            case Require(condition=condition, name=name, rest=rest):
                waived = self._waived(condition, env)
                evaluated.append(replace(self.clause(condition, env), name=name, waived=waived))
                return rest, env
            case If(condition=condition, then=then, orelse=orelse):
                return (then if ev.ev(condition, env) else orelse), env
        raise AssertionError(block)

    def _waived(self, guard: Expression, env: Env) -> tuple[Looked, ...]:
        """Return the settings that make a guard true in every state; empty if it applies."""
        idle = [part for part in waivers(guard) if self.evaluator.ev(part, env)]
        values = {name: setting_text(getattr(self.evaluator.config, name)) for e in idle for name in settings_read(e)}
        return tuple(Looked(name, value) for name, value in values.items())

    def _block(self, block: Block, env: Env, depth: int) -> Clause:
        value, env = self._returned(block, env)
        return self.clause(value, env, depth)

    def _returned(self, block: Block, env: Env) -> tuple[Expression, Env]:
        """Return the expression that a body returns, and the environment of its names."""
        while not isinstance(block, Ret):
            block, env = self._next(block, env, [])
        assert not isinstance(block.value, StateView)
        return block.value, env

    # ------------------------------------------------------------------------- expressions

    def clause(self, e: Expression, env: Env, depth: int = 0) -> Clause:
        """Evaluate a boolean expression into a tree of the parts that decide it."""
        env = dict(env)
        value = bool(self.evaluator.ev(e, env))
        clause = Clause(source_text(e), value)
        if depth >= DEEPEST:
            return replace(clause, looked=self._looked(e, env))
        match e:
            case expr.NamedConjunction():
                named = zip(e.names, e.parts, strict=True)
                parts = tuple(replace(self.clause(p, env, depth + 1), name=name) for name, p in named)
                return replace(clause, parts=parts)
            case expr.Junction():
                return replace(clause, parts=self._junction(e, env, depth, value))
            case expr.Not():
                return replace(clause, parts=(self.clause(e.operand, env, depth + 1),))
            case expr.Implies():
                premise = self.clause(e.premise, env, depth + 1)
                if not premise.value:
                    return replace(clause, parts=(premise,))
                return replace(clause, parts=(premise, self.clause(e.conclusion, env, depth + 1)))
            case expr.Quantifier():
                return self._quantifier(e, env, depth, clause)
            case expr.IfElse():
                chosen = self.clause(e.condition, env, depth + 1)
                branch = self.clause(e.then if chosen.value else e.orelse, env, depth + 1)
                return replace(clause, parts=(chosen, branch))
            case expr.LetIn():
                inner = self.evaluator.bind(env, e.name, self.evaluator.ev(e.value, env))
                return self.clause(e.body, inner, depth)
            case expr.Call():
                return replace(clause, looked=self._looked(e, env), parts=(self._call(e, env, depth + 1),))
            case expr.Variable() if (meant := env.get(MEANS + e.name)) is not None:
                return replace(clause, parts=(self.clause(meant, env, depth + 1),))
            case (
                expr.Variable()
                | expr.StateVariable()
                | expr.Field()
                | expr.VectorGet()
                | expr.Constant()
                | expr.ConfigField()
            ):
                return clause
            case _:
                return replace(clause, looked=self._looked(e, env))

    def _looked(self, e: Expression, env: Env) -> tuple[Looked, ...]:
        return looked_at(self.evaluator, children(e), env)

    def _junction(self, e: expr.Junction, env: Env, depth: int, value: bool) -> tuple[Clause, ...]:
        """Return all parts if they decide the result together, else the first part that decides it."""
        decisive = e.op == "or"
        if value is not decisive:
            return tuple(self.clause(part, env, depth + 1) for part in e.parts)
        first = next(part for part in e.parts if bool(self.evaluator.ev(part, env)) is decisive)
        return (self.clause(first, env, depth + 1),)

    def _quantifier(self, e: expr.Quantifier, env: Env, depth: int, whole: Clause) -> Clause:
        """Return the clause of a quantifier; one element decides a false `all` and a true `any`."""
        inside = [(value, inner) for holds, value, inner in self.evaluator.over(e, env) if holds]
        decisive = e.op == "any"
        for value, inner in inside:
            if bool(self.evaluator.ev(e.body, inner)) is decisive:
                parts = (self.clause(e.body, inner, depth + 1),)
                return replace(whole, witness=(Argument(*self.bound(e, value)),), parts=parts)
        if inside and decisive:
            bodies = tuple(
                replace(self.clause(e.body, inner, depth + 1), witness=(Argument(*self.bound(e, value)),))
                for value, inner in inside
            )
            return replace(whole, over=len(inside), parts=bodies)
        return replace(whole, over=len(inside), looked=looked_at(self.evaluator, (e.domain,), env))

    def _call(self, e: expr.Call, env: Env, depth: int) -> Clause:
        inside = self.env_of_call(e, env) | self.aliases_of_call(e, env)
        return self._block(self.model.fns[e.function].body, inside, depth)
