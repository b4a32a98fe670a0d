"""The report of `elrcheck explore`: what a scope looks like. It judges nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from elrcheck.base.errors import ExitCode
from elrcheck.base.requests import GraphFormat
from elrcheck.results.drawn_graph import SmallGraph
from elrcheck.results.trace_view import Scalar

ExploreVerdict: TypeAlias = Literal["explored", "inconclusive"]


@dataclass(frozen=True)
class Projection:
    """How large an incomplete search may become (`explorer.search.growth`): distinct states, levels."""

    states: int
    levels: int


@dataclass(frozen=True)
class SpaceReport:
    """The size of what was explored, counted as by `check`.

    steps: the transitions inside the budgets from all states that were found; after a complete search
    these are `generated` without the initial states and `cut`.
    """

    complete: bool
    generated: int
    distinct: int
    steps: int
    cut: int
    deadlocks: int
    """States without an enabled action."""
    diameter: int
    """Number of levels."""
    levels: tuple[int, ...]
    seconds: float
    stopped_by: str | None = None
    """The limit that ended an incomplete search."""
    overflows: Mapping[str, int] | None = None
    """Steps dropped because a number outgrew its room, by leaf."""
    projection: Projection | None = None
    """A guess how large an incomplete search would become, from how its growth falls."""


@dataclass(frozen=True)
class DegreeReport:
    """How many states have so many steps inside the budgets; steps to one state by two actions are two."""

    degree: int
    """Steps inside the budgets from one state."""
    states: int


@dataclass(frozen=True)
class ComponentsReport:
    """Strongly connected components: all, those of more than one state, and the states of the largest."""

    count: int
    cyclic: int
    """Of more than one state."""
    largest: int
    """States of the largest."""


@dataclass(frozen=True)
class ExploredAction:
    """How often an action was possible, how many states it found first, how many steps left the budgets."""

    name: str
    fired: int
    new_states: int
    cut: int


@dataclass(frozen=True)
class ExploredVariable:
    """How many different values a leaf of the state took. One that no action ever writes is not listed."""

    name: str
    distinct: int


@dataclass(frozen=True)
class GraphReport:
    """The graph that was written: a multigraph, one edge for each action instance that leads on.

    violating: states that violate a property of states; violating_steps: edges that violate one of steps.
    """

    path: str
    format: GraphFormat
    nodes: int
    edges: int
    violating: int
    violating_steps: int


@dataclass(frozen=True)
class ExploreReport:
    """The result of `elrcheck explore`. components: None beyond the states that its `limit` allows.

    small_graph: what is drawn; None unless an HTML report or an SVG was asked for and all states are few.
    """

    verdict: ExploreVerdict
    """explored: all states within the budgets; no judgement of properties."""
    variant: str
    scope: str
    config: Mapping[str, Scalar]
    """Every size, knob and budget of the run."""
    workers: int
    detail: str | None
    space: SpaceReport
    degrees: tuple[DegreeReport, ...]
    mean_degree: float
    actions: tuple[ExploredAction, ...]
    variables: tuple[ExploredVariable, ...]
    components: ComponentsReport | None
    components_limit: int
    graph: GraphReport | None = None
    small_graph: SmallGraph | None = None
    schema: Literal["elrcheck.exploration/1"] = "elrcheck.exploration/1"

    @property
    def exit_code(self) -> ExitCode:
        return ExitCode.HOLDS if self.verdict == "explored" else ExitCode.INCONCLUSIVE
