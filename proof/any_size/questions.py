"""The questions of a proof for any size, asked of Z3: premises, lemmas, and the negation of a goal.

A goal is proved part by part: each conjunct, with constants for what it says of all. A hint names lemmas that may be
enough; a proof from fewer premises is one from all, so that a wrong hint costs time and nothing else. An answer other
than `unsat` shows nothing: the axioms of sizes leave out much, and a state of the solver need not be finite.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import z3

from elrcheck.proof.any_size.cardinality import OF_TWO
from elrcheck.proof.any_size.definitions import NamedTerms
from elrcheck.proof.solver import ask, milliseconds

MOST_PARTS = 64
"""The most parts that a goal is split into."""


@dataclass(frozen=True)
class GoalAnswer:
    """Whether a goal is proved, the seconds, and why not. lemmas: what the proof was asked with."""

    proved: bool
    seconds: float
    lemmas: frozenset[str] = frozenset()
    reason: str | None = None


@dataclass(frozen=True)
class WayToAsk:
    """One way to ask. hinted: only with the lemmas of the hint; matching: only instances that triggers match, without
    models of quantified formulas; sizes: the axioms about two sets; share: of the time limit."""

    hinted: bool
    matching: bool
    sizes: tuple[str, ...]
    share: float


MONOTONE, NO_SIZES = ("monotone",), ()
WHOLE = (
    WayToAsk(True, True, NO_SIZES, 0.06),
    WayToAsk(True, False, NO_SIZES, 0.06),
    WayToAsk(True, True, MONOTONE, 0.06),
    WayToAsk(True, False, MONOTONE, 0.06),
)
PARTS = (
    WayToAsk(True, True, NO_SIZES, 0.08),
    WayToAsk(True, False, MONOTONE, 0.08),
    WayToAsk(True, True, OF_TWO, 0.08),
    WayToAsk(False, True, NO_SIZES, 0.15),
    WayToAsk(False, False, MONOTONE, 0.15),
    WayToAsk(True, False, OF_TWO, 0.2),
    WayToAsk(False, True, OF_TWO, 1.0),
)


@dataclass(frozen=True)
class Premises:
    """What may be used to prove a goal. lemma: its formula, by name; names: all; hints: those that may be enough."""

    scope: NamedTerms
    premises: Sequence[Any]
    lemma: Callable[[str], Any]
    names: Sequence[str]
    hints: Collection[str]

    def prove(self, goal: Any, timeout: float) -> GoalAnswer:
        """Prove that premises and lemmas imply a goal. timeout: for the whole goal, in seconds."""
        started = time.perf_counter()
        enough, reason = self._any_attempt(goal, WHOLE, timeout, started)
        if enough is not None:
            return GoalAnswer(True, time.perf_counter() - started, frozenset(enough))
        used: set[str] = set()
        for part in parts_of(goal):
            enough, reason = self._any_attempt(part, PARTS, timeout, started)
            if enough is None:
                return GoalAnswer(False, time.perf_counter() - started, frozenset(), reason)
            used.update(enough)
        return GoalAnswer(True, time.perf_counter() - started, frozenset(used))

    def _any_attempt(
        self, goal: Any, attempts: Iterable[WayToAsk], timeout: float, started: float
    ) -> tuple[Sequence[str] | None, str | None]:
        """Return lemmas from which a goal is proved; else None and why not."""
        reason = None
        for attempt in attempts:
            left = timeout - (time.perf_counter() - started)
            if left <= 0:
                return None, "time limit"
            lemmas = [name for name in self.names if not attempt.hinted or name in self.hints]
            reason = self._ask(goal, lemmas, attempt, min(left, timeout * attempt.share))
            if reason is None:
                return lemmas, None
        return None, reason

    def _ask(self, goal: Any, lemmas: Sequence[str], attempt: WayToAsk, seconds: float) -> str | None:
        """Return why a goal is not proved; None if it is."""
        formulas = [*self.premises, *(self.lemma(name) for name in lemmas), z3.Not(goal)]
        solver = z3.Solver()
        if attempt.matching:
            solver.set("auto_config", False)
            solver.set("mbqi", False)
        limit = milliseconds(seconds)
        solver.set("timeout", limit)
        solver.add(*formulas, *self.scope.needed(formulas, attempt.sizes))
        answer = ask(solver, limit)
        if answer == z3.unsat:
            return None
        return "a state in a weaker theory of sizes" if answer == z3.sat else str(solver.reason_unknown())


# ------------------------------------------------------------------------- parts


def parts_of(goal: Any) -> list[Any]:
    """Return formulas that together imply the goal, with new constants for the variables that it is about."""
    numbers = itertools.count()
    pieces: list[Any] = []
    for part in _split(goal, numbers):
        pieces.append(part)
        if len(pieces) > MOST_PARTS:
            return [goal]
    return pieces


def _split(goal: Any, numbers: Iterator[int]) -> Iterator[Any]:
    if z3.is_quantifier(goal) and goal.is_forall():
        kinds = [goal.var_sort(k) for k in range(goal.num_vars())]
        constants = [z3.Const(f"some!{next(numbers)}", sort) for sort in kinds]
        yield from _split(z3.substitute_vars(goal.body(), *reversed(constants)), numbers)
    elif z3.is_and(goal):
        for part in goal.children():
            yield from _split(part, numbers)
    elif z3.is_implies(goal):
        premise, conclusion = goal.children()
        yield from _split(z3.Or(z3.Not(premise), conclusion), numbers)
    elif z3.is_or(goal):
        yield from _disjunction(goal, numbers)
    elif z3.is_not(goal) and z3.is_or(goal.arg(0)):
        for part in goal.arg(0).children():
            yield from _split(z3.Not(part), numbers)
    elif z3.is_not(goal) and z3.is_not(goal.arg(0)):
        yield from _split(goal.arg(0).arg(0), numbers)
    elif not z3.is_true(goal):
        yield goal


def _disjunction(goal: Any, numbers: Iterator[int]) -> Iterator[Any]:
    """Split a disjunction along its last part that can be split, and keep the others beside each."""
    parts = list(goal.children())
    for k in reversed(range(len(parts))):
        part = parts[k]
        splits = (
            (z3.is_quantifier(part) and part.is_forall()) or z3.is_and(part) or z3.is_or(part) or z3.is_implies(part)
        )
        splits = splits or (z3.is_not(part) and (z3.is_or(part.arg(0)) or z3.is_not(part.arg(0))))
        if not splits:
            continue
        others = [*parts[:k], *parts[k + 1 :]]
        flat = z3.is_or(part)
        if flat:
            yield from _split(z3.Or(*others, *part.children()), numbers)
            return
        for piece in _split(part, numbers):
            yield from _split(z3.Or(*others, piece), numbers)
        return
    yield goal
