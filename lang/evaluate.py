"""The structural evaluator: runs the IR over a scalar algebra.

Idea: records become dictionaries, vectors lists of one value for each broker, sequences a pair
(length, slots); quantifiers, comprehensions and calls are unrolled. What is left are booleans,
numbers and sets of brokers, and only those are handed to the algebra. The compiled kernel (a
hash-consed graph), the solver (Z3 terms) and the plain evaluator (Python values) are three algebras
under this one reading, so they cannot disagree about the structure.

Kept invariant: values are canonical. Slots behind the end of a sequence hold the blank value of the
element type, so equal model values are equal slot by slot.

Cost: the unrolled size, brokers^depth of nested quantifiers; shared nodes are evaluated once for
each binding environment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from elrcheck.lang.algebra import Algebra
from elrcheck.lang.ir import Block, E, Fn, If, Let, Require, Ret, View, Walker
from elrcheck.lang.structure import Structure
from elrcheck.lang.types import Ty

Env = dict[str, Any]
MEMO = "$memo"
STATES = "$states"


@dataclass(frozen=True)
class Outcome:
    """An action evaluated on a state: named guards in source order, and the next state's fields."""

    guards: tuple[tuple[str, Any], ...]
    fields: Mapping[str, Any]


class Evaluator(Walker):
    """Evaluates functions of one model under one configuration and one algebra."""

    backend = "evaluator"

    def __init__(self, fns: Mapping[str, Fn], config: Any, algebra: Algebra) -> None:
        self.fns, self.config, self.alg = fns, config, algebra
        self.structure = Structure(config, algebra)
        self._on: dict[str, Callable[[E, Env], Any]] = {}

    # ------------------------------------------------------------------------- functions

    def call(self, fn: Fn, states: tuple[Mapping[str, Any], ...], args: Mapping[str, Any]) -> Any:
        """The value of an operator. `states`: one mapping of fields for each state parameter."""
        env: Env = {STATES: states, MEMO: {}, **args}
        guards, value = self._block(fn.body, env, fn.ret)
        assert not guards, f"{fn.name} is an operator and has a guard"
        return value

    def action(self, fn: Fn, state: Mapping[str, Any], args: Mapping[str, Any]) -> Outcome:
        env: Env = {STATES: (state,), MEMO: {}, **args}
        guards, fields = self._block(fn.body, env, fn.ret)
        return Outcome(tuple(guards), fields if fields is not None else {})

    def _block(self, block: Block, env: Env, ty: Ty) -> tuple[list[tuple[str, Any]], Any]:
        match block:
            case Let(name=name, value=value, rest=rest):
                return self._block(rest, self.bind(env, name, self.ev(value, env)), ty)
            case Require(condition=condition, name=name, rest=rest):
                holds = self.ev(condition, env)
                if holds is False:
                    return [(name, False)], None
                guards, made = self._block(rest, env, ty)
                return ([] if holds is True else [(name, holds)]) + guards, made
            case If(condition=condition, then=then, orelse=orelse):
                return self._branch(self.ev(condition, env), then, orelse, env, ty)
            case Ret(value=View() as view):
                return [], {f: self.ev(e, env) for f, e in view.fields.items()}
            case Ret(value=E() as value):
                return [], self.ev(value, env)
        raise AssertionError(block)

    def _branch(
        self, c: Any, then: Block, orelse: Block, env: Env, ty: Ty
    ) -> tuple[list[tuple[str, Any]], Any]:
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

    # ------------------------------------------------------------------------- expressions

    def ev(self, e: E, env: Env) -> Any:
        memo = env[MEMO]
        found = memo.get(id(e))
        if found is None:
            method = self._on.get(e.kind)
            if method is None:
                method = self._on[e.kind] = getattr(self, f"on_{e.kind}", self.dispatch)
            found = memo[id(e)] = (method(e, env), e)
        return found[0]

    @staticmethod
    def bind(env: Env, name: str, value: Any) -> Env:
        return {**env, name: value, MEMO: {}}

    def on_const(self, e: E, env: Env) -> Any:
        return e.x

    def on_param(self, e: E, env: Env) -> Any:
        return self.structure.lift(getattr(self.config, e.x), e.ty)

    def on_enumc(self, e: E, env: Env) -> Any:
        return e.ty.members.index(e.x)

    def on_universe(self, e: E, env: Env) -> Any:
        return self.alg.s_const(range(self.alg.brokers))

    def on_ordered(self, e: E, env: Env) -> Any:
        return self.structure.lift(range(self.alg.brokers), e.ty)

    def on_none(self, e: E, env: Env) -> Any:
        return -1

    def on_some(self, e: E, env: Env) -> Any:
        return self.ev(e.args[0], env)

    on_get = on_some

    def on_seqnil(self, e: E, env: Env) -> Any:
        return self.structure.blank(e.ty)

    def on_var(self, e: E, env: Env) -> Any:
        return env[e.x]

    def on_svar(self, e: E, env: Env) -> Any:
        which, name = e.x
        return env[STATES][0 if which == "now" else 1][name]

    def on_elet(self, e: E, env: Env) -> Any:
        return self.ev(e.args[1], self.bind(env, e.x, self.ev(e.args[0], env)))

    def on_field(self, e: E, env: Env) -> Any:
        return self.ev(e.args[0], env)[e.x]

    def on_rec(self, e: E, env: Env) -> Any:
        return {f: self.ev(v, env) for f, v in zip(e.x, e.args, strict=True)}

    def on_upd(self, e: E, env: Env) -> Any:
        changed = {f: self.ev(v, env) for f, v in zip(e.x, e.args[1:], strict=True)}
        return {**self.ev(e.args[0], env), **changed}

    def on_ite(self, e: E, env: Env) -> Any:
        c = self.ev(e.args[0], env)
        if isinstance(c, bool):
            return self.ev(e.args[1 if c else 2], env)
        return self.structure.ite(c, self.ev(e.args[1], env), self.ev(e.args[2], env), e.ty)

    def on_and(self, e: E, env: Env) -> Any:
        return self.alg.and_(self._until(e.args, env, False))

    on_conj = on_and

    def on_or(self, e: E, env: Env) -> Any:
        return self.alg.or_(self._until(e.args, env, True))

    def _until(self, args: tuple[E, ...], env: Env, stop: bool) -> Iterator[Any]:
        for a in args:
            value = self.ev(a, env)
            yield value
            if value is stop:
                return

    def on_not(self, e: E, env: Env) -> Any:
        return self.alg.not_(self.ev(e.args[0], env))

    def on_implies(self, e: E, env: Env) -> Any:
        premise = self.ev(e.args[0], env)
        return True if premise is False else self.alg.or_([self.alg.not_(premise), self.ev(e.args[1], env)])

    def on_isnone(self, e: E, env: Env) -> Any:
        return self.alg.cmp("eq", self.ev(e.args[0], env), -1)

    def on_eq(self, e: E, env: Env) -> Any:
        return self.structure.eq(self.ev(e.args[0], env), self.ev(e.args[1], env), e.args[0].ty)

    def _compare(self, e: E, env: Env) -> Any:
        return self.alg.cmp(e.kind, self.ev(e.args[0], env), self.ev(e.args[1], env))

    on_lt = on_le = on_gt = on_ge = _compare

    def on_add(self, e: E, env: Env) -> Any:
        return self.alg.add(self.ev(e.args[0], env), self.ev(e.args[1], env))

    def on_sub(self, e: E, env: Env) -> Any:
        return self.alg.sub(self.ev(e.args[0], env), self.ev(e.args[1], env))

    def on_min(self, e: E, env: Env) -> Any:
        a, b = (self.ev(x, env) for x in e.args)
        return self.alg.ite(self.alg.cmp("le", a, b), a, b)

    def on_max(self, e: E, env: Env) -> Any:
        a, b = (self.ev(x, env) for x in e.args)
        return self.alg.ite(self.alg.cmp("ge", a, b), a, b)

    # ------------------------------------------------------------------------- sets

    def on_in(self, e: E, env: Env) -> Any:
        return self.structure.member(self.ev(e.args[0], env), self.ev(e.args[1], env))

    def on_setlit(self, e: E, env: Env) -> Any:
        elements = [self.ev(x, env) for x in e.args]
        brokers = range(self.alg.brokers)
        return self.alg.s_from([self.alg.or_([self.alg.cmp("eq", x, i) for x in elements]) for i in brokers])

    def on_union(self, e: E, env: Env) -> Any:
        return self.alg.s_union(self.ev(e.args[0], env), self.ev(e.args[1], env))

    def on_inter(self, e: E, env: Env) -> Any:
        return self.alg.s_inter(self.ev(e.args[0], env), self.ev(e.args[1], env))

    def on_diff(self, e: E, env: Env) -> Any:
        return self.alg.s_diff(self.ev(e.args[0], env), self.ev(e.args[1], env))

    def on_subset(self, e: E, env: Env) -> Any:
        return self.alg.s_subset(self.ev(e.args[0], env), self.ev(e.args[1], env))

    def on_card(self, e: E, env: Env) -> Any:
        return self.alg.s_card(self.ev(e.args[0], env))

    def on_elems(self, e: E, env: Env) -> Any:
        length, slots = self.ev(e.args[0], env)
        alg = self.alg
        flags = []
        for i in range(alg.brokers):
            hits = (alg.and_([alg.cmp("lt", k, length), alg.cmp("eq", x, i)]) for k, x in enumerate(slots))
            flags.append(alg.or_(list(hits)))
        return alg.s_from(flags)

    # ------------------------------------------------------------------------- vectors and sequences

    def on_vget(self, e: E, env: Env) -> Any:
        return self.structure.select(self.ev(e.args[0], env), self.ev(e.args[1], env), e.ty)

    def on_put(self, e: E, env: Env) -> Any:
        vector, index, value = (self.ev(a, env) for a in e.args)
        if isinstance(index, int):
            return [*vector[:index], value, *vector[index + 1 :]]
        chosen = (self.alg.cmp("eq", index, k) for k in range(len(vector)))
        return [self.structure.ite(c, value, old, e.ty.elem) for c, old in zip(chosen, vector, strict=True)]

    def on_vecmk(self, e: E, env: Env) -> Any:
        return [self.ev(e.args[0], self.bind(env, e.x[0].x, i)) for i in range(self.alg.brokers)]

    def on_slen(self, e: E, env: Env) -> Any:
        return self.ev(e.args[0], env)[0]

    def on_sget(self, e: E, env: Env) -> Any:
        return self.structure.select(self.ev(e.args[0], env)[1], self.ev(e.args[1], env), e.ty)

    def on_take(self, e: E, env: Env) -> Any:
        return self.structure.take(self.ev(e.args[0], env), self.ev(e.args[1], env), e.ty.elem)

    def on_append(self, e: E, env: Env) -> Any:
        return self.structure.append(self.ev(e.args[0], env), self.ev(e.args[1], env), e.ty.elem)

    def on_concat(self, e: E, env: Env) -> Any:
        made, (length, slots) = (self.ev(a, env) for a in e.args)
        for k, value in enumerate(slots):
            longer = self.structure.append(made, value, e.ty.elem)
            made = self.structure.ite(self.alg.cmp("lt", k, length), longer, made, e.ty)
        return made

    def on_seqfilter(self, e: E, env: Env) -> Any:
        made = self.structure.blank(e.ty)
        for holds, value, _ in self.over(e, env):
            longer = self.structure.append(made, value, e.ty.elem)
            made = self.structure.ite(holds, longer, made, e.ty)
        return made

    # ------------------------------------------------------------------------- binders

    def over(self, e: E, env: Env) -> Iterator[tuple[Any, Any, Env]]:
        """(in the domain and condition holds, value, environment) for each possible element."""
        variable, kind = e.x
        domain, condition = e.args[0], e.args[1]
        alg, value = self.alg, self.ev(domain, env)
        items: Iterator[tuple[Any, Any]]
        if kind == "set":
            items = ((alg.s_mem(value, i), i) for i in range(alg.brokers))
        elif kind == "seq":
            items = ((alg.cmp("lt", i, value[0]), x) for i, x in enumerate(value[1]))
        else:
            most = value if isinstance(value, int) else self._most(domain)
            items = ((alg.cmp("lt", i, value), i) for i in range(most))
        for inside, element in items:
            if inside is False:
                continue
            inner = self.bind(env, variable.x, element)
            holds = inside if condition is None else alg.and_([inside, self.ev(condition, inner)])
            if holds is not False:
                yield holds, element, inner

    def _most(self, e: E) -> int:
        """An upper bound of a number, from its type or its parts; how far a loop is unrolled."""
        match e.kind:
            case "const":
                return int(e.x)
            case "add":
                return self._most(e.args[0]) + self._most(e.args[1])
            case "sub":
                return self._most(e.args[0])
            case "min":
                known = [a for a in e.args if a.kind != "field" or a.ty.hi is not None]
                return min(self._most(a) for a in known)
            case "ite":
                return max(self._most(e.args[1]), self._most(e.args[2]))
            case _:
                return self.structure.limit(e.ty.hi)

    def on_all(self, e: E, env: Env) -> Any:
        alg = self.alg
        parts = []
        for holds, _, inner in self.over(e, env):
            parts.append(alg.or_([alg.not_(holds), self.ev(e.args[2], inner)]))
            if parts[-1] is False:
                break
        return alg.and_(parts)

    def on_any(self, e: E, env: Env) -> Any:
        parts = []
        for holds, _, inner in self.over(e, env):
            parts.append(self.alg.and_([holds, self.ev(e.args[2], inner)]))
            if parts[-1] is True:
                break
        return self.alg.or_(parts)

    def on_count(self, e: E, env: Env) -> Any:
        total: Any = 0
        for holds, _, _ in self.over(e, env):
            total = self.alg.add(total, self.alg.ite(holds, 1, 0))
        return total

    def on_first(self, e: E, env: Env) -> Any:
        result: Any = -1
        for holds, value, _ in reversed(list(self.over(e, env))):
            result = self.alg.ite(holds, value, result)
        return result

    def on_filter(self, e: E, env: Env) -> Any:
        flags: list[Any] = [False] * self.alg.brokers
        for holds, value, _ in self.over(e, env):
            flags[value] = holds
        return self.alg.s_from(flags)

    def _extreme(self, e: E, env: Env) -> Any:
        alg, order = self.alg, "lt" if e.kind == "minof" else "gt"
        some: Any = False
        best = self.ev(e.args[3], env)
        for holds, _, inner in self.over(e, env):
            value = self.ev(e.args[2], inner)
            better = alg.or_([alg.not_(some), alg.cmp(order, value, best)])
            best = alg.ite(alg.and_([holds, better]), value, best)
            some = alg.or_([some, holds])
        return best

    on_minof = on_maxof = _extreme

    def on_call(self, e: E, env: Env) -> Any:
        name, which = e.x
        fn = self.fns[name]
        args = {p: self.ev(a, env) for (p, _), a in zip(fn.params, e.args, strict=True)}
        states = tuple(env[STATES][0 if w == "now" else 1] for w in which)
        return self.call(fn, states, args)
