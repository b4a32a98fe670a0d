"""The reports of `trace`, `replay` and `explain` (see `results.check_report`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from msgspec import field

from elrcheck.base.roundtrip import Record
from elrcheck.results.any_report import Report
from elrcheck.results.trace_view import Argument, Change, Scalar, TraceView

# ------------------------------------------------------------------------------------ shared


class Hit(Record, frozen=True):
    """A property that a trace violates or reaches, and the number of steps to the first such place."""

    id: str
    name: str
    step: int
    conjunct: str | None = None
    witness: str | None = None


class Origin(Record, frozen=True):
    """Where a trace comes from, and the model in which it was replayed.

    source: a file or ``--repro 0/3/1``; format: notation of the file; property: the one that the file names.
    """

    source: str
    variant: str
    scope: str
    config: Mapping[str, Scalar]
    format: str | None = None
    property: str | None = None


# ------------------------------------------------------------------------------------ replay


class Candidate(Record, frozen=True):
    """One action, with arguments, considered for the refused step.

    guard: the guard that refused it; None if the action was enabled, and `differs` then lists where its
    state (old) differs from the recorded one (new). named: the trace names this action.
    """

    action: str
    arguments: tuple[Argument, ...]
    guard: str | None = None
    differs: tuple[Change, ...] = ()
    named: bool = False

    @property
    def label(self) -> str:
        return f"{self.action}({', '.join(f'{a.name}={a.value}' for a in self.arguments)})"


class Rejection(Record, frozen=True):
    """The step at which the model refuses the trace.

    step: number of the refused step, 0 if the first state is not the initial one; recorded: its name in the
    trace; changed: its changes in the trace; candidates: first those named, then enabled ones by the number
    of differing leaves, then refused ones.
    """

    step: int
    reason: str
    recorded: str | None = None
    changed: tuple[Change, ...] = ()
    candidates: tuple[Candidate, ...] = ()


class ReplayReport(Report, frozen=True, tag="elrcheck.replay/1"):
    """The result of `elrcheck replay`. states: number recorded; accepted: number that the model accepts.

    trace: the accepted prefix; beyond: the first step that leaves the budgets of the scope.
    """

    verdict: Literal["accepted", "rejected"]
    origin: Origin
    states: int
    accepted: int
    trace: TraceView
    rejection: Rejection | None = None
    violated: tuple[Hit, ...] = ()
    beyond: int | None = None


# ------------------------------------------------------------------------------------- trace


class Shortened(Record, frozen=True):
    """The result of `trace minimise`: numbers of steps and brokers, before and after."""

    steps_before: int
    steps: int
    brokers_before: int
    brokers: int
    replays: int
    searched: bool = False


class Evaluated(Record, frozen=True):
    """The value of an expression after `at` steps; None if it has no value there, for the reason in `why`."""

    at: int
    """After so many steps."""
    value: str | None
    """Null where the expression has no value."""
    why: str | None = None
    changed: bool = True
    """It is another one than before."""


class Evaluation(Record, frozen=True):
    """An expression (`--eval`) along a trace. step: True if it is evaluated on steps instead of states."""

    expression: str
    step: bool
    values: tuple[Evaluated, ...]


class TraceReport(Report, frozen=True, tag="elrcheck.trace-view/1"):
    """The result of `elrcheck trace show`, `sample` and `minimise`. steps: length of the whole trace.

    first, last: the steps shown; seed: seed of a sample; stored: where the trace was saved.
    """

    verdict: Literal["shown"]
    origin: Origin
    steps: int
    first: int
    last: int
    trace: TraceView
    violated: tuple[Hit, ...] = ()
    reached: tuple[Hit, ...] = ()
    seed: int | None = None
    shortened: Shortened | None = None
    stored: str | None = None
    evaluations: tuple[Evaluation, ...] = ()
    """Expressions given by --eval."""


class DiffRow(Record, frozen=True):
    """The difference after `step` steps: the steps that led there, and leaves (old: in A, new: in B)."""

    step: int
    a: str | None
    b: str | None
    leaves: tuple[Change, ...] = ()
    """old is of A, new of B."""


class TraceDiffReport(Report, frozen=True, tag="elrcheck.trace-diff/1"):
    """The result of `elrcheck trace diff`. common: number of initial steps that both share."""

    verdict: Literal["same", "different"]
    a: Origin
    b: Origin
    steps_a: int
    steps_b: int
    common: int
    config: tuple[Change, ...] = ()
    rows: tuple[DiffRow, ...] = ()


# ----------------------------------------------------------------------------------- explain


class Looked(Record, frozen=True):
    """A value that a condition reads: an expression or a leaf of the state."""

    text: str
    value: str


class Clause(Record, frozen=True):
    """One part of a condition, in the notation of the source, with its truth value and what decided it.

    name: that of a conjunct or guard; witness: the bound variables of a quantifier that one element decides;
    over: the number of elements it ranges over; parts: the deciding parts.
    """

    text: str
    value: bool
    name: str | None = None
    witness: tuple[Argument, ...] = ()
    over: int | None = None
    looked: tuple[Looked, ...] = ()
    """Values that the condition looks at."""
    parts: tuple[Clause, ...] = ()


class Goal(Record, frozen=True):
    """The goal of a wait, in a state where it is false."""

    state: int
    clause: Clause


class Wait(Record, frozen=True):
    """An endless wait. since: the state in which the premise starts it; goals: the goal along the cycle."""

    since: int
    premise: Clause
    goals: tuple[Goal, ...]


class FairStep(Record, frozen=True):
    """A step with a fairness assumption, and how the cycle satisfies it.

    strong: the step must be taken if it is enabled infinitely often, not only if it stays enabled. taken:
    number of a step of the cycle that is this one; idle: a state where it is not enabled, for the reason in
    `why`; never: it is enabled in no state of the cycle. If none of these applies, the cycle is unfair.
    """

    action: str
    arguments: tuple[Argument, ...]
    strong: bool
    taken: int | None = None
    idle: int | None = None
    why: str | None = None
    """Why not there."""
    never: bool = False

    @property
    def label(self) -> str:
        return f"{self.action}({', '.join(f'{a.name}={a.value}' for a in self.arguments)})"

    @property
    def how(self) -> str:
        """How the cycle satisfies the assumption, in words."""
        if self.taken is not None:
            return f"taken, step {self.taken}"
        if not self.settled:
            return "never taken, although fairness requires it"
        return ("never enabled" if self.never else f"not enabled in state {self.idle}") + f", {self.why}"

    @property
    def settled(self) -> bool:
        return self.taken is not None or self.never or (self.idle is not None and not self.strong)


class Cycle(Record, frozen=True):
    """The part that repeats forever: states `loop` to `last`. stops: it has no steps."""

    loop: int
    last: int
    stops: bool
    steps: tuple[FairStep, ...]
    """Every step that finally has to happen."""

    @property
    def fair(self) -> bool:
        return all(step.settled for step in self.steps)


class Explained(Record, frozen=True):
    """One property in one state, or one choice of an action's arguments.

    guard: the guard that refuses the action; clauses: conjuncts, or guards in evaluation order up to the
    first that fails; later: guards not evaluated. arguments, wait: for a liveness property, the instance and
    its endless wait, if there is one.
    """

    id: str
    """Of a property; empty for a choice of an action's arguments."""
    name: str
    value: bool
    clauses: tuple[Clause, ...]
    arguments: tuple[Argument, ...] = ()
    guard: str | None = None
    later: tuple[str, ...] = ()
    statement: str = ""
    source: str | None = None
    changes: tuple[Change, ...] = ()
    witness: str | None = None
    """For which broker, offset or values, as name=value."""
    wait: Wait | None = None


class ExplainReport(Report, frozen=True, tag="elrcheck.explain/1"):
    """The result of `elrcheck explain`: truth of properties, or of the guards of an action, in one state.

    at: number of the state, 0 for the initial one; led: the step that led there; cycle: for a liveness
    property, the part that repeats forever.
    """

    verdict: Literal["holds", "violated", "enabled", "refused"]
    origin: Origin
    at: int
    steps: int
    led: str | None = None
    explained: tuple[Explained, ...] = ()
    state: Mapping[str, str] = field(default_factory=dict)
    cycle: Cycle | None = None


TracingReport: TypeAlias = ReplayReport | TraceReport | TraceDiffReport | ExplainReport
