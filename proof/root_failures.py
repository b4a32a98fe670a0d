"""Which of the goals that a step breaks are broken only together with others, and what of a state is enough for it.

A rule that is edited wrongly breaks many lemmas in one step, and most of them because another one is false after the
step. A goal that the others imply after the step says nothing new; the rest are root failures.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import z3

from elrcheck.lang.algebra import ConcreteAlgebra
from elrcheck.lang.lowering.lowered import encoded
from elrcheck.lang.structure import Structure
from elrcheck.proof.obligations import Prover
from elrcheck.proof.solver import ask, new_solver
from elrcheck.proof.transition import SymbolicStep

QUESTION_SECONDS = 2.0
"""Time limit of a question; a goal that takes longer counts as a root failure."""


def implied_failures(
    prover: Prover, instance: SymbolicStep, goals: Sequence[str], deadline: float
) -> dict[str, tuple[str, ...]]:
    """Return the failing goals of a step that others imply after it -> those that do, none of which is a key.

    goals: function names, in the order of declaration: of two that imply each other the first one stays. deadline: of
    `time.perf_counter`; from then on nothing is implied.
    """
    timeout = _question_timeout(prover)
    solver = prover.open_step(instance)
    solver.set("timeout", timeout)
    solver.add(prover.within(instance))
    formulas = {name: prover.formula(instance, name) for name in goals}
    literals = {name: z3.Bool(f"after!{name}") for name in goals}
    for name, formula in formulas.items():
        solver.add(z3.Implies(literals[name], formula))
    roots, because = list(goals), dict[str, set[str]]()
    for name in reversed(goals):
        others = [other for other in roots if other != name]
        if not others or time.perf_counter() > deadline:
            break
        solver.push()
        solver.add(z3.Not(formulas[name]))
        answer = ask(solver, timeout, *prover.literals.values(), *(literals[other] for other in others))
        if answer == z3.unsat:
            core = {str(literal) for literal in solver.unsat_core()}
            because[name] = {other for other in others if f"after!{other}" in core}
            roots.remove(name)
        solver.pop()
    return {name: tuple(root for root in roots if root in _roots_of(name, because)) for name in because}


def enough_to_break(prover: Prover, instance: SymbolicStep, goal: str, before: Any) -> tuple[str, ...]:
    """Return the paths of few scalars whose values in `before` suffice for the step to break the goal wherever it is
    possible; empty if the history or a sequence of any length matters, or the solver does not decide. A lemma that
    excludes the state may exclude these values together.
    """
    if prover.ts.structure.lifted:
        return ()
    ty, structure = prover.ts.model.state_ty, Structure(prover.ts.config, ConcreteAlgebra())
    values = [encoded(scalar) for _, _, scalar in structure.leaves(structure.lift(before, ty), ty)]
    timeout = _question_timeout(prover)
    solver = new_solver(timeout)
    solver.set("core.minimize", True)
    solver.add(prover.ts.type_invariant, instance.guard, prover.formula(instance, goal))
    literals = {}
    for number, (path, equal) in enumerate(prover.equal_to(values)):
        literals[f"equal!{number}"] = path
        solver.add(z3.Implies(z3.Bool(f"equal!{number}"), equal))
    if ask(solver, timeout, *map(z3.Bool, literals)) != z3.unsat:
        return ()
    core = {str(literal) for literal in solver.unsat_core()}
    return tuple(path for name, path in literals.items() if name in core)


def _question_timeout(prover: Prover) -> int:
    """Return the time limit of a question in ms. `ask` has to know it, or takes a timeout for an interrupt."""
    return min(prover.timeout or 2**32 - 1, int(1000 * QUESTION_SECONDS))


def _roots_of(name: str, because: dict[str, set[str]]) -> set[str]:
    """Return the roots that imply a goal, maybe by goals between: those come before it in the order of goals."""
    roots = set[str]()
    for other in because[name]:
        roots |= _roots_of(other, because) if other in because else {other}
    return roots
