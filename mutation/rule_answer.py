"""How a change of a rule shows, and the answer about it that a run writes down."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from msgspec import structs

from elrcheck.lang.changed.variations import Variation
from elrcheck.lang.runtime import NotEnabled
from elrcheck.lang.source import ModelError
from elrcheck.mutation.rule_mutants import RuleMutants
from elrcheck.results.mutation_report import MutantVerdict, RuleMutant
from elrcheck.traces.replay import ReplayError

RULE_FAULTS = (ArithmeticError, LookupError, TypeError, ValueError, AttributeError, AssertionError, NotEnabled)
"""What a rule may raise when the rule that protected it is changed."""
UNDEFINED = (ReplayError, ModelError, *RULE_FAULTS)
"""What a step or its replay may raise then."""


@dataclass(frozen=True)
class ChangeVerdict:
    """The way in which a change shows. by: the property or rule that notices it, None if only counts tell."""

    verdict: MutantVerdict
    by: str | None = None
    depth: int | None = None
    reason: str | None = None
    configuration: str | None = None


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


def plain_answer(mutants: RuleMutants, variation: Variation) -> MutantAnswer:
    """Return the answer about a change that has not been judged."""
    return MutantAnswer(
        name=variation.name,
        function=variation.function,
        place=mutants.place(variation),
        kind=variation.kind,
        before=variation.before,
        after=variation.after,
    )


def defined(what: str, judge: Callable[..., ChangeVerdict | None], *arguments: object) -> ChangeVerdict | None:
    """Return a verdict; one about a step that is undefined under the change, if a rule raises."""
    try:
        return judge(*arguments)
    except UNDEFINED as fault:
        return ChangeVerdict("undefined", reason=f"{what} is undefined: {fault}")
