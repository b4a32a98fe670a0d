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
    """Whether a goal is proved, the seconds of the processor, and why not. lemmas: what the proof was asked with."""

    proved: bool
    seconds: float
    lemmas: frozenset[str] = frozenset()
    reason: str | None = None


@dataclass(frozen=True)
class WayToAsk:
    """One way to ask. hinted: only with the lemmas of the hint; matching: only instances that triggers match, without
    models of quantified formulas; sizes: the axioms about two sets."""

    hinted: bool
    matching: bool
    sizes: tuple[str, ...]


WAYS = (
    WayToAsk(True, True, ()),
    WayToAsk(True, True, OF_TWO),
    WayToAsk(True, False, ()),
    WayToAsk(True, False, ("monotone",)),
    WayToAsk(True, False, OF_TWO),
    WayToAsk(False, True, OF_TWO),
    WayToAsk(False, True, ()),
)
"""In the order in which they are tried. None is best: a proof is found at once, or mostly not in minutes."""
ROUNDS = (0.5, 1.5, 4.0, 10.0)
"""Seconds of the processor that each way has, round after round; another round begins with other random choices."""


MOST_WAITING = 30.0
"""The longest that one second of the processor is waited for."""


class ProcessorClock:
    """The processor time since a question began: what is proved does not depend on what else the machine does."""

    def __init__(self) -> None:
        self._wall, self._processor = time.perf_counter(), time.process_time()

    def seconds(self) -> float:
        return time.process_time() - self._processor

    def waiting(self, seconds: float) -> float:
        """Return how long so many seconds of the processor take if the machine stays as busy as it was."""
        wall = time.perf_counter() - self._wall
        return seconds * min(MOST_WAITING, max(1.0, wall / max(self.seconds(), 1e-3)))


@dataclass(frozen=True)
class Premises:
    """What may be used to prove a goal. lemma: its formula, by name; names: all; hints: those that may be enough."""

    scope: NamedTerms
    premises: Sequence[Any]
    lemma: Callable[[str], Any]
    names: Sequence[str]
    hints: Collection[str]

    def prove(self, goal: Any, timeout: float) -> GoalAnswer:
        """Prove that premises and lemmas imply a goal. timeout: for the whole goal, in seconds of the processor."""
        clock = ProcessorClock()
        pieces = parts_of(goal)
        enough, reason = self._in_rounds(goal, ROUNDS if len(pieces) == 1 else ROUNDS[:1], clock, timeout, list(WAYS))
        if enough is not None:
            return GoalAnswer(True, clock.seconds(), frozenset(enough))
        used: set[str] = set()
        ways = list(WAYS)
        for part in pieces if len(pieces) > 1 else [goal]:
            enough, reason = self._in_rounds(part, ROUNDS, clock, timeout, ways)
            if enough is None:
                return GoalAnswer(False, clock.seconds(), frozenset(), reason)
            used.update(enough)
        return GoalAnswer(True, clock.seconds(), frozenset(used))

    def _in_rounds(
        self, goal: Any, rounds: Iterable[float], clock: ProcessorClock, timeout: float, ways: list[WayToAsk]
    ) -> tuple[Sequence[str] | None, str | None]:
        """Return lemmas from which a goal is proved; else None and why not. timeout: when to stop.

        ways: in the order to try them; the one that proved the goal is moved to the front.
        """
        reason = None
        for seed, seconds in enumerate(rounds):
            for way in tuple(ways):
                left = timeout - clock.seconds()
                if left <= 0:
                    return None, "time limit"
                lemmas = [name for name in self.names if not way.hinted or name in self.hints]
                reason = self._ask(goal, lemmas, way, clock.waiting(min(left, seconds)), seed)
                if reason is None:
                    ways.remove(way)
                    ways.insert(0, way)
                    return lemmas, None
        return None, reason

    def _ask(self, goal: Any, lemmas: Sequence[str], way: WayToAsk, seconds: float, seed: int) -> str | None:
        """Return why a goal is not proved; None if it is."""
        formulas = [*self.premises, *(self.lemma(name) for name in lemmas), z3.Not(goal)]
        solver = z3.Solver()
        solver.set("smt.random_seed", seed)
        if way.matching:
            solver.set("auto_config", False)
            solver.set("mbqi", False)
        limit = milliseconds(seconds)
        solver.set("timeout", limit)
        solver.add(*formulas, *self.scope.needed(formulas, way.sizes))
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
