"""The parts of the model as JSON values: variants, scopes, findings, recipes, knobs, budgets and actions.

Every entry is read from its definition: knobs from the source of `Config`, actions from their compiled form, scopes
from the packaged TOML files. `elrcheck.catalogue.lookup` adds the properties and looks names up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elrcheck.base.typed.configuration import scope_names, setting_text
from elrcheck.catalogue.configured import SCOPES, packaged_scope
from elrcheck.catalogue.evidence.conformance import SIDES, Compared, compared_with, packaged
from elrcheck.model.knobs import knobs, plain, summary
from elrcheck.model.variants import VARIANTS

if TYPE_CHECKING:
    from elrcheck.catalogue.finding_file import ByHand
    from elrcheck.catalogue.hazard import Hazard
    from elrcheck.catalogue.recipe_notation.recipe_file import Recipe, RecipeStep
    from elrcheck.catalogue.scenario_file import Scenario
    from elrcheck.lang.expr import Expression
    from elrcheck.lang.ir import Fn

Entry = dict[str, Any]


def variant_entries() -> list[Entry]:
    """Return every variant with the knobs that differ from the defaults, and what it was compared with."""
    return [
        {
            "name": variant.name,
            "summary": variant.summary,
            "aliases": list(variant.aliases),
            "kafka": list(variant.kafka),
            "knobs": {name: plain(value) for name, value in variant.knobs.items()},
            "compared": _releases(compared_with(variant.name)),
            "comparisons": {entry.name: packaged().text(entry) for entry in compared_with(variant.name)},
        }
        for variant in VARIANTS
    ]


def _releases(entries: Sequence[Compared]) -> str:
    """Return the releases of Kafka that a variant was compared with as text, with those whose comparison is stale."""
    if not entries:
        return "no release"
    parts = []
    for side in SIDES:
        of_side = [entry for entry in entries if entry.side == side]
        if of_side:
            releases = ", ".join(entry.kafka for entry in of_side)
            where = "" if side == "controller" else f" of a {side}"
            answers, latest = sum(entry.compared for entry in of_side), max(entry.day for entry in of_side)
            stale = [entry.kafka for entry in of_side if packaged().changes(entry)]
            which = "" if len(stale) == len(of_side) else f": {', '.join(stale)}"
            mark = f" (STALE{which})" if stale else ""
            parts.append(f"{releases}: {answers:,} answers{where}, {latest}{mark}")
    return "; ".join(parts)


def scope_entries() -> list[Entry]:
    """Return every packaged scope with the sizes and budgets it sets."""
    return [
        {
            "name": scope.name,
            "summary": scope.description,
            "source": f"catalogue/scopes/{scope.name}.toml",
            "values": {key: plain(value) for key, value in scope.values.items()},
        }
        for scope in map(packaged_scope, scope_names(SCOPES))
    ]


def scenario_entries() -> list[Entry]:
    """Return every packaged scenario with its verdicts as the file states them, by number."""
    from elrcheck.catalogue.scenario_file import packaged_scenarios

    return [
        {"id": scenario.id, "name": scenario.title, "summary": verdicts(scenario), "source": Path(scenario.file).name}
        for scenario in packaged_scenarios()
    ]


def verdicts(scenario: Scenario) -> str:
    """Return which variants break or refuse a scenario unchanged, and the number of runs with a name or other knobs."""
    if scenario.pending:
        return f"pending: {scenario.pending}"
    plain_runs = [run for run in scenario.runs if not run.knobs and not run.name]
    others = sum(len(run.variants) for run in scenario.runs if run not in plain_runs)
    variants_of: dict[str, list[str]] = {}
    for run in plain_runs:
        variants_of.setdefault("pending" if run.pending else run.verdict, []).extend(run.variants)
    parts = [f"{word}: {', '.join(names)}" for word, names in variants_of.items() if word != "safe"]
    more = f"{others} more run{'s' if others > 1 else ''}"
    return "; ".join([*(parts or (["safe"] if variants_of else [])), *([more] if others else [])])


def hazard_entries() -> list[Entry]:
    """Return every hazard with its mutation and what the mutation breaks, or why the hazard is not run."""
    from elrcheck.catalogue.hazard import packaged_hazards

    return [
        {
            "id": hazard.id,
            "name": hazard.title,
            "summary": f"left out: {hazard.left_out}"
            if hazard.left_out is not None
            else f"{change_text(hazard)} breaks {', '.join(hazard.expected)}",
            "issue": hazard.issue,
            "variant": hazard.variant,
            "scope": hazard.scope,
            "settings": {key: plain(value) for key, value in hazard.settings.items()},
            "change": change_text(hazard) or None,
            "expected": list(hazard.expected),
        }
        for hazard in packaged_hazards()
    ]


def finding_entries(name: str | None = None) -> list[Entry]:
    """Return every finding, the worst first: what is lost, in which versions, how it was shown, how to repeat it.

    name: the id of the only finding to return; any other text, or None, returns all.
    """
    from elrcheck.catalogue.evidence.evidence_text import evidence_of, searches
    from elrcheck.catalogue.packaged_findings import finding_files, packaged_finding, worst_first

    findings = []
    only = [packaged_finding(file.name) for file in finding_files() if file.name.lower() == f"{name}.toml".lower()]
    for finding in only or worst_first():
        findings.append(
            {
                "id": finding.id,
                "name": finding.title,
                "summary": f"loses {finding.lost}; {finding.versions}",
                "issue": finding.issue,
                "cause": finding.cause,
                "about": finding.about,
                "evidence": [*(f"{part.head}: {part.text}" for part in evidence_of(finding)), *_reproduced(finding.id)],
                "searches": searches(finding),
                "by_hand": [line for each in finding.by_hand for line in by_hand(each)] or None,
                "meanwhile": finding.meanwhile or None,
                "source": f"{finding.id}.toml",
            }
        )
    return findings


def _reproduced(ident: str) -> Iterator[str]:
    """Yield what the runs of each recipe of a finding did on brokers, with the releases, and its control."""
    from elrcheck.catalogue.evidence.evidence_text import runs_of
    from elrcheck.catalogue.recipe_notation.recipe_file import recipes_of

    for recipe in recipes_of(ident):
        for runs in runs_of(recipe):
            control = f"; control: {runs.control}" + (f" ({recipe.control.title})" if recipe.control else "")
            lost = " of the acknowledged records" if runs.run.startswith("lost") else ""
            yield f"brokers, {runs.releases}: elrcheck reproduce {recipe.id}: {runs.run}{lost}{control}"


def by_hand(steps: ByHand) -> list[str]:
    """Return the steps on a cluster: what they need and show, and what a user types."""
    return [f"{steps.title}. {' '.join(steps.text.split())}".rstrip(), *steps.shell.strip().splitlines()]


def recipe_entries(name: str | None = None) -> list[Entry]:
    """Return every recipe of `reproduce`: what it shows, on which releases, by which steps, and its control.

    name: an id such as F-20/loss, or of a finding, restricts them to that finding; any other text, or None, does not.
    """
    from elrcheck.catalogue.recipe_notation.recipe_file import packaged_recipes, recipes_of

    return [
        {
            "id": recipe.id,
            "name": recipe.title,
            "summary": f"{recipe.expects} on {_seen_on(recipe)}",
            "about": recipe.about,
            "control": None if recipe.control is None else recipe.control.title,
            "timing": recipe.timing or None,
            "traces": list(recipe.traces) or None,
            "trace": None if recipe.trace is None else recipe.trace.command,
            "steps": [_step_text(step) for step in recipe.steps],
            "source": Path(recipe.file).name,
        }
        for recipe in recipes_of((name or "").partition("/")[0].upper()) or packaged_recipes()
    ]


def _seen_on(recipe: Recipe) -> str:
    return "no release" if recipe.versions is None else "Kafka {} to {}".format(*recipe.versions)


def _step_text(step: RecipeStep) -> str:
    only = f" (only in the {step.sides[0]})" if len(step.sides) == 1 else ""
    return step.text + only + (f": {step.note}" if step.note else "")


def change_text(hazard: Hazard) -> str:
    """Return a hazard's mutation as text: the arguments of `--set`, or the guard that is removed."""
    if hazard.guard is not None:
        return f"{hazard.guard[0]} without: {hazard.guard[1]}"
    return " ".join(f"{name}={setting_text(value)}" for name, value in hazard.knobs.items())


def knob_entries(budgets: bool) -> list[Entry]:
    """Return the budgets, which bound how often a search may disturb the system, or the sizes and switches."""
    return [knob.describe() for knob in knobs() if knob.is_budget == budgets]


def _applies(waivers: Sequence[Expression]) -> str:
    """Return the settings with which a guard applies. waivers: the conditions under which it does not."""
    from elrcheck.lang.expr import Not
    from elrcheck.traces.places import source_text

    parts = [
        f"only if {source_text(waiver.operand)}" if isinstance(waiver, Not) else f"unless {source_text(waiver)}"
        for waiver in waivers
    ]
    return " and ".join(parts).replace("c.", "")


def action_entries(actions: Iterable[Fn]) -> list[Entry]:
    """Return every action with its parameters and its guards, in the order they are evaluated."""
    from elrcheck.lang.guards import conditional_guards
    from elrcheck.lang.ir import guard_names

    return [
        {
            "name": fn.name,
            "summary": summary(fn.doc),
            "doc": fn.doc,
            "parameters": {name: ty.name for name, ty in fn.params},
            "guards": list(guard_names(fn)),
            "conditional": {name: _applies(waived) for name, waived in conditional_guards(fn).items()},
            "source": fn.place,
        }
        for fn in actions
    ]
