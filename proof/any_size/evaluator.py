"""The IR over values without a size: a quantifier stays one, and what counts or chooses is a definition.

What cannot be read is refused with its place: sums, and sets inside the elements of sets and the keys of maps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import z3

from elrcheck.lang import expr
from elrcheck.lang.comprehensions import MEMO, Env
from elrcheck.lang.evaluate import STATES, ActionOutcome, Evaluator
from elrcheck.lang.expr import Comprehension, Expression
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.lang.runtime import ModelConfig
from elrcheck.lang.source import ModelError, error_at
from elrcheck.lang.tree import Collecting, SetNode, TruthNode
from elrcheck.lang.types import Ty
from elrcheck.proof.any_size.named_results import Named, named_result
from elrcheck.proof.any_size.sizes import Sizes
from elrcheck.proof.any_size.unsized_structure import AnySizeAlgebra, AnySizeStructure
from elrcheck.proof.any_size.unsized_values import (
    ComputedOnce,
    Members,
    Sequence,
    UnsizedEntries,
    no_members,
    put_outside,
)
from elrcheck.proof.z3_algebra import formula

BOUNDED = "prove it for sizes that --set gives, without --any-size"


class AnySizeEvaluator(Evaluator):
    """Evaluates functions of a model for all sizes at once; ModelError for what has no such reading.

    named: whose operators have names for what they return.
    """

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
        """Return the guards of the function @init, and the fields of the state."""
        self._inside.append(fn)
        try:
            return self._block(fn.body, {STATES: (), MEMO: {}, **args}, fn.ret)
        finally:
            self._inside.pop()

    def refuse(self, e: Expression, what: str) -> ModelError:
        """Return the error that an expression has no reading for any size."""
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
        """Return how many members a set has."""
        structure = self.structure
        if members.extent == "none":
            return 0
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
        return self.ev(e.vector, env)(self._key(e.index, e.vector.ty.keys, env)[1])

    def _key(self, e: Expression, keys: Ty, env: Env) -> tuple[Any, Any]:
        """Return whether there is a key, and the key."""
        present, key = (True, self.ev(e, env)) if keys.kind == "opt" else self._present(e, env)
        return present, self.structure.as_member(key, keys)

    def _present(self, e: Expression, env: Env) -> tuple[Any, Any]:
        """Return an optional as a truth and the value beside it, where a value is expected."""
        value = self.ev(e, env)
        return value if e.ty.kind == "opt" else (True, value)

    def sequence_entry(self, e: expr.SequenceGet, env: Env) -> Any:
        return self.ev(e.sequence, env).at(self.ev(e.index, env))

    def _put(self, e: expr.VectorPut, env: Env) -> Any:
        vector, value, keys, structure = self.ev(e.vector, env), self.ev(e.value, env), e.ty.keys, self.structure
        present, changed = self._key(e.index, keys, env)
        inside = self.alg.and_([present, structure.within(changed, keys)]) if e.ty.is_map else True
        outside = self.alg.or_([put_outside(vector), self.alg.not_(inside)])
        return UnsizedEntries(
            lambda at: structure.ite(structure.eq(at, changed, keys), value, vector(at), e.ty.elem), outside
        )

    def _sequence(self, e: expr.Prefix | expr.Suffix | expr.AppendExpr | expr.Concatenation, env: Env) -> Any:
        if isinstance(e, expr.Concatenation):
            return self.structure.joined(self.ev(e.left, env), self.ev(e.right, env), e.ty.elem)
        return super()._sequence(e, env)

    # ------------------------------------------------------------------------- binders

    def quantifier(self, e: expr.Quantifier, env: Env) -> Any:
        domain = self.domain(e, env)
        return domain.all(lambda inner: self.ev(e.body, inner), some=e.op == "any")

    def domain(self, e: Comprehension, env: Env) -> Domain:
        return Domain(self, e, env)

    def collected(self, e: Collecting, env: Env) -> Any:
        structure = self.structure
        domain = self.domain(e, env)
        match e:
            case expr.Filter():
                if domain.members.extent == "none":
                    return no_members()
                return Members(lambda x: domain.holds(x)[0])
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
                some, value = domain.first()
                return value if e.variable.ty.kind == "opt" and some is True else (some, value)
            case expr.Extreme():
                return domain.extreme(e)
            case expr.Total():
                raise self.refuse(e, "a sum")


class Domain:
    """What a binder ranges over: the members of a set or sort, or numbers, which are indices of a sequence or not.

    members: the set, if it is one. length: of a sequence, or the end of a range.
    """

    def __init__(self, evaluator: AnySizeEvaluator, e: Comprehension, env: Env) -> None:
        self.evaluator, self.structure, self.alg = evaluator, evaluator.structure, evaluator.alg
        self.e, self.env = e, env
        value = evaluator.ev(e.domain, env)
        self.ty, self.begin = e.variable.ty, 0
        self.length: Any = None
        self.members: Members = no_members()
        self.element: Callable[[Any], Any] = lambda x: x
        if e.over == "set":
            self.members = value
        elif e.over == "range":
            self.begin = 0 if e.begin is None else evaluator.ev(e.begin, env)
            self.length = value
        elif value.listing:
            self.members = self.structure.everything(self.ty)
        else:
            self.length, self.element = value.length, value.at

    @property
    def of_members(self) -> bool:
        return self.length is None

    def holds(self, x: Any) -> tuple[Any, Env]:
        """Return whether a member or number is in the domain with its condition, and the environment inside."""
        inside = self.members(x) if self.of_members else self.structure.between(self.begin, x, self.length)
        return self._conditioned(inside, x)

    def _conditioned(self, inside: Any, x: Any) -> tuple[Any, Env]:
        inner = self.evaluator.bind(self.env, self.e.variable.name, self.element(x))
        if inside is False or self.e.condition is None:
            return inside, inner
        return self.alg.and_([inside, self.evaluator.ev(self.e.condition, inner)]), inner

    def all(self, body: Callable[[Env], Any], *, some: bool = False) -> Any:
        """Return whether the body holds for all of the domain, or for some."""

        def one(holds: Any, inner: Env) -> Any:
            if holds is False:
                return not some
            return self.alg.and_([holds, body(inner)]) if some else self.alg.or_([self.alg.not_(holds), body(inner)])

        if self.of_members:
            if self.members.extent == "none":
                return not some
            return self.structure.every_scalar(self.ty, lambda x: one(*self.holds(x)), some=some)
        return self.structure.for_all_below(
            self.length, lambda x: one(*self._conditioned(True, x)), self.begin, some=some
        )

    def _condition(self) -> tuple[list[Any], Any]:
        """Return a variable, or the scalars of one, and the formula that it is in the domain with its condition.

        The caller has bound nothing: the variables are only those of a definition.
        """
        structure = self.structure
        sorts = structure.scalars(self.ty) if self.of_members else [z3.IntSort()]
        with structure.scope.variables(sorts) as own:
            value = structure.made_of(iter(own), self.ty) if self.of_members else own[0]
            return own, formula(self.alg.and_([self.holds(value)[0], self._typed(value)]))

    def _typed(self, value: Any) -> Any:
        return self.structure.within(value, self.ty) if self.of_members else True

    def chosen(self) -> tuple[Any, Callable[[Any], Any]]:
        """Return how many numbers of the domain satisfy the condition, and the function that lists them, ascending."""
        own, condition = self._condition()
        (x,) = own
        y = z3.Int("y!chosen")
        at_y = z3.substitute(condition, (x, y))
        length, begin = self.alg.term(self.length), self.alg.term(self.begin)

        def axioms(count: Any, listed: Any, place: Any) -> list[Any]:
            i, j = z3.Ints("i!chosen j!chosen")
            inside = z3.And(i >= 0, i < count)
            closed = z3.ForAll([x, y], z3.Implies(z3.And(begin <= x, x < y, y < length, at_y), condition))
            upto = z3.ForAll([x], z3.Implies(z3.And(begin <= x, x < begin + count), condition))
            behind = z3.Implies(begin + count < length, z3.Not(z3.substitute(condition, (x, begin + count))))
            straight = z3.ForAll([i], z3.Implies(inside, listed(i) == begin + i), patterns=[listed(i)])
            return [
                z3.And(count >= 0, z3.Or(count <= length - begin, count == 0)),
                z3.ForAll(
                    [i],
                    z3.Implies(inside, z3.And(z3.substitute(condition, (x, listed(i))), place(listed(i)) == i)),
                    patterns=[listed(i)],
                ),
                z3.ForAll(
                    [i, j],
                    z3.Implies(z3.And(inside, i < j, j < count), listed(i) < listed(j)),
                    patterns=[z3.MultiPattern(listed(i), listed(j))],
                ),
                z3.ForAll(
                    [x],
                    z3.Implies(condition, z3.And(place(x) >= 0, place(x) < count, listed(place(x)) == x)),
                    patterns=[place(x)],
                ),
                z3.Implies(closed, z3.And(upto, behind, straight)),
                (count >= 1) == z3.Exists([x], condition),
            ]

        whole = z3.IntSort()
        about = [condition, length, begin]
        count, listed, _ = self._define("chosen", [whole, (whole, whole), (whole, whole)], about, own, axioms)
        return count, listed

    def _define(
        self, name: str, sorts: list[Any], about: list[Any], own: list[Any], axioms: Callable[..., list[Any]]
    ) -> list[Any]:
        return self.structure.scope.define(name, sorts, about, own, axioms)

    def first(self) -> tuple[Any, Any]:
        """Return whether some of the domain satisfies the condition, and the first that does."""
        structure = self.structure
        if self.of_members and self.ty.kind != "member":
            raise self.evaluator.refuse(self.e, f"the first of a set of {self.ty}")
        if isinstance(self.length, int) and self.length == 0:
            return False, structure.blank(self.ty)
        own, condition = self._condition()
        (x,) = own

        def order(y: Any) -> Any:
            return structure.place(self.ty, y) if self.of_members else y

        def axioms(some: Any, first: Any) -> list[Any]:
            least = z3.ForAll([x], z3.Implies(condition, order(first) <= order(x)))
            return [
                some == z3.Exists([x], condition),
                z3.Implies(some, z3.And(z3.substitute(condition, (x, first)), least)),
            ]

        some, first = self._define("first", [z3.BoolSort(), x.sort()], [condition], own, axioms)
        return some, self.element(first)

    def extreme(self, e: expr.Extreme) -> Any:
        """Return the least or greatest body over the domain; the default where it is empty."""
        default = self.alg.term(self.evaluator.ev(e.default, self.env))
        if (self.of_members and self.members.extent == "none") or (isinstance(self.length, int) and self.length == 0):
            return self.evaluator.ev(e.default, self.env)
        structure = self.structure
        sorts = structure.scalars(self.ty) if self.of_members else [z3.IntSort()]
        with structure.scope.variables(sorts) as own:
            value = structure.made_of(iter(own), self.ty) if self.of_members else own[0]
            holds, inner = self.holds(value)
            condition = formula(self.alg.and_([holds, self._typed(value)]))
            body = self.alg.term(self.evaluator.ev(e.body, inner))

        def axioms(best: Any) -> list[Any]:
            bound = best <= body if e.op == "min" else best >= body
            attained = z3.Exists(own, z3.And(condition, best == body))
            return [
                z3.ForAll(own, z3.Implies(condition, bound)),
                z3.Or(attained, z3.And(z3.Not(z3.Exists(own, condition)), best == default)),
            ]

        return self._define(e.op, [z3.IntSort()], [condition, body, default], own, axioms)[0]
