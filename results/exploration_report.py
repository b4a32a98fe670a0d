"""The reports of `elrcheck explore`, which describes a scope and judges nothing, and of `elrcheck runs coverage`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from elrcheck.base.errors import ExitCode
from elrcheck.base.requests import GraphFormat
from elrcheck.base.roundtrip import Record
from elrcheck.results.any_report import ModelReport, Report
from elrcheck.results.check_report import Projection, VariableReport
from elrcheck.results.drawn_graph import SmallGraph
from elrcheck.results.trace_view import Scalar

ExploreVerdict: TypeAlias = Literal["explored", "inconclusive"]


class SpaceReport(Record, frozen=True):
    """The size of the explored space, counted as in `check`."""

    complete: bool
    generated: int
    distinct: int
    steps: int
    """Transitions within the budgets; after a complete search, `generated` minus the initial states and `cut`."""
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
    """Steps dropped because a number was out of range, by leaf."""
    projection: Projection | None = None
    """Estimated size of the whole search."""


class DegreeReport(Record, frozen=True):
    """The number of states with one out-degree."""

    degree: int
    """Steps within the budgets; two actions that lead to the same state count twice."""
    states: int


class ComponentsReport(Record, frozen=True):
    """Strongly connected components."""

    count: int
    cyclic: int
    """Components with more than one state."""
    largest: int
    """States of the largest component."""


class ExploredAction(Record, frozen=True):
    """An action."""

    name: str
    fired: int
    """Number of times that it was enabled."""
    new_states: int
    """States that it was the first to reach."""
    cut: int
    """How many of its steps left the budgets."""


class GraphReport(Record, frozen=True):
    """The graph file: a multigraph with one edge per action instance."""

    path: str
    format: GraphFormat
    nodes: int
    edges: int
    violating: int
    """States that violate a state property."""
    violating_steps: int
    """Edges that violate a step property."""


class ExploreReport(ModelReport, frozen=True, tag="elrcheck.exploration/1"):
    """The result of `elrcheck explore`."""

    verdict: ExploreVerdict
    """explored: all states within the budgets."""
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
    variables: tuple[VariableReport, ...]
    components: ComponentsReport | None
    """Null beyond `components_limit` states."""
    components_limit: int
    graph: GraphReport | None = None
    small_graph: SmallGraph | None = None
    """The graph to draw; null unless an HTML report or SVG was requested and the scope is small."""


class CoveredRun(Record, frozen=True):
    """A stored report."""

    path: str
    command: Literal["check", "mutate"]
    variant: str
    scope: str
    complete: bool
    """Everything within its budgets was explored; always true for `mutate`."""


class CoveredAction(Record, frozen=True):
    """An action."""

    name: str
    fired: int
    """Steps within the budgets in all runs."""
    runs: int
    """Number of runs in which it fired."""


class CoveredWitness(Record, frozen=True):
    """A witness."""

    id: str
    name: str
    reached: int
    """Number of runs that reached it."""
    runs: int
    """Number of runs that looked for it."""


class CoveredGuard(Record, frozen=True):
    """A guard that a survey (`mutate --guards`) removed."""

    action: str
    guard: str
    noticed: str | None
    """The property that noticed the removal first."""


class CoverageReport(Report, frozen=True, tag="elrcheck.coverage/1"):
    """The result of `elrcheck runs coverage`."""

    verdict: Literal["complete", "gaps"]
    """complete: every action fired, every witness was reached, the removal of every guard was noticed."""
    runs: tuple[CoveredRun, ...]
    actions: tuple[CoveredAction, ...]
    witnesses: tuple[CoveredWitness, ...]
    guards: tuple[CoveredGuard, ...]
    strict: bool = False

    @property
    def exit_code(self) -> ExitCode:
        return ExitCode.FINDING if self.strict and self.verdict == "gaps" else super().exit_code
