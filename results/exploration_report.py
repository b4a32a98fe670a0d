"""The report of `elrcheck explore`: a description of a scope, without a judgement."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from elrcheck.base.requests import GraphFormat
from elrcheck.base.roundtrip import Record
from elrcheck.results.any_report import PatchApplied, Report
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
    """The transitions within the budgets from all states found; after a complete search this equals `generated` minus
    the initial states and `cut`."""
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
    """A guess how large an incomplete search would become, from how its growth falls."""


class DegreeReport(Record, frozen=True):
    """Number of states with this out-degree within the budgets; two actions to one state count twice."""

    degree: int
    """Steps inside the budgets from one state."""
    states: int


class ComponentsReport(Record, frozen=True):
    """Strongly connected components: count, count with more than one state, and size of the largest."""

    count: int
    cyclic: int
    """Components with more than one state."""
    largest: int
    """States of the largest component."""


class ExploredAction(Record, frozen=True):
    """The number of times an action was enabled, of states it reached first, and of steps that left the budgets."""

    name: str
    fired: int
    new_states: int
    cut: int


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


class ExploreReport(Report, frozen=True, tag="elrcheck.exploration/1"):
    """The result of `elrcheck explore`."""

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
    variables: tuple[VariableReport, ...]
    components: ComponentsReport | None
    """None beyond `components_limit` states."""
    components_limit: int
    graph: GraphReport | None = None
    small_graph: SmallGraph | None = None
    """The graph to draw; None unless an HTML report or SVG was requested and the scope is small."""
    model: str | None = None
    """The file of the model; null for Kafka's partition."""
    patch: PatchApplied | None = None
    """The diff that was applied to the model."""
