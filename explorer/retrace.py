"""Shortest traces, rebuilt after a search without stored parents.

States lie level by level. From the targets of one level the whole level before is expanded again and
for each target the least predecessor (its packed words compared as numbers) is chosen; so on back to
the start. The choice does not depend on the order of rows inside a level, hence not on the threads.

Cost: at most one more expansion of the levels up to the target, for all traces together.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from elrcheck.explorer.compiled import Search
from elrcheck.explorer.program import Check

Row = tuple[int, ...]
Rows = npt.NDArray[np.uint64]
BATCH = 4096


class Retrace:
    """Rebuilds traces of the checks a finished search has hit."""

    def __init__(self, search: Search) -> None:
        self.search = search
        self.program, self.counters = search.program, search.counters
        room = BATCH * max(1, len(self.program.instances))
        self.out = np.empty((room, search.layout.words), np.uint64)
        self.origin = np.empty(room, np.uint64)
        self.cells = np.zeros(self.counters.size, np.uint64)

    def traces(self, checks: list[int]) -> dict[int, list[tuple[int, ...]]]:
        """Leaf values of the states of a shortest trace for each check, initial state first."""
        ends: dict[int, tuple[int, Row, Row | None]] = {}
        for check in checks:
            ends[check] = self._end(check, self.search.first[check])
        paths: dict[int, list[Row]] = {
            check: [row] if after is None else [row, after] for check, (_, row, after) in ends.items()
        }
        deepest = max((depth for depth, _, _ in ends.values()), default=0)
        for depth in range(deepest, 0, -1):
            wanted = {paths[check][0] for check, (at, _, _) in ends.items() if at >= depth}
            before = self._predecessors(depth - 1, wanted)
            for check, (at, _, _) in ends.items():
                if at >= depth:
                    paths[check].insert(0, before[paths[check][0]])
        unpack = self.search.layout.unpack
        return {check: [unpack(row) for row in path] for check, path in paths.items()}

    def _level(self, depth: int) -> Iterator[tuple[int, int]]:
        starts = [*self.search.starts, self.search.distinct]
        for lo in range(starts[depth], starts[depth + 1], BATCH):
            yield lo, min(lo + BATCH, starts[depth + 1])

    def _end(self, check: int, depth: int) -> tuple[int, Row, Row | None]:
        """(depth, state, successor or None) where the check is hit first; the least one."""
        what: Check = self.program.checks[check]
        at = depth if what.scope == "state" else depth - 1
        best: Row | None = None
        for lo, hi in self._level(at):
            marks = np.zeros(hi - lo, np.uint64)
            self.search._call("mark", self.search.states, lo, hi, self.out, self.origin, self.cells, marks)
            hit = np.nonzero(marks >> np.uint64(check) & np.uint64(1))[0]
            for row in self.search.states[lo:hi][hit]:
                found = tuple(int(word) for word in row)
                best = found if best is None or found < best else best
        assert best is not None, "a check that was hit is hit again"
        return at, best, None if what.scope == "state" else self._step(check, best)

    def _step(self, check: int, row: Row) -> Row:
        """The least successor of the row that hits the step check."""
        from elrcheck.explorer.nodes import evaluate_all

        what, leaves = self.program.checks[check], self.search.layout.unpack(row)
        found: list[Row] = []
        for instance in self.program.instances:
            node = instance.step_checks.get(check)
            value = 1 if node is None else evaluate_all((node,), leaves)[0]
            if value != what.hit_value or not all(evaluate_all((*instance.guards, *instance.within), leaves)):
                continue
            after = list(leaves)
            for leaf, update in instance.updates.items():
                after[leaf] = evaluate_all((update,), leaves)[0]
            if all(x.lo <= v <= x.hi for x, v in zip(self.program.leaves, after, strict=True)):
                found.append(self.search.layout.pack(after))
        return min(found)

    def _predecessors(self, depth: int, wanted: set[Row]) -> dict[Row, Row]:
        """For each wanted row its least predecessor in a level."""
        found: dict[Row, Row] = {}
        keys = {row[0] for row in wanted}
        first = np.array(sorted(keys), np.uint64)
        for lo, hi in self._level(depth):
            ends = np.zeros(hi - lo, np.uint64)
            self.search._call("edges", self.search.states, lo, hi, self.out, self.origin, self.cells, ends)
            made = self.out[: int(ends[-1])]
            for k in np.nonzero(np.isin(made[:, 0], first))[0]:
                row = tuple(int(word) for word in made[k])
                if row in wanted:
                    source = self.search.states[lo + int(np.searchsorted(ends, k, side="right"))]
                    before = tuple(int(word) for word in source)
                    if row not in found or before < found[row]:
                        found[row] = before
        return found
