"""Why a step may be left out that the same two steps reach in the other order: the two commute, by Z3 (ADR 25).

A search finds the pairs by the leaves that steps read and write in its program (`independence`). Here every pair is a
theorem about the rules: from each state within the types and the ranges of the search,

* if one step is possible, the other is possible before it exactly if it is possible after it, and the other way round;
* if both are, both orders lead to the same state, and a step stays inside the bound in one order exactly if it does in
  the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import z3

from elrcheck.lang.load import Model
from elrcheck.lang.lowering.independence import asleep
from elrcheck.lang.lowering.lower import lower
from elrcheck.lang.plain import Label
from elrcheck.lang.runtime import ModelConfig
from elrcheck.proof.any_size.definitions import symbols
from elrcheck.proof.obligations import Discharge, Prover
from elrcheck.proof.transition import SymbolicStep, Transitions


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
