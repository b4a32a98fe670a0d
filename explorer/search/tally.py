"""The counts and hits of a search up to a level: everything that it reports except the states."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from elrcheck.base.roundtrip import Record
from elrcheck.explorer.kernel.kernel import Kernel
from elrcheck.explorer.kernel.word_layout import Counts
from elrcheck.explorer.store.judgement import Judgement, SavedJudgement


class SavedTally(Record, frozen=True):
    """A tally as the manifest of a run stores it."""

    counters: tuple[int, ...]
    new_states: tuple[int, ...]
    judgement: SavedJudgement
    first: dict[int, int]
    seconds: float


@dataclass
class Tally:
    """The counts of a search so far.

    counters: see `Counters`. new_states: by instance. judgement: of all states. first: smallest depth, by check.
    """

    counters: Counts
    new_states: Counts
    judgement: Judgement
    first: dict[int, int] = field(default_factory=dict)
    seconds: float = 0.0

    @classmethod
    def empty(cls, kernel: Kernel) -> Tally:
        new_states = np.zeros(max(1, kernel.instances), np.int64)
        return cls(np.zeros(kernel.counters.size, np.int64), new_states, Judgement.empty(kernel))

    def copy(self) -> Tally:
        counters, new_states = self.counters.copy(), self.new_states.copy()
        return Tally(counters, new_states, self.judgement.copy(), dict(self.first), self.seconds)

    def note(self, judgement: Judgement, depth: int) -> None:
        """Add the judgement of new states at a depth."""
        for check in sorted(judgement.hits):
            self.first.setdefault(check, depth)
        self.judgement.add(judgement)

    def leaf_values(self, kernel: Kernel) -> list[int]:
        """Return the number of distinct values of each leaf."""
        sizes = [int(bits).bit_count() for bits in self.judgement.narrow.view(np.uint64)]
        for leaf, slot in enumerate(kernel.layout.slots):
            if slot.bits == 0:
                sizes[leaf] = 1
            elif leaf in self.judgement.wide:
                sizes[leaf] = len(self.judgement.wide[leaf])
        return sizes

    def saved(self) -> SavedTally:
        return SavedTally(
            counters=tuple(self.counters.tolist()),
            new_states=tuple(self.new_states.tolist()),
            judgement=self.judgement.saved(),
            first=dict(self.first),
            seconds=self.seconds,
        )

    @classmethod
    def restored(cls, saved: SavedTally) -> Tally:
        """Return the tally of a manifest; raise OverflowError for a number that no counter can hold."""
        return cls(
            np.array(saved.counters, np.int64),
            np.array(saved.new_states, np.int64),
            Judgement.restored(saved.judgement),
            dict(saved.first),
            saved.seconds,
        )
