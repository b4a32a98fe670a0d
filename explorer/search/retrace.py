"""Shortest traces, rebuilt after a search without stored parents.

States are stored level by level. Starting from the targets in one level, the whole level before is expanded
again, and for each target the least predecessor (packed words compared as numbers) is chosen, and so on back
to the start. Among the states that hit a check at its smallest depth, the target is the least one; for a
step check it is the least successor, followed by its least predecessor. These choices do not depend on the
order of rows inside a level, hence neither on the threads nor on the engine.

Cost: at most one extra expansion of the levels up to the deepest target, for all traces together.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from elrcheck.explorer.search.result import Searched

Row = tuple[int, ...]
Rows = npt.NDArray[np.uint64]
Trace = list[tuple[int, ...]]
BATCH = 4096
MIX = 0x9E3779B97F4A7C15


class Retrace:
    """Rebuilds traces to the checks and deadlocks that a finished search has hit."""

    def __init__(self, search: Searched) -> None:
        self.search = search

    def traces(self, checks: list[int]) -> dict[int, Trace]:
        """Return a shortest trace for each check: the leaf values of its states, initial state first."""
        return self._traces({check: self._end(check, self.search.first[check]) for check in checks})

    def deadlock(self) -> Trace | None:
        """Return a shortest trace to a state without an enabled instance, if the search met one."""
        depth = self.search.first_deadlock
        if depth is None:
            return None
        best: Row | None = None
        for rows in self._level(depth):
            best = _lesser(best, least(rows[self.search.successors(rows).enabled == 0]))
        assert best is not None, "the search has met a deadlock at this depth"
        return self._traces({-1: (depth, [best])})[-1]

    def _traces(self, ends: dict[int, tuple[int, list[Row]]]) -> dict[int, Trace]:
        """Rebuild a trace per key. ends: depth of the target, and the trace's last rows, target first."""
        for depth in range(max((depth for depth, _ in ends.values()), default=0), 0, -1):
            wanted = {tail[0] for at, tail in ends.values() if at >= depth}
            before = self._predecessors(depth - 1, wanted)
            for at, tail in ends.values():
                if at >= depth:
                    tail.insert(0, before[tail[0]])
        unpack = self.search.layout.unpack
        return {key: [unpack(row) for row in tail] for key, (_, tail) in ends.items()}

    def _level(self, depth: int) -> Iterator[Rows]:
        for rows in self.search.batches(depth):
            for start in range(0, len(rows), BATCH):
                yield rows[start : start + BATCH]

    def _end(self, check: int, depth: int) -> tuple[int, list[Row]]:
        """Return the end of a check's trace: depth of the last state to reach, and the rows from it on."""
        if self.search.program.checks[check].scope == "step":
            return depth - 1, self._last_step(check, depth)
        best: Row | None = None
        for rows in self._level(depth):
            best = _lesser(best, least(rows[self.search.state_hits(check, rows)]))
        assert best is not None, "the check was hit at this depth"
        return depth, [best]

    def _last_step(self, check: int, depth: int) -> list[Row]:
        """Return the least (successor, predecessor) that hits a step check, as [predecessor, successor]."""
        best: Row | None = None
        for rows in self._level(depth - 1):
            made = self.search.successors(rows)
            hit = made.flags[:, check // 64] >> np.uint64(check % 64) & np.uint64(1) != 0
            best = _lesser(best, least(np.hstack([made.rows[hit], rows[made.sources[hit]]])))
        assert best is not None, "the check was hit at this depth"
        words = len(best) // 2
        return [best[words:], best[:words]]

    def _predecessors(self, depth: int, wanted: set[Row]) -> dict[Row, Row]:
        """Return the least predecessor in a level of each wanted row."""
        found: dict[Row, Row] = {}
        keys = np.unique(_keys(np.array(sorted(wanted), np.uint64)))
        for rows in self._level(depth):
            made = self.search.successors(rows)
            for k in np.nonzero(np.isin(_keys(made.rows), keys))[0]:
                row = _row(made.rows[k])
                if row in wanted:
                    found[row] = _lesser(found.get(row), _row(rows[made.sources[k]])) or row
        return found


def least(rows: Rows) -> Row | None:
    """Return the lexicographically least row; None if there are no rows."""
    for word in range(rows.shape[1]):
        if len(rows) > 1:
            rows = rows[rows[:, word] == rows[:, word].min()]
    return _row(rows[0]) if len(rows) else None


def _row(words: Rows) -> Row:
    return tuple(int(word) for word in words)


def _lesser(a: Row | None, b: Row | None) -> Row | None:
    return b if a is None else a if b is None else min(a, b)


def _keys(rows: Rows) -> Rows:
    """Return a hash for each row, to find candidates quickly."""
    keys: Rows = np.zeros(len(rows), np.uint64)
    for word in range(rows.shape[1]):
        keys = (keys ^ rows[:, word]) * np.uint64(MIX)
        keys ^= keys >> np.uint64(29)
    return keys
