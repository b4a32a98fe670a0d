"""The recorded answers of `docs/search_findings.py`: which findings show under the rules of which release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from importlib.resources import files

from elrcheck.base.roundtrip import Record, from_text
from elrcheck.catalogue.finding_file import Finding, FindingRun
from elrcheck.model.budgets import Spent
from elrcheck.model.variants import VARIANTS, Variant

NAME = "searched.json"
SCHEMA = "elrcheck.finding-searches/1"
BUDGETS = frozenset(budget.name for budget in fields(Spent))
OPERATORS = frozenset(("elr_enabled",))
"""Settings of operators, which are not rules of a release."""
RELEASED: tuple[Variant, ...] = tuple(variant for variant in VARIANTS if variant.kafka)


class FindingSearch(Record, frozen=True):
    """A search of a finding under a released variant, with its control.

    breaks: property -> depth; control: those of these properties that break in the control as well. states: distinct
    ones of the search. model: digest of the model's source at that time.
    """

    finding: str
    variant: str
    command: str
    control_command: str
    breaks: Mapping[str, int]
    control: tuple[str, ...]
    states: int
    day: str
    model: str

    @property
    def broken_by_finding(self) -> tuple[str, ...]:
        """Return the properties that break in the search and hold in the control."""
        return tuple(name for name in self.breaks if name not in self.control)


class FindingSearches(Record, frozen=True):
    """The whole file."""

    schema: str = SCHEMA
    searches: tuple[FindingSearch, ...] = ()


def released(variant: str) -> str | None:
    """Return the name of a variant that stands for releases; None for any other."""
    return next((one.name for one in RELEASED if variant in (one.name, *one.aliases)), None)


def released_first(finding: Finding) -> list[FindingRun]:
    """Return the searches of a finding that break something, those of a released variant first."""
    return sorted((run for run in finding.runs if run.breaks), key=lambda run: released(run.variant) is None)


def packaged_searches() -> tuple[FindingSearch, ...]:
    return from_text((files("elrcheck.catalogue.evidence") / NAME).read_bytes(), FindingSearches).searches


def of_older_model() -> Mapping[tuple[str, str], str]:
    """Return (finding, release) -> the day of its packaged search, where the model's source has changed since."""
    from elrcheck.catalogue.evidence.conformance import model_digest  # `check` reads searches without it

    kafka = {variant.name: variant.kafka for variant in RELEASED}
    older = [each for each in packaged_searches() if each.model != model_digest()]
    return {(each.finding, release): each.day for each in older for release in kafka.get(each.variant, ())}
