"""The search of a finding under the rules of each released variant.

A finding's own searches name one variant, often with the rule at fault set on top. These searches try the same
operations and sizes in every released variant, with that rule as the variant has it. The finding shows in a variant
if one of its properties breaks there, and holds with the control's repair. `docs/search_findings.py` searches and
writes the answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from elrcheck.catalogue.evidence.evidence_text import command
from elrcheck.catalogue.evidence.searched import BUDGETS, OPERATORS, RELEASED, released_first
from elrcheck.catalogue.finding_file import ControlRun, Finding, FindingRun
from elrcheck.model.variants import Variant


@dataclass(frozen=True)
class ReleasedSearch:
    """A planned search. run: the search under the rules of the variant, with its control."""

    finding: str
    variant: str
    run: FindingRun


def released_searches(finding: Finding) -> tuple[ReleasedSearch, ...]:
    """Return the search of a finding under each released variant; empty if no search of it breaks anything."""
    run = next(iter(released_first(finding)), None)
    if run is None or run.control is None:
        return ()
    repairs = {name for each in finding.runs if each.control is not None for name in each.control.knobs}
    rules = repairs - BUDGETS - OPERATORS
    knobs = {name: value for name, value in run.knobs.items() if name not in rules}
    switches_elr = bool(knobs.get("feature_changes")) or "elr_enabled" in knobs
    return tuple(
        ReleasedSearch(finding.id, variant.name, _under(run, variant, knobs))
        for variant in RELEASED
        if not (switches_elr and variant.knobs.get("elr_enabled") is False)
    )


def commands_of(search: ReleasedSearch) -> tuple[str, str]:
    """Return the command lines of the search and of its control."""
    return command(search.run), command(search.run, control=True)


def _under(run: FindingRun, variant: Variant, knobs: Mapping[str, Any]) -> FindingRun:
    assert run.control is not None
    control = ControlRun(variant.name, run.control.knobs, note=run.control.note)
    return replace(run, variant=variant.name, knobs=knobs, also_breaks=(), control=control)
