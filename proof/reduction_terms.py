"""Why a reduction of a search loses nothing: every step treats a state and its representative alike, by Z3.

Let h map a state to its representative. Two steps *agree* if both are possible or none is, and they lead to states with
the same representative, inside the bound or outside it. For every step of the model and every state s with the lemmas:

* `Alike`: the step from s and the step from h(s) agree;
* `Settings`: the step from s with the settings of the reduction and without them agree;
* `Checks`: properties of steps have the same value on both sides of either pair;
* a property of states has the same value in s and in h(s), and initial states have the same representatives.

Or the lemmas imply the property, of all states or of these steps with the settings and without: no search breaks it.

A step from s to another state with the representative of s may also have no counterpart, if it shows no property of
steps anything (it stutters). So the states with equal representatives are a bisimulation up to stuttering between the
search with the settings and the one without, and a shortest trace to anything, which has no stuttering step, is as long
in both (ADR 42). A representative must be its own (`Once`).

A step may be left out that the same two steps reach in the other order if the two commute (ADR 25). A search finds the
pairs by the leaves that steps read and write in its program (`independence`). Here every pair is a theorem about the
rules: from each state within the types and the ranges of the search,

* if one step is possible, the other is possible before it exactly if it is possible after it, and the other way round;
* if both are, both orders lead to the same state, and a step stays inside the bound in one order exactly if it does in
  the other.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import z3

from elrcheck.lang.evaluate import Evaluator
from elrcheck.lang.induction import Reduction
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model, initial_states, instances
from elrcheck.lang.lowering.independence import asleep
from elrcheck.lang.lowering.lower import lower
from elrcheck.lang.lowering.lowered import Slot
from elrcheck.lang.plain import Label
from elrcheck.lang.runtime import ModelConfig
from elrcheck.proof.any_size.definitions import symbols
from elrcheck.proof.equivariance import orbit
from elrcheck.proof.obligations import Discharge, Prover, new_solver
from elrcheck.proof.transition import SymbolicStep, Transitions
from elrcheck.proof.z3_algebra import formula

ALIKE, SETTINGS, CHECKS = "Alike", "Settings", "Checks"
WITHOUT_LEMMAS = 2_000
"""Milliseconds for a question without the lemmas; with them a question may take as long as the user allows."""


@dataclass(frozen=True)
class SolverStep:
    """A step as terms: from a state, whether it is possible, and the state after it."""

    before: Mapping[str, Any]
    possible: Any
    after: Mapping[str, Any]


class SameStates:
    """The obligations of one reduction in one configuration, which has none of the reduction's settings."""

    def __init__(
        self, model: Model, config: ModelConfig, reduction: Reduction, lemmas: Sequence[Fn], timeout: float | None
    ) -> None:
        self.model, self.reduction = model, reduction
        self.config, self.reduced_config = config, with_settings(config, reduction)
        slots = constant_in_both(model, config, self.reduced_config)
        self.ts = Transitions(model, config, any_order=True, every_step=True, slots=slots)
        self.prover = Prover(self.ts, lemmas, timeout)
        self.reduced = Evaluator(model.fns, self.reduced_config, self.ts.alg)
        self.same: Fn = model.fns[reduction.same.__name__]
        self.step_checks = [fn for fn in model.checks if fn.is_step]
        self.state_checks = [fn for fn in model.checks if not fn.is_step]

    @functools.cached_property
    def labels(self) -> tuple[Label, ...]:
        """The choices of arguments of every action, one for all that are renamings of each other."""
        return tuple(Label(fn.name, args) for fn in self.model.actions for args in self._choices(fn))

    def _choices(self, fn: Fn) -> Iterator[tuple[Any, ...]]:
        covered: set[tuple[Any, ...]] = set()
        renamed = self._members_alike and self.ts.alike is not None and self.ts.alike.holds(fn)
        for args in instances(fn, self.config):
            if args not in covered:
                covered.update(orbit(fn, args, self.ts.alike_count) if renamed else (args,))
                yield args

    @functools.cached_property
    def _members_alike(self) -> bool:
        """What the goals of a step are about, beside the step, treats members alike."""
        about = (self.same, self.model.bound, *self.step_checks)
        return self.ts.alike is not None and all(map(self.ts.alike.holds, about))

    def representative(self, state: Mapping[str, Any]) -> Mapping[str, Any]:
        value: Mapping[str, Any] = self.reduced.call(self.same, (state,), {})
        return value

    @functools.cached_property
    def now(self) -> Mapping[str, Any]:
        """The representative of the current state."""
        return self.representative(self.ts.now)

    # ------------------------------------------------------------------------- questions

    def starts_agree(self) -> bool:
        """Return whether the initial states have the same representatives with the settings and without."""
        same = self.reduction.same
        with_, without = (
            {same(self.reduced_config, start) for start in initial_states(self.model, config)}
            for config in (self.reduced_config, self.config)
        )
        return with_ == without

    def once(self) -> Discharge:
        """Discharge that a representative is its own."""
        return self._discharge(self._equal(self._twice, self.now))

    def check(self, fn: Fn) -> Discharge:
        """Discharge that a property of states has the same value in a state and in its representative."""
        here, there = (self._value(self.ts.evaluator, fn, state) for state in (self.ts.now, self.now))
        reduced = self._value(self.reduced, fn, self.ts.now)
        alike = self._discharge(z3.And(here == there, here == reduced))
        if alike.verdict != "refuted" or fn.kind != "always":
            return alike
        never_broken = self.prover.follows(z3.And(here, reduced))
        return never_broken if never_broken.verdict == "proved" else alike

    def step(self, label: Label) -> Iterator[tuple[str, Discharge]]:
        """Discharge the goals of a step; nothing for arguments with which no state enables it."""
        fn = self.model.actions_by_name[label.action]
        plain = self._step(self.ts.evaluator, fn, label, self.ts.now)
        other = self._step(self.ts.evaluator, fn, label, self.now)
        reduced = self._step(self.reduced, fn, label, self.ts.now)
        if all(z3.is_false(z3.simplify(one.possible)) for one in (plain, other, reduced)):
            return
        pairs = {ALIKE: (plain, other), SETTINGS: (plain, reduced)}
        mapped = {id(one): self.representative(one.after) for one in (plain, other, reduced)}
        for goal, (one, two) in pairs.items():
            yield goal, self._discharge(self._agree(mapped, one, two))
        yield CHECKS, self._checks(mapped, pairs)

    def _checks(self, mapped: Mapping[int, Any], pairs: Mapping[str, tuple[SolverStep, SolverStep]]) -> Discharge:
        """Discharge the goal `Checks`, if necessary without properties that the lemmas imply of these steps."""

        def of(checks: Sequence[Fn]) -> Discharge:
            return self._discharge(z3.And(*(self._checks_agree(mapped, goal, checks, *pairs[goal]) for goal in pairs)))

        answer = of(self.step_checks)
        if answer.verdict != "refuted":
            return answer
        plain, reduced = pairs[SETTINGS]
        core: frozenset[str] = frozenset()
        open_ = []
        for fn in self.step_checks:
            sides = ((plain, self.ts.evaluator), (reduced, self.reduced))
            holds = (z3.Implies(one.possible, self._over(evaluator, fn, one)) for one, evaluator in sides)
            implied = self.prover.follows(z3.And(*holds)) if fn.kind == "always" else None
            if implied is not None and implied.verdict == "proved":
                core |= implied.core
            else:
                open_.append(fn)
        again = of(open_)
        return replace(again, core=again.core | core)

    # ------------------------------------------------------------------------- terms

    def _step(self, evaluator: Evaluator, fn: Fn, label: Label, state: Mapping[str, Any]) -> SolverStep:
        outcome = evaluator.action(fn, state, evaluator.lifted(fn, label.args))
        possible = formula(self.ts.alg.and_([guard for _, guard in outcome.guards]))
        return SolverStep(state, possible, {**state, **outcome.fields})

    def _equal(self, one: Mapping[str, Any], two: Mapping[str, Any]) -> Any:
        return formula(self.ts.structure.eq(one, two, self.model.state_ty))

    def _meet(self, mapped: Mapping[int, Any], one: SolverStep, two: SolverStep) -> Any:
        """Return the formula that two steps are possible and lead to the same representative."""
        bound = [formula(self.ts.evaluator.call(self.model.bound, (step.after,), {})) for step in (one, two)]
        return z3.And(one.possible, two.possible, self._equal(mapped[id(one)], mapped[id(two)]), bound[0] == bound[1])

    def _stutters(self, mapped: Mapping[int, Any], step: SolverStep) -> Any:
        """Return the formula that a step leads to a state with the representative of the state before it."""
        return self._equal(mapped[id(step)], self.now if step.before is self.ts.now else self._twice)

    @functools.cached_property
    def _twice(self) -> Mapping[str, Any]:
        """The representative of the representative."""
        return self.representative(self.now)

    def _agree(self, mapped: Mapping[int, Any], one: SolverStep, two: SolverStep) -> Any:
        meet = self._meet(mapped, one, two)
        sides = (z3.Implies(step.possible, z3.Or(meet, self._stutters(mapped, step))) for step in (one, two))
        return z3.And(*sides)

    def _over(self, evaluator: Evaluator, fn: Fn, step: SolverStep) -> Any:
        return formula(evaluator.call(fn, (step.before, step.after), {}))

    def _checks_agree(
        self, mapped: Mapping[int, Any], goal: str, checks: Sequence[Fn], one: SolverStep, two: SolverStep
    ) -> Any:
        """Return the formula that properties of steps have the same value, or show nothing of one that stutters."""
        second = self.ts.evaluator if goal == ALIKE else self.reduced
        equal = list[Any]()
        silent: dict[int, list[Any]] = {id(one): [], id(two): []}
        for fn in checks:
            values = []
            for step, evaluator in ((one, self.ts.evaluator), (two, second)):
                value = self._over(evaluator, fn, step)
                values.append(value)
                silent[id(step)].append(value if fn.kind == "always" else z3.Not(value))
            equal.append(values[0] == values[1])
        alike = z3.And(self._meet(mapped, one, two), *equal)
        return z3.And(
            *(
                z3.Implies(step.possible, z3.Or(alike, z3.And(self._stutters(mapped, step), *silent[id(step)])))
                for step in (one, two)
            )
        )

    def _value(self, evaluator: Evaluator, fn: Fn, state: Mapping[str, Any]) -> Any:
        return formula(evaluator.call(fn, (state,), {}))

    def _discharge(self, goal: Any) -> Discharge:
        """Discharge a goal about a state: first without the lemmas, so that the answer names them only if needed."""
        if z3.is_true(z3.simplify(goal)):
            return Discharge("proved", 0.0)
        alone = new_solver(WITHOUT_LEMMAS)
        alone.add(self.ts.type_invariant, z3.Not(goal))
        unaided = self.prover.decided(alone)
        if unaided is not None and unaided.verdict == "proved":
            return unaided
        return self.prover.follows(goal)


def constant_in_both(model: Model, config: ModelConfig, reduced: ModelConfig) -> list[Slot]:
    """Return the scalars of the state, of which those are constants that have one value in both configurations."""
    return [
        replace(one, index=None if one.index is two.index is None and one.initial == two.initial else number)
        for number, (one, two) in enumerate(
            zip(lower(model, config, ()).slots, lower(model, reduced, ()).slots, strict=True)
        )
    ]


def with_settings(config: ModelConfig, reduction: Reduction) -> ModelConfig:
    """Return the configuration with the settings of a reduction."""
    return replace(config, **reduction.settings)


# ---------------------------------------------------------------------------- steps that commute


@dataclass(frozen=True)
class _CommutingStep:
    """A step. moves: (variable of the state, its term after the step) for every scalar that the step changes.

    inside: the formula that the state after it is inside the bound.
    """

    step: SymbolicStep
    moves: tuple[tuple[Any, Any], ...]
    inside: Any


class Commuting:
    """The pairs of steps that a search takes to commute in one configuration."""

    def __init__(self, model: Model, config: ModelConfig, timeout: float | None) -> None:
        self.model, self.config = model, config
        self.program = lower(model, config, ()).program
        self.ts = Transitions(model, config, every_step=True)
        self.prover = Prover(self.ts, (), timeout)
        self.bound = self.ts.holds(model.bound)
        self.ranges = z3.And(*self._ranges())
        self._now = dict(self._variables())
        self._read: dict[int, tuple[Any, frozenset[str]]] = {}
        self.steps = {Label(step.action, step.args): self._terms(step) for step in self.ts.instances}

    def pairs(self) -> list[tuple[Label, Label]]:
        """Return the pairs: the second step is left out after the first."""
        labels = [Label(instance.action, instance.args) for instance in self.program.instances]
        masks = asleep(self.program)
        return [
            (labels[first], second)
            for first, mask in enumerate(masks)
            for number, second in enumerate(labels)
            if mask >> number & 1
        ]

    def commute(self, first: Label, second: Label) -> Discharge:
        """Discharge that two steps commute."""
        a, b = self.steps[first], self.steps[second]
        both = z3.And(a.step.enabled, b.step.enabled)
        goals = [
            z3.Implies(one.step.enabled, other.step.enabled == self._after(other.step.enabled, one))
            for one, other in ((a, b), (b, a))
            if not self._after(other.step.enabled, one).eq(other.step.enabled)
        ]
        goals += [z3.Implies(both, x == y) for x, y in self._ends(a, b) if not x.eq(y)]
        if all(z3.is_true(z3.simplify(goal)) for goal in goals):
            return Discharge("proved", 0.0)
        return self.prover.follows(z3.And(*goals), (self.ranges,))

    def _ends(self, a: _CommutingStep, b: _CommutingStep) -> Iterator[tuple[Any, Any]]:
        """Yield pairs of terms that must be equal: scalars after both steps, and whether a step stays inside."""
        at_a, at_b = dict(_by_name(a.moves)), dict(_by_name(b.moves))
        for name, (variable, _) in {**at_a, **at_b}.items():
            _, last_b = at_b.get(name, (variable, variable))
            _, last_a = at_a.get(name, (variable, variable))
            yield self._after(last_b, a), self._after(last_a, b)
        for one, other in ((a, b), (b, a)):
            inside = z3.And(self.bound, one.inside)
            yield z3.And(inside, other.inside), z3.And(inside, self._after(other.inside, one))

    def _terms(self, step: SymbolicStep) -> _CommutingStep:
        moves = tuple(
            (self._now[primed.decl().name()], term)
            for primed, term in step.becomes
            if primed.decl().name() in self._now and not self._now[primed.decl().name()].eq(term)
        )
        return _CommutingStep(step, moves, z3.substitute(self.bound, *moves))

    def _after(self, term: Any, step: _CommutingStep) -> Any:
        """Return a term about a state as one about the state before a step."""
        read = self._variables_of(term)
        moves = [move for move in step.moves if move[0].decl().name() in read]
        return z3.substitute(term, *moves) if moves else term

    def _variables_of(self, term: Any) -> frozenset[str]:
        """Return the symbols in a term; remembered, with the term, whose number is then no other's."""
        entry = self._read.get(term.get_id())
        if entry is None:
            entry = self._read[term.get_id()] = term, symbols(term)
        return entry[1]

    def _variables(self) -> Iterator[tuple[str, Any]]:
        """Yield (name of the variable in the next state, variable of the state)."""
        for slot, now, primed in zip(self.ts.slots, self.ts.scalars, self.ts.next_scalars, strict=True):
            if slot.index is not None:
                pairs = zip(primed, now, strict=True) if isinstance(primed, list) else ((primed, now),)
                yield from ((later.decl().name(), variable) for later, variable in pairs)

    def _ranges(self) -> Iterator[Any]:
        """Yield that each number is one that the search can store; it ends inconclusive if a step leaves them."""
        for slot, scalar in zip(self.ts.slots, self.ts.scalars, strict=True):
            if slot.index is not None and not isinstance(scalar, list) and z3.is_int(scalar):
                yield z3.And(scalar >= slot.lo, scalar <= slot.hi)


def _by_name(moves: Sequence[tuple[Any, Any]]) -> Iterator[tuple[str, tuple[Any, Any]]]:
    yield from ((variable.decl().name(), (variable, term)) for variable, term in moves)
