"""The report of `elrcheck simulate`: what random walks met.

Walks never show that a property holds: the verdict is a violation, or nothing was seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from elrcheck.base.errors import ExitCode
from elrcheck.results.trace_view import Scalar, TraceView

SimulationVerdict: TypeAlias = Literal["violated", "inconclusive"]
SeenVerdict: TypeAlias = Literal["violated", "reached", "inconclusive"]


@dataclass(frozen=True)
class WalksReport:
    """How far the walks went. `walks`: begun, of which `ended` are over; they differ when time ran out.

    A walk ends after its `depth` steps, in a state without an enabled action (`deadlocks`), or where
    every enabled step leaves the budgets (`blocked`). `states`: visits, the start of each walk included;
    `distinct_estimate`: how many different states these are, with the standard error of the estimate.
    """

    walks: int
    ended: int
    steps: int
    states: int
    deepest: int
    """Most steps of a walk."""
    deadlocks: int
    blocked: int
    distinct_estimate: float
    distinct_error: float
    """Standard error of the estimate, in states."""
    seconds: float
    states_per_second: float
    stopped_by: str | None = None
    """What ended the run before all walks were done."""
    overflows: Mapping[str, int] | None = None
    """Steps dropped because a number outgrew its room, by leaf."""


@dataclass(frozen=True)
class SeenProperty:
    """One property, and where it was hit: after `steps` steps of walk number `walk`.

    Of all hits it is the one of least steps, and of those the first walk; rarely a shortest way there.
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


@dataclass(frozen=True)
class WalkedAction:
    """How often walks took an action, how often they could have, and how often it left the budgets (`cut`).

    Repeated visits of one state count each time.
    """

    name: str
    taken: int
    """Steps of walks."""
    enabled: int
    """Possible steps where walks were, repeated visits included."""
    cut: int


@dataclass(frozen=True)
class SimulationReport:
    """The result of `elrcheck simulate`. seed, depth and the number of a walk make it again."""

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
    schema: Literal["elrcheck.simulation/1"] = "elrcheck.simulation/1"

    @property
    def exit_code(self) -> ExitCode:
        return ExitCode.FINDING if self.verdict == "violated" else ExitCode.INCONCLUSIVE
