"""Evaluates the IR over values of any size: a quantifier stays one; counts and choices become definitions.

It refuses, with the source line, sums, least and greatest members, and sets inside the elements of sets and the keys of
maps.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from elrcheck.lang import expr
from elrcheck.lang.comprehensions import MEMO, Env
from elrcheck.lang.evaluate import STATES, ActionOutcome, Evaluator
from elrcheck.lang.expr import Collecting, Comprehension, Expression, SetNode, TruthNode
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.lang.runtime import ModelConfig
from elrcheck.lang.source import ModelError, error_at
from elrcheck.lang.tree import is_natural
from elrcheck.lang.types import Ty
from elrcheck.proof.any_size.domain import Domain
from elrcheck.proof.any_size.next_state import Named, named_result
from elrcheck.proof.any_size.unsized_structure import AnySizeAlgebra, AnySizeStructure
from elrcheck.proof.any_size.unsized_values import (
    ComputedOnce,
    Members,
    Sequence,
    Sizes,
    UnsizedEntries,
    no_members,
    put_outside,
)
from elrcheck.proof.z3_algebra import formula

SIGNED = "$signed"
"""Key of an environment: parameters that may be less than 0."""
BOUNDED = "prove it for sizes that --set gives, without --any-size"


class AnySizeEvaluator(Evaluator):
    """Evaluates functions of a model for all sizes at once; ModelError for what it cannot read. named: see `Named`."""

    backend = "prove --any-size"
    alg: AnySizeAlgebra
    structure: AnySizeStructure

    def __init__(self, model: Model, config: ModelConfig, named: Named = "rules") -> None:
        self.fns, self.config, self.alg, self.named_parts = model.fns, config, AnySizeAlgebra(), named
        self.sizes = Sizes(model, config)
        self.structure = AnySizeStructure(self.sizes, self.alg)
        self.scope = self.structure.scope
        self._inside: list[Fn] = []
        self._in_rule = False

    # ------------------------------------------------------------------------- functions

    def call(self, fn: Fn, states: tuple[Mapping[str, Any], ...], args: Mapping[str, Any]) -> Any:
        self._inside.append(fn)
        try:
            value = super().call(fn, states, args)
        finally:
            self._inside.pop()
        inside = self._in_rule if self.named_parts == "rules" else self.named_parts == "all" and len(self._inside) > 0
        return named_result(self.structure, value, fn.ret, f"is.{fn.name}") if inside and fn.kind == "op" else value

    def action(self, fn: Fn, state: Mapping[str, Any], args: Mapping[str, Any]) -> ActionOutcome:
        self._in_rule = True
        try:
            return super().action(fn, state, args)
        finally:
            self._in_rule = False

    def start(self, fn: Fn, args: Mapping[str, Any]) -> tuple[list[tuple[str, Any]], Any]:
        """Return the guards of the function @init, and the fields of the initial state."""
        self._inside.append(fn)
        try:
            return self._block(fn.body, {STATES: (), MEMO: {}, **args}, fn.ret)
        finally:
            self._inside.pop()

    def refuse(self, e: Expression, what: str) -> ModelError:
        """Return the error for an expression that has no reading for any size."""
        message = f"{what} cannot be read for any size"
        return error_at(self._inside[-1].file, e.line, message, BOUNDED) if self._inside else ModelError(message)

    def setting(self, name: str, ty: Ty) -> Any:
        if name in self.sizes.arbitrary:
            return self.sizes.arbitrary[name]
        if self.sizes.depends(name):
            raise ModelError(f"`{name}` is computed from sizes, and cannot be read for any size", help=BOUNDED)
        return self.structure.lift(getattr(self.config, name), ty)

    # ------------------------------------------------------------------------- expressions

    def _value(self, e: Expression, env: Env) -> Any:
        structure = self.structure
        match e:
            case expr.Constant() if e.ty.kind == "member":
                return structure.as_member(e.value, e.ty)
            case expr.NoneLiteral():
                return structure.blank(e.ty) if e.ty.kind == "opt" else (False, None)
            case expr.SortList():
                return structure.listing(e.ty.elem)
            case expr.VectorOf():
                return ComputedOnce(lambda index: self.ev(e.body, self.bind(env, e.variable.name, index)))
            case expr.Length():
                return self.ev(e.sequence, env).length
        return super()._value(e, env)

    def _truth(self, e: TruthNode, env: Env) -> Any:
        match e:
            case expr.Subset():
                return self.structure.subset(self.ev(e.small, env), self.ev(e.large, env), e.small.ty.elem)
            case expr.MemberExpr():
                present, element = self._present(e.element, env)
                inside = self.structure.member(element, self.ev(e.members, env), e.members.ty.elem)
                return self.alg.and_([present, inside])
            case expr.Equal() if e.left.ty.kind == "none" or e.right.ty.kind == "none":
                return self.alg.and_(self.alg.not_(self.ev(side, env)[0]) for side in (e.left, e.right))
        return super()._truth(e, env)

    def _set(self, e: SetNode, env: Env) -> Any:
        structure = self.structure
        match e:
            case expr.SetOperation():
                a, b = self.ev(e.left, env), self.ev(e.right, env)
                match e.op:
                    case "union":
                        return structure.union(a, b)
                    case "inter":
                        return structure.intersection(a, b)
                    case "diff":
                        return structure.difference(a, b)
            case expr.Cardinality():
                return self.size(self.ev(e.members, env), e.members.ty.elem)
            case expr.WholeSort():
                return structure.everything(e.ty.elem)
            case expr.SetLiteral():
                return structure.set_of([self._present(element, env) for element in e.elements], e.ty.elem)
        return super()._set(e, env)

    def _elements(self, e: expr.Elements, env: Env) -> Any:
        sequence, elem, structure = self.ev(e.sequence, env), e.ty.elem, self.structure
        if sequence.listing:
            return structure.everything(elem)
        if isinstance(sequence.length, int) and sequence.length == 0:
            return no_members()

        def holds(x: Any) -> Any:
            def at(index: Any) -> Any:
                return structure.eq(sequence.at(index), x, elem)

            return structure.for_all_below(sequence.length, at, some=True)

        return Members(holds)

    def size(self, members: Members, elem: Ty) -> Any:
        """Return the number of members of a set."""
        structure = self.structure
        if members.extent == "none":
            return 0
        if members.count is not None:
            return members.count()
        if members.choice is not None:
            condition, *either = members.choice
            return self.alg.ite(condition, *(self.size(one, elem) for one in either))
        whole = self.sizes.count(elem) if elem.kind == "member" else None
        if members.extent == "all" and whole is not None:
            return whole
        with self.scope.variables(structure.scalars(elem)) as own:
            value = structure.made_of(iter(own), elem)
            condition = formula(self.alg.and_([structure.within(value, elem), members(value)]))
            return self.scope.size(own, condition, whole if structure.within_always(elem) else None)

    def vector_entry(self, e: expr.VectorGet, env: Env) -> Any:
        keys = e.vector.ty.keys
        index = self._key(e.index, keys, env)[1]
        if keys.kind == "member" and keys.ordered and not is_natural(e.index, env.get(SIGNED, ())):
            index = self.structure.from_end(index, self.sizes.count(keys))
        return self.ev(e.vector, env)(index)

    def _key(self, e: Expression, keys: Ty, env: Env) -> tuple[Any, Any]:
        """Return whether the key is not None, and the key."""
        present, key = (True, self.ev(e, env)) if keys.kind == "opt" else self._present(e, env)
        return present, self.structure.as_member(key, keys)

    def _present(self, e: Expression, env: Env) -> tuple[Any, Any]:
        """Return whether a value, which may be optional, is not None, and the value."""
        value = self.ev(e, env)
        return value if e.ty.kind == "opt" else (True, value)

    def sequence_entry(self, e: expr.SequenceGet, env: Env) -> Any:
        return self.ev(e.sequence, env).at(self.ev(e.index, env))

    def _put(self, e: expr.VectorPut, env: Env) -> Any:
        vector, value, keys, structure = self.ev(e.vector, env), self.ev(e.value, env), e.ty.keys, self.structure
        present, changed = self._key(e.index, keys, env)
        inside = self.alg.and_([present, structure.within(changed, keys)]) if e.ty.has_keys else True
        outside = self.alg.or_([put_outside(vector), self.alg.not_(inside)])
        return UnsizedEntries(
            lambda at: structure.ite(structure.eq(at, changed, keys), value, vector(at), e.ty.elem), outside
        )

    def place(self, e: Expression, count: Any, length: Any, env: Env) -> Any:
        return count if is_natural(e, env.get(SIGNED, ())) else super().place(e, count, length, env)

    def arguments(self, fn: Fn, e: expr.Call, env: Env) -> dict[str, Any]:
        numbers = ((p, a) for (p, ty), a in zip(fn.params, e.args, strict=True) if ty.counts)
        signed = [p for p, a in numbers if not is_natural(a, env.get(SIGNED, ()))]
        return {**super().arguments(fn, e, env), SIGNED: signed}

    def _sequence(self, e: expr.Prefix | expr.Suffix | expr.AppendExpr | expr.Concatenation, env: Env) -> Any:
        if isinstance(e, expr.Concatenation):
            return self.structure.joined(self.ev(e.left, env), self.ev(e.right, env), e.ty.elem)
        return super()._sequence(e, env)

    # ------------------------------------------------------------------------- binders

    def quantifier(self, e: expr.Quantifier, env: Env) -> Any:
        domain = self.domain(e, env)
        return domain.all(lambda inner: self.ev(e.body, inner), some=e.op == "any")

    def domain(self, e: Comprehension, env: Env) -> Domain:
        return Domain(self, self.structure, e, env)

    def collected(self, e: Collecting, env: Env) -> Any:
        structure = self.structure
        domain = self.domain(e, env)
        match e:
            case expr.Filter():
                if domain.members.extent == "none":
                    return no_members()
                return Members(lambda x: domain.holds(x)[0])
            case expr.Image(over="range", body=expr.Variable(name=body)) if body == e.variable.name:
                return Members(lambda x: domain.holds(x)[0], count=lambda: domain.chosen(of_set=True)[0])
            case expr.Image():
                return Members(
                    lambda x: domain.all(lambda inner: structure.eq(self.ev(e.body, inner), x, e.ty.elem), some=True)
                )
            case expr.Union():
                return Members(
                    lambda x: domain.all(
                        lambda inner: structure.member(x, self.ev(e.body, inner), e.ty.elem), some=True
                    )
                )
            case expr.Count():
                if domain.of_members:
                    return self.size(Members(lambda x: domain.holds(x)[0]), domain.ty)
                return domain.chosen()[0]
            case expr.SequenceFilter():
                if domain.length == 0 and isinstance(domain.length, int):
                    return self.structure.blank(e.ty)
                if domain.of_members:
                    raise self.refuse(e, "a part of the list of all members")
                count, at = domain.chosen()
                return Sequence(count, ComputedOnce(lambda index: domain.element(at(self.alg.term(index)))))
            case expr.First():
                if domain.of_members and domain.ty.kind != "member":
                    raise self.refuse(e, f"the first of a set of {domain.ty}")
                some, value = domain.first()
                return value if e.variable.ty.kind == "opt" and some is True else (some, value)
            case expr.Extreme():
                if not e.ty.counts:
                    raise self.refuse(e, "the least or greatest member, or None")
                return domain.extreme(e)
            case expr.Total():
                raise self.refuse(e, "a sum")
