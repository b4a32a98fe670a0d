"""Digests of the parts of an obligation, from the text of their terms.

The text is complete and depends only on the terms, so equal digests mean equal questions for the solver, in every
process.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import z3

from elrcheck.proof.obligations import FRAME, TYPES, Prover
from elrcheck.proof.transition import SymbolicStep


class Digests:
    """Digests of the parts of a prover's obligations. lemmas: of each lemma before a step, by name."""

    def __init__(self, prover: Prover) -> None:
        self.prover = prover
        self.lemmas = {name: _of(term) for name, term in prover.now.items()}
        self.types = _of(prover.ts.type_invariant)
        self._goals: dict[str, str] = {FRAME: FRAME, TYPES: TYPES}

    def goal(self, name: str) -> str:
        """Return the digest of a lemma after a step, or of a step property. `instance` covers `Frame` and `Types`."""
        if name not in self._goals:
            self._goals[name] = _of(self.prover.over_next(self.prover.goals[name]))
        return self._goals[name]

    def instance(self, instance: SymbolicStep) -> str:
        """Return the digest of the types, the guard and the whole next state, constants included."""
        next_state = [variable == term for variable, term in instance.becomes]
        return digest([self.types, z3.And(instance.guard, instance.keeps_constants, *next_state).sexpr()])

    def work(self, instance: SymbolicStep, goals: Iterable[str]) -> str:
        """Return the digest of the obligations of an instance, with every lemma."""
        return digest([self.instance(instance), *self.lemmas.values(), *map(self.goal, goals)])


def digest(parts: Iterable[str]) -> str:
    """Return one digest of several texts."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def _of(term: z3.ExprRef) -> str:
    return digest([term.sexpr()])
