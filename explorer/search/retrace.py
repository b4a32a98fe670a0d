"""Shortest traces, rebuilt after a search without stored parents.

States are stored level by level. Starting from the targets in one level, the whole level before is expanded
again, and for each target the least predecessor (packed words compared as numbers) is chosen, and so on back
to the start. Among the states that hit a check at its smallest depth, the target is the least one; for a
step check it is the least successor, followed by its least predecessor. These choices do not depend on the
order of rows inside a level, hence neither on the threads nor on the engine. They do depend on the layout, which
differs in a family of configurations; an `Order` then compares states as the closed layout packs them.

If a state stands for all its images under renaming, the rows are followed once more from the first, through the
states that they stand for, so that a trace is a behaviour.

Cost: at most one extra expansion of the levels up to the deepest target, for all traces together. Levels on executors
are asked there (`AsksElsewhere`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from elrcheck.explorer.kernel.symmetry.canonical_ir import Canonical
from elrcheck.explorer.kernel.word_layout import Rows, WordLayout, make_layout
from elrcheck.explorer.search.level_questions import (
    ONE,
    Answers,
    AsksElsewhere,
    LeastHit,
    LeastPredecessors,
    LeastStep,
    LevelQuestion,
    Order,
    Row,
    least,
)
from elrcheck.explorer.search.result import TraceableSearch, level_batches
from elrcheck.lang.lowering.lowered import Slot
from elrcheck.lang.lowering.program import Leaf

Trace = list[tuple[int, ...]]


class Retrace:
    """Rebuilds traces to the checks that a finished search has hit."""

    def __init__(self, search: TraceableSearch, order: Order | None = None) -> None:
        self.search, self.order = search, order
        self.canonical = Canonical(search.program, search.layout)

    def traces(self, checks: list[int]) -> dict[int, Trace]:
        """Return a shortest trace for each check: the leaf values of its states, initial state first."""
        ends = {check: self._end(check, self.search.first[check]) for check in checks}
        for depth in range(max((depth for depth, _ in ends.values()), default=0), 0, -1):
            targets = {tail[0] for at, tail in ends.values() if at >= depth}
            before = self._predecessors(depth - 1, targets)
            for at, tail in ends.values():
                if at >= depth:
                    tail.insert(0, before[tail[0]])
        unpack = self.search.layout.unpack
        return {check: [unpack(row) for row in self._followed(check, tail)] for check, (_, tail) in ends.items()}

    def _followed(self, check: int, rows: list[Row]) -> list[Row]:
        """Return a behaviour through states that the rows stand for; the rows themselves without a symmetry.

        Renaming maps steps to steps, so the state reached has a successor that the next row stands for. It maps
        initial states to initial states, so the first row is one.
        """
        if self.search.program.symmetry is None:
            return rows
        of_step = self.search.program.checks[check].scope == "step"
        path = rows[:1]
        for number, row in enumerate(rows[1:], start=2):
            after = self.search.successors(np.array([path[-1]], np.uint64))
            fits = (self.canonical.rows(after.rows) == np.array(row, np.uint64)).all(axis=1)
            if of_step and number == len(rows):
                fits &= after.hits(check)
            chosen = least(after.rows[fits])
            assert chosen is not None, "renaming members of a symmetric sort maps steps to steps"
            path.append(chosen)
        return path

    def _end(self, check: int, depth: int) -> tuple[int, list[Row]]:
        """Return the end of a check's trace: the depth of its target, and the rows from the target on."""
        of_step = self.search.program.checks[check].scope == "step"
        kind, depth = (LeastStep, depth - 1) if of_step else (LeastHit, depth)
        best = self._ask(depth, kind(self.canonical, self.order, check)).get(ONE)
        assert best is not None, "the check was hit at this depth"
        words = self.search.layout.words
        return depth, [best[words:], best[:words]] if of_step else [best]

    def _predecessors(self, depth: int, targets: set[Row]) -> Answers:
        """Return the least predecessor of each target in a level."""
        return self._ask(depth, LeastPredecessors(self.canonical, self.order, frozenset(targets)))

    def _ask(self, depth: int, question: LevelQuestion) -> Answers:
        search = self.search
        answers = search.ask(depth, question) if isinstance(search, AsksElsewhere) else None
        if answers is not None:
            return answers
        return question.merged(question.answers(search, rows) for rows in level_batches(search, depth))


def as_packed(wide: WordLayout, slots: Sequence[Slot], closed: Sequence[Slot]) -> Order:
    """Return the order of rows of the layout `wide` in which another layout would pack their states.

    slots, closed: the scalars of the state in the programs of both layouts. Sequences may have more room in the
    first, but no more elements; a scalar that is constant there has one value in all states that are compared.
    """
    places = {slot.path: slot for slot in slots}
    leaves = [(places[other.path], other) for other in closed if other.index is not None]
    layout = make_layout([Leaf(other.path, other.lo, other.hi) for _, other in leaves])

    def packed(rows: Rows) -> Rows:
        repacked = []
        for start in range(0, rows.shape[1], wide.words):  # a row may be a successor and its predecessor
            states = rows[:, start : start + wide.words]
            columns = [
                np.full(len(rows), other.lo) if slot.index is None else wide.column(states, slot.index)
                for slot, other in leaves
            ]
            repacked.append(layout.pack_columns(columns, len(rows)))
        return np.hstack(repacked)

    return packed
