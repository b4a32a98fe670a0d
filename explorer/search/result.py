"""What a compiled or vectorised search is asked and what it answers, as plain data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from elrcheck.explorer.kernel.word_layout import Layout
    from elrcheck.lang.lowering.program import Program


@dataclass(frozen=True)
class Limits:
    """Where a search stops; None means no limit. Meeting one makes the result incomplete."""

    max_states: int | None = None
    max_depth: int | None = None
    seconds: float | None = None
    memory_bytes: int | None = None


@dataclass(frozen=True)
class LevelStats:
    """Progress after a level, or inside a long one: `expanded` of `frontier` states are done."""

    depth: int
    frontier: int
    expanded: int
    generated: int
    distinct: int
    seconds: float
    remark: str = ""


@dataclass
class SearchResult:
    """Counts as TLC makes them; per-instance lists follow the program's instances.

    first: for each check, the smallest depth at which it failed (always) or was reached (sometimes).
    first_deadlock: the smallest depth of a state without an enabled instance, or None.
    new_states: a new state is credited to the lowest instance among those that reach it from the
    level before, so these numbers do not depend on the number of workers.
    traces: for each such check the leaf values of the states of one shortest trace, initial first;
    deadlock_trace: the same for a deadlock. Filled by `retrace`.
    overflow: leaf index -> transitions dropped because a value outgrew its leaf.
    fingerprint_bits: what was kept of a state, None if all of it. collision_probability: an upper bound
    for the chance that two states were taken for one. spilled: states did not fit the memory allowed.
    peak_bytes: the most memory the process has used.
    """

    complete: bool
    reason: str | None
    generated: int
    distinct: int
    levels: tuple[int, ...]
    seconds: float
    compile_seconds: float
    bytes_per_state: int
    workers: int
    enabled: list[int]
    cut: list[int]
    new_states: list[int]
    deadlocks: int
    overflow: dict[int, int] = field(default_factory=dict)
    first: dict[int, int] = field(default_factory=dict)
    leaf_values: list[int] = field(default_factory=list)
    traces: dict[int, list[tuple[int, ...]]] = field(default_factory=dict)
    first_deadlock: int | None = None
    deadlock_trace: list[tuple[int, ...]] | None = None
    fingerprint_bits: int | None = None
    collision_probability: float = 0.0
    spilled: bool = False
    peak_bytes: int = field(default=0, compare=False)

    @property
    def diameter(self) -> int:
        return len(self.levels)


@dataclass(frozen=True)
class Successors:
    """Every transition of some states that stays inside the bound, in no particular order.

    rows: the packed successors; sources: position of the predecessor among the given states;
    instances: which instance; flags: per transition, bit c % 64 of word c // 64 is set if it hits
    step check c; enabled: for each given state, how many instances are enabled in it.
    """

    rows: npt.NDArray[np.uint64]
    sources: npt.NDArray[np.int64]
    instances: npt.NDArray[np.int64]
    flags: npt.NDArray[np.uint64]
    enabled: npt.NDArray[np.int64]


class Searched(Protocol):
    """What rebuilding a trace needs from a finished search, whatever the engine."""

    program: Program
    layout: Layout

    @property
    def first(self) -> dict[int, int]: ...

    @property
    def first_deadlock(self) -> int | None: ...

    def batches(self, depth: int) -> Iterator[npt.NDArray[np.uint64]]:
        """The states of a level in arrays of any size; each must be dropped before the next one."""
        ...

    def successors(self, rows: npt.NDArray[np.uint64]) -> Successors:
        """Expand packed states."""
        ...

    def state_hits(self, check: int, rows: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
        """Which packed states a state check reports."""
        ...
