"""Shortest traces, rebuilt after a search without stored parents.

States are stored level by level. Starting from the targets in one level, the whole level before is expanded
again, and for each target the least predecessor (packed words compared as numbers) is chosen, and so on back
to the start. Among the states that hit a check at its smallest depth, the target is the least one; for a
step check it is the least successor, followed by its least predecessor. These choices do not depend on the
order of rows inside a level, hence neither on the threads nor on the engine. They do depend on the layout, which
differs in a family of configurations; an `Order` then compares states as the closed layout packs them.

If a state stands for all its images under renaming, the rows are followed once more from the first, through the
states that they stand for, so that a trace is a behaviour.

Cost: at most one extra expansion of the levels up to the deepest target, for all traces together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from elrcheck.explorer.kernel.symmetry.canonical import Canonical
from elrcheck.explorer.kernel.walk_memory import GOLDEN
from elrcheck.explorer.kernel.word_layout import Rows, WordLayout, make_layout
from elrcheck.explorer.search.result import TraceableSearch, level_batches
from elrcheck.explorer.search.splitmix import row_keys
from elrcheck.lang.lowering.lowered import Slot
from elrcheck.lang.lowering.program import Leaf

Row = tuple[int, ...]
Trace = list[tuple[int, ...]]
Order = Callable[[Rows], Rows]
"""Makes rows of packed states comparable, word by word."""


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
        if self.search.program.checks[check].scope == "step":
            return depth - 1, self._last_step(check, depth)
        best: Row | None = None
        for rows in level_batches(self.search, depth):
            best = self._lesser(best, rows[self.search.state_hits(check, rows)])
        assert best is not None, "the check was hit at this depth"
        return depth, [best]

    def _last_step(self, check: int, depth: int) -> list[Row]:
        """Return the least (successor, predecessor) that hits a step check, as [predecessor, successor]."""
        best: Row | None = None
        for rows in level_batches(self.search, depth - 1):
            after = self.search.successors(rows)
            hit = after.hits(check)
            best = self._lesser(best, np.hstack([self.canonical.rows(after.rows[hit]), rows[after.sources[hit]]]))
        assert best is not None, "the check was hit at this depth"
        words = len(best) // 2
        return [best[words:], best[:words]]

    def _predecessors(self, depth: int, targets: set[Row]) -> dict[Row, Row]:
        """Return the least predecessor of each target in a level."""
        least_before: dict[Row, Row] = {}
        keys = np.unique(row_keys(np.array(sorted(targets), np.uint64), GOLDEN))
        for rows in level_batches(self.search, depth):
            after = self.search.successors(rows)
            reached = self.canonical.rows(after.rows)
            sources: dict[Row, list[int]] = {}
            for k in np.nonzero(np.isin(row_keys(reached, GOLDEN), keys))[0]:
                row = _row(reached[k])
                if row in targets:
                    sources.setdefault(row, []).append(int(after.sources[k]))
            for row, at in sources.items():
                least_before[row] = self._lesser(least_before.get(row), rows[at]) or row
        return least_before

    def _lesser(self, best: Row | None, rows: Rows) -> Row | None:
        """Return the least of the rows and the best so far."""
        both = rows if best is None else np.vstack([np.array([best], np.uint64), rows])
        return least(both, self.order)


def least(rows: Rows, order: Order | None = None) -> Row | None:
    """Return the row that is lexicographically least, in this order; None if there are no rows."""
    keys = rows if order is None or not len(rows) else order(rows)
    for word in range(keys.shape[1]):
        if len(rows) > 1:
            chosen = keys[:, word] == keys[:, word].min()
            rows, keys = rows[chosen], keys[chosen]
    return _row(rows[0]) if len(rows) else None


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


def _row(words: Rows) -> Row:
    return tuple(int(word) for word in words)
