"""The counts and hits of a search up to a level: everything it reports except the states."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from elrcheck.base.roundtrip import Record
from elrcheck.explorer.kernel.kernel import Kernel
from elrcheck.explorer.search.judgement import Seen, wide_leaves

Counts = npt.NDArray[np.int64]


class SavedTally(Record, frozen=True):
    """A tally as the manifest of a run has it."""

    counters: tuple[int, ...]
    new_states: tuple[int, ...]
    narrow: tuple[int, ...]
    wide: dict[int, tuple[int, ...]]
    first: dict[int, int]
    first_deadlock: int | None
    seconds: float


@dataclass
class Tally:
    """The counts of a search so far.

    counters: see `Counters`. new_states: by instance. narrow: for each leaf, the set of its values as a bit
    mask; wide: the values of leaves too wide for a mask. first, first_deadlock: smallest depths.
    """

    counters: Counts
    new_states: Counts
    narrow: Counts
    wide: dict[int, set[int]]
    first: dict[int, int] = field(default_factory=dict)
    first_deadlock: int | None = None
    seconds: float = 0.0

    @classmethod
    def empty(cls, kernel: Kernel) -> Tally:
        return cls(
            counters=np.zeros(kernel.counters.size, np.int64),
            new_states=np.zeros(max(1, kernel.instances), np.int64),
            narrow=np.zeros(kernel.counters.leaves, np.int64),
            wide={leaf: set() for leaf in wide_leaves(kernel)},
        )

    def note(self, seen: Seen, depth: int) -> None:
        """Add what the new states at a depth have shown."""
        for check in sorted(seen.hits):
            self.first.setdefault(check, depth)
        self.narrow |= seen.narrow
        for leaf, values in seen.wide.items():
            self.wide[leaf] |= values

    def copy(self) -> Tally:
        return Tally(
            self.counters.copy(),
            self.new_states.copy(),
            self.narrow.copy(),
            {leaf: set(values) for leaf, values in self.wide.items()},
            dict(self.first),
            self.first_deadlock,
            self.seconds,
        )

    def leaf_values(self, kernel: Kernel) -> list[int]:
        """Return the number of distinct values of each leaf."""
        found = [int(bits).bit_count() for bits in self.narrow.view(np.uint64)]
        for leaf, slot in enumerate(kernel.layout.slots):
            if slot.bits == 0:
                found[leaf] = 1
            elif leaf in self.wide:
                found[leaf] = len(self.wide[leaf])
        return found

    def saved(self) -> SavedTally:
        return SavedTally(
            counters=tuple(self.counters.tolist()),
            new_states=tuple(self.new_states.tolist()),
            narrow=tuple(self.narrow.tolist()),
            wide={leaf: tuple(sorted(values)) for leaf, values in self.wide.items()},
            first=dict(self.first),
            first_deadlock=self.first_deadlock,
            seconds=self.seconds,
        )

    @classmethod
    def restored(cls, saved: SavedTally) -> Tally:
        """Raise OverflowError for a number that no counter holds."""
        return cls(
            np.array(saved.counters, np.int64),
            np.array(saved.new_states, np.int64),
            np.array(saved.narrow, np.int64),
            {leaf: set(values) for leaf, values in saved.wide.items()},
            dict(saved.first),
            saved.first_deadlock,
            saved.seconds,
        )
