"""Asks Z3 the questions of a proof for any size: premises, lemmas, and the negation of a goal.

A goal is proved part by part, and a part by cases (`goal_parts`). A hint names lemmas that may be enough; a proof from
fewer premises is also one from all, so a wrong hint costs only time. An answer other than `unsat` shows nothing: the
axioms of sizes are incomplete, and a state of the solver need not be finite.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import z3

from elrcheck.proof.any_size.cardinality import OF_TWO
from elrcheck.proof.any_size.definitions import NamedTerms
from elrcheck.proof.any_size.goal_parts import Splitting
from elrcheck.proof.solver import ask, milliseconds


@dataclass(frozen=True)
class Enough:
    """Lemmas, and axioms about two sets (`sizes`), from which a goal was proved."""

    lemmas: frozenset[str] = frozenset()
    sizes: frozenset[str] = frozenset()

    def __or__(self, other: Enough) -> Enough:
        return Enough(self.lemmas | other.lemmas, self.sizes | other.sizes)


@dataclass(frozen=True)
class GoalAnswer:
    """The answer about a goal. enough: None if it is not proved; seconds: processor time; reason: why not proved."""

    enough: Enough | None
    seconds: float
    reason: str | None = None

    @property
    def proved(self) -> bool:
        return self.enough is not None

    @property
    def lemmas(self) -> frozenset[str]:
        """The lemmas that were assumed in the proof; empty without a proof."""
        return frozenset() if self.enough is None else self.enough.lemmas


@dataclass(frozen=True)
class WayToAsk:
    """One way to ask. hinted: assume only the lemmas of the hint; matching: instantiate quantifiers by triggers alone,
    without model-based instantiation; sizes: the axioms about two sets; both_sides: as in `NamedTerms.needed`."""

    hinted: bool
    matching: bool
    sizes: tuple[str, ...]
    both_sides: bool = False


WAYS = (
    WayToAsk(True, True, ()),
    WayToAsk(True, True, OF_TWO),
    WayToAsk(True, True, (), both_sides=True),
    WayToAsk(True, False, ()),
    WayToAsk(True, False, ("monotone",)),
    WayToAsk(True, False, OF_TWO),
    WayToAsk(False, True, OF_TWO),
    WayToAsk(False, True, ()),
)
"""In the order in which they are tried. None is best: a way proves a goal at once, or mostly not within minutes."""
ROUNDS = (0.5, 1.5, 4.0, 10.0)
"""Processor seconds for each way, round after round; each round has another random seed."""
MOST_WAITING = 30.0
"""The maximum number of wall-clock seconds to wait for one processor second."""


class ProcessorClock:
    """Measures processor time, so that the load of the machine does not decide what is proved."""

    def __init__(self) -> None:
        self._wall, self._processor = time.perf_counter(), time.process_time()

    def seconds(self) -> float:
        return time.process_time() - self._processor

    def waiting(self, seconds: float) -> float:
        """Return the wall-clock seconds that processor seconds take if the load stays as it was."""
        wall = time.perf_counter() - self._wall
        return seconds * min(MOST_WAITING, max(1.0, wall / max(self.seconds(), 1e-3)))


@dataclass(frozen=True)
class Premises:
    """Premises of goals. lemma: returns a lemma's formula; names: of all lemmas; hints: lemmas that may be enough."""

    scope: NamedTerms
    premises: Sequence[Any]
    lemma: Callable[[str], Any]
    names: Sequence[str]
    hints: Collection[str]

    def prove(self, goal: Any, timeout: float) -> GoalAnswer:
        """Prove that premises and lemmas imply a goal. timeout: processor seconds for each part."""
        clock, splitting, ways = ProcessorClock(), Splitting(), list(WAYS)
        enough, reason = self._in_rounds(goal, ROUNDS[:1], timeout, ways)
        if enough is None:
            enough, reason = self._part_by_part(splitting, goal, timeout, ways)
        return GoalAnswer(enough, clock.seconds(), reason)

    def _part_by_part(
        self, splitting: Splitting, goal: Any, timeout: float, ways: list[WayToAsk]
    ) -> tuple[Enough | None, str | None]:
        """Prove each part of a goal; by cases if it is not proved as a whole."""
        used = Enough()
        for part in splitting.parts(goal):
            enough, _ = self._in_rounds(part, ROUNDS[:2], timeout, ways)
            for case in splitting.parts(part, cases=True) if enough is None else ():
                enough, reason = self._in_rounds(case, ROUNDS, timeout, ways)
                if enough is None:
                    return None, reason
                used |= enough
            used |= enough or used
        return used, None

    def _in_rounds(
        self, goal: Any, rounds: Iterable[float], timeout: float, ways: list[WayToAsk]
    ) -> tuple[Enough | None, str | None]:
        """Return (what proves the goal, None), or (None, why it is not proved).

        ways: in the order to try them; the one that proves the goal moves to the front.
        """
        clock, reason = ProcessorClock(), None
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
                    return Enough(frozenset(lemmas), frozenset(way.sizes)), None
        return None, reason

    def _ask(self, goal: Any, lemmas: Sequence[str], way: WayToAsk, seconds: float, seed: int) -> str | None:
        """Return why a goal is not proved; None if it is proved."""
        formulas = [*self.premises, *(self.lemma(name) for name in lemmas), z3.Not(goal)]
        solver = z3.Solver()
        solver.set("smt.random_seed", seed)
        if way.matching:
            solver.set("auto_config", False)
            solver.set("mbqi", False)
        limit = milliseconds(seconds)
        solver.set("timeout", limit)
        solver.add(*formulas, *self.scope.needed(formulas, way.sizes, both_sides=way.both_sides))
        answer = ask(solver, limit)
        if answer == z3.unsat:
            return None
        return "a state in a weaker theory of sizes" if answer == z3.sat else str(solver.reason_unknown())
