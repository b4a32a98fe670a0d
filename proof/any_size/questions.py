"""Asks Z3 the questions of a proof for any size: premises, lemmas, and the negation of a goal.

A goal is proved part by part, and a part by cases (`goal_parts`). A hint names lemmas that may be enough; a proof from
fewer premises is also one from all, so a wrong hint costs only time. An answer other than `unsat` shows nothing: the
axioms of sizes are incomplete, and a state of the solver need not be finite.

A route says how a goal was proved, so that a later proof asks first what was answered then. It is a hint: a question on
it is asked of the goal as it is today, and where one is not answered, the goal is proved as if there were no route.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import z3

from elrcheck.base.roundtrip import Record, from_text
from elrcheck.proof.any_size.definitions import OF_TWO, NamedTerms
from elrcheck.proof.any_size.goal_parts import AXIOM, Splitting, cases_before, subset_cuts
from elrcheck.proof.any_size.instances import Places, at_numbers, lengths_of, members_of, numbers_of
from elrcheck.proof.any_size.subterms import triggered_inside
from elrcheck.proof.obligations import ask, milliseconds


class Question(Record, frozen=True):
    """A question that was answered. way: its number in `WAYS`; seed: of the solver."""

    way: int
    seed: int = 0


Cases: TypeAlias = Literal["", "goal", "before", "cut"]
"""How a part of a goal is split: not, by its own cases, by those of its lemma before the step, or by a cut."""


class PartRoute(Record, frozen=True):
    """The questions about a part of a goal: one about the part itself, or one about each of its cases.

    cut: its number among the cuts of the part.
    """

    questions: tuple[Question, ...]
    cases: Cases = ""
    cut: int = 0


class Route(Record, frozen=True):
    """How a goal was proved. hints: the lemmas that were assumed where only some were.

    named: with names for the results of all operators. whole: the question about the whole goal; None: part by part.
    """

    hints: tuple[str, ...]
    named: bool = False
    whole: Question | None = None
    parts: tuple[PartRoute, ...] = ()


Routes = Mapping[str, Mapping[str, Route]]
"""Step, such as `ControllerAlters(keep=True)` -> goal -> how it was proved."""


class RouteFile(Record, frozen=True):
    """The routes of a proof. rules: a digest of the model's rules that it was about; day: of its end."""

    rules: str
    day: str
    steps: dict[str, dict[str, Route]]


def routes_of(text: str) -> Routes:
    """Return the routes of a file; raise ValueError for a damaged one."""
    return from_text(text, RouteFile).steps


@dataclass(frozen=True)
class Enough:
    """Lemmas, and axioms about two sets (`sizes`), from which a goal was proved; both_sides: as in `WayToAsk`."""

    lemmas: frozenset[str] = frozenset()
    sizes: frozenset[str] = frozenset()
    both_sides: bool = False

    def __or__(self, other: Enough) -> Enough:
        return Enough(self.lemmas | other.lemmas, self.sizes | other.sizes, self.both_sides or other.both_sides)


@dataclass(frozen=True)
class GoalAnswer:
    """The answer about a goal. enough: None if it is not proved; seconds: processor time; reason: why not proved.

    route: how it was proved.
    """

    enough: Enough | None
    seconds: float
    reason: str | None = None
    route: Route | None = None

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
    without model-based instantiation; sizes: the axioms about two sets; both_sides: as in `NamedTerms.needed`;
    members: assume lemmas that name new values only for the members that the question names (`Places`); without
    `arguments`, all lemmas about two members or more, and only for those of the goal; numbers: assume lemmas also at
    the numbers of the goal (`at_numbers`), with triggers inside axioms."""

    hinted: bool
    matching: bool
    sizes: tuple[str, ...]
    both_sides: bool = False
    members: bool = False
    arguments: bool = True
    numbers: bool = False


BOTH_SIDES = WayToAsk(True, True, (), both_sides=True)
AT_MEMBERS = WayToAsk(True, True, (), both_sides=True, members=True)
AT_GOAL = WayToAsk(True, True, (), both_sides=True, members=True, arguments=False)
AT_NUMBERS = WayToAsk(True, True, ("meet",), numbers=True)
WAYS = (
    WayToAsk(True, True, ()),
    WayToAsk(True, True, OF_TWO),
    BOTH_SIDES,
    WayToAsk(True, False, ()),
    WayToAsk(True, False, ("monotone",)),
    WayToAsk(True, False, OF_TWO),
    WayToAsk(False, True, OF_TWO),
    WayToAsk(False, True, ()),
    AT_MEMBERS,
    WayToAsk(True, True, OF_TWO, both_sides=True, members=True),
    AT_GOAL,
    AT_NUMBERS,
)
"""A route names them by number. None is best: a way proves a goal at once, or mostly not within minutes."""
BEFORE = (AT_MEMBERS, AT_GOAL, BOTH_SIDES)
"""The ways for the cases of a goal's own lemma."""
BEFORE_SECONDS = 6.0
"""Processor seconds for each."""
USE_SECONDS = 1.0
"""Processor seconds for the question whether a cut would help."""
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
    """Premises of goals. lemma: returns a lemma's formula; names: of all lemmas; hints: lemmas that may be enough.

    own: the lemma that the goal is about, if it is one; arguments: the members among the arguments of the step.
    """

    scope: NamedTerms
    premises: Sequence[Any]
    lemma: Callable[[str], Any]
    names: Sequence[str]
    hints: Collection[str]
    own: str | None = None
    arguments: Sequence[Any] = ()

    def imply(self, goal: Any, seconds: float) -> bool:
        """Return whether premises and lemmas are seen at once to imply a goal. seconds: of the processor, a part."""
        tries = Tries(self, seconds)
        quick = (WAYS[0], AT_NUMBERS)
        parts = Splitting().parts(goal)
        return all(tries.in_rounds(part, ROUNDS[:3], quick)[0] is not None for part in parts)

    def prove(self, goal: Any, timeout: float, route: Route | None = None) -> GoalAnswer:
        """Prove that premises and lemmas imply a goal. timeout: processor seconds for each part.

        route: how it was proved before; if that does not prove it now, it is proved as without one.
        """
        clock = ProcessorClock()
        enough = None if route is None else replace(self, hints=route.hints)._along(route, goal, timeout)
        if enough is not None:
            return GoalAnswer(enough, clock.seconds(), route=route)
        tries = Tries(self, timeout)
        hints = tuple(name for name in self.names if name in self.hints)
        enough, _ = tries.in_rounds(goal, ROUNDS[:1])
        if enough is not None:
            return GoalAnswer(enough, clock.seconds(), route=Route(hints, whole=tries.answered.pop()))
        enough, parts, reason = tries.part_by_part(goal)
        return GoalAnswer(enough, clock.seconds(), reason, None if enough is None else Route(hints, parts=parts))

    def _along(self, route: Route, goal: Any, timeout: float) -> Enough | None:
        """Return what proves a goal on a route; None if one of its questions is not answered."""
        if route.whole is not None:
            return self._answered([(goal, route.whole)], timeout)
        splitting = Splitting()
        questions: list[tuple[Any, Question]] = []
        parts = splitting.parts(goal)
        if len(parts) != len(route.parts):
            return None
        for part, by in zip(parts, route.parts, strict=True):
            formulas = self.cases(by.cases, part, splitting, by.cut)
            if len(formulas) != len(by.questions):
                return None
            questions += zip(formulas, by.questions, strict=True)
        cut = any(by.cases == "cut" for by in route.parts)
        return self._answered(questions, timeout, frozenset({AXIOM} if cut else ()))

    def _answered(
        self, questions: Iterable[tuple[Any, Question]], timeout: float, by_cuts: frozenset[str] = frozenset()
    ) -> Enough | None:
        used = Enough(sizes=by_cuts)
        for formula, question in questions:
            if question.way >= len(WAYS):
                return None
            way = WAYS[question.way]
            if self.ask(formula, way, ProcessorClock().waiting(timeout), question.seed) is not None:
                return None
            used |= self.assumed(way)
        return used

    def cases(self, how: Cases, part: Any, splitting: Splitting, number: int = 0) -> list[Any]:
        """Return formulas that together imply a part of a goal; none if it cannot be split in this way.

        number: of the cut.
        """
        if how == "":
            return [part]
        if how == "cut":
            for cut in itertools.islice(subset_cuts(part, self.scope), number, None):
                use, claimed = cut.goals(part)
                return [use, *splitting.parts(claimed)]
            return []
        if how == "goal":
            return splitting.parts(part, cases=True)
        return [] if self.own is None else cases_before(part, self.lemma(self.own))

    def assumed(self, way: WayToAsk) -> Enough:
        """Return the lemmas and axioms that a way assumes."""
        return Enough(frozenset(self._lemmas(way)), frozenset(way.sizes), way.both_sides)

    def _lemmas(self, way: WayToAsk) -> list[str]:
        return [name for name in self.names if not way.hinted or name in self.hints]

    def ask(self, goal: Any, way: WayToAsk, seconds: float, seed: int) -> str | None:
        """Return why a goal is not proved; None if it is proved."""
        lemmas = [self.lemma(name) for name in self._lemmas(way)]
        members = members_of(goal) if way.members else ()
        if members and not way.arguments:
            places = Places(members, [], [], None)
            lemmas = [places.instances(lemma) for lemma in lemmas]
        elif members:
            lengths = list(self.scope.lengths.values())
            places = Places([*members, *self.arguments], lengths, lengths_of(goal), self.scope.definitions)
            lemmas = [places.instances(lemma) for lemma in lemmas]
        if way.numbers:
            numbers = numbers_of(goal)
            lemmas = [at_numbers(lemma, numbers) for lemma in lemmas]
        formulas = [*self.premises, *lemmas, z3.Not(goal)]
        needed = self.scope.needed(formulas, way.sizes, both_sides=way.both_sides)
        question = z3.AstVector()
        for formula in (*formulas, *(map(triggered_inside, needed) if way.numbers else needed)):
            question.push(formula)
        # In a context of its own, terms have the same numbers in every run, and these decide much of what Z3 tries.
        context = z3.Context()
        solver = z3.Solver(ctx=context)
        solver.set("smt.random_seed", seed)
        if way.matching:
            solver.set("auto_config", False)
            solver.set("mbqi", False)
        limit = milliseconds(seconds)
        solver.set("timeout", limit)
        solver.add(question.translate(context))
        answer = ask(solver, limit)
        if answer == z3.unsat:
            return None
        return "a state in a weaker theory of sizes" if answer == z3.sat else str(solver.reason_unknown())


class Tries:
    """Tries to prove one goal in every way. answered: the questions that proved something, in order."""

    def __init__(self, premises: Premises, timeout: float) -> None:
        self.premises, self.timeout = premises, timeout
        self.answered: list[Question] = []
        self._splitting = Splitting()
        self._ways = sorted(WAYS, key=lambda way: way not in (WAYS[0], AT_MEMBERS))

    def part_by_part(self, goal: Any) -> tuple[Enough | None, tuple[PartRoute, ...], str | None]:
        """Prove each part of a goal; by cases if it is not proved as a whole."""
        used, routes = Enough(), []
        for part in self._splitting.parts(goal):
            before = len(self.answered)
            enough, reason = self.in_rounds(part, ROUNDS[:2])
            how: Cases = ""
            number = 0
            for how, number in self._ways_to_split(part) if enough is None else ():
                del self.answered[before:]
                enough, reason = self._by_cases(how, part, number)
                if enough is not None:
                    break
            if enough is None:
                return None, (), reason
            used |= enough
            routes.append(PartRoute(tuple(self.answered[before:]), how, number))
        return used, tuple(routes), None

    def _ways_to_split(self, part: Any) -> Iterator[tuple[Cases, int]]:
        yield "before", 0
        for number, _ in enumerate(subset_cuts(part, self.premises.scope)):
            yield "cut", number
        yield "goal", 0

    def _by_cases(self, how: Cases, part: Any, number: int) -> tuple[Enough | None, str | None]:
        used = Enough(sizes=frozenset({AXIOM} if how == "cut" else ()))
        reason: str | None = "no cases"
        cases = self.premises.cases(how, part, self._splitting, number)
        for k, case in enumerate(cases):
            if how == "cut":
                enough, reason = self.in_rounds(case, (USE_SECONDS if k == 0 else BEFORE_SECONDS,), BEFORE[:1])
            elif how == "before":
                enough, reason = self.in_rounds(case, (BEFORE_SECONDS,), BEFORE)
            else:
                enough, reason = self.in_rounds(case, ROUNDS)
            if enough is None:
                return None, reason
            used |= enough
        return (used if cases else None), reason

    def in_rounds(
        self, goal: Any, rounds: Iterable[float], ways: Sequence[WayToAsk] | None = None
    ) -> tuple[Enough | None, str | None]:
        """Return (what proves the goal, None), or (None, why it is not proved).

        ways: by default all; the one that proves the goal is tried first for the next one.
        """
        clock, reason = ProcessorClock(), None
        for seed, seconds in enumerate(rounds):
            for way in tuple(self._ways if ways is None else ways):
                left = self.timeout - clock.seconds()
                if left <= 0:
                    return None, "time limit"
                reason = self.premises.ask(goal, way, clock.waiting(min(left, seconds)), seed)
                if reason is None:
                    self._ways.remove(way)
                    self._ways.insert(0, way)
                    self.answered.append(Question(WAYS.index(way), seed))
                    return self.premises.assumed(way), None
        return None, reason
