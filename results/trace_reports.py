"""The reports of `trace`, `replay` and `explain`; see `results.check_report` for what a report is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from elrcheck.base.errors import ExitCode
from elrcheck.results.trace_view import Argument, Change, Scalar, TraceView

# ------------------------------------------------------------------------------------ shared


@dataclass(frozen=True)
class Hit:
    """A property that a trace violates, and after how many steps it does so first."""

    id: str
    name: str
    step: int
    conjunct: str | None = None
    witness: str | None = None


@dataclass(frozen=True)
class Origin:
    """Where a trace comes from, and the model it was followed in.

    source: a file or ``--repro 0/3/1``; format: that of the file; property: what the file says it is about.
    """

    source: str
    variant: str
    scope: str
    config: Mapping[str, Scalar]
    format: str | None = None
    property: str | None = None


# ------------------------------------------------------------------------------------ replay


@dataclass(frozen=True)
class Candidate:
    """One action that could have been the refused step, with its arguments.

    guard: the condition that refused it; without one it was possible, and `differs` is where the state it
    makes (old) is not the recorded one (new). named: the trace names this action.
    """

    action: str
    arguments: tuple[Argument, ...]
    guard: str | None = None
    differs: tuple[Change, ...] = ()
    named: bool = False

    @property
    def label(self) -> str:
        return f"{self.action}({', '.join(f'{a.name}={a.value}' for a in self.arguments)})"


@dataclass(frozen=True)
class Rejection:
    """Where the model stops following.

    step: number of the refused step, 0 if the first state is not the initial one; recorded: what the trace
    calls it; changed: what the trace changes in it; candidates: named ones first, then possible ones by how
    many leaves differ, then refused ones.
    """

    step: int
    reason: str
    recorded: str | None = None
    changed: tuple[Change, ...] = ()
    candidates: tuple[Candidate, ...] = ()


@dataclass(frozen=True)
class ReplayReport:
    """The result of `elrcheck replay`. states: recorded ones, accepted: how many of them the model follows.

    trace: the accepted part; beyond: the first step that leaves the budgets of the scope.
    """

    verdict: Literal["accepted", "rejected"]
    origin: Origin
    states: int
    accepted: int
    trace: TraceView
    rejection: Rejection | None = None
    violated: tuple[Hit, ...] = ()
    beyond: int | None = None
    schema: Literal["elrcheck.replay/1"] = "elrcheck.replay/1"

    @property
    def exit_code(self) -> ExitCode:
        return ExitCode.HOLDS if self.verdict == "accepted" else ExitCode.FINDING


# ------------------------------------------------------------------------------------- trace


@dataclass(frozen=True)
class Shortened:
    """What `trace minimise` achieved: numbers of steps and brokers, before and after."""

    steps_before: int
    steps: int
    brokers_before: int
    brokers: int
    replays: int
    searched: bool = False


@dataclass(frozen=True)
class Evaluated:
    """The value of an expression after so many steps, None if it has none there: `why` then says so."""

    at: int
    """After so many steps."""
    value: str | None
    """Null where the expression has no value."""
    why: str | None = None
    changed: bool = True
    """It is another one than before."""


@dataclass(frozen=True)
class Evaluation:
    """An expression (`--eval`) along a trace. step: it is about steps, and its values are those of steps."""

    expression: str
    step: bool
    values: tuple[Evaluated, ...]


@dataclass(frozen=True)
class TraceReport:
    """The result of `elrcheck trace show`, `sample` and `minimise`. steps: of the whole trace.

    first, last: the steps shown; seed: of a sample; stored: where it was saved.
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
    schema: Literal["elrcheck.trace-view/1"] = "elrcheck.trace-view/1"

    @property
    def exit_code(self) -> ExitCode:
        return ExitCode.HOLDS


@dataclass(frozen=True)
class DiffRow:
    """What differs after so many steps: the steps that led there, and leaves (old: of A, new: of B)."""

    step: int
    a: str | None
    b: str | None
    leaves: tuple[Change, ...] = ()
    """old is of A, new of B."""


@dataclass(frozen=True)
class TraceDiffReport:
    """The result of `elrcheck trace diff`. common: how many first steps are the same in both."""

    verdict: Literal["same", "different"]
    a: Origin
    b: Origin
    steps_a: int
    steps_b: int
    common: int
    config: tuple[Change, ...] = ()
    rows: tuple[DiffRow, ...] = ()
    schema: Literal["elrcheck.trace-diff/1"] = "elrcheck.trace-diff/1"

    @property
    def exit_code(self) -> ExitCode:
        return ExitCode.HOLDS if self.verdict == "same" else ExitCode.FINDING


# ----------------------------------------------------------------------------------- explain


@dataclass(frozen=True)
class Looked:
    """A value that a condition looks at: an expression or a place in the state."""

    text: str
    value: str


@dataclass(frozen=True)
class Clause:
    """One part of a condition, as the source has it, with its truth and what decided it.

    name: that of a conjunct or guard; witness: what the bound variables are, of a quantifier that one
    element decides; over: how many elements it ranges over; parts: the parts that decide.
    """

    text: str
    value: bool
    name: str | None = None
    witness: tuple[Argument, ...] = ()
    over: int | None = None
    looked: tuple[Looked, ...] = ()
    """Values that the condition looks at."""
    parts: tuple[Clause, ...] = ()


@dataclass(frozen=True)
class Goal:
    """What a wait waits for, in a state where it is not so."""

    state: int
    clause: Clause


@dataclass(frozen=True)
class Wait:
    """A wait without an end. since: the state in which it begins, by the premise; goals: in the cycle."""

    since: int
    premise: Clause
    goals: tuple[Goal, ...]


@dataclass(frozen=True)
class FairStep:
    """What a cycle owes a step that finally has to happen, and how it has paid.

    strong: it has to be taken if it is possible again and again, not only if it always is.
    taken: the number of a step that is this one; idle: a state where it is not possible, and why not there;
    never: it is possible in no state of the cycle. The cycle is not fair to it if there is none of these.
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
        """How the cycle pays, in words."""
        if self.taken is not None:
            return f"taken, step {self.taken}"
        if not self.settled:
            return "never taken, though it has to be"
        return ("never possible" if self.never else f"not possible in state {self.idle}") + f", {self.why}"

    @property
    def settled(self) -> bool:
        return self.taken is not None or self.never or (self.idle is not None and not self.strong)


@dataclass(frozen=True)
class Cycle:
    """What repeats for ever: states `loop` to `last`; stops: nothing happens in it any more."""

    loop: int
    last: int
    stops: bool
    steps: tuple[FairStep, ...]
    """Every step that finally has to happen."""

    @property
    def fair(self) -> bool:
        return all(step.settled for step in self.steps)


@dataclass(frozen=True)
class Explained:
    """One property in one state, or one choice of an action's arguments.

    guard: the condition that refuses the action; clauses: conjuncts, or guards in the order tested up to
    the first that refuses; later: guards that were not asked any more. arguments, wait: of a liveness
    property whom it is about, and how it waits; none if it does not.
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


@dataclass(frozen=True)
class ExplainReport:
    """The result of `elrcheck explain`: truth of properties, or of the guards of an action, in one state.

    at: the number of the state, 0 the initial one; led: the step that led there; cycle: of a liveness
    property, what repeats for ever.
    """

    verdict: Literal["holds", "violated", "enabled", "refused"]
    origin: Origin
    at: int
    steps: int
    led: str | None = None
    explained: tuple[Explained, ...] = ()
    state: Mapping[str, str] = field(default_factory=dict)
    cycle: Cycle | None = None
    schema: Literal["elrcheck.explain/1"] = "elrcheck.explain/1"

    @property
    def exit_code(self) -> ExitCode:
        return ExitCode.HOLDS if self.verdict in ("holds", "enabled") else ExitCode.FINDING


TracingReport: TypeAlias = ReplayReport | TraceReport | TraceDiffReport | ExplainReport
