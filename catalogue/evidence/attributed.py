"""Attributes a counterexample to the known findings whose repair would prevent it.

A finding is named if its searches break the same property, and with its rule repaired the trace is refused or ends
without the violation. That tests this one trace only; `risk` searches with the repaired rule for other causes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from elrcheck.catalogue.evidence.searched import BUDGETS, OPERATORS
from elrcheck.catalogue.finding_file import Finding
from elrcheck.catalogue.packaged_findings import packaged_findings
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.lang.runtime import NotEnabled
from elrcheck.model.config import Config


def attributed(model: Model, config: Config, fn: Fn, labels: Sequence[Label]) -> tuple[Finding, ...]:
    """Return the findings of which a violation of `fn` at the end of a trace is an instance, the nearest first."""
    return tuple(
        finding
        for finding in sorted(packaged_findings(), key=lambda finding: _rank(finding, fn))
        if _rank(finding, fn)
        and (knobs := repair_in(config, finding))
        and not happens(PlainModel(model, replace(config, **knobs)), labels, fn)
    )


def _rank(finding: Finding, fn: Fn) -> int:
    """Return 1 if the finding is recorded to break the property, 2 if it breaks others first, else 0."""
    if any(fn.ident in run.breaks for run in finding.runs):
        return 1
    return 2 if any(fn.ident in run.also_breaks for run in finding.runs) else 0


def repair_of(finding: Finding) -> dict[str, Any]:
    """Return the knobs of the patch as the first control sets them; without a patch all knobs of that control."""
    named = finding.patch.knobs if finding.patch is not None else ()
    for run in finding.runs:
        if run.control is None:
            continue
        rules = {k: v for k, v in run.control.knobs.items() if k not in BUDGETS | OPERATORS}
        chosen = {k: v for k, v in rules.items() if not named or k in named}
        if chosen:
            return chosen
    return {}


def repair_in(config: Config, finding: Finding) -> dict[str, Any]:
    """Return the repair of a finding; empty if the configuration has it already."""
    knobs = repair_of(finding)
    return knobs if any(getattr(config, name) != value for name, value in knobs.items()) else {}


def happens(plain: PlainModel, labels: Sequence[Label], fn: Fn) -> bool:
    """Return whether the model takes all steps of the trace, and the end violates the property of states or steps."""
    before = state = plain.initial()
    for label in labels:
        try:
            before, state = state, plain.step(state, label)
        except NotEnabled:
            return False
    return not plain.holds(fn, *(before, state)[2 - len(fn.states) :])
