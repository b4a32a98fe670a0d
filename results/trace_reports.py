"""The reports of `trace`, `replay`, `explain` and `tlc`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from msgspec import field

from elrcheck.base.roundtrip import Record
from elrcheck.results.any_report import PatchApplied, Report
from elrcheck.results.trace_view import Argument, Change, Scalar, TraceView, as_call

# ------------------------------------------------------------------------------------ shared


class Hit(Record, frozen=True):
    """A property that a trace violates or reaches."""

    id: str
    name: str
    step: int
    """Number of steps before the first state that does."""
    conjunct: str | None = None
    witness: str | None = None


class Origin(Record, frozen=True):
    """The origin of a trace, and the model in which it was replayed."""

    source: str
    """A file or ``--repro 0/3/1``."""
    variant: str
    scope: str
    config: Mapping[str, Scalar]
    format: str | None = None
    """Notation of the file."""
    property: str | None = None
    """Property that the file names."""
    model: str | None = None
    """The file of the model in which it was replayed; null for Kafka's partition."""
    patch: PatchApplied | None = None
    """The diff that was applied to that model."""
    missing: str | None = None
    """The options that select the model of the run that stored the trace, if it was replayed in another."""


# ------------------------------------------------------------------------------------ replay


class Candidate(Record, frozen=True):
    """An action with arguments that might be the refused step."""

    action: str
    arguments: tuple[Argument, ...]
    guard: str | None = None
    """The guard that refused it; null if the action was enabled."""
    differs: tuple[Change, ...] = ()
    """Where the state (old) after the enabled action differs from the recorded one (new)."""
    named: bool = False
    """The trace names this action."""

    @property
    def label(self) -> str:
        return as_call(self.action, self.arguments)


class Rejection(Record, frozen=True):
    """The step at which the model refuses the trace."""

    step: int
    """Number of the refused step, 0 if the first state is not the initial one."""
    reason: str
    recorded: str | None = None
    """Name of the step in the trace."""
    changed: tuple[Change, ...] = ()
    """Changes of the step in the trace."""
    candidates: tuple[Candidate, ...] = ()
    """Named ones first, then enabled ones by the number of differing leaves, then refused ones."""


class ReplayReport(Report, frozen=True, tag="elrcheck.replay/1"):
    """The result of `elrcheck replay`."""

    verdict: Literal["accepted", "rejected"]
    origin: Origin
    states: int
    """Number of recorded states."""
    accepted: int
    """Number of states that the model accepts."""
    trace: TraceView
    """The accepted prefix."""
    rejection: Rejection | None = None
    violated: tuple[Hit, ...] = ()
    beyond: int | None = None
    """The first step that leaves the budgets of the scope."""


# ------------------------------------------------------------------------------------- trace


class FewerMembers(Record, frozen=True):
    """A sort of the model, of which a shorter trace needs fewer members."""

    sort: str
    before: int
    members: int


class Shortened(Record, frozen=True):
    """What `trace minimise` achieved."""

    steps_before: int
    steps: int
    sorts: tuple[FewerMembers, ...]
    replays: int
    searched: bool = False


class Evaluated(Record, frozen=True):
    """The value of an expression after `at` steps."""

    at: int
    value: str | None
    """Null where the expression has no value, for the reason `why`."""
    why: str | None = None
    changed: bool = True
    """The value differs from the one before."""


class Evaluation(Record, frozen=True):
    """An expression (`--eval`) along a trace."""

    expression: str
    step: bool
    """It is evaluated on steps instead of states."""
    values: tuple[Evaluated, ...]


class TraceReport(Report, frozen=True, tag="elrcheck.trace-view/1"):
    """The result of `elrcheck trace show`, `sample` and `minimise`."""

    verdict: Literal["shown"]
    origin: Origin
    steps: int
    """Length of the whole trace."""
    first: int
    """The first step in `trace`."""
    last: int
    """The last step in `trace`."""
    trace: TraceView
    violated: tuple[Hit, ...] = ()
    reached: tuple[Hit, ...] = ()
    seed: int | None = None
    """Seed of a sample."""
    shortened: Shortened | None = None
    stored: str | None = None
    """Where the trace was saved."""
    evaluations: tuple[Evaluation, ...] = ()
    """Values of the expressions of --eval."""


class DiffRow(Record, frozen=True):
    """The difference after `step` steps."""

    step: int
    a: str | None
    """The step of trace A; null if it has ended."""
    b: str | None
    """The step of trace B; null if it has ended."""
    leaves: tuple[Change, ...] = ()
    """Leaves that differ: `old` is the value in A, `new` in B."""


class TraceDiffReport(Report, frozen=True, tag="elrcheck.trace-diff/1"):
    """The result of `elrcheck trace diff`."""

    verdict: Literal["same", "different"]
    a: Origin
    b: Origin
    steps_a: int
    steps_b: int
    common: int
    """Number of initial steps that both share."""
    config: tuple[Change, ...] = ()
    rows: tuple[DiffRow, ...] = ()


# ----------------------------------------------------------------------------------- explain


class Looked(Record, frozen=True):
    """A value that a condition reads: an expression or a leaf of the state."""

    text: str
    value: str


class Clause(Record, frozen=True):
    """One part of a condition, in the notation of the source, with its truth value and what decides it."""

    text: str
    value: bool
    name: str | None = None
    """The name of a conjunct or guard."""
    witness: tuple[Argument, ...] = ()
    """For a quantifier, the bound variables that decide it."""
    over: int | None = None
    """For a quantifier, the number of elements over which it ranges."""
    looked: tuple[Looked, ...] = ()
    """Values that the condition reads."""
    parts: tuple[Clause, ...] = ()
    """The parts that decide it."""
    waived: tuple[Looked, ...] = ()
    """The settings because of which a guard does not apply."""


class Goal(Record, frozen=True):
    """The goal of a wait, in a state where it is false."""

    state: int
    clause: Clause


class EndlessWait(Record, frozen=True):
    """A wait of a liveness property that never ends."""

    since: int
    """The state in which the premise starts the wait."""
    premise: Clause
    goals: tuple[Goal, ...]
    """The goal in each state of the cycle."""


class FairStep(Record, frozen=True):
    """A step with a fairness assumption, and how the cycle satisfies it; if in no way, the cycle is unfair."""

    action: str
    arguments: tuple[Argument, ...]
    strong: bool
    """The step must be taken if it is enabled infinitely often, not only if it stays enabled."""
    taken: int | None = None
    """The step of the cycle that takes it."""
    idle: int | None = None
    """A state in which it is not enabled, for the reason `why`."""
    why: str | None = None
    never: bool = False
    """The step is enabled in no state of the cycle."""
    again: int | None = None
    """The step of the cycle that takes it outside of its condition, where it is assumed to stop."""

    @property
    def label(self) -> str:
        return as_call(self.action, self.arguments)

    @property
    def how(self) -> str:
        """Return how the cycle satisfies the assumption, in words."""
        if self.again is not None:
            return f"taken again and again, step {self.again}, although it is assumed to stop there"
        if self.taken is not None:
            return f"taken, step {self.taken}"
        if not self.settled:
            return "never taken, although fairness requires it"
        return ("never enabled" if self.never else f"not enabled in state {self.idle}") + f", {self.why}"

    @property
    def settled(self) -> bool:
        owed = self.taken is None and not self.never and (self.idle is None or self.strong)
        return self.again is None and not owed


class Cycle(Record, frozen=True):
    """The part that repeats forever: states `loop` to `last`."""

    loop: int
    last: int
    stops: bool
    """The cycle has no steps: nothing more happens."""
    steps: tuple[FairStep, ...]
    """The steps with a fairness assumption."""

    @property
    def fair(self) -> bool:
        return all(step.settled for step in self.steps)


class Explained(Record, frozen=True):
    """One property in one state, or one choice of an action's arguments."""

    id: str
    """Id of a property; empty for a choice of an action's arguments."""
    name: str
    value: bool
    clauses: tuple[Clause, ...]
    """Conjuncts, or guards in evaluation order up to the first that fails."""
    arguments: tuple[Argument, ...] = ()
    """Arguments of the choice, or of the instance of a liveness property."""
    guard: str | None = None
    """The guard that refuses the action."""
    later: tuple[str, ...] = ()
    """Guards not evaluated."""
    statement: str = ""
    source: str | None = None
    changes: tuple[Change, ...] = ()
    beyond: bool = False
    """The step leaves the budgets of the scope, so no search takes it."""
    witness: str | None = None
    """The broker, offset or values for which it is false, as name=value."""
    wait: EndlessWait | None = None
    """For a liveness property, its endless wait."""


class ExplainReport(Report, frozen=True, tag="elrcheck.explain/1"):
    """The result of `elrcheck explain`: the truth of properties, or of the guards of an action, in one state."""

    verdict: Literal["holds", "violated", "enabled", "refused"]
    origin: Origin
    at: int
    """Number of the state, 0 for the initial one."""
    steps: int
    led: str | None = None
    """The step that led to the state."""
    explained: tuple[Explained, ...] = ()
    state: Mapping[str, str] = field(default_factory=dict)
    cycle: Cycle | None = None
    """For a liveness property, the part that repeats forever."""


TlcVerdict: TypeAlias = Literal["confirmed", "rejected", "no_violation", "same", "different", "failed"]


class Counts(Record, frozen=True):
    """The counts of a model checker."""

    generated: int
    distinct: int
    diameter: int | None = None


class TraceJudged(Record, frozen=True):
    """TLC's verdict on one stored trace. module: the witness; detail: why it is not confirmed, or how it is."""

    file: str
    property: str
    module: str
    verdict: TlcVerdict
    detail: str
    exit_code: int | None
    """TLC's own: 12 if it violates the property at the end of the trace."""


class TlcReport(Report, frozen=True, tag="elrcheck.tlc/1"):
    """The result of `elrcheck tlc`: TLC's verdict on traces, or its counts next to ours.

    traces: in the order of checking, which ends with the first that TLC does not confirm; the other fields are of the
    last. stored: the traces there are.
    """

    verdict: TlcVerdict
    module: str
    jar: str
    version: str
    command: tuple[str, ...]
    tlc_exit_code: int | None
    seconds: float
    ours: Counts | None = None
    theirs: Counts | None = None
    output_tail: tuple[str, ...] = ()
    traces: tuple[TraceJudged, ...] = ()
    stored: int = 0
