"""The verdict on a change of a rule, and the answer about it in a run's journal."""

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
"""Errors that a rule may raise when another one that protected it is changed."""
UNDEFINED = (ReplayError, ModelError, *RULE_FAULTS)
"""Errors that a step or its replay may then raise."""


@dataclass(frozen=True)
class ChangeVerdict:
    """The effect of a change. by: the property or rule that notices it, None if only counts reveal it."""

    verdict: MutantVerdict
    by: str | None = None
    depth: int | None = None
    reason: str | None = None
    configuration: str | None = None


class MutantAnswer(RuleMutant, frozen=True, kw_only=True):
    """The result for one change. typed: false for a change that is ill-typed, and so was not compared.

    same: number of configurations in which even the program is the same.
    """

    verdict: MutantVerdict = "unaffected"
    typed: bool = True
    same: int = 0

    def shows(self, verdict: ChangeVerdict) -> MutantAnswer:
        """Return this answer with a verdict."""
        return structs.replace(
            self,
            verdict=verdict.verdict,
            by=verdict.by,
            depth=verdict.depth,
            reason=verdict.reason,
            configuration=verdict.configuration or self.configuration,
        )

    def report(self, **changes: object) -> RuleMutant:
        """Return the part of this answer that a report has, with some fields replaced."""
        values = {name: getattr(self, name) for name in RuleMutant.__struct_fields__}
        return RuleMutant(**{**values, **changes})


def plain_answer(mutants: RuleMutants, variation: Variation) -> MutantAnswer:
    """Return the answer about a change before it is judged."""
    return MutantAnswer(
        name=variation.name,
        function=variation.function,
        place=mutants.place(variation),
        kind=variation.kind,
        before=variation.before,
        after=variation.after,
    )


def defined(what: str, judge: Callable[..., ChangeVerdict | None], *arguments: object) -> ChangeVerdict | None:
    """Return judge(*arguments), or the verdict `undefined` if a rule raises an error."""
    try:
        return judge(*arguments)
    except UNDEFINED as fault:
        return ChangeVerdict("undefined", reason=f"{what} is undefined: {fault}")
