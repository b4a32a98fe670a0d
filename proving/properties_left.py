"""The properties that are proved even if some lemmas are not preserved: those of the largest preserved set of lemmas.

A lemma that some step breaks is dropped, then those that are not preserved without it, until all that remain are
preserved. The result does not depend on the order: it contains every other preserved set. The properties of states are
candidates as well, because one may still be preserved by itself.

`needs` finds the reason for each lemma: an obligation that is open without it. Without a lemma a proof has one
obligation less for each step, and one premise less for all others, so only obligations that needed it may be open.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import z3

from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.proof.hypotheses import condition_of, lemmas_of
from elrcheck.proof.obligations import ALWAYS_ASKED, Prover, core_of
from elrcheck.proof.transition import SymbolicStep, Transitions
from elrcheck.proving.certify import StepAnswers
from elrcheck.results.prove_report import LemmaDropped, LemmaNeed, PropertyProof, Surviving


class Survivors:
    """Finds the largest preserved set of a prover's lemmas, and what it implies.

    names: of the lemmas that have not been dropped. void: steps that may change a constant or leave a type under the
    remaining lemmas, so that the proof shows nothing.
    """

    def __init__(self, prover: Prover) -> None:
        self.prover = prover
        self.names = {fn.name for fn in prover.lemmas}
        self.dropped: list[LemmaDropped] = []
        self.void: list[LemmaDropped] = []
        self._cores: dict[tuple[int, str], frozenset[str]] = {}

    def assume(self, cores: Iterable[tuple[int, str, frozenset[str]]]) -> None:
        """Add proved obligations: (number of the instance, goal, lemmas that the proof needed)."""
        self._cores.update({(number, goal): core for number, goal, core in cores})

    def find(self) -> None:
        """Drop lemmas until every step preserves all that remain."""
        for fn in self.prover.lemmas:
            verdict = self.prover.initiation(fn).verdict
            if verdict != "proved":
                self._drop(fn.name, "", verdict == "unknown")
        before = len(self.names) + 1
        while len(self.names) < before and not self.void:
            before = len(self.names)
            for number, instance in enumerate(self._instances):
                self._visit(number, instance)

    def broken_step(self, fn: Fn) -> str | None:
        """Return the action of a step that may break a property of steps; None if the property is proved."""
        for number, instance in enumerate(self._instances):
            if self._is_proved(number, fn.name):
                continue
            solver = self._open(instance)
            solver.add(z3.Not(self.prover.goal(instance, fn)))
            if self._ask(solver) != z3.unsat:
                return instance.action
        return None

    def implied(self, fn: Fn) -> bool:
        """Return whether the remaining lemmas imply a property of states, under its condition if it has one."""
        solver = self._open(None)
        solver.add(z3.Not(self.prover.claim(fn)))
        return bool(self._ask(solver) == z3.unsat)

    # ------------------------------------------------------------------------- one instance

    @property
    def _instances(self) -> Sequence[SymbolicStep]:
        return self.prover.ts.instances

    def _is_proved(self, number: int, goal: str) -> bool:
        core = self._cores.get((number, goal))
        return core is not None and core <= self.names

    def _visit(self, number: int, instance: SymbolicStep) -> None:
        """Ask the goals of an instance that are not yet decided."""
        goals = [goal for goal in (*ALWAYS_ASKED, *self._remaining()) if not self._is_proved(number, goal)]
        if not goals:
            return
        solver = self._open(instance)
        for goal in goals:
            if goal in ALWAYS_ASKED or goal in self.names:
                self._decide(solver, number, instance, goal)

    def _remaining(self) -> Iterator[str]:
        return (fn.name for fn in self.prover.lemmas if fn.name in self.names)

    def _decide(self, solver: Any, number: int, instance: SymbolicStep, goal: str) -> None:
        formula = self.prover.formula(instance, goal)
        if goal not in ALWAYS_ASKED and formula.eq(self.prover.now[goal]):
            self._cores[number, goal] = frozenset((goal,))  # the step does not affect it
            return
        solver.push()
        solver.add(z3.Not(formula))
        answer = self._ask(solver)
        if answer == z3.unsat:
            self._cores[number, goal] = core_of(solver)
        elif goal in ALWAYS_ASKED:
            self.void.append(LemmaDropped(goal, instance.action, answer == z3.unknown))
        elif answer == z3.unknown:
            self._drop(goal, instance.action, unknown=True)
        else:
            step = solver.model()
            broken = [name for name in self._remaining() if self._breaks(step, instance, name)]
            for name in {goal, *broken}:
                self._drop(name, instance.action)
        solver.pop()

    def _breaks(self, step: Any, instance: SymbolicStep, name: str) -> bool:
        """Return whether the same step also breaks this lemma."""
        return bool(z3.is_false(step.eval(self.prover.formula(instance, name), model_completion=True)))

    def _drop(self, lemma: str, action: str, unknown: bool = False) -> None:
        if lemma in self.names:
            self.names.remove(lemma)
            self.dropped.append(LemmaDropped(lemma, action, unknown))

    def _open(self, instance: SymbolicStep | None) -> Any:
        return self.prover.with_lemmas(*(() if instance is None else (instance.guard,)))

    def _ask(self, solver: Any) -> Any:
        return self.prover.check(solver, self._remaining())


Cores = Mapping[tuple[int, str], frozenset[str]]
"""(number of an instance, goal) -> the lemmas that its proof needed."""


def needs(prover: Prover, cores: Cores, properties: Iterable[Fn]) -> tuple[LemmaNeed, ...]:
    """Return, for each lemma, an obligation that is open without it, if there is one. properties: of states."""
    needed: dict[str, LemmaNeed] = {}
    for fn in properties:
        left = [lemma for lemma in sorted(prover.implication(fn).core) if _undecided(needed, lemma)]
        solver = prover.with_lemmas(z3.Not(prover.claim(fn)))
        for lemma in left:
            _note(needed, lemma, "", fn.ident, _ask(prover, solver, lemma))
    for number, instance in enumerate(prover.ts.instances):
        goals = {goal: core for (at, goal), core in cores.items() if at == number}
        for goal, core in goals.items():
            left = [lemma for lemma in sorted(core) if lemma != goal and _undecided(needed, lemma)]
            if not left:
                continue
            solver = prover.open_step(instance)
            solver.add(z3.Not(prover.formula(instance, goal)))
            for lemma in left:
                _note(needed, lemma, instance.action, goal, _ask(prover, solver, lemma))
    return tuple(needed.get(fn.name, LemmaNeed(fn.name, needed=False)) for fn in prover.lemmas)


def _undecided(needed: Mapping[str, LemmaNeed], lemma: str) -> bool:
    return lemma not in needed or needed[lemma].needed is None


def _note(needed: dict[str, LemmaNeed], lemma: str, action: str, goal: str, answer: Any) -> None:
    if answer == z3.sat:
        needed[lemma] = LemmaNeed(lemma, True, action, goal)
    elif answer == z3.unknown and lemma not in needed:
        needed[lemma] = LemmaNeed(lemma, None, action, goal)


def _ask(prover: Prover, solver: Any, without: str) -> Any:
    return prover.check(solver, (name for name in prover.literals if name != without))


def surviving(
    model: Model, transitions: Transitions, properties: Sequence[Fn], timeout: float | None, answers: StepAnswers
) -> Surviving:
    """Find the largest preserved set of lemmas, and the properties that it proves. answers: of the whole proof."""
    started = time.perf_counter()
    candidates = [fn for fn in properties if not fn.is_step and _stands_alone(model, transitions, fn)]
    prover = Prover(transitions, (*lemmas_of(model), *candidates), timeout)
    survivors = Survivors(prover)
    survivors.assume(
        (number, goal, answer.core)
        for number, by_goal in answers.items()
        for goal, answer in by_goal.items()
        if answer.verdict == "proved"
    )
    survivors.find()
    candidate_names = {fn.name for fn in candidates}
    return Surviving(
        lemmas=tuple(fn.name for fn in lemmas_of(model) if fn.name in survivors.names),
        dropped=tuple(drop for drop in survivors.dropped if drop.lemma not in candidate_names),
        void=tuple(survivors.void),
        properties=tuple(
            PropertyProof(fn.ident, not survivors.void and _proved(survivors, fn), _condition(model, transitions, fn))
            for fn in properties
        ),
        seconds=round(time.perf_counter() - started, 3),
    )


def _stands_alone(model: Model, transitions: Transitions, fn: Fn) -> bool:
    """Return whether a property may serve as a lemma: it has no condition and treats all brokers alike."""
    alike = transitions.alike is None or transitions.alike.holds(fn)
    return condition_of(model, fn, transitions.config) is None and alike


def _proved(survivors: Survivors, fn: Fn) -> bool:
    if fn.is_step:
        return survivors.broken_step(fn) is None
    return fn.name in survivors.names or survivors.implied(fn)


def _condition(model: Model, transitions: Transitions, fn: Fn) -> str | None:
    condition = condition_of(model, fn, transitions.config)
    return None if condition is None else condition.doc
