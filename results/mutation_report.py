"""The report of `elrcheck mutate`: which properties catch a rule that was broken on purpose.

A hazard is a known or suspected bug, reintroduced by one change of the model. A guard of an action is dropped to see
whether any property depends on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from elrcheck.base.kept.age import KeptOrigin
from elrcheck.base.roundtrip import Record
from elrcheck.results.any_report import ModelReport
from elrcheck.results.trace_view import Scalar, TraceView

HazardVerdict: TypeAlias = Literal["found", "not_found", "inconclusive", "skipped"]
MutantVerdict: TypeAlias = Literal[
    "found", "counted", "unnoticed", "unaffected", "undefined", "inconclusive", "equivalent", "contradicted"
]
ProofAnswer: TypeAlias = Literal["refuted", "proved", "undecided", "undefined", "outside"]
GuardVerdict: TypeAlias = Literal["noticed", "unnoticed", "inconclusive", "skipped"]
MutateVerdict: TypeAlias = Literal["found", "not_found", "inconclusive", "surveyed", "nothing_run"]


class Unmutated(Record, frozen=True):
    """The search of the same scope without the change."""

    complete: bool
    distinct: int
    generated: int
    diameter: int
    seconds: float
    violated: tuple[str, ...] = ()
    """The expected properties that are violated without the change, too."""
    kept: KeptOrigin | None = None
    """Set if this is the answer of an earlier search of the same program."""


class HazardReport(Record, frozen=True):
    """One hazard."""

    id: str
    issue: str
    title: str
    mutation: str
    verdict: HazardVerdict
    expected: tuple[str, ...]
    property: str | None = None
    """The first of `expected` to be violated, at `depth`."""
    depth: int | None = None
    seconds: float = 0.0
    """Includes compiling and replaying."""
    reason: str | None = None
    variant: str = ""
    scope: str = ""
    settings: Mapping[str, Scalar] | None = None
    """Overrides of both sides beyond variant and scope."""
    knobs: Mapping[str, Scalar] | None = None
    """Knobs that make the change."""
    guard: str | None = None
    """The guard that the change drops."""
    conjunct: str | None = None
    witness: str | None = None
    distinct: int | None = None
    generated: int | None = None
    unmutated: Unmutated | None = None
    trace: str | None = None
    """A file in the run folder."""
    counterexample: TraceView | None = None
    kept: KeptOrigin | None = None
    """Set if this is the answer of an earlier search of the same changed program."""
    proof: ProofAnswer | None = None
    """The answer of the proof by induction about a hazard that breaks safety, if it was asked."""
    open: str | None = None
    """An obligation that the change leaves open."""
    beyond: tuple[str, ...] = ()
    """Settings of its configuration that no proof covers."""
    hole: bool = False
    """No obligation is open, although the proof covers the configuration."""


class GuardReport(Record, frozen=True):
    """One removed guard. `unnoticed` only means that no property was violated in this scope."""

    action: str
    guard: str
    verdict: GuardVerdict
    property: str | None = None
    depth: int | None = None
    seconds: float = 0.0
    reason: str | None = None
    conjunct: str | None = None
    witness: str | None = None
    distinct: int | None = None
    generated: int | None = None
    counterexample: TraceView | None = None
    kept: KeptOrigin | None = None
    """Set if this is the answer of an earlier search of the same changed program."""
    same: bool = False
    """Without the guard the program is the same, so that nothing was searched."""


class SurveyReport(Record, frozen=True):
    """The scope in which guards were dropped, and its results with all guards."""

    variant: str
    scope: str
    config: Mapping[str, Scalar]
    properties: tuple[str, ...]
    """Properties that hold in the scope, and so can notice a change."""
    unmutated: Unmutated
    reason: str | None = None
    """Why no guard was dropped."""


class RuleMutant(Record, frozen=True):
    """One changed expression of a rule."""

    name: str
    function: str
    place: str
    """``folder/file.py:line``."""
    kind: str
    before: str
    """The expression before the change."""
    after: str
    """The expression after the change."""
    verdict: MutantVerdict
    """found: Kafka's answers, a property or a rule CT-* catch it, an expected violation is gone or a required
    witness is dead. counted: no property breaks, but a configuration no longer has its recorded counts, so
    `elrcheck suite` fails. unnoticed, for a user's model: it behaves differently, and no property breaks.
    undefined: a step can no longer be evaluated, or leaves the range of a field. unaffected: the same steps from all
    states of all configurations, or as many others. equivalent: explained in catalogue/equivalents.toml.
    contradicted: explained there, and yet distinguished."""
    by: str | None = None
    """What catches it, in `configuration`: a property, at `depth`, or a rule of the controller."""
    configuration: str | None = None
    depth: int | None = None
    reason: str | None = None
    compared: int = 0
    """Configurations in which it was compared with the original."""
    differs: int = 0
    """Configurations in which it could differ visibly from the original."""
    seconds: float = 0.0
    proof: ProofAnswer | None = None
    """The answer of the proof by induction about a change that a property catches, if it was asked. outside: it
    covers no step or lemma that the change affects."""
    open: str | None = None
    """An obligation that the change leaves open."""
    hole: bool = False
    """Proved, although a search within the coverage of the proof violates a property."""


class RuleSurvey(Record, frozen=True):
    """The rules that were changed."""

    possible: int
    """All changes of the protocol's functions."""
    chosen: int
    """Changes of this run."""
    ill_typed: int
    """Changes that do not type-check, which were not compared."""
    configurations: tuple[str, ...]
    """Configurations of the suite, the smallest first; of another model, variants and scopes."""
    controller: bool
    """The proof of controller steps was asked too."""
    resumed: int = 0
    """Answers from an earlier run."""
    interrupted: bool = False
    unmutated: Unmutated | None = None
    """The search without a change, if there is only one configuration."""
    reason: str | None = None
    """Why no rule was changed."""


class MutateReport(ModelReport, frozen=True, tag="elrcheck.mutate/1"):
    """The result of `elrcheck mutate`."""

    verdict: MutateVerdict
    """surveyed: only guards were requested."""
    seconds: float
    workers: int
    hazards: tuple[HazardReport, ...] = ()
    survey: SurveyReport | None = None
    guards: tuple[GuardReport, ...] = ()
    run_dir: str | None = None
    rule_survey: RuleSurvey | None = None
    rules: tuple[RuleMutant, ...] = ()

    @property
    def interrupted(self) -> bool:
        return self.rule_survey is not None and self.rule_survey.interrupted
