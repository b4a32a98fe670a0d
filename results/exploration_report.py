"""The reports of `elrcheck explore`, which describes a scope and judges nothing, of `simulate` and of `runs coverage`.

Random walks never show that a property holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from elrcheck.base.errors import ExitCode
from elrcheck.base.requests import GraphFormat
from elrcheck.base.roundtrip import Record
from elrcheck.results.any_report import ModelReport, Report
from elrcheck.results.check_report import Projection, VariableReport
from elrcheck.results.trace_view import Scalar, SmallGraph, TraceView

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


SimulationVerdict: TypeAlias = Literal["violated", "inconclusive"]
SeenVerdict: TypeAlias = Literal["violated", "reached", "inconclusive"]


class WalksReport(Record, frozen=True):
    """The extent of the walks.

    A walk ends after `depth` steps, in a state without an enabled action (deadlocks), or where every enabled step
    leaves the budgets (blocked).
    """

    walks: int
    """Number started, of which `ended` finished; fewer if time ran out."""
    ended: int
    steps: int
    states: int
    """Visits, including the start of each walk."""
    deepest: int
    """Most steps of a walk."""
    deadlocks: int
    blocked: int
    distinct_estimate: float
    """Estimated number of distinct states."""
    distinct_error: float
    """Standard error of the estimate, in states."""
    seconds: float
    states_per_second: float
    stopped_by: str | None = None
    """What ended the run early."""
    overflows: Mapping[str, int] | None = None
    """Steps dropped because a number was out of range, by leaf."""
    guided: bool = False
    """Walks started from visited states, and distinct states were counted."""
    cells: int | None = None
    """In a guided run: groups of states with the same enabled actions and distances from violating each property."""


class SeenProperty(Record, frozen=True):
    """One property, and where it was hit: after `steps` steps of walk number `walk`.

    This is the hit with the fewest steps, in the first such walk; its trace is rarely a shortest one. A guided run
    has the first hit, `steps` from the initial state, after `states` visited states.
    """

    id: str
    name: str
    kind: Literal["always", "sometimes"]
    verdict: SeenVerdict
    steps: int | None = None
    walk: int | None = None
    conjunct: str | None = None
    witness: str | None = None
    trace: str | None = None
    """Path of the stored trace inside run_dir."""
    counterexample: TraceView | None = None
    states: int | None = None


class WalkedAction(Record, frozen=True):
    """An action; repeated visits to one state count each time."""

    name: str
    taken: int
    """How often walks took it."""
    enabled: int
    """How often it was enabled."""
    cut: int
    """How often it left the budgets."""


class SimulationReport(ModelReport, frozen=True, tag="elrcheck.simulation/1"):
    """The result of `elrcheck simulate`. seed, depth and the number of a walk reproduce it."""

    verdict: SimulationVerdict
    variant: str
    scope: str
    config: Mapping[str, Scalar]
    """Every size, knob and budget of the run."""
    seed: int
    depth: int
    """Steps of a walk."""
    workers: int
    detail: str | None
    search: WalksReport
    properties: tuple[SeenProperty, ...]
    actions: tuple[WalkedAction, ...] = ()
    run_dir: str | None = None
    """Where traces are stored; null when nothing was stored."""
