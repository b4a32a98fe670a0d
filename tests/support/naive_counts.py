"""What a search of a small program must report, down to the last count."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from elrcheck.explorer.search.result import SearchResult
from elrcheck.lang.lowering.program import Program
from support.small_programs import counter, grid, naive_search, sliding_puzzle, tokens, wide

PROGRAMS: dict[str, Callable[[], Program]] = {
    "counter": counter,
    "counter-overflow": lambda: counter(top=7, room=5),
    "counter-cut": lambda: counter(bound=3),
    "puzzle": sliding_puzzle,
    "wide": wide,
    "tokens": tokens,
    "grid": lambda: grid(12, 3),
}


def compare(program: Program, result: SearchResult) -> None:
    """Every count of a complete result is what the naive search finds."""
    expected = naive_search(program)
    assert result.generated == expected.generated
    assert result.distinct == len(expected.states)
    assert result.levels == tuple(expected.levels)
    assert result.diameter == len(expected.levels)
    assert result.enabled == expected.enabled
    assert result.cut == expected.cut
    assert result.new_states == expected.new_states
    assert sum(result.new_states) == result.distinct - len(set(program.init))
    assert result.deadlocks == expected.deadlocks
    assert result.overflow == expected.overflow
    assert result.first == expected.first
    assert result.leaf_values == expected.leaf_values
    assert result.complete == (not expected.overflow)


def plain(result: SearchResult) -> SearchResult:
    """Without what depends on time, memory and the number of workers."""
    return dataclasses.replace(result, seconds=0.0, compile_seconds=0.0, bytes_per_state=0, workers=0)
