"""What a trace asks of the states of a level: each part of the level answers by itself, and the least answers count.

So a level may be asked in batches, and elsewhere, such as on the executors that have it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from elrcheck.explorer.kernel.symmetry.canonical_ir import Canonical
from elrcheck.explorer.kernel.walk_memory import GOLDEN
from elrcheck.explorer.kernel.word_layout import Rows, Successors
from elrcheck.explorer.search.splitmix import row_keys

Row = tuple[int, ...]
Order = Callable[[Rows], Rows]
"""Makes rows of packed states comparable, word by word."""
Answers = dict[Row, Row]
"""The least answer by what it is about; the empty row if the question is about one thing."""
ONE: Row = ()


class Steps(Protocol):
    """What a question needs of a search, or of a kernel alone."""

    def successors(self, rows: Rows) -> Successors:
        """Expand packed states."""
        ...

    def state_hits(self, check: int, rows: Rows) -> np.typing.NDArray[np.bool_]:
        """Return which packed states hit a state check."""
        ...


@dataclass(frozen=True)
class LevelQuestion(ABC):
    """A question about the states of a level. order: in which answers are compared, by default as numbers."""

    canonical: Canonical
    order: Order | None

    @abstractmethod
    def answers(self, steps: Steps, rows: Rows) -> Answers:
        """Return the least answers among some states of the level."""

    def merged(self, parts: Iterable[Answers]) -> Answers:
        """Return the least of the answers of several parts."""
        best: Answers = {}
        for part in parts:
            for about, row in part.items():
                other = best.get(about)
                best[about] = row if other is None else self.least(np.array([other, row], np.uint64))[ONE]
        return best

    def least(self, rows: Rows) -> Answers:
        """Return the least row as the answer about one thing; no answer if there are no rows."""
        row = least(rows, self.order)
        return {} if row is None else {ONE: row}


@dataclass(frozen=True)
class LeastHit(LevelQuestion):
    """The least state that hits a state check."""

    check: int

    def answers(self, steps: Steps, rows: Rows) -> Answers:
        return self.least(rows[steps.state_hits(self.check, rows)])


@dataclass(frozen=True)
class LeastStep(LevelQuestion):
    """The least successor that a step which hits a step check leads to, followed by its least predecessor."""

    check: int

    def answers(self, steps: Steps, rows: Rows) -> Answers:
        after = steps.successors(rows)
        hit = after.hits(self.check)
        return self.least(np.hstack([self.canonical.rows(after.rows[hit]), rows[after.sources[hit]]]))


@dataclass(frozen=True)
class LeastPredecessors(LevelQuestion):
    """The least predecessor of each target."""

    targets: frozenset[Row]

    def answers(self, steps: Steps, rows: Rows) -> Answers:
        keys = np.unique(row_keys(np.array(sorted(self.targets), np.uint64), GOLDEN))
        after = steps.successors(rows)
        reached = self.canonical.rows(after.rows)
        sources: dict[Row, list[int]] = {}
        for k in np.nonzero(np.isin(row_keys(reached, GOLDEN), keys))[0]:
            row = as_row(reached[k])
            if row in self.targets:
                sources.setdefault(row, []).append(int(after.sources[k]))
        return {row: self.least(rows[at])[ONE] for row, at in sources.items()}


@runtime_checkable
class AsksElsewhere(Protocol):
    """A search whose levels may be asked where they are."""

    def ask(self, depth: int, question: LevelQuestion) -> Answers | None:
        """Return the answers of a level; None if it is to be asked here."""
        ...


def least(rows: Rows, order: Order | None = None) -> Row | None:
    """Return the row that is lexicographically least, in this order; None if there are no rows."""
    keys = rows if order is None or not len(rows) else order(rows)
    for word in range(keys.shape[1]):
        if len(rows) > 1:
            chosen = keys[:, word] == keys[:, word].min()
            rows, keys = rows[chosen], keys[chosen]
    return as_row(rows[0]) if len(rows) else None


def as_row(words: Rows) -> Row:
    """Return a packed state as a tuple."""
    return tuple(int(word) for word in words)
