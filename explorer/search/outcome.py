"""One shape for the answer of every engine: counts by action, first hits and traces by property."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from elrcheck.explorer.search.growth import project
from elrcheck.results.exploration_report import Projection

if TYPE_CHECKING:
    from elrcheck.explorer.runs.checkpoint import RunFolder
    from elrcheck.explorer.search.compiled import Search
    from elrcheck.explorer.search.result import SearchResult
    from elrcheck.explorer.search.vector import VectorSearch
    from elrcheck.lang.lowering.lower import Lowered


@dataclass
class Outcome:
    """What an engine found. traces: plain states, initial first, by property id.

    enabled, new_states, beyond: by action; beyond are the enabled steps that left the budgets.
    waiting: for a `leads_to` property the number of states in which it waits.
    """

    complete: bool
    reason: str | None
    generated: int
    distinct: int
    levels: tuple[int, ...]
    seconds: float
    bytes_per_state: int = 0
    workers: int = 1
    detail: str | None = None
    cut: int = 0
    deadlocks: int = 0
    enabled: dict[str, int] = field(default_factory=dict)
    new_states: dict[str, int] = field(default_factory=dict)
    beyond: dict[str, int] = field(default_factory=dict)
    variables: dict[str, int] = field(default_factory=dict)
    overflow: dict[str, int] = field(default_factory=dict)
    first: dict[str, int] = field(default_factory=dict)
    traces: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    waiting: dict[str, int] = field(default_factory=dict)
    fingerprint_bits: int | None = None
    collision_probability: float = 0.0
    spilled: bool = False
    peak_bytes: int = 0
    resumable: str | None = None


def projection_of(outcome: Outcome) -> Projection | None:
    """A guess from the whole levels of an incomplete search; the last one may be a part."""
    if outcome.complete:
        return None
    whole = outcome.levels if (outcome.reason or "").startswith("--max-depth") else outcome.levels[:-1]
    guess = project(whole)
    if guess is None or guess.states <= outcome.distinct:
        return None
    return Projection(guess.states, guess.levels)


@dataclass(frozen=True)
class Ended:
    """A compiled or vectorised search that has ended, with all it has stored."""

    lowered: Lowered
    search: Search | VectorSearch
    result: SearchResult
    detail: str
    folder: RunFolder | None = None


def outcome_of(ended: Ended) -> Outcome:
    """The counts and first hits of a search."""
    program, result = ended.lowered.program, ended.result
    enabled: dict[str, int] = {}
    fresh: dict[str, int] = {}
    beyond: dict[str, int] = {}
    for k, instance in enumerate(program.instances):
        for total, counts in ((enabled, result.enabled), (fresh, result.new_states), (beyond, result.cut)):
            total[instance.action] = total.get(instance.action, 0) + counts[k]
    return Outcome(
        complete=result.complete,
        reason=result.reason,
        generated=result.generated,
        distinct=result.distinct,
        levels=result.levels,
        seconds=result.seconds,
        bytes_per_state=result.bytes_per_state,
        workers=result.workers,
        detail=ended.detail,
        cut=sum(result.cut),
        deadlocks=result.deadlocks,
        enabled=enabled,
        new_states=fresh,
        beyond=beyond,
        variables={leaf.path: n for leaf, n in zip(program.leaves, result.leaf_values, strict=True)},
        overflow={program.leaves[leaf].path: n for leaf, n in result.overflow.items()},
        first={program.checks[check].name: depth for check, depth in result.first.items()},
        fingerprint_bits=result.fingerprint_bits,
        collision_probability=result.collision_probability,
        spilled=result.spilled,
        peak_bytes=result.peak_bytes,
    )
