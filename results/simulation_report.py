"""The report of `elrcheck simulate`: the results of random walks, which never show that a property holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from elrcheck.base.roundtrip import Record
from elrcheck.results.any_report import ModelReport
from elrcheck.results.trace_view import Scalar, TraceView

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
