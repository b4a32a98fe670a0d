"""The structural evaluator: runs the IR over a scalar algebra.

Idea: records become dictionaries, vectors lists with one value for each index, sequences pairs (length, slots);
quantifiers, comprehensions and calls are unrolled. Booleans, numbers and sets remain, and only these are passed to the
algebra. The compiled kernel (a hash-consed graph), the solver (Z3 terms) and the plain evaluator (Python values) are
three algebras under this one reading, so they cannot disagree about the structure.

Invariant: values are canonical. Slots behind the end of a sequence hold the blank value of the element type, so equal
model values are equal slot by slot.

Cost: the unrolled size, members^depth of nested quantifiers; shared nodes are evaluated once for each environment.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from elrcheck.lang import expr
from elrcheck.lang.algebra import Algebra
from elrcheck.lang.comprehensions import MEMO, Comprehensions, Env
from elrcheck.lang.expr import Expression, Field, SetNode, StateVariable, TruthNode, Variable
from elrcheck.lang.ir import Block, Fn, If, Let, Require, Ret, StateView
from elrcheck.lang.node import SetExpr, TruthExpr
from elrcheck.lang.runtime import ModelConfig
from elrcheck.lang.structure import Structure
from elrcheck.lang.tree import UnsupportedNode, unsupported
from elrcheck.lang.types import Ty

STATES = "$states"


@dataclass(frozen=True)
class ActionOutcome:
    """An action evaluated on a state: guards by name in source order, and the fields of the next state."""

    guards: tuple[tuple[str, Any], ...]
    fields: Mapping[str, Any]


class Evaluator(Comprehensions):
    """Evaluates functions of one model under one configuration and one algebra."""

    def __init__(self, fns: Mapping[str, Fn], config: ModelConfig, algebra: Algebra[Any, Any]) -> None:
        self.fns, self.config, self.alg = fns, config, algebra
        self.structure = Structure(config, algebra)

    # ------------------------------------------------------------------------- functions

    def call(self, fn: Fn, states: tuple[Mapping[str, Any], ...], args: Mapping[str, Any]) -> Any:
        """Return the value of an operator. states: one mapping of fields for each state parameter."""
        env: Env = {STATES: states, MEMO: {}, **args}
        guards, value = self._block(fn.body, env, fn.ret)
        assert not guards, f"{fn.name} is an operator and has a guard"
        return value

    def lifted(self, fn: Fn, args: Sequence[object]) -> dict[str, Any]:
        """Return plain arguments of a function as values of the evaluator, by name."""
        return {name: self.structure.lift(arg, ty) for (name, ty), arg in zip(fn.params, args, strict=True)}

    def action(self, fn: Fn, state: Mapping[str, Any], args: Mapping[str, Any]) -> ActionOutcome:
        env: Env = {STATES: (state,), MEMO: {}, **args}
        guards, fields = self._block(fn.body, env, fn.ret)
        return ActionOutcome(tuple(guards), fields if fields is not None else {})

    def _block(self, block: Block, env: Env, ty: Ty) -> tuple[list[tuple[str, Any]], Any]:
        match block:
            case Let(name=name, value=value, rest=rest):
                return self._block(rest, self.named(env, name, self.ev(value, env), value.ty), ty)
            case Require(condition=condition, name=name, rest=rest):
                holds = self.ev(condition, env)
                if holds is False:
                    return [(name, False)], None
                guards, outcome = self._block(rest, self.under(holds, env), ty)
                return ([] if holds is True else [(name, holds)]) + guards, outcome
            case If(condition=condition, then=then, orelse=orelse):
                return self._branch(self.ev(condition, env), then, orelse, env, ty)
            case Ret(value=value):
                if isinstance(value, StateView):
                    return [], {f: self.structure.cut(self.ev(e, env), e.ty) for f, e in value.fields.items()}
                return [], self.ev(value, env)

    def _branch(self, c: Any, then: Block, orelse: Block, env: Env, ty: Ty) -> tuple[list[tuple[str, Any]], Any]:
        if isinstance(c, bool):
            return self._block(then if c else orelse, env, ty)
        (ga, a), (gb, b) = self._block(then, env, ty), self._block(orelse, env, ty)
        alg = self.alg
        guards = [(n, alg.or_([alg.not_(c), g])) for n, g in ga] + [(n, alg.or_([c, g])) for n, g in gb]
        if a is None or b is None:
            return guards, b if a is None else a
        if ty.kind == "state":
            fields = ty.fields if ty.cls else {}
            return guards, {f: self.structure.ite(c, a[f], b[f], fields[f]) for f in a}
        return guards, self.structure.ite(c, a, b, ty)

    def under(self, holds: Any, env: Env) -> Env:
        """Return the environment behind a guard; a subclass may use that the guard holds there."""
        return env

    def named(self, env: Env, name: str, value: Any, ty: Ty) -> Env:
        """Return the environment behind an assignment."""
        return self.bind(env, name, value)

    # ------------------------------------------------------------------------- expressions

    def ev(self, e: Expression, env: Env) -> Any:
        """Return the value of an expression, computed once for each environment. Lookups are cheaper than the memo."""
        if type(e) is Variable:
            return env[e.name]
        if type(e) is Field:
            return self.ev(e.record, env)[e.name]
        if type(e) is StateVariable:
            return env[STATES][0 if e.moment == "now" else 1][e.name]
        memo = env[MEMO]
        entry = memo.get(id(e))
        if entry is None:
            entry = memo[id(e)] = (self._value(e, env), e)
        return entry[0]

    def _value(self, e: Expression, env: Env) -> Any:
        """Evaluate an expression. The most frequent nodes come first, because `match` tries the cases in order."""
        match e:
            case TruthExpr():
                return self._truth(e, env)
            case expr.VectorGet():
                return self.vector_entry(e, env)
            case expr.Call():
                return self._call(e, env)
            case SetExpr() | expr.Cardinality():
                return self._set(e, env)
            case expr.EnumMember():
                return e.ty.members.index(e.name)
            case expr.ConfigField():
                return self.setting(e.name, e.ty)
            case expr.IfElse():
                c = self.ev(e.condition, env)
                if isinstance(c, bool):
                    return self.ev(e.then if c else e.orelse, env)
                return self.structure.ite(c, self.ev(e.then, env), self.ev(e.orelse, env), e.ty)
            case expr.Constant():
                return e.value
            case expr.Length():
                return self.ev(e.sequence, env)[0]
            case expr.Quantifier():
                return self.quantifier(e, env)
            case expr.Update():
                changed = {f: self.ev(v, env) for f, v in zip(e.names, e.values, strict=True)}
                return {**self.ev(e.record, env), **changed}
            case expr.Some():
                return self.structure.some(self.ev(e.value, env), e.ty)
            case expr.Get():
                return self.element(e, env)
            case expr.SequenceGet():
                return self.sequence_entry(e, env)
            case expr.VectorPut():
                return self._put(e, env)
            case expr.RecordExpr():
                return {f: self.ev(v, env) for f, v in zip(e.names, e.values, strict=True)}
            case expr.Arithmetic():
                return self._arithmetic(e, env)
            case expr.LetIn():
                return self.ev(e.body, self.bind(env, e.name, self.ev(e.value, env)))
            case expr.NoneLiteral():
                return self.structure.blank(e.ty) if e.ty.kind == "opt" else -1
            case expr.SortList():
                return self.structure.lift(self.structure.members(e.ty.elem), e.ty)
            case expr.EmptySequence():
                return self.structure.blank(e.ty)
            case expr.VectorOf():
                indices = self.structure.members(e.ty.keys)
                return [self.ev(e.body, self.bind(env, e.variable.name, i)) for i in indices]
            case expr.Prefix() | expr.Suffix() | expr.AppendExpr() | expr.Concatenation():
                return self._sequence(e, env)
            case expr.Binder():
                return self.collected(e, env)
            case Variable() | StateVariable() | Field():
                return self.ev(e, env)
            case expr.WholeConfig():
                raise UnsupportedNode(self.backend, e)
            case _:
                unsupported(self.backend, e)

    def _truth(self, e: TruthNode, env: Env) -> Any:
        alg = self.alg
        match e:
            case expr.Junction(op="or"):
                return alg.or_(self._until(e.parts, env, True))
            case expr.Junction() | expr.NamedConjunction():
                return alg.and_(self._until(e.parts, env, False))
            case expr.Equal():
                return self.structure.eq(self.ev(e.left, env), self.ev(e.right, env), e.left.ty)
            case expr.Not():
                return alg.not_(self.ev(e.operand, env))
            case expr.Compare():
                return alg.cmp(e.op, self.ev(e.left, env), self.ev(e.right, env))
            case expr.MemberExpr():
                elem = e.members.ty.elem
                return self.structure.member(self.ev(e.element, env), self.ev(e.members, env), elem)
            case expr.Implies():
                premise = self.ev(e.premise, env)
                if premise is False:
                    return True
                return alg.or_([alg.not_(premise), self.ev(e.conclusion, env)])
            case expr.IsNone():
                return self.structure.is_none(self.ev(e.value, env), e.value.ty)
            case expr.Subset():
                return alg.s_subset(self.ev(e.small, env), self.ev(e.large, env))
            case _:
                unsupported(self.backend, e)

    def _until(self, args: tuple[Expression, ...], env: Env, stop: bool) -> Iterator[Any]:
        for a in args:
            value = self.ev(a, env)
            yield value
            if value is stop:
                return

    def element(self, e: expr.Get, env: Env) -> Any:
        """Return the element of an optional."""
        return self.structure.held(self.ev(e.value, env), e.value.ty)

    def _call(self, e: expr.Call, env: Env) -> Any:
        fn = self.fns[e.function]
        states = tuple(env[STATES][0 if moment == "now" else 1] for moment in e.states)
        return self.call(fn, states, self.arguments(fn, e, env))

    def arguments(self, fn: Fn, e: expr.Call, env: Env) -> dict[str, Any]:
        """Return the values of the parameters of a function that is called."""
        return {p: self.ev(a, env) for (p, _), a in zip(fn.params, e.args, strict=True)}

    def _arithmetic(self, e: expr.Arithmetic, env: Env) -> Any:
        alg, a, b = self.alg, self.ev(e.left, env), self.ev(e.right, env)
        match e.op:
            case "add":
                return alg.add(a, b)
            case "sub":
                return alg.sub(a, b)
            case "div":
                return alg.div(a, b)
            case "mod":
                return alg.mod(a, b)
            case "min":
                return alg.ite(alg.cmp("le", a, b), a, b)
            case "max":
                return alg.ite(alg.cmp("ge", a, b), a, b)

    # ------------------------------------------------------------------------- sets

    def _set(self, e: SetNode, env: Env) -> Any:
        alg = self.alg
        match e:
            case expr.SetOperation():
                a, b = self.ev(e.left, env), self.ev(e.right, env)
                match e.op:
                    case "union":
                        return alg.s_union(a, b)
                    case "inter":
                        return alg.s_inter(a, b)
                    case "diff":
                        return alg.s_diff(a, b)
            case expr.Elements():
                return self._elements(e, env)
            case expr.Cardinality():
                return alg.s_card(self.ev(e.members, env))
            case expr.WholeSort():
                size = self.structure.count(e.ty.elem)
                return alg.s_const(range(size), size)
            case expr.SetLiteral():
                return self.structure.set_of([(True, self.ev(element, env)) for element in e.elements], e.ty.elem)

    def _elements(self, e: expr.Elements, env: Env) -> Any:
        length, slots = self.ev(e.sequence, env)
        return self.structure.set_of([(self.alg.cmp("lt", k, length), x) for k, x in enumerate(slots)], e.ty.elem)

    # ------------------------------------------------------------------------- vectors and sequences

    def vector_entry(self, e: expr.VectorGet, env: Env) -> Any:
        return self.structure.entry(self.ev(e.vector, env), self.ev(e.index, env), e.vector.ty.keys, e.ty)

    def sequence_entry(self, e: expr.SequenceGet, env: Env) -> Any:
        return self.structure.select(self.ev(e.sequence, env)[1], self.ev(e.index, env), e.ty)

    def _put(self, e: expr.VectorPut, env: Env) -> Any:
        return self.structure.with_entry(self.ev(e.vector, env), self.ev(e.index, env), self.ev(e.value, env), e.ty)

    def _sequence(self, e: expr.Prefix | expr.Suffix | expr.AppendExpr | expr.Concatenation, env: Env) -> Any:
        structure, elem = self.structure, e.ty.elem
        match e:
            case expr.Prefix() | expr.Suffix():
                sequence = self.ev(e.sequence, env)
                count = self.place(e.count, self.ev(e.count, env), sequence[0], env)
                return (structure.take if isinstance(e, expr.Prefix) else structure.drop)(sequence, count, elem)
            case expr.AppendExpr():
                return structure.append(self.ev(e.sequence, env), self.ev(e.element, env), elem)
            case expr.Concatenation():
                joined, (length, slots) = self.ev(e.left, env), self.ev(e.right, env)
                for k, value in enumerate(slots):
                    longer = structure.append(joined, value, elem)
                    joined = structure.ite(self.alg.cmp("lt", k, length), longer, joined, e.ty)
                return joined

    def place(self, e: Expression, count: Any, length: Any, env: Env) -> Any:
        """Return the place in a sequence of this length that a bound of a slice names; e: the bound."""
        return self.structure.from_begin(count, length)
