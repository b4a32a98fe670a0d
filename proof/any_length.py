"""Sequences of any length in a proof: a length without limit, and a sample of the elements at arbitrary places.

A search reserves slots for a sequence; a proof may lift that limit (`Induction.any_length`). The sequence is then still
a pair (length, slots), but slot j is the element at place i(j), an arbitrary number that no step changes. A loop over
all places, `all(.. for k in range(len(sequence)))`, is read at the places of the sample:

* As a hypothesis this says less than the loop, so the proof assumes less.
* As a goal it says as much, because the places are arbitrary: whatever places break the loop, they are a sample.

The second holds as long as a goal is broken by no more places than are free (`FREE`), and both hold for loops that are
not negated; `demand_few_places` checks this. One more place is that of the element which an argument of the action
numbers, counted from 1, or else that of the last element before the step; and one, over which loops do not range, that
behind the last element, where the step may append. An element at another place is unknown, but stays the same, since
elements are only appended.

One field of the state has such a sequence. Rules read its length and single elements and append to it, and predicates
loop over all its places. Anything else would take the sample for the whole sequence (`demand_supported_uses`): a
comparison of two sequences, a loop in a rule, a loop over some of the places, a second sequence, or a number of a field
that is at most the limit, since the limit does not hold.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import z3

from elrcheck.lang import expr
from elrcheck.lang.comprehensions import Env
from elrcheck.lang.evaluate import Evaluator
from elrcheck.lang.expr import Comprehension, Expression
from elrcheck.lang.ir import Fn, Ret, StateView, block_expressions, blocks, fn_nodes, reachable
from elrcheck.lang.lowering.lowered import Slot
from elrcheck.lang.runtime import ModelConfig
from elrcheck.lang.source import ModelError
from elrcheck.lang.structure import Structure
from elrcheck.lang.tree import UnsupportedNode, children, limits_of, walk
from elrcheck.lang.types import Ty
from elrcheck.proof.symbolic_values import constant, read
from elrcheck.proof.z3_algebra import Z3Algebra

FREE = 2
"""Places of a sample that may break a goal: a lemma may compare two elements."""
LOOPED = FREE + 1
"""Places over which loops range: also that of an element which the action reads, or of the last before the step."""
SAMPLE = LOOPED + 1
"""Places of a sample: also that of the element which the step may append."""


class SampledStructure(Structure):
    """Structured values in which some sequences are samples. lifted: names of the limits that do not hold."""

    def __init__(self, config: ModelConfig, algebra: Z3Algebra, lifted: Collection[str]) -> None:
        super().__init__(config, algebra)
        self.lifted = frozenset(lifted)
        self._limits.update(dict.fromkeys(self.lifted, SAMPLE))
        self.sample: Sequence[Any] = [z3.Int(f"place!{j}") for j in range(SAMPLE)]
        self.looped = self.sample[:LOOPED]

    def is_sample(self, ty: Ty) -> bool:
        return ty.kind == "seq" and ty.hi in self.lifted

    def indices(self, ty: Ty) -> Sequence[Any]:
        """Return the places of a sequence's slots."""
        return self.sample if self.is_sample(ty) else range(self.limit(ty.hi))

    def append(self, seq: tuple[Any, list[Any]], value: Any, elem: Ty, indices: Sequence[Any] = ()) -> Any:
        if not indices:
            return super().append(seq, value, elem)
        length, slots = seq
        placed = zip(indices, slots, strict=True)
        return (self.alg.add(length, 1), [self.ite(self.alg.cmp("eq", length, i), value, x, elem) for i, x in placed])

    def at(self, seq: tuple[Any, list[Any]], index: Any, elem: Ty) -> Any:
        """Return the element at a place: of the sample, or else unknown; blank outside the sequence."""
        alg = self.alg
        inside = alg.and_([alg.cmp("le", 0, index), alg.cmp("lt", index, seq[0])])
        result = self.ite(inside, self._unknown(index, elem), self.blank(elem), elem)
        for i, x in reversed(list(zip(self.sample, seq[1], strict=True))):
            result = self.ite(self.alg.cmp("eq", index, i), x, result, elem)
        return result

    def _unknown(self, index: Any, elem: Ty) -> Any:
        """Return the element that a sequence has at a place if it is as long, before a step and after it."""
        assert isinstance(self.alg, Z3Algebra)
        scalars, place = list[Any](), self.alg.term(index)
        for path, ty, _ in self.leaves(self.blank(elem), elem, "unknown!"):
            if ty.kind == "set":
                flags = range(self.count(ty.elem))
                scalars.append([z3.Function(f"{path}.{b}", z3.IntSort(), z3.BoolSort())(place) for b in flags])
            else:
                sort = z3.BoolSort() if ty.kind == "bool" else z3.IntSort()
                scalars.append(z3.Function(path, z3.IntSort(), sort)(place))
        return self.rebuild(iter(scalars), elem)

    def lift(self, value: Any, ty: Ty) -> Any:
        if not self.is_sample(ty):
            return super().lift(value, ty)
        slots = []
        for i in self.sample:
            element = self.blank(ty.elem)
            for k, x in enumerate(value):
                element = self.ite(self.alg.cmp("eq", i, k), self.lift(x, ty.elem), element, ty.elem)
            slots.append(element)
        return (len(value), slots)

    def leaves(self, value: Any, ty: Ty, path: str = "") -> Iterator[tuple[str, Ty, Any]]:
        if not self.is_sample(ty):
            yield from super().leaves(value, ty, path)
            return
        yield f"{path}.length", Ty("nat", "length"), value[0]
        for k, x in enumerate(value[1]):
            yield from self.leaves(x, ty.elem, f"{path}[{k}]")

    def has_all(self, length: Any, before: bool) -> Iterator[Any]:
        """Yield that the sample has every element of a sequence. before: the step, so that loops range over them."""
        places = self.looped if before else self.sample
        yield length <= LOOPED
        for k in range(LOOPED):
            yield z3.Implies(length > k, z3.Or(*(place == k for place in places)))

    def elements_are(self, plain: Sequence[Any], elem: Ty) -> Iterator[Any]:
        """Yield that a sequence has these plain elements, also outside the sample."""
        yield from (place >= 0 for place in self.sample)
        for k, element in enumerate(plain):
            yield self.eq(self._unknown(k, elem), self.lift(element, elem), elem)

    def consistent(self, seq: tuple[Any, list[Any]], elem: Ty) -> Iterator[Any]:
        """Yield that places are numbers from 0, and that slots at equal places are equal."""
        for i, x in zip(self.sample, seq[1], strict=True):
            yield i >= 0
            yield self.alg.or_([z3.Not(i < seq[0]), self.eq(x, self._unknown(i, elem), elem)])


class SampledEvaluator(Evaluator):
    """The structural evaluator with samples of some sequences."""

    structure: SampledStructure

    def __init__(self, fns: Any, config: ModelConfig, algebra: Z3Algebra, lifted: Collection[str]) -> None:
        super().__init__(fns, config, algebra)
        self.structure = SampledStructure(config, algebra, lifted)

    def sequence_entry(self, e: expr.SequenceGet, env: Env) -> Any:
        if not self.structure.is_sample(e.sequence.ty):
            return super().sequence_entry(e, env)
        return self.structure.at(self.ev(e.sequence, env), self.ev(e.index, env), e.ty)

    def _sequence(self, e: Any, env: Env) -> Any:
        if not self.structure.is_sample(e.ty):
            return super()._sequence(e, env)
        if not isinstance(e, expr.AppendExpr):
            raise UnsupportedNode(self.backend, e)
        sequence, element = self.ev(e.sequence, env), self.ev(e.element, env)
        return self.structure.append(sequence, element, e.ty.elem, self.structure.sample)

    def _numbers(self, e: Comprehension, end: Any, env: Env) -> Iterator[tuple[Any, Any]]:
        domain = e.domain
        sampled = isinstance(domain, expr.Length) and self.structure.is_sample(domain.sequence.ty)
        if not sampled or e.begin is not None:
            return super()._numbers(e, end, env)
        return ((self.alg.cmp("lt", i, end), i) for i in self.structure.looped)

    def over(self, e: Comprehension, env: Env) -> Iterator[tuple[Any, Any, Env]]:
        if e.over == "seq" and self.structure.is_sample(e.domain.ty):
            raise UnsupportedNode(self.backend, e)
        return super().over(e, env)


# ---------------------------------------------------------------------------- the scalars of a state


def sampled_slots(structure: SampledStructure, ty: Ty, slots: Sequence[Slot]) -> Iterator[Slot]:
    """Yield the scalars of a state in which some sequences are samples; their slots may have any element."""
    if not structure.lifted:
        yield from slots
        return
    samples = {name for name, part in ty.fields.items() if structure.is_sample(part)}
    by_path: dict[str, list[Slot]] = {}
    for slot in slots:
        by_path.setdefault(_any_element(slot.path, samples), []).append(slot)
    blank = {name: structure.blank(part) for name, part in ty.fields.items()}
    for path, leaf, _ in structure.leaves(blank, ty):
        alike = by_path[_any_element(path, samples)]
        constant = len({slot.initial for slot in alike}) == 1 and all(slot.index is None for slot in alike)
        yield replace(alike[0], path=path, ty=leaf, index=None if constant else 0)


def _any_element(path: str, samples: Collection[str]) -> str:
    """Return the path of a scalar, without the place in a sequence of any length."""
    name, bracket, rest = path.partition("[")
    return f"{name}[*]{rest.partition(']')[2]}" if bracket and name in samples else path


def read_sample(solved: Any, structure: SampledStructure, value: Any, ty: Ty) -> Any:
    """Return the plain value of a sequence in a solver model, where the sample has all its elements."""
    places = [constant(solved, place) for place in structure.sample]
    elements = (read(solved, structure, slot, ty.elem) for slot in value[1])
    at = dict(zip(places, elements, strict=True))
    return tuple(at[k] for k in range(constant(solved, value[0])))


def demand_few_places(fns: Mapping[str, Fn], checked: Iterable[Fn], lifted: Collection[str]) -> None:
    """Raise ModelError for a predicate that a sample does not decide, since too many places may break it together."""
    places = _Places(fns, lifted)
    for fn in checked:
        needed = places.of_function(fn.name)
        if needed > FREE:
            help = f"compare at most {FREE} elements in a lemma; divide it into several"
            raise ModelError(f"{fn.name} needs {needed} places of a sequence of any length", help=help)


def demand_no_loops(fns: Mapping[str, Fn], rules: Iterable[Fn], lifted: Collection[str]) -> None:
    """Raise ModelError for a rule that loops over a sequence of any length."""
    places = _Places(fns, lifted)
    for fn in rules:
        if places.of_function(fn.name):
            help = "a rule may read single elements of the sequence"
            raise ModelError(f"{fn.name} loops over a sequence of any length", help=help)


class _Places:
    """Counts the places that break a predicate together: a sum over alternatives, the greatest of conjuncts."""

    def __init__(self, fns: Mapping[str, Fn], lifted: Collection[str]) -> None:
        self.fns, self.lifted = fns, frozenset(lifted)
        self._functions: dict[str, int] = {}

    def of_function(self, name: str) -> int:
        if name not in self._functions:
            body = list(blocks(self.fns[name].body))
            results = [part.value for part in body if isinstance(part, Ret) and not isinstance(part.value, StateView)]
            for e in block_expressions(body[0]):
                if not any(e is result for result in results):
                    self._demand_none(e, name)
            self._functions[name] = max((self._of(result, name) for result in results), default=0)
        return self._functions[name]

    def _of(self, e: Expression, name: str) -> int:
        match e:
            case expr.Junction(op="or"):
                return sum(self._of(part, name) for part in e.parts)
            case expr.Junction() | expr.NamedConjunction():
                return max((self._of(part, name) for part in e.parts), default=0)
            case expr.Implies():
                self._demand_none(e.premise, name)
                return self._of(e.conclusion, name)
            case expr.IfElse():
                self._demand_none(e.condition, name)
                return max(self._of(e.then, name), self._of(e.orelse, name))
            case expr.LetIn():
                self._demand_none(e.value, name)
                return self._of(e.body, name)
            case expr.Call():
                for arg in e.args:
                    self._demand_none(arg, name)
                return self.of_function(e.function)
            case expr.Quantifier(op="all"):
                for part in (e.begin, e.condition):
                    if part is not None:
                        self._demand_none(part, name)
                return int(self._is_loop(e)) + self._of(e.body, name)
            case _:
                self._demand_none(e, name)
                return 0

    def _is_loop(self, e: Expression) -> bool:
        """Return whether a node ranges over a sequence of any length."""
        if not isinstance(e, expr.Binder):
            return False
        over = e.domain.sequence if isinstance(e.domain, expr.Length) else e.domain
        return over.ty.kind == "seq" and over.ty.hi in self.lifted

    def _demand_none(self, e: Expression, name: str) -> None:
        """Raise ModelError for a loop in a place where it might be negated."""
        inside = self.of_function(e.function) if isinstance(e, expr.Call) else 0
        if inside or self._is_loop(e):
            help = "write all(.. for k in range(len(..))) as a conjunct or a conclusion, not in a condition"
            raise ModelError(f"{name} may negate a loop over a sequence of any length", help=help)
        for part in children(e):
            self._demand_none(part, name)


# ---------------------------------------------------------------------------- uses

READS = (
    expr.Length,
    expr.SequenceGet,
    expr.AppendExpr,
    expr.IfElse,
    expr.LetIn,
    expr.Call,
    expr.RecordExpr,
    expr.Update,
)
"""Nodes that may have a sequence of any length as an operand."""


def demand_one_sequence(state: Ty, history: Ty, lifted: Collection[str]) -> None:
    """Raise ModelError unless the limits that do not hold are those of one field of the state, a sequence."""
    names = frozenset(lifted)
    sampled = [name for name, ty in state.fields.items() if ty.kind == "seq" and ty.hi in names]
    if len(sampled) != 1:
        help = "name the limit of one sequence in `any_length`, a field of the state that no other one shares"
        raise ModelError(f"{len(sampled)} fields of the state are sequences of any length", help=help)
    for name, ty in (*state.fields.items(), *history.fields.items()):
        inside = ty.elem if name in sampled and name in state.fields else ty
        if inside is not None and limits_of(inside) & names:
            help = "a number or sequence there has a limit of its own, or cap= for a search alone"
            raise ModelError(f"`{name}` uses a limit that a proof lifts", help=help)


def demand_supported_uses(fns: Mapping[str, Fn], used: Iterable[Fn], lifted: Collection[str]) -> None:
    """Raise ModelError for a use of the sequence that a sample does not decide, in functions or what they call."""
    names = frozenset(lifted)
    for fn in reachable(fns, used).values():
        for e in fn_nodes(fn):
            _demand_supported(e, fn.name, names)


def _demand_supported(e: Expression, name: str, lifted: frozenset[str]) -> None:
    operands = children(e)
    if isinstance(e, expr.Binder):
        whole = isinstance(e.domain, expr.Length) and _is_sampled(e.domain.sequence.ty, lifted) and e.begin is None
        if not whole and (_is_sampled(e.domain.ty, lifted) or (e.over == "range" and _limited(e.domain, lifted))):
            raise _refused(name, e, "loops over some places of it, or numbers up to its limit")
    if isinstance(e, expr.Equal) and any(limits_of(one.ty) & lifted for one in operands if one.ty.kind != "nat"):
        raise _refused(name, e, "compares it as a whole")
    domain = e.domain if isinstance(e, expr.Binder) else None
    if not isinstance(e, READS) and any(_is_sampled(one.ty, lifted) for one in operands if one is not domain):
        raise _refused(name, e, "uses it as a whole")
    if e.ty.kind in ("set", "vec", "opt") and limits_of(e.ty) & lifted:
        raise _refused(name, e, "lists numbers up to its limit")


def _limited(domain: Expression, lifted: frozenset[str]) -> bool:
    """Return whether the end of a range depends on a limit that does not hold."""
    return any(part.ty.kind == "nat" and limits_of(part.ty) & lifted for part in walk(domain))


def _is_sampled(ty: Ty, lifted: frozenset[str]) -> bool:
    return ty.kind == "seq" and ty.hi in lifted


def _refused(name: str, e: Expression, use: str) -> ModelError:
    help = "read its length or single elements, append to it, or write all(.. for k in range(len(..))) in a lemma"
    return ModelError(f"{name}, line {e.line}: a rule about a sequence of any length {use}", help=help)
