"""The model as a symbolic transition system: a state of solver variables, and every step from it.

Scalars that lowering finds constant in a configuration are constants here, too, but only as an assumption:
`SymbolicStep.keeps_constants` is an obligation of its own, `Frame`, so the proof does not depend on the search. That
every scalar stays within its type is the obligation `Types`.

A constant list of all members of the only sort may have any order (`any_order`). The lemmas are then proved for every
order, and for each action that treats members alike, one of the choices of arguments that are renamings of each other
is enough (proof/equivariance.py).
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import z3

from elrcheck.lang.domains import domain
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model, initial_states, instances
from elrcheck.lang.lowering.lower import lower
from elrcheck.lang.lowering.lowered import Slot
from elrcheck.lang.runtime import ModelConfig, record
from elrcheck.lang.types import Ty, type_of
from elrcheck.proof import any_length
from elrcheck.proof.equivariance import Equivariance, alike_sort, generators, orbit
from elrcheck.proof.hypotheses import assumptions_of, lemmas_of
from elrcheck.proof.symbolic_values import Symbolic, arbitrary, blank_parts, constant, sequences, terms_of
from elrcheck.proof.symbolic_values import read as read_value
from elrcheck.proof.z3_algebra import Z3Algebra, formula, variable, within_type


@dataclass(frozen=True)
class SymbolicStep:
    """An action with fixed arguments: its guard, and the next state.

    becomes: (variable of the next state, its term) for every scalar that is not constant. alike: the choices of
    arguments that it stands for, its own among them. enabled: the guards of the action alone; `guard` also contains the
    assumptions on steps.
    """

    action: str
    args: tuple[Any, ...]
    guard: Any
    after: Mapping[str, Any]
    keeps_constants: Any
    becomes: tuple[tuple[Any, Any], ...] = ()
    alike: tuple[tuple[Any, ...], ...] = ()
    enabled: Any = None


@dataclass(frozen=True)
class Excluded:
    """An action with fixed arguments that no state enables in this configuration. guard: the name of one that fails."""

    action: str
    args: tuple[Any, ...]
    guard: str


@record
class _Nothing:
    """The history of a model that has none."""


class Transitions:
    """Solver terms for one configuration.

    any_order: let constant lists of all members have any order, and leave out instances that others stand for, if the
    configuration allows it: all constants are the same for all members. assumed: names of assumptions on steps beside
    those that every proof of the model makes (`Induction`). every_step: assume nothing, so that steps are those of the
    plain model. slots: the scalars of the state, if not those that lowering finds.
    """

    def __init__(
        self,
        model: Model,
        config: ModelConfig,
        any_order: bool = False,
        assumed: Sequence[str] = (),
        *,
        every_step: bool = False,
        slots: Sequence[Slot] | None = None,
    ) -> None:
        self.model, self.config, self.history = model, config, model.induction.history
        always = [model.fns[fn.__name__] for fn in model.induction.assumptions]
        self.assumptions = [] if every_step else [*always, *assumptions_of(model, assumed)]
        self.assumed: set[str] = set()
        self.seen_ty = type_of(_Nothing if self.history is None else self.history.record)
        self.alg = Z3Algebra()
        limits = () if every_step else model.induction.any_length
        lifted = [name for name in limits if getattr(config, name) > 0]
        self.evaluator = any_length.SampledEvaluator(model.fns, config, self.alg, lifted)
        self.structure: any_length.SampledStructure = self.evaluator.structure
        if lifted:
            self._demand_supported(lifted)
        every = slots or lower(model, config, ()).slots
        self.slots = tuple(any_length.sampled_slots(self.structure, model.state_ty, every))
        self.listed: frozenset[str] = frozenset(self._lists()) if any_order else frozenset()
        self.alike = self._equivariance() if any_order else None
        if self.alike is None:
            self.listed = frozenset()
        self.scalars = [self._scalar(slot) for slot in self.slots]
        self.now: Mapping[str, Any] = self.structure.rebuild(iter(self.scalars), model.state_ty)
        self.next_scalars = [self._scalar(slot, "'") for slot in self.slots]
        self.next: Mapping[str, Any] = self.structure.rebuild(iter(self.next_scalars), model.state_ty)
        self.maps = {name: ty for name, ty in model.state_ty.fields.items() if ty.may_lack_key}
        self.outside = {name: z3.Bool(f"{name}.outside'") for name in self.maps}
        self.seen = arbitrary(self.structure, self.seen_ty, "seen")
        self.next_seen = arbitrary(self.structure, self.seen_ty, "seen'")
        typed = self.type_parts(self.scalars, self.now, self.seen)
        self.type_invariant = z3.And(*(part for _, part in typed), *self._orders(), *self._samples())
        self.instances: list[SymbolicStep] = []
        self.excluded: list[Excluded] = []
        for fn in model.actions:
            self._add(fn)

    def variables(self) -> Iterator[Any]:
        """Yield every variable of a state and of the next one, once; a list of any order has no next value."""
        for scalars, is_now in ((self.scalars, True), (self.next_scalars, False)):
            for slot, scalar in zip(self.slots, scalars, strict=True):
                if slot.index is not None or (is_now and slot.path in self.listed):
                    yield from terms_of(scalar)
        for seen in (self.seen, self.next_seen):
            yield from (term for scalar in seen.scalars for term in terms_of(scalar.term))
        yield from self.outside.values()

    def _samples(self) -> Iterator[Any]:
        """Yield that the elements of samples are those of sequences."""
        for name, ty in self.model.state_ty.fields.items():
            if self.structure.is_sample(ty):
                yield from map(formula, self.structure.consistent(self.now[name], ty.elem))

    def _demand_supported(self, lifted: Sequence[str]) -> None:
        """Raise ModelError if the model does with a sequence of any length what a sample does not decide."""
        fns, rules = self.model.fns, [*self.model.actions]
        if self.history is not None:
            rules += [fns[fn.__name__] for fn in (self.history.at_first, self.history.after)]
        any_length.demand_one_sequence(self.model.state_ty, self.seen_ty, lifted)
        any_length.demand_supported_uses(fns, [*self._predicates(), *rules], lifted)
        any_length.demand_few_places(fns, self._predicates(), lifted)
        any_length.demand_no_loops(fns, rules, lifted)

    def _predicates(self) -> Iterator[Fn]:
        """Yield all predicates that are assumed or proved."""
        yield from (*self.model.lemmas, *self.model.always, *self.assumptions)
        if self.history is not None:
            yield from (self.model.fns[fn.__name__] for fn in self.history.lemmas)

    def _choices(self, fn: Fn) -> Iterator[tuple[Any, ...]]:
        """Yield the choices of an action's arguments; a number up to a limit that does not hold is a variable."""
        if not any(ty.hi in self.structure.lifted for _, ty in fn.params if ty.kind == "nat"):
            yield from instances(fn, self.config)
            return
        lifted = self.structure.lifted
        yield from itertools.product(
            *([z3.Int(f"{name}!")] if ty.hi in lifted else domain(ty, self.config) for name, ty in fn.params)
        )

    # ------------------------------------------------------------------------- members alike

    def _lists(self) -> Iterator[str]:
        """Yield the paths of the entries of constant lists of all members."""
        constants = [slot.initial if slot.index is None else None for slot in self.slots]
        start = self.structure.rebuild(iter(constants), self.model.state_ty)
        for path, length, slots in sequences(start, self.model.state_ty):
            entries = [value for value, ty in slots if ty.kind == "member"]
            every = range(len(entries)) if all(isinstance(value, int) for value in entries) else ()
            if entries and len(entries) == length == self.alike_count and sorted(entries) == list(every):
                yield from (f"{path}[{k}]" for k in range(length))

    @functools.cached_property
    def alike_count(self) -> int:
        """The size of the only sort; 0 if the model has no sort whose members can be renamed."""
        sort = alike_sort(self.model)
        return 0 if sort is None else self.structure.count(sort)

    def _equivariance(self) -> Equivariance | None:
        """Return the test for actions that treat members alike.

        None if something that is assumed, or proved of steps, does not, or a constant.
        """
        if alike_sort(self.model) is None:
            return None
        constants = [
            None if slot.index is not None or slot.path in self.listed else self._initial(slot) for slot in self.slots
        ]
        state, ty = self.structure.rebuild(iter(constants), self.model.state_ty), self.model.state_ty
        alike = Equivariance(self.model, self.config)
        if any(alike.renamed(state, ty, to) != state for to in generators(self.alike_count)):
            return None
        induction, fns = self.model.induction, self.model.fns
        about = induction.wait_lemmas if self.history is None else (self.history.after, *induction.wait_lemmas)
        more = (*self.assumptions, *(fns[fn.__name__] for fn in about if fn.__name__ in fns))
        steps = (fn for fn in self.model.always if fn.is_step)
        return alike if all(map(alike.holds, (*lemmas_of(self.model), *steps, *more))) else None

    def _orders(self) -> Iterator[Any]:
        """Yield the formulas that lists of any order contain every member once."""
        entries = [x for x, slot in zip(self.scalars, self.slots, strict=True) if slot.path in self.listed]
        brokers = max(1, self.alike_count)
        for first in range(0, len(entries), brokers):
            places = entries[first : first + brokers]
            yield z3.Distinct(*places) if brokers > 1 else z3.BoolVal(True)
            yield from (z3.And(x >= 0, x < brokers) for x in places)

    # ------------------------------------------------------------------------- terms

    def _scalar(self, slot: Slot, prime: str = "") -> Any:
        if slot.index is not None:
            return variable(self.structure, slot.path + prime, slot.ty)
        if slot.path in self.listed:
            return variable(self.structure, slot.path, slot.ty)
        return self._initial(slot)

    def _initial(self, slot: Slot) -> Any:
        """Return the evaluator's value of a constant scalar."""
        if slot.ty.kind == "set":
            return [bool(slot.initial >> i & 1) for i in range(self.structure.count(slot.ty.elem))]
        return bool(slot.initial) if slot.ty.kind == "bool" else slot.initial

    def type_parts(self, scalars: Sequence[Any], state: Mapping[str, Any], seen: Symbolic) -> Iterator[tuple[str, Any]]:
        """Yield (path, formula) for the types of a state and its history: ranges, lengths, blank slots of sequences."""
        for slot, scalar in zip(self.slots, scalars, strict=True):
            if slot.index is not None:
                for part in within_type(self.structure, slot.ty, scalar):
                    yield slot.path, formula(part)
        yield from blank_parts(self.structure, state, self.model.state_ty)
        for one in seen.scalars:
            yield from ((one.path, formula(part)) for part in within_type(self.structure, one.ty, one.term))

    def next_typed(self) -> Iterator[tuple[str, Any]]:
        """Yield the same for the next state, and that no entry was put outside the keys of a map."""
        yield from self.type_parts(self.next_scalars, self.next, self.next_seen)
        yield from ((name, z3.Not(outside)) for name, outside in self.outside.items())

    def _add(self, fn: Fn) -> None:
        """Add the steps of an action, one for all choices of arguments that are renamings of each other."""
        covered: set[tuple[Any, ...]] = set()
        for args in self._choices(fn):
            if args in covered:
                continue
            step = self.step(fn, args)
            if isinstance(step, Excluded):
                self.excluded.append(step)
                continue
            if self.alike is not None and self.alike.holds(fn):
                step = replace(step, alike=orbit(fn, args, self.alike_count))
            covered.update(step.alike)
            self.instances.append(step)

    def step(self, fn: Fn, args: tuple[Any, ...]) -> SymbolicStep | Excluded:
        """Return the steps of an action with these arguments."""
        outcome = self.evaluator.action(fn, self.now, self.evaluator.lifted(fn, args))
        guard = formula(self.alg.and_([g for _, g in outcome.guards]))
        if z3.is_false(z3.simplify(guard)):
            failing = [name for name, g in outcome.guards if z3.is_false(z3.simplify(formula(g)))]
            together = " and ".join(name for name, _ in outcome.guards)
            return Excluded(fn.name, args, failing[0] if failing else together)
        after = {**self.now, **outcome.fields}
        keeps = formula(self._keeps(after))
        becomes = tuple(self._becomes(after))
        whole = becomes + tuple(self._history(becomes))
        where = z3.And(guard, *self._last_sampled(args)) if self.structure.lifted else guard
        return SymbolicStep(fn.name, args, self._assuming(where, becomes), after, keeps, whole, (args,), enabled=guard)

    def _last_sampled(self, args: Sequence[Any]) -> Iterator[Any]:
        """Yield which places of a sample are not free (`any_length`); lengths are those of the first such sequence."""
        numbers = [arg for arg in args if z3.is_expr(arg)]
        yield from (number >= 0 for number in numbers)
        lengths = [self.now[name][0] for name, ty in self.model.state_ty.fields.items() if self.structure.is_sample(ty)]
        last = (numbers or lengths)[0]
        yield z3.Implies(last > 0, self.structure.looped[-1] == last - 1)
        yield self.structure.sample[-1] == lengths[0]

    def every_choice(self) -> Iterator[tuple[int, SymbolicStep | Excluded]]:
        """Yield (number of the instance, step) for every choice of arguments that an instance stands for."""
        actions = self.model.actions_by_name
        for number, instance in enumerate(self.instances):
            for args in instance.alike:
                own = instance if args == instance.args else self.step(actions[instance.action], args)
                yield number, own

    def _assuming(self, guard: Any, becomes: Sequence[tuple[Any, Any]]) -> Any:
        """Return the guard of a step with the assumptions; add to `assumed` the names of those that exclude steps."""
        for fn, over_both in self.over_both:
            excludes_none = z3.substitute(over_both, *becomes)
            if not z3.is_true(z3.simplify(excludes_none)):
                self.assumed.add(fn.name)
                guard = z3.And(guard, excludes_none)
        return guard

    def _becomes(self, after: Mapping[str, Any]) -> Iterator[tuple[Any, Any]]:
        leaves = self.structure.leaves(after, self.model.state_ty)
        for slot, primed, (_, _, new) in zip(self.slots, self.next_scalars, leaves, strict=True):
            if slot.index is None:
                continue
            for name, term in zip(terms_of(primed), terms_of(new), strict=True):
                yield name, formula(term) if z3.is_bool(name) else self.alg.term(term)
        for field, outside in self.outside.items():
            yield outside, formula(self.structure.outside_keys(after[field], self.maps[field]))

    def _history(self, becomes: Sequence[tuple[Any, Any]]) -> Iterator[tuple[Any, Any]]:
        """Yield (variable, term) for the history, whose next value is a term over the variables of both states."""
        if self.history is None:
            return
        leaves = self.structure.leaves(self._seen_after, self.seen_ty)
        for primed, (_, _, new) in zip(self.next_seen.scalars, leaves, strict=True):
            for name, term in zip(terms_of(primed.term), terms_of(new), strict=True):
                after = formula(term) if z3.is_bool(name) else self.alg.term(term)
                yield name, z3.substitute(after, *becomes)

    @functools.cached_property
    def over_both(self) -> list[tuple[Fn, Any]]:
        """The assumptions, each with its formula over the variables of both states."""
        return [(fn, self.holds(fn, self.now, self.next)) for fn in self.assumptions]

    @functools.cached_property
    def _seen_after(self) -> Any:
        states = (self.now, self.next)
        assert self.history is not None
        return self.evaluator.call(self.model.fns[self.history.after.__name__], states, {"seen": self.seen.value})

    def _keeps(self, after: Mapping[str, Any]) -> Any:
        parts = []
        leaves = self.structure.leaves(after, self.model.state_ty)
        for slot, scalar, (_, ty, new) in zip(self.slots, self.scalars, leaves, strict=True):
            if slot.index is None:
                parts.append(self.structure.eq(new, scalar, ty))
        return self.alg.and_(parts)

    # ------------------------------------------------------------------------- formulas

    def holds(self, fn: Fn, *states: Mapping[str, Any]) -> Any:
        """Return the formula of a predicate on states, by default the current one.

        A predicate that also reads the history gets that of the last of the states.
        """
        states = states or (self.now,)
        seen = self.next_seen if states[-1] is self.next else self.seen
        history = {name: seen.value for name, ty in fn.params if ty.cls is self.seen_ty.cls}
        return formula(self.evaluator.call(fn, states, history))

    def initial(self) -> Any:
        """Return the formula that the current state is initial."""
        parts = [self.alg.or_([self._is(state) for state in initial_states(self.model, self.config)])]
        if self.history is not None:
            first = self.evaluator.call(self.model.fns[self.history.at_first.__name__], (), {})
            parts.append(self.structure.eq(self.seen.value, first, self.seen_ty))
        return z3.And(*map(formula, parts))

    # ------------------------------------------------------------------------- values

    def read(self, solved: Any, state: Mapping[str, Any]) -> Any:
        """Return the plain state of symbolic fields in a solver model; of a sample, only if it is `whole`."""
        ty = self.model.state_ty
        if not self.structure.lifted:
            return read_value(solved, self.structure, state, ty)
        return ty.built({name: self._field(solved, state[name], part) for name, part in ty.fields.items()})

    def _field(self, solved: Any, value: Any, ty: Ty) -> Any:
        reads = any_length.read_sample if self.structure.is_sample(ty) else read_value
        return reads(solved, self.structure, value, ty)

    def whole(self, *states: Mapping[str, Any] | None) -> Any:
        """Return the formula that the sample has every element of sequences of any length in these states."""
        parts = [z3.BoolVal(True)]
        for state in states:
            for name, ty in self.model.state_ty.fields.items():
                if state is not None and self.structure.is_sample(ty):
                    parts += self.structure.has_all(state[name][0], state is self.now)
        return z3.And(*parts)

    def plain_args(self, solved: Any, args: Sequence[Any]) -> tuple[Any, ...]:
        """Return the plain arguments of a step in a solver model."""
        return tuple(constant(solved, z3.simplify(arg)) if z3.is_expr(arg) else arg for arg in args)

    def read_seen(self, solved: Any) -> Any:
        """Return the history before a step in a solver model."""
        return read_value(solved, self.structure, self.seen.value, self.seen_ty)

    def exactly(self, state: Any) -> Any:
        """Return the formula that the current state is this plain state."""
        return formula(self._is(state))

    def _is(self, state: Any) -> Any:
        ty, structure = self.model.state_ty, self.structure
        parts = [structure.eq(self.now, structure.lift(state, ty), ty)]
        for name, part in ty.fields.items():
            if structure.is_sample(part):
                parts += structure.elements_are(ty.field_of(state, name), part.elem)
        return self.alg.and_(parts)
