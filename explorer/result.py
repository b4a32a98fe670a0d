"""What a compiled or vectorised search is asked and what it answers, as plain data."""

from __future__ import annotations

from dataclasses import dataclass, field


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


@dataclass
class SearchResult:
    """Counts as TLC makes them; per-instance lists follow the program's instances.

    first: for each check, the smallest depth at which it failed (always) or was reached (sometimes).
    traces: for each such check the leaf values of the states of one shortest trace, initial first.
    overflow: leaf index -> transitions dropped because a value outgrew its leaf.
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

    @property
    def diameter(self) -> int:
        return len(self.levels)
