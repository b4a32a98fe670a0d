"""The report objects: what a run found, as plain frozen data.

A report is the whole truth about a run.  Whoever runs a search or a proof fills one in; the
renderers beside this file turn it into text or JSON and compute nothing.  Field names are the keys
of the JSON document, so renaming one changes a published schema (`docs/schemas/`).

Values of the model inside a report are short texts such as ``{0,2}``, ``none`` or ``3``; the
machine-readable states are in the stored trace whose path the report names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from elrcheck.base.errors import ExitCode
from elrcheck.base.requests import CheckFailOn
from elrcheck.results.drawn_graph import SmallGraph
from elrcheck.results.exploration_report import Projection
from elrcheck.results.trace_view import Scalar, TraceView

Verdict: TypeAlias = Literal["holds", "violated", "inconclusive"]
PropertyKind: TypeAlias = Literal["always", "sometimes", "leads_to"]
PropertyVerdict: TypeAlias = Literal["holds", "violated", "reached", "unreached", "inconclusive"]

# ------------------------------------------------------------------------------------- check


@dataclass(frozen=True)
class EngineReport:
    """What searched: `detail` is one line for people, such as the kernel's instruction set."""

    name: str
    workers: int = 1
    detail: str | None = None


@dataclass(frozen=True)
class Overflow:
    """A number that outgrew the room the search reserved for it; it makes a run inconclusive."""

    leaf: str
    count: int


@dataclass(frozen=True)
class SearchReport:
    """How far the search went.  Counts are those TLC reports; `diameter` is the number of levels.

    `stopped_by` says which limit ended an incomplete search, in the user's words
    (``--max-depth 20``); `cut` counts transitions that left the budgets of the scope.
    `bytes_per_state` is of the states kept in memory and of what finds them, `peak_memory_bytes` of the
    whole process; `fingerprint_bits` is None if whole states were compared, else `collision_probability`
    bounds the chance that two were taken for one.  `spilled`: they did not fit `--memory` and were kept
    on disk.  `resumable` is the folder from which an incomplete search can go on; `projection` guesses
    how large that search is as a whole.
    """

    complete: bool
    generated: int
    """Initial states and transitions, as TLC counts."""
    distinct: int
    diameter: int
    levels: tuple[int, ...]
    """New states of each level, the initial states first."""
    seconds: float
    states_per_second: float
    bytes_per_state: int
    fingerprint_bits: int | None = None
    collision_probability: float = 0.0
    stopped_by: str | None = None
    cut: int = 0
    deadlocks: int = 0
    overflows: tuple[Overflow, ...] = ()
    peak_memory_bytes: int = 0
    spilled: bool = False
    resumable: str | None = None
    projection: Projection | None = None


@dataclass(frozen=True)
class PropertyReport:
    """One property.  `depth` is the smallest at which it was violated or reached; of a liveness property
    the number of steps before the cycle.  waiting: states in which a liveness property waits, counted
    for each of its instances; 0 means that it is never put to the test.

    conjunct: the named part that is false; witness: for which values; trace: the stored trace
    inside the run directory; counterexample: the same trace for reading; source: where the property is
    written, ``folder/file.py:line`` relative to the package.
    """

    id: str
    name: str
    kind: PropertyKind
    verdict: PropertyVerdict
    depth: int | None = None
    conjunct: str | None = None
    witness: str | None = None
    trace: str | None = None
    counterexample: TraceView | None = None
    waiting: int | None = None
    source: str | None = None


@dataclass(frozen=True)
class ActionReport:
    """How often an action was possible, and how many states only it found first.

    cut: how many of those steps left the budgets of the scope; an action whose every step did so
    never fired in what was explored.  guards: the names of its conditions, in the order they are tested.
    """

    name: str
    fired: int
    new_states: int
    cut: int = 0
    guards: tuple[str, ...] = ()

    @property
    def idle(self) -> bool:
        """Whether no step of it is part of what was explored."""
        return self.fired == self.cut


@dataclass(frozen=True)
class VariableReport:
    """How many different values a state variable took."""

    name: str
    distinct: int


@dataclass(frozen=True)
class Failure:
    """A word of `--fail-on` that applies; subjects: names of actions, ids of witnesses or properties."""

    word: CheckFailOn
    subjects: tuple[str, ...]


@dataclass(frozen=True)
class CheckReport:
    """The result of `elrcheck check`. small_graph: as in the report of `explore`.

    failures: why it fails although the verdict does not say so.
    """

    verdict: Verdict
    variant: str
    scope: str
    config: Mapping[str, Scalar]
    """Every size, knob and budget of the run."""
    engine: EngineReport
    search: SearchReport
    properties: tuple[PropertyReport, ...]
    actions: tuple[ActionReport, ...] = ()
    variables: tuple[VariableReport, ...] = ()
    run_dir: str | None = None
    """Where traces are stored; null when nothing was stored."""
    small_graph: SmallGraph | None = None
    failures: tuple[Failure, ...] = ()
    schema: Literal["elrcheck.report/1"] = "elrcheck.report/1"

    @property
    def exit_code(self) -> ExitCode:
        if self.failures:
            return ExitCode.FINDING
        match self.verdict:
            case "holds":
                return ExitCode.HOLDS
            case "violated":
                return ExitCode.FINDING
            case "inconclusive":
                return ExitCode.INCONCLUSIVE


# ------------------------------------------------------------------------------------- prove
















# --------------------------------------------------------------------------------------- tlc






