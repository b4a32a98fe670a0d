"""The common result of all engines: counts by action, first hits and traces by property."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

from elrcheck.base.kept.age import KeptOrigin
from elrcheck.explorer.search.growth import project
from elrcheck.explorer.search.result import SearchCounts, SearchResult
from elrcheck.results.check_report import Projection

if TYPE_CHECKING:
    from elrcheck.lang.lowering.program import Program


@dataclass
class SearchOutcome(SearchCounts):
    """The result of an engine. traces: plain states, initial first, by property id.

    enabled, new_states, beyond: by action; `beyond` counts the enabled steps that left the budgets. waiting: for each
    `leads_to` property, the number of states in which its conclusion is awaited. kept: the origin of an answer that
    an earlier search of the same program has stored.
    """

    detail: str | None = None
    cut: int = 0
    enabled: dict[str, int] = field(default_factory=dict)
    new_states: dict[str, int] = field(default_factory=dict)
    beyond: dict[str, int] = field(default_factory=dict)
    variables: dict[str, int] = field(default_factory=dict)
    overflow: dict[str, int] = field(default_factory=dict)
    first: dict[str, int] = field(default_factory=dict)
    traces: dict[str, tuple[object, ...]] = field(default_factory=dict)
    waiting: dict[str, int] = field(default_factory=dict)
    resumable: str | None = None
    kept: KeptOrigin | None = None


def projection_of(outcome: SearchOutcome) -> Projection | None:
    """Estimate the final size of an incomplete search from its finished levels; the last may be partial."""
    if outcome.complete:
        return None
    whole = outcome.levels if (outcome.reason or "").startswith("--max-depth") else outcome.levels[:-1]
    guess = project(whole)
    return guess if guess is not None and guess.states > outcome.distinct else None


def outcome_of(program: Program, result: SearchResult, detail: str | None = None) -> SearchOutcome:
    """Return the counts and first hits of a search, by names of the model; without traces."""
    enabled: dict[str, int] = {}
    fresh: dict[str, int] = {}
    beyond: dict[str, int] = {}
    for k, instance in enumerate(program.instances):
        if program.switched_off(instance):
            continue
        for total, counts in ((enabled, result.enabled), (fresh, result.new_states), (beyond, result.cut)):
            total[instance.action] = total.get(instance.action, 0) + counts[k]
    return SearchOutcome(
        **{part.name: getattr(result, part.name) for part in fields(SearchCounts)},
        detail=detail,
        cut=sum(result.cut),
        enabled=enabled,
        new_states=fresh,
        beyond=beyond,
        variables={
            leaf.path: result.leaf_values[k] for k, leaf in enumerate(program.leaves) if k not in program.parameters
        },
        overflow={program.leaves[leaf].path: n for leaf, n in result.overflow.items()},
        first={program.checks[check].name: depth for check, depth in result.first.items()},
    )
