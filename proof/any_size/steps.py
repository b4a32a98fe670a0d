"""A model of any size as a transition system: an arbitrary state, its lemmas, and the steps from it.

The members, sets and numbers among an action's arguments are variables; each choice of its truths and enums is a step
of its own.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import z3

from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.lang.lowering.lower import lower
from elrcheck.lang.runtime import ModelConfig
from elrcheck.lang.types import Ty, type_of
from elrcheck.proof.any_size.arbitrary import Arbitrary, Varying
from elrcheck.proof.any_size.evaluator import AnySizeEvaluator
from elrcheck.proof.any_size.next_state import Named, NextState
from elrcheck.proof.hypotheses import assumptions_of, condition_of, lemmas_of
from elrcheck.proof.obligations import FRAME, TYPES
from elrcheck.proof.z3_algebra import formula


@dataclass(frozen=True)
class ActionChoice:
    """An action with fixed values for its truths and enums, by name."""

    action: Fn
    fixed: Mapping[str, Any]

    @property
    def arguments(self) -> dict[str, str]:
        """The arguments as a user reads them, by name."""
        return {name: _text_of(ty, self.fixed[name]) for name, ty in self.action.params if name in self.fixed}

    @property
    def text(self) -> str:
        return ", ".join(f"{name}={value}" for name, value in self.arguments.items())

    @property
    def name(self) -> str:
        return f"{self.action.name}({self.text})"


def _text_of(ty: Ty, value: Any) -> str:
    return str(ty.members[value]) if ty.kind == "enum" else str(value)


def choices(fn: Fn) -> Iterator[ActionChoice]:
    """Yield an action with each choice of its truths and enums."""
    listed = [(name, _values(ty)) for name, ty in fn.params if ty.kind in ("bool", "enum")]
    for values in itertools.product(*(values for _, values in listed)):
        yield ActionChoice(fn, {name: value for (name, _), value in zip(listed, values, strict=True)})


def _values(ty: Ty) -> Sequence[Any]:
    return (False, True) if ty.kind == "bool" else range(len(ty.members))


class Unbounded:
    """The arbitrary state, the history and the lemmas of a model of any size.

    assumed: names of assumptions on steps beside those that every proof of the model makes. named: see `Named`.
    implied: properties that `lemmas_of` lists but that are left out of the lemmas, since the others imply them.
    """

    def __init__(
        self,
        model: Model,
        config: ModelConfig,
        assumed: Sequence[str] = (),
        named: Named = "rules",
        implied: Collection[str] = (),
    ) -> None:
        self.model, self.config, self.assumed, self.left_out = model, config, tuple(assumed), frozenset(implied)
        always = [model.fns[fn.__name__] for fn in model.induction.assumptions]
        self.assumptions = [*always, *assumptions_of(model, assumed)]
        self.evaluator = AnySizeEvaluator(model, config, named)
        self.structure, self.scope = self.evaluator.structure, self.evaluator.scope
        self.ty, self.history = model.state_ty, model.induction.history
        self.first, self.admitted, self.arguments = self._initial()
        if self.arguments:
            self.parts = Arbitrary(self.structure, None)
        else:
            self.parts = Arbitrary(self.structure, Varying(lower(model, config, ()).slots))
        self.now = self.parts.state(self.ty, self.first)
        self.seen_ty = None if self.history is None else type_of(self.history.record)
        free = Arbitrary(self.structure, None)
        self.seen = None if self.seen_ty is None else free.value(self.seen_ty, "seen")
        self._lemmas: dict[str, Any] = {}
        for name in self.lemmas:  # first, so that a definition does not depend on which goal comes first
            self.lemma(name)

    def _initial(self) -> tuple[dict[str, Any], Any, list[Any]]:
        """Return the initial state, the condition on its arguments, and their names."""
        fn, free = self.model.init, Arbitrary(self.structure, None)
        arguments = {name: free.value(ty, f"initial.{name}") for name, ty in fn.params}
        guards, fields = self.evaluator.start(fn, arguments)
        within = [self.structure.within(arguments[name], ty) for name, ty in fn.params]
        return fields, self.structure.alg.and_([*within, *(guard for _, guard in guards)]), list(arguments)

    # ------------------------------------------------------------------------- formulas

    def holds(self, fn: Fn, *states: Mapping[str, Any], seen: Any = None) -> Any:
        """Return the formula of a predicate in states, by default in the arbitrary state with its history."""
        of_history = self.seen if seen is None else seen
        assert self.seen_ty is None or of_history is not None
        history = {
            name: of_history for name, ty in fn.params if self.seen_ty is not None and ty.cls is self.seen_ty.cls
        }
        return formula(self.evaluator.call(fn, states or (self.now,), history))

    def lemma(self, name: str) -> Any:
        """Return the formula of a lemma in the arbitrary state."""
        if name not in self._lemmas:
            self._lemmas[name] = self.holds(self.lemmas[name])
        return self._lemmas[name]

    @cached_property
    def with_all_names(self) -> Unbounded:
        """The same system, with names for the operators of lemmas, too."""
        return Unbounded(self.model, self.config, self.assumed, "all", self.left_out)

    @cached_property
    def lemmas(self) -> dict[str, Fn]:
        return {fn.name: fn for fn in lemmas_of(self.model) if fn.name not in self.left_out}

    @cached_property
    def goals(self) -> dict[str, Fn]:
        """The goals of a step: lemmas, and properties of steps."""
        return {**self.lemmas, **{fn.name: fn for fn in self.model.always}}

    @cached_property
    def typed(self) -> list[Any]:
        """The constant premises: axioms of sizes, and the types of the arbitrary state and history."""
        parts = [self.structure.within(self.now, self.ty)]
        if self.seen_ty is not None:
            parts.append(self.structure.within(self.seen, self.seen_ty))
        return [*self.evaluator.sizes.axioms, *map(formula, parts)]

    # ------------------------------------------------------------------------- obligations beside steps

    def by_types(self, fn: Fn) -> tuple[list[Any], Any]:
        """Return (premises, goal): types and constants alone imply a property, whatever the steps are."""
        if not fn.is_step:
            return self.typed, self.holds(fn)
        later = Arbitrary(self.structure, self.parts.varying, "'").state(self.ty, self.first)
        within = formula(self.structure.within(later, self.ty))
        return [*self.typed, within], self.holds(fn, self.now, later)

    def initially(self, name: str) -> tuple[list[Any], Any]:
        """Return (premises, goal): a lemma, or `Types`, holds in every initial state."""
        premises = [*self.evaluator.sizes.axioms, formula(self.admitted)]
        seen, within = None, [self.structure.within(self.first, self.ty)]
        if self.history is not None:
            at_first = self.model.fns[self.history.at_first.__name__]
            seen = self.evaluator.call(at_first, (), {})
            within.append(self.structure.within(seen, at_first.ret))
        if name == TYPES:
            return premises, formula(self.structure.alg.and_(within))
        return premises, self.holds(self.lemmas[name], self.first, seen=seen)

    def implied(self, fn: Fn) -> Any:
        """Return the goal that the lemmas must imply: a property of states, under its condition."""
        condition = condition_of(self.model, fn, self.config)
        holds = self.holds(fn)
        return holds if condition is None else z3.Implies(self.holds(condition), holds)


class UnboundedStep:
    """A step from the arbitrary state.

    members: those among its arguments; possible: simplification alone does not show that its guard is false.
    """

    def __init__(self, system: Unbounded, choice: ActionChoice) -> None:
        self.system, self.choice = system, choice
        structure, free = system.structure, Arbitrary(system.structure, None)
        arguments: dict[str, Any] = {}
        self.members = []
        within = []
        for name, ty in choice.action.params:
            if name in choice.fixed:
                arguments[name] = choice.fixed[name]
                continue
            arguments[name] = free.value(ty, argument := f"argument.{name}")
            if ty.kind in ("member", "nat"):
                system.scope.arguments[argument] = arguments[name]
            if ty.kind == "member" and not ty.ordered:
                self.members.append(arguments[name])
            within.append(structure.within(arguments[name], ty))
        outcome = system.evaluator.action(choice.action, system.now, arguments)
        names = NextState(structure, f"after.{choice.name}.")
        self.after = {
            name: names.named(outcome.fields.get(name, system.now[name]), system.now[name], part, name)
            for name, part in system.ty.fields.items()
        }
        assumed = [system.holds(fn, system.now, self.after) for fn in system.assumptions]
        self.guard = structure.alg.and_([*within, *(guard for _, guard in outcome.guards), *assumed])
        self.possible = self.guard is not False and not z3.is_false(z3.simplify(formula(self.guard)))

    @cached_property
    def _seen_after(self) -> Any:
        system = self.system
        assert system.history is not None
        after = system.model.fns[system.history.after.__name__]
        return system.evaluator.call(after, (system.now, self.after), {"seen": system.seen})

    @property
    def _history_typed(self) -> Any:
        """The formula that the history is of its type after the step; true if that is what it was of before."""
        system, within = self.system, self.system.structure.within
        if system.seen_ty is None:
            return True
        before, after = within(system.seen, system.seen_ty), within(self._seen_after, system.seen_ty)
        return True if formula(after).eq(formula(before)) else after

    @cached_property
    def with_all_names(self) -> UnboundedStep:
        return UnboundedStep(self.system.with_all_names, self.choice)

    @property
    def premises(self) -> list[Any]:
        return [*self.system.typed, formula(self.guard)]

    def goal(self, name: str) -> Any | None:
        """Return the formula of a goal; None if the step changes nothing that the lemma reads."""
        system, structure = self.system, self.system.structure
        if name == FRAME:
            keeps = system.parts.keeps
            if system.parts.varying is None:
                return z3.BoolVal(True)
            parts = (
                keeps(self.after[field], ty, field, system.first[field])
                for field, ty in system.ty.fields.items()
                if self.after[field] is not system.now[field]
            )
            return formula(structure.alg.and_(list(parts)))
        if name == TYPES:
            fields = ((self.after[field], ty) for field, ty in system.ty.fields.items() if self._changes(field))
            return formula(structure.alg.and_([*(structure.within(*field) for field in fields), self._history_typed]))
        fn = system.goals[name]
        if fn.is_step:
            return system.holds(fn, system.now, self.after)
        about_history = system.seen_ty is not None and any(ty.cls is system.seen_ty.cls for _, ty in fn.params)
        after = system.holds(fn, self.after, seen=self._seen_after if about_history else None)
        return None if after.eq(system.lemma(name)) else after

    def _changes(self, field: str) -> bool:
        return self.after[field] is not self.system.now[field]
