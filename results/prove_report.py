"""The report of `elrcheck prove`: obligations and counterexamples to induction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from msgspec import field
from msgspec.structs import replace

from elrcheck.base.kept.age import KeptOrigin
from elrcheck.base.roundtrip import Record
from elrcheck.results.any_report import ModelReport
from elrcheck.results.trace_view import UNWRITTEN, Argument, Change, Scalar, Talk

ProofVerdict: TypeAlias = Literal["proved", "refuted", "inconclusive"]
CellVerdict: TypeAlias = Literal["proved", "refuted", "unknown"]
ProofSizes: TypeAlias = Literal["given", "any"]
"""Obligations are about the sizes of the configuration, or about every size at once."""


class BrokenConjunct(Record, frozen=True):
    """The smallest part of a lemma that is false after a step."""

    text: str
    """In the notation of the source."""
    members: tuple[Argument, ...]
    """The values of the bound variables."""
    values: tuple[Argument, ...]
    """The values that it reads, after the step."""


class InductionFailure(Record, frozen=True):
    """A step from a state with all lemmas to a state that breaks one."""

    before: Mapping[str, str]
    arguments: tuple[Argument, ...]
    changes: tuple[Change, ...]
    conjunct: str | None = None
    """The conjunct of the lemma that is false, and the members for which it is; or the leaves outside their types."""
    replayed: bool = False
    source: str | None = None
    """Location of its action."""
    talk: Talk | None = field(default=None, name=UNWRITTEN)
    differs: tuple[str, ...] = ()
    """The paths in `before` with another value than in the first initial state."""
    broken: BrokenConjunct | None = None
    """The smallest false part of the lemma, with the values that it reads."""


class CellReport(Record, frozen=True):
    """One consecution obligation: `action` preserves `lemma`."""

    action: str
    lemma: str
    verdict: CellVerdict
    seconds: float
    core: tuple[str, ...] = ()
    """The lemmas that the proof needed."""
    reason: str | None = None
    failure: InductionFailure | None = None
    source: str | None = None
    """Location of the lemma."""
    kept: bool = False
    """All answers come from earlier runs, as do the seconds."""


class ObligationReport(Record, frozen=True):
    """One initiation (`name` is a lemma) or implication (`name` is a property) obligation."""

    name: str
    verdict: CellVerdict
    seconds: float
    id: str | None = None
    core: tuple[str, ...] = ()
    reason: str | None = None
    witness: Mapping[str, str] | None = None
    source: str | None = None
    """Where it is written: folder/file.py:line, relative to the package."""
    condition: str | None = None
    """What the property assumes beside the rules."""
    differs: tuple[str, ...] = ()
    """The paths in `witness` with another value than in the first initial state."""


class ReachedFailure(Record, frozen=True):
    """The search of a small scope for a run from the initial state to a step that breaks a lemma."""

    scope: str
    states: int
    complete: bool
    """All states of the scope were searched."""
    run: tuple[str, ...] = ()
    """The steps of a shortest such run, if there is one: the edited rule is wrong, whatever the lemmas are."""
    properties: tuple[str, ...] = ()
    """Properties that runs of the scope under the proof's assumptions break, too."""


class RootFailure(Record, frozen=True):
    """A lemma that fails by itself, and what fails only together with it."""

    lemma: str
    actions: tuple[str, ...]
    """Actions that do not preserve it; the first has the smallest counterexample."""
    implied: tuple[str, ...]
    """Other failures, `Action x Lemma`, of steps that break this lemma as well."""
    enough: tuple[str, ...] = ()
    """Paths of values before the counterexample of the first action that suffice for it where the step is possible."""
    reached: ReachedFailure | None = None


class PhaseReport(Record, frozen=True):
    """Totals of one phase of a proof."""

    name: Literal["initiation", "consecution", "implication"]
    proved: int
    refuted: int
    unknown: int
    seconds: float
    kept: int = 0
    """Proved obligations whose answers come from earlier runs."""


class Skipped(Record, frozen=True):
    """A part that the proof leaves out, and the reason."""

    id: str
    """Id of a property; "action" if the action `name` has no step here; "arguments" for choices of its arguments."""
    name: str
    reason: str


class SettingCovered(Record, frozen=True):
    """The one value of a knob that the proof covers."""

    name: str
    value: Scalar
    variant: Scalar
    """The value that the variant has."""
    values: tuple[str, ...] = ()
    """All values of the knob."""


class Coverage(Record, frozen=True):
    """The extent of a proof's claim."""

    properties: int
    """Properties that the proof attempts."""
    all_properties: int
    """All properties of the model."""
    actions: int
    all_actions: int
    choices: int
    """Covered choices of the arguments of actions."""
    all_choices: int
    renamed: int
    """Covered choices that are renamings of others, and so need no obligations of their own."""
    sizes: tuple[str, ...] = ()
    """Of a model of the user: how many members each sort has, as `3 nodes`."""
    brokers: int | None = None
    """Of Kafka's partition, as are the next five."""
    replicas: tuple[int, ...] | None = None
    """The replica list, None if it changes."""
    any_order: bool = False
    """The replica list stands for all its orders."""
    min_isr: int = 0
    log_slots: int = 0
    about: str = ""
    """What the variant is, in a sentence."""
    settings: tuple[SettingCovered, ...] = ()
    assumed: tuple[str, ...] = ()
    """For each kind of step that the proof leaves out because properties are false with it, what holds of all other
    steps."""


class Assumption(Record, frozen=True):
    """An assumption of the proof about every step; a step that contradicts it is not covered."""

    name: str
    """The name in `prove --assume`."""
    statement: str
    source: str | None = None
    """Where it is defined, folder/file.py:line."""


class SolverReport(Record, frozen=True):
    """The solver that discharged the obligations."""

    name: str
    version: str
    timeout_seconds: float | None = None


class SecondSolver(Record, frozen=True):
    """The answers of a second solver about everything that was proved."""

    solver: SolverReport
    questions: int
    discharged: int
    unknown: tuple[str, ...]
    """Obligations, `Action(arguments) x Goal`, that it did not decide within the time limit."""
    refuted: tuple[str, ...]
    """Obligations that it contradicts."""
    seconds: float


class LemmaDropped(Record, frozen=True):
    """A lemma that some step does not preserve."""

    lemma: str
    action: str
    """The first such step; empty if the initial state breaks it."""
    unknown: bool = False
    """The solver could not decide."""


class PropertyProof(Record, frozen=True):
    """Whether a property follows from the lemmas that are left."""

    id: str
    proved: bool
    condition: str | None = None
    """What it assumes beside the rules."""


class Surviving(Record, frozen=True):
    """The largest set of lemmas that every step preserves, and what it proves."""

    lemmas: tuple[str, ...]
    dropped: tuple[LemmaDropped, ...]
    void: tuple[LemmaDropped, ...]
    """Steps that may then leave the range of a type or change a constant, so that nothing is proved."""
    properties: tuple[PropertyProof, ...]
    seconds: float = 0.0


class Impossible(Record, frozen=True):
    """A step or state that must be possible where the lemmas hold, but is impossible or undecided."""

    kind: Literal["action", "step", "state"]
    """An action, with arguments or as a whole; or a step or state that must stay possible, such as a step that an
    assumption must still allow."""
    name: str
    """Name of the action or of the predicate."""
    statement: str
    verdict: Literal["never", "unknown"]
    source: str | None = None


class PossibleReport(Record, frozen=True):
    """The check that the proof is not vacuous."""

    asked: int
    """Number of steps and states that must be possible."""
    replayed: int
    """Steps of the solver, and their renamings, that plain Python takes as well."""
    impossible: tuple[Impossible, ...]
    seconds: float


class LemmaNeed(Record, frozen=True):
    """What a lemma is needed for: `goal`, after a step of `action` or as a property that follows."""

    lemma: str
    needed: bool | None
    """Null if the solver could not decide, false if every obligation is proved without the lemma."""
    action: str = ""
    goal: str = ""


class WaitReport(Record, frozen=True):
    """The proof that every wait of a liveness property ends."""

    id: str
    name: str
    verdict: CellVerdict
    obligations: int
    seconds: float
    disturbances: tuple[str, ...]
    """Steps that may prolong the wait and that no fairness bounds: the claim is about runs in which they stop."""
    source: str
    states: tuple[ObligationReport, ...] = ()
    """What is open about states: that a wait is in some stage, and that the step which ends it is possible."""
    cells: tuple[CellReport, ...] = ()
    """What is open about steps: that they do not lead back into a later stage."""


class ReductionProof(Record, frozen=True):
    """The proof that a reduction of a search loses nothing: no verdict, and no length of a shortest trace."""

    name: str
    verdict: CellVerdict
    settings: Mapping[str, Scalar]
    """What turns it on; nothing for steps that every search leaves out."""
    obligations: int
    """One for each goal of each step, renamings of members apart, and for each property of states; or one for each pair
    of steps."""
    seconds: float
    lemmas: tuple[str, ...]
    """What the proof assumes of every state, with the settings and without; `prove` proves it."""
    source: str | None = None


class ProveReport(ModelReport, frozen=True, tag="elrcheck.prove/1"):
    """The result of `elrcheck prove`."""

    verdict: ProofVerdict
    variant: str
    config: Mapping[str, Scalar]
    solver: SolverReport
    seconds: float
    phases: tuple[PhaseReport, ...]
    initiation: tuple[ObligationReport, ...]
    cells: tuple[CellReport, ...]
    implication: tuple[ObligationReport, ...]
    skipped: tuple[Skipped, ...] = ()
    coverage: Coverage | None = None
    second: SecondSolver | None = None
    """Set if another solver was asked."""
    surviving: Surviving | None = None
    """What is proved although some lemmas are not preserved, if requested."""
    needs: tuple[LemmaNeed, ...] | None = None
    """Why each lemma is needed, if requested and everything is proved."""
    kept: KeptOrigin | None = None
    """The answers of earlier runs that were used; the time is that of the oldest."""
    assumptions: tuple[Assumption, ...] = ()
    """What the verdict depends on, beside the rules."""
    possible: PossibleReport | None = None
    """Whether each step can fire where the lemmas hold, and what assumptions must allow; unless all is possible, the
    verdict is not `proved`."""
    waits: tuple[WaitReport, ...] = ()
    """Of the liveness properties, which `--liveness` proves instead of the others."""
    reductions: tuple[ReductionProof, ...] = ()
    """What `--reductions` proves instead of properties: about `--reduce`, and the steps that a search leaves out."""
    roots: tuple[RootFailure, ...] = ()
    """The refuted obligations of steps by root failure, that of most of them first."""
    interrupted: bool = False
    """The proof was interrupted, and the report has what was decided until then."""
    sizes: ProofSizes = "given"
    """For `any`, `refuted` is the answer for the sizes of the configuration, with its counterexample."""


def with_second(report: ProveReport, second: SecondSolver) -> ProveReport:
    """Return the report with the second answers; solvers that contradict each other make it inconclusive."""
    verdict = "inconclusive" if second.refuted and report.verdict == "proved" else report.verdict
    return replace(report, verdict=verdict, second=second)
