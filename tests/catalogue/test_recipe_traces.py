"""Recipes wait for the states of a trace of the model, in its order: they cannot drift from the model."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from elrcheck.base.progress import Silent
from elrcheck.base.requests import CheckRequest
from elrcheck.catalogue.packaged_findings import packaged_findings
from elrcheck.catalogue.recipe_notation.recipe_file import Recipe, find_recipe, packaged_recipes
from elrcheck.catalogue.recipe_notation.recipe_signs import ExpectedPartition, Leaderless, Unserved, WaitStep
from elrcheck.checking.check import run_check

TRACED = {recipe.id: recipe for recipe in packaged_recipes() if recipe.trace is not None}


SAMPLE = ("F-20/loss", "F-25/rewrite", "F-26/upgrade")
OTHERS = (pytest.param(ident, marks=pytest.mark.slow) for ident in sorted(set(TRACED) - set(SAMPLE)))


def predicted(recipe: Recipe) -> tuple[ExpectedPartition, ...]:
    """Return the states of the partitions in `read` that the run waits for before the finding shows."""
    states: list[ExpectedPartition] = []
    for step in recipe.steps:
        if isinstance(step.action, Leaderless | Unserved) or step.at_last:
            break
        if isinstance(step.action, WaitStep) and "run" in step.sides and step.action.partition in recipe.read:
            states.append(step.action.seen)
    return tuple(states)


@pytest.mark.parametrize("ident", [*SAMPLE, *OTHERS])
def test_a_recipe_waits_for_the_states_of_its_trace(ident: str, tmp_path: Path) -> None:
    recipe = TRACED[ident]
    trace, expected = recipe.trace, predicted(recipe)
    assert trace is not None and len(expected) >= 2
    request = CheckRequest(
        trace.selection,
        (trace.broken,),
        liveness=trace.liveness,
        stop_at_first=not trace.liveness,
        run_dir=tmp_path / "run",
    )
    (violated,) = run_check(request, Silent()).properties
    assert violated.verdict == "violated" and violated.trace is not None
    stored = json.loads((tmp_path / "run" / violated.trace).read_text(encoding="utf-8"))
    states = [state["partition"] for state in stored["states"]]
    assert trace.met(expected, states) == len(expected), expected[trace.met(expected, states)]


def test_the_findings_know_the_searches() -> None:
    """A trace is a counterexample that the page of the finding names; the page of F-20 has no V-7."""
    runs = {finding.id: finding.runs for finding in packaged_findings()}
    unknown = {
        recipe.id
        for recipe in TRACED.values()
        if recipe.trace is not None and not any(recipe.trace.broken in run.breaks for run in runs[recipe.finding])
    }
    assert unknown == {"F-20/stuck"}


def test_a_recipe_that_drifts_is_told() -> None:
    recipe = find_recipe("F-20/loss")
    trace = recipe.trace
    assert trace is not None and trace.command.startswith("elrcheck check --scope two-brokers-quiet --variant")
    states = [
        {"leader": 0, "replicas": [0, 1], "isr": [0, 1], "elr": []},
        {"leader": 0, "replicas": [0], "isr": [0], "elr": [1]},
        {"leader": None, "replicas": [0, 1], "isr": [], "elr": [0, 1]},
    ]
    single, nobody = (
        ExpectedPartition(leader=(2,), replicas=(2,), isr=(2,), elr=(0, 1)),
        ExpectedPartition(leader=(-1,), elr=(0, 1, 2)),
    )
    assert trace.met((single, nobody), states) == 2
    assert trace.met((nobody, single), states) == 1  # the other way round
    assert trace.met((single, replace(nobody, isr=(2,))), states) == 1
    other = replace(trace, liveness=False, brokers=(0, 1, 1))
    assert other.met((single,), states) == 0
