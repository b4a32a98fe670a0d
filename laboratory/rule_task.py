"""One change of a rule as a task: what to judge it by, how it shows, and the answer that is written down."""

from __future__ import annotations

from dataclasses import dataclass

from msgspec import structs

from elrcheck.base.roundtrip import Record
from elrcheck.lang.runtime import NotEnabled
from elrcheck.results.mutation_report import MutantVerdict, RuleMutant
from elrcheck.traces.replay import ReplayError

RULE_FAULTS = (ArithmeticError, LookupError, TypeError, ValueError, AttributeError, AssertionError, NotEnabled)
"""What a rule may raise when the rule that protected it is changed."""
UNDEFINED = (ReplayError, *RULE_FAULTS)
"""What a step or its replay may raise then."""


class MutantTask(Record, frozen=True):
    """One change to judge. wider: configurations for a change that shows in none of the others; walks: those
    that are walked through, for one that shows in none of these either.

    seconds: limit of each search. controller: also judge by `prove --controller`. answers: first judge by the
    packaged answers of Kafka. proof: put what a property catches to the proof by induction as well.
    """

    function: str
    name: str
    configurations: tuple[str, ...]
    wider: tuple[str, ...]
    walks: tuple[str, ...]
    seconds: float
    controller: bool
    answers: bool = True
    proof: bool = False


class MutantAnswer(RuleMutant, frozen=True, kw_only=True):
    """The result for one change. typed: false if the types refuse it, so that it was not compared.

    same: configurations in which even the program is the same.
    """

    verdict: MutantVerdict = "unaffected"
    typed: bool = True
    same: int = 0

    def shows(self, verdict: ChangeVerdict) -> MutantAnswer:
        """Return this answer with how the change shows."""
        return structs.replace(
            self,
            verdict=verdict.verdict,
            by=verdict.by,
            depth=verdict.depth,
            reason=verdict.reason,
            configuration=verdict.configuration or self.configuration,
        )

    def report(self, **changes: object) -> RuleMutant:
        """Return what the report of a run has of this answer, with changed fields."""
        values = {name: getattr(self, name) for name in RuleMutant.__struct_fields__}
        return RuleMutant(**{**values, **changes})


@dataclass(frozen=True)
class ChangeVerdict:
    """The way in which a change shows. by: the property or rule that notices it, None if only counts tell."""

    verdict: MutantVerdict
    by: str | None = None
    depth: int | None = None
    reason: str | None = None
    configuration: str | None = None
