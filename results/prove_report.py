"""The report of `elrcheck prove`: obligations, cells, and counterexamples to induction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from elrcheck.base.errors import ExitCode
from elrcheck.results.trace_view import UNWRITTEN, Talk
from elrcheck.results.trace_view import Argument as Argument
from elrcheck.results.trace_view import Change as Change
from elrcheck.results.trace_view import Scalar as Scalar
from elrcheck.results.trace_view import Step as Step
from elrcheck.results.trace_view import TraceView as TraceView
from elrcheck.results.trace_view import Truth as Truth

ProofVerdict: TypeAlias = Literal["proved", "refuted", "inconclusive"]


CellVerdict: TypeAlias = Literal["proved", "refuted", "unknown"]


@dataclass(frozen=True)
class InductionFailure:
    """A step from a state with all lemmas to a state that breaks one. source: location of its action."""

    before: Mapping[str, str]
    arguments: tuple[Argument, ...]
    changes: tuple[Change, ...]
    conjunct: str | None = None
    replayed: bool = False
    source: str | None = None
    talk: Talk | None = field(default=None, metadata=UNWRITTEN)


@dataclass(frozen=True)
class CellReport:
    """One consecution obligation: `action` preserves `lemma`.  core: the lemmas that the proof needed;
    source: location of the lemma. kept: all answers come from earlier runs, as do the seconds.
    """

    action: str
    lemma: str
    verdict: CellVerdict
    seconds: float
    core: tuple[str, ...] = ()
    reason: str | None = None
    failure: InductionFailure | None = None
    source: str | None = None
    kept: bool = False


@dataclass(frozen=True)
class ObligationReport:
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


@dataclass(frozen=True)
class PhaseReport:
    """Totals of one phase of a proof. kept: proved ones whose answers come from earlier runs."""

    name: Literal["initiation", "consecution", "implication"]
    proved: int
    refuted: int
    unknown: int
    seconds: float
    kept: int = 0


@dataclass(frozen=True)
class Skipped:
    """What the proof leaves out, and why.

    id: of a property; "action" for an action without any step here; "arguments" for choices of the arguments
    of an action, which `name` names.
    """

    id: str
    name: str
    reason: str


@dataclass(frozen=True)
class SettingCovered:
    """The one value of a knob that the proof covers. variant: the variant's own; values: all there are."""

    name: str
    value: Scalar
    variant: Scalar
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class Coverage:
    """What the claim of a proof is about. choices: of the arguments of actions.

    replicas: the replica list, None if it changes. properties, all_properties: attempted ones, and all.
    """

    properties: int
    all_properties: int
    actions: int
    all_actions: int
    choices: int
    all_choices: int
    brokers: int
    replicas: tuple[int, ...] | None
    min_isr: int
    log_slots: int
    settings: tuple[SettingCovered, ...] = ()


@dataclass(frozen=True)
class SolverReport:
    """The solver that discharged the obligations."""

    name: str
    version: str
    timeout_seconds: float | None = None


@dataclass(frozen=True)
class ProveReport:
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
    schema: Literal["elrcheck.prove/1"] = "elrcheck.prove/1"

    @property
    def exit_code(self) -> ExitCode:
        match self.verdict:
            case "proved":
                return ExitCode.HOLDS
            case "refuted":
                return ExitCode.FINDING
            case "inconclusive":
                return ExitCode.INCONCLUSIVE
