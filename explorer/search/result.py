"""Results of the compiled and the vectorised search, as plain data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from elrcheck.explorer.kernel.word_layout import Successors, WordLayout
    from elrcheck.lang.lowering.program import Program


@dataclass
class SearchCounts:
    """The counts of a search by any engine, in TLC's sense.

    reason: the limit that ended an incomplete search. deadlocks: states without an enabled instance.
    fingerprint_bits: bits stored per state, None if whole states were stored. collision_probability: an
    upper bound on the probability that two states shared a fingerprint. spilled: the states exceeded the
    memory limit and went to disk. peak_bytes: peak memory of the process.
    """

    complete: bool
    reason: str | None
    generated: int
    distinct: int
    levels: tuple[int, ...]
    seconds: float
    bytes_per_state: int = 0
    workers: int = 1
    deadlocks: int = 0
    fingerprint_bits: int | None = None
    collision_probability: float = 0.0
    spilled: bool = False
    peak_bytes: int = field(default=0, compare=False)

    @property
    def diameter(self) -> int:
        return len(self.levels)


@dataclass(kw_only=True)
class SearchResult(SearchCounts):
    """The counts of a compiled or vectorised search; lists follow the instances of the program.

    first: for each check, the smallest depth at which it failed (always) or was reached (sometimes). new_states: a
    new state is credited to the lowest instance among those that reach it from the level before, so these numbers do
    not depend on the number of workers. traces: filled by `retrace`; for each check in `first`, the leaf values of
    the states of one shortest trace, initial first. overflow: leaf index -> transitions dropped because a value
    exceeded the range of its leaf.
    """

    compile_seconds: float
    enabled: list[int]
    cut: list[int]
    new_states: list[int]
    overflow: dict[int, int] = field(default_factory=dict)
    first: dict[int, int] = field(default_factory=dict)
    leaf_values: list[int] = field(default_factory=list)
    traces: dict[int, list[tuple[int, ...]]] = field(default_factory=dict)

    @property
    def size(self) -> str:
        return size_words(self.generated, self.distinct, self.diameter)


def size_words(generated: int, distinct: int, diameter: int) -> str:
    """Return the size of a search in words."""
    return f"{generated:,} generated, {distinct:,} distinct, diameter {diameter}"


def violates(program: Program, hits: Iterable[int]) -> bool:
    """Return True if one of the checks that were hit is a property that must hold."""
    return any(program.checks[check].kind == "always" for check in hits)


class TraceableSearch(Protocol):
    """A finished search of any engine, as `retrace` needs it."""

    program: Program
    layout: WordLayout

    @property
    def first(self) -> dict[int, int]: ...

    def batches(self, depth: int) -> Iterator[npt.NDArray[np.uint64]]:
        """Yield the states of a level in arrays of any size; drop each before taking the next one."""
        ...

    def successors(self, rows: npt.NDArray[np.uint64]) -> Successors:
        """Expand packed states."""
        ...

    def state_hits(self, check: int, rows: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
        """Return which packed states hit a state check."""
        ...


BATCH = 4096


def in_batches(blocks: Iterable[npt.NDArray[np.uint64]]) -> Iterator[npt.NDArray[np.uint64]]:
    """Yield states in arrays of at most BATCH rows, each valid only until the next one."""
    for rows in blocks:
        for start in range(0, len(rows), BATCH):
            yield rows[start : start + BATCH]


def level_batches(search: TraceableSearch, depth: int) -> Iterator[npt.NDArray[np.uint64]]:
    """Yield the states of a level as `in_batches` does."""
    return in_batches(search.batches(depth))
