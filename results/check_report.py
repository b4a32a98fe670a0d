"""The report of `elrcheck check`: the results of a run as plain frozen data.

Commands fill reports in, and the renderers in `report` compute nothing. Field names are the keys of the JSON
document, so renaming one changes a published schema (`docs/schemas/`). Values of the model are short strings
such as ``{0,2}``, ``none`` or ``3``; the stored trace has the machine-readable states.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from elrcheck.base.errors import ExitCode
from elrcheck.base.kept.age import KeptOrigin
from elrcheck.base.requests import CheckFailOn
from elrcheck.base.roundtrip import Record
from elrcheck.results.any_report import ModelReport
from elrcheck.results.trace_view import Scalar, SmallGraph, TraceView

Verdict: TypeAlias = Literal["holds", "violated", "inconclusive"]
PropertyKind: TypeAlias = Literal["always", "sometimes", "leads_to"]
PropertyVerdict: TypeAlias = Literal["holds", "violated", "reached", "unreached", "inconclusive"]


class EngineReport(Record, frozen=True):
    """The engine that searched."""

    name: str
    workers: int = 1
    detail: str | None = None
    """One line for people, such as the kernel's instruction set."""


class Overflow(Record, frozen=True):
    """A leaf whose value exceeded its bit width in the search, which makes the run inconclusive."""

    leaf: str
    count: int


class Projection(Record, frozen=True):
    """Projected size of an incomplete search: distinct states and levels."""

    states: int
    levels: int


class SearchReport(Record, frozen=True):
    """The extent of a search. Counts are those that TLC reports; `diameter` is the number of levels."""

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
    """Memory per state, with the visited set."""
    fingerprint_bits: int | None = None
    """None if whole states were compared; otherwise `collision_probability` bounds the chance that two were
    confused."""
    collision_probability: float = 0.0
    stopped_by: str | None = None
    """The limit that ended an incomplete search, as the option (``--max-depth 20``)."""
    cut: int = 0
    """Transitions out of the budgets of the scope."""
    deadlocks: int = 0
    overflows: tuple[Overflow, ...] = ()
    peak_memory_bytes: int = 0
    """Peak memory of the whole process."""
    spilled: bool = False
    """States exceeded `--memory` and were written to disk."""
    resumable: str | None = None
    """Folder from which an incomplete search can resume."""
    projection: Projection | None = None
    """Estimated size of the whole search."""
    renamings: int = 1
    """Renamings of the members of symmetric sorts (`--symmetry`); states that they map to one another count as one."""


class KnownFinding(Record, frozen=True):
    """A known finding; without its rule the counterexample does not happen."""

    finding: str
    title: str


class PropertyOutcome(Record, frozen=True):
    """The result of a check for one property."""

    id: str
    name: str
    kind: PropertyKind
    verdict: PropertyVerdict
    depth: int | None = None
    """Smallest depth at which it was violated or reached; for a liveness property, the steps before the cycle."""
    conjunct: str | None = None
    """The named part that is false."""
    witness: str | None = None
    """The values for which it is false."""
    trace: str | None = None
    """Path of the stored trace inside the run folder."""


class PropertyReport(PropertyOutcome, frozen=True):
    """One property, with its counterexample and what explains it."""

    counterexample: TraceView | None = None
    """The stored trace, for people to read."""
    waiting: int | None = None
    """States in which a liveness property waits, summed over its instances; 0 means that it was never tested."""
    source: str | None = None
    """Location of the property, ``folder/file.py:line`` relative to the package."""
    statement: str = ""
    """What the property says, in a sentence."""
    instance_of: tuple[KnownFinding, ...] = ()
    """Known findings that break this property, and without whose rule this trace does not break it."""
    at_stake: str = ""
    """What users lose where it fails, in a sentence; empty if it holds, or if the model does not say."""


class ActionReport(Record, frozen=True):
    """The number of times that an action was enabled, and of states that it was the first to reach."""

    name: str
    fired: int
    new_states: int
    cut: int = 0
    """How many of those steps left the budgets of the scope."""
    guards: tuple[str, ...] = ()
    """The names of its guards, in evaluation order."""
    possible: bool = True
    """False if the configuration excludes every instance of it."""

    @property
    def idle(self) -> bool:
        """Return whether no step of the action is part of the explored space."""
        return self.fired == self.cut

    @property
    def remark(self) -> str:
        """Return why the action is idle; empty if it is not."""
        if not self.idle:
            return ""
        return "only beyond the budgets" if self.fired else "never fired"


class VariableReport(Record, frozen=True):
    """The number of distinct values of a leaf of the state. Leaves that no action writes are not listed."""

    name: str
    distinct: int


class FindingOutside(Record, frozen=True):
    """A finding of the release that the search cannot reach."""

    finding: str
    title: str
    lost: str
    needs: tuple[str, ...]
    """The events that it needs and the search leaves out, in words."""


class Extent(Record, frozen=True):
    """The events that a search tried and those that it left out, in an operator's words."""

    tried: tuple[str, ...]
    not_tried: tuple[str, ...]
    """Those that most findings need come first."""
    findings: tuple[FindingOutside, ...] = ()
    """Findings of the release that the search cannot reach, those with the fewest missing events first."""
    no_effect: tuple[str, ...] = ()
    """Settings of `--set` without which the search is the same, state by state."""
    effect: tuple[str, ...] = ()
    """The other settings, each with what the search without it shows."""


class Failure(Record, frozen=True):
    """A word of `--fail-on` that applies."""

    word: CheckFailOn
    subjects: tuple[str, ...]
    """Names of actions, ids of witnesses or properties."""


class CheckReport(ModelReport, frozen=True, tag="elrcheck.report/1"):
    """The result of `elrcheck check`."""

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
    """The state graph of a small scope, as in the report of `explore`."""
    failures: tuple[Failure, ...] = ()
    """Reasons to fail beyond the verdict, from `--fail-on`."""
    vacuous: str | None = None
    """Why a complete search shows little: the protocol never did what it is for."""
    extent: Extent | None = None
    kept: KeptOrigin | None = None
    """Set if an earlier search of the same program gave the answer; seconds and memory are of that search."""

    @property
    def exit_code(self) -> ExitCode:
        return ExitCode.FINDING if self.failures else super().exit_code
