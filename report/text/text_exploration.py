"""The description of a scope as text."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from elrcheck.report.terminal import Page
from elrcheck.results.check_report import Projection

if TYPE_CHECKING:  # `check` prints levels with this module, and knows no other part of that report
    from elrcheck.results.exploration_report import ExploreReport, SpaceReport


def print_exploration(report: ExploreReport, page: Page, detail: int = 0) -> None:
    if detail >= 0:
        _print_tables(report, page)
    if detail > 0:
        page.table(("setting", "value"), ((name, str(value)) for name, value in report.config.items()))
    _print_summary(report, page)


def print_levels(levels: Sequence[int], page: Page) -> None:
    """Prints the new states per depth, and the growth factor from the depth before."""
    grown = ["", *(f"{after / before:.2f}" for before, after in itertools.pairwise(levels))]
    page.table(
        ("depth", "new states", "growth"),
        ((str(depth), page.count(states), grown[depth]) for depth, states in enumerate(levels)),
        right=("depth", "new states", "growth"),
    )


def projected(guess: Projection | None, page: Page) -> str | None:
    """The projected size of an incomplete search, clearly marked as an estimate."""
    if guess is None:
        return None
    size = f"{page.count(guess.states)} states in {guess.levels} levels"
    return f"{size}, extrapolated from the declining growth; an estimate, not a result"


def _print_tables(report: ExploreReport, page: Page) -> None:
    print_levels(report.space.levels, page)
    page.table(
        ("steps from a state", "states"),
        ((str(row.degree), page.count(row.states)) for row in report.degrees),
        right=("steps from a state", "states"),
    )
    page.table(
        ("action", "fired", "new states", "beyond the budgets"),
        (
            (action.name, page.count(action.fired), page.count(action.new_states), page.count(action.cut))
            for action in report.actions
        ),
        right=("fired", "new states", "beyond the budgets"),
    )
    page.table(
        ("variable", "distinct values"),
        ((variable.name, page.count(variable.distinct)) for variable in report.variables),
        right=("distinct values",),
    )


def _print_summary(report: ExploreReport, page: Page) -> None:
    space = report.space
    reach = "all states within the budgets of the scope"
    if not space.complete:
        reach = f"bounded by {space.stopped_by or 'an unnamed limit'}"
    page.verdict_line(report.verdict, f"{report.variant}, {report.scope}: {reach}")
    for leaf, count in (space.overflows or {}).items():
        page.labelled("overflow", f"{leaf} exceeded its bit width in {page.count(count)} steps")
    page.labelled("states", _states(space, page))
    page.labelled("projected", projected(space.projection, page))
    page.labelled(
        "steps",
        f"{page.count(space.steps)} within the budgets, {page.count(space.cut)} beyond, "
        f"{report.mean_degree:.2f} per state on average",
    )
    page.labelled("parts", _components(report, page))
    if report.graph is not None:
        graph = report.graph
        size = f"{page.count(graph.nodes)} nodes, {page.count(graph.edges)} edges"
        page.labelled("graph", f"{graph.path} ({graph.format}): {size}")
        if graph.violating or graph.violating_steps:
            page.labelled(
                "violating",
                f"{page.count(graph.violating)} states, {page.count(graph.violating_steps)} steps; "
                "each carries the ids of its properties",
            )
    workers = "1 worker" if report.workers == 1 else f"{report.workers} workers"
    page.labelled("engine", f"{workers}, {report.detail}" if report.detail else workers)
    page.labelled("time", f"{space.seconds:.2f} s")


def _states(space: SpaceReport, page: Page) -> str:
    deadlocks = f", {page.count(space.deadlocks)} deadlocks" if space.deadlocks else ", no deadlock"
    return f"{page.count(space.distinct)} distinct, diameter {space.diameter}{deadlocks}"


def _components(report: ExploreReport, page: Page) -> str:
    found = report.components
    if found is None:
        if not report.space.complete:
            return "strongly connected components need all states"
        limit = page.count(report.components_limit)
        return f"strongly connected components are only computed up to {limit} states"
    text = f"{page.count(found.count)} strongly connected components"
    if not found.cyclic:
        return f"{text}, each a single state"
    largest = page.count(found.largest)
    return f"{text}, {page.count(found.cyclic)} with more than one state, the largest with {largest}"
