"""The report of `elrcheck simulate`: the results of random walks.

Walks cannot show that a property holds: the verdict is either a violation or inconclusive.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from elrcheck.base.roundtrip import Record
from elrcheck.results.any_report import PatchApplied, Report
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
    """Estimated number of distinct states, with its standard error."""
    distinct_error: float
    """Standard error of the estimate, in states."""
    seconds: float
    states_per_second: float
    stopped_by: str | None = None
    """What ended the run before all walks were done."""
    overflows: Mapping[str, int] | None = None
    """Steps dropped because a number was out of range, by leaf."""
    guided: bool = False
    """Walks went on from states that were met before, and distinct states were counted, in `cells` that look different:
    by enabled actions and by the distance from violating a property."""
    cells: int | None = None


class SeenProperty(Record, frozen=True):
    """One property, and where it was hit: after `steps` steps of walk number `walk`.

    This is the hit with the fewest steps, in the first such walk; rarely a shortest trace. In a guided run it
    is the first hit, `steps` counts from the initial state, and `states` were visited until then.
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
    """The number of times that walks took an action, that it was enabled, and that it left the budgets (`cut`).

    Repeated visits to one state count each time.
    """

    name: str
    taken: int
    """Steps of walks."""
    enabled: int
    """Possible steps where walks were, repeated visits included."""
    cut: int


class SimulationReport(Report, frozen=True, tag="elrcheck.simulation/1"):
    """The result of `elrcheck simulate`. seed, depth and the number of a walk reproduce it."""

    verdict: SimulationVerdict
    """Random walks never show that a property holds."""
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
    model: str | None = None
    """The file of the model; null for Kafka's partition."""
    patch: PatchApplied | None = None
    """The diff that was applied to the model."""
