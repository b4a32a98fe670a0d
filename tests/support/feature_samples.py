"""States under one feature, and what plain Python says of them, for the other engines to be compared with.

Random walks do not reach every action, and not in every way. So the states are of three kinds: reachable
ones, one for each action instance in which the solver finds it enabled, and near misses of both, in which
often one guard fails and properties are false.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pytest
import z3

from elrcheck.lang.algebra import ConcreteAlgebra
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.lang.lowering.lower import lower
from elrcheck.lang.lowering.lowered import Lowered
from elrcheck.lang.plain import PlainModel
from elrcheck.lang.structure import Structure
from elrcheck.model.config import Config
from elrcheck.proof.transition import SymbolicStep, Transitions
from support.configurations import ALTERNATIVES, COMBINED, FEATURES, configuration
from support.sampling import perturbed, reachable

Steps = dict[tuple[str, tuple[Any, ...]], Any]
"""(action, arguments) -> next state."""


@dataclass(frozen=True)
class Size:
    """How many states: of each kind, and for each action or for each of its instances.

    apart: the solver evaluates one state of so many; asking it costs a hundred times more than the others.
    """

    reachable: int
    near: int
    every_instance: bool
    apart: int = 1


FEW = Size(reachable=10, near=1, every_instance=False, apart=3)
ATTEMPTS = 12
"""How often the solver is asked for another state where plain Python cannot read the first one."""
THOROUGH = Size(reachable=40, near=1, every_instance=True, apart=6)


def samples() -> list[Any]:
    """Parameters of a fixture: slow tests, of which each run of the suite takes about one.

    Many states of the features that turn several knobs at once, few of every sixth of the others: one knob,
    or a variant, differs from those in little.
    """
    thorough = (*COMBINED, *ALTERNATIVES)
    return [
        *(
            pytest.param((feature, FEW), id=f"{feature}, alone", marks=pytest.mark.slow)
            for feature in [feature for feature in FEATURES if feature not in thorough][::6]
        ),
        *(pytest.param((feature, THOROUGH), id=f"{feature}, thorough", marks=pytest.mark.slow) for feature in thorough),
    ]


class FeatureSample:
    """States under a feature, each with its steps in plain Python."""

    def __init__(self, model: Model, feature: str, size: Size) -> None:
        self.model, self.feature, self.size = model, feature, size
        self.config: Config = configuration(feature)
        self.plain = PlainModel(model, self.config)
        self.lowered: Lowered = lower(model, self.config)
        self._structure = Structure(self.config, ConcreteAlgebra())
        self.constant: set[str] = set()
        """Properties that have one value in all states, as the solver found when the cases were made."""
        self._numbers: dict[Any, tuple[int, ...]] = {}

    @cached_property
    def transitions(self) -> Transitions:
        return Transitions(self.model, self.config, every_step=True)

    @cached_property
    def cases(self) -> list[tuple[Any, Steps]]:
        """The states and their steps. A state that plain Python cannot read is left out."""
        states = [*reachable(self.plain, self.size.reachable, seed=7), *self._enabling()]
        for seed in range(self.size.near):
            states += perturbed(self.lowered, states, seed)
        states += self._deciding()
        read = [(state, self._steps(state)) for state in dict.fromkeys(states)]
        cases = [(state, steps) for state, steps in read if steps is not None]
        assert len(cases) >= 0.5 * len(read), "most near misses name a record or a replica that is not there"
        return cases

    @cached_property
    def pairs(self) -> list[tuple[Any, Any]]:
        """One step of each state, and pairs of neighbouring states that are none."""
        rng = random.Random(9)
        steps = [(state, rng.choice(list(steps.values()))) for state, steps in self.cases if steps]
        pairs = [*steps, *itertools.pairwise(state for state, _ in self.cases)]
        return [(before, after) for before, after in pairs if self.fits(after)]

    @property
    def fired(self) -> set[str]:
        """Actions of which the sample has a step that a search takes."""
        return {
            action
            for _, steps in self.cases
            for (action, _), after in steps.items()
            if self.plain.within(after) and self.fits(after)
        }

    def judged(self, fn: Fn, *states: Any) -> bool | None:
        """The value of a property; None where it has none: a near miss may have no third record."""
        try:
            return self.plain.holds(fn, *states)
        except (IndexError, TypeError):
            return None

    def numbers(self, state: Any) -> tuple[int, ...]:
        """Its scalars as numbers, in the order of the slots; sets as masks.

        There are more of them if a log has exceeded its slots.
        """
        if state not in self._numbers:
            ty = self.model.state_ty
            leaves = self._structure.leaves(self._structure.lift(state, ty), ty)
            self._numbers[state] = tuple(
                sum(1 << i for i, flag in enumerate(scalar) if flag) if ty.kind == "set" else int(scalar)
                for _, ty, scalar in leaves
            )
        return self._numbers[state]

    def leaves(self, state: Any) -> tuple[int, ...]:
        """Those of the numbers that a compiled search stores."""
        pairs = zip(self.lowered.slots, self.numbers(state), strict=True)
        return tuple(number for slot, number in pairs if slot.index is not None)

    def fits(self, state: Any) -> bool:
        """Whether a compiled search has room for it."""
        numbers = self.numbers(state)
        return len(numbers) == len(self.lowered.slots) and all(
            number == slot.initial if slot.index is None else slot.lo <= number <= slot.hi
            for slot, number in zip(self.lowered.slots, numbers, strict=True)
        )

    def _steps(self, state: Any) -> Steps | None:
        try:
            return {(label.action, label.args): after for label, after in self.plain.successors(state)}
        except IndexError:
            return None

    def _solver(self, seed: int = 0) -> Any:
        solver = z3.Solver()
        solver.set("random_seed", seed)
        solver.add(self.transitions.type_invariant, *self._room(self.transitions.now))
        return solver

    def _deciding(self) -> Iterator[Any]:
        """For each property of one state, if there are such, states in which it is false and true."""
        solver = self._solver()
        for fn in self.model.checks:
            holds = None if fn.is_step else self.transitions.holds(fn)
            for goal in () if holds is None else (z3.Not(holds), holds):
                if solver.check(goal) == z3.sat:
                    yield self.transitions.read(solver.model(), self.transitions.now)
                else:
                    self.constant.add(fn.name)

    def _enabling(self) -> Iterator[Any]:
        """For each action (instance), if there is one, a state from which a search takes it."""
        transitions = self.transitions
        sound = [transitions.holds(fn) for fn in self.model.lemmas if not fn.is_step]
        for group in self._groups(transitions.instances):
            taken = z3.Or([self._taken(instance) for instance in group])
            for seed in range(ATTEMPTS):
                solver = self._solver(seed)
                solver.add(taken)
                # A state as the proof knows them, if there is one; else any that plain Python can read.
                if solver.check(*sound) != z3.sat and solver.check() != z3.sat:
                    break
                state = transitions.read(solver.model(), transitions.now)
                if self._steps(state) is not None:
                    yield state
                    break

    def _taken(self, instance: SymbolicStep) -> Any:
        inside = self.transitions.holds(self.model.bound, instance.after)
        return z3.And(instance.guard, inside, *self._room(instance.after))

    def _room(self, state: Mapping[str, Any]) -> Iterator[Any]:
        leaves = self.transitions.structure.leaves(state, self.model.state_ty)
        for slot, (_, _, scalar) in zip(self.lowered.slots, leaves, strict=True):
            if slot.index is not None and z3.is_expr(scalar) and z3.is_int(scalar):
                yield z3.And(slot.lo <= scalar, scalar <= slot.hi)

    def _groups(self, instances: list[SymbolicStep]) -> list[list[SymbolicStep]]:
        if self.size.every_instance:
            return [[instance] for instance in instances]
        groups: dict[str, list[SymbolicStep]] = {}
        for instance in instances:
            groups.setdefault(instance.action, []).append(instance)
        return list(groups.values())
