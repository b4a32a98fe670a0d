"""The report of random walks as text: violations with their walks, tables, and the verdict."""

from __future__ import annotations

from elrcheck.report.plain_words import several
from elrcheck.report.terminal import Page
from elrcheck.report.text.text_trace import print_trace
from elrcheck.results.simulation_report import SeenProperty, SimulationReport, WalksReport


def print_simulation(report: SimulationReport, page: Page, detail: int = 0) -> None:
    for found in report.properties:
        if found.verdict == "violated":
            _print_violation(found, report, page, detail)
    if detail >= 0:
        _print_tables(report, page)
    if detail > 0:
        page.table(("setting", "value"), ((name, str(value)) for name, value in report.config.items()))
    _print_verdict(report, page)


def _print_violation(found: SeenProperty, report: SimulationReport, page: Page, detail: int) -> None:
    page.verdict_line(
        "fail",
        f"{found.id} {found.name}  violated after {several(found.steps or 0, 'step')} of walk {found.walk}"
        f"  ({report.variant}, {report.scope})",
    )
    page.labelled("conjunct", found.conjunct)
    page.labelled("witness", found.witness)
    if found.counterexample is not None:
        print_trace(found.counterexample, page, initial=detail > 0)
        page.labelled("repro", found.counterexample.repro)
    page.labelled("length", f"{several(found.steps or 0, 'step')}, the walk itself; not a shortest trace")
    page.labelled("after", f"{page.count(found.states)} states" if found.states is not None else None)
    if found.trace is not None:
        place = f"{report.run_dir}/{found.trace}" if report.run_dir else found.trace
        page.labelled("trace", place)
        page.labelled("next", f"elrcheck trace minimise {place}")
    page.line()


def _print_tables(report: SimulationReport, page: Page) -> None:
    page.table(
        ("id", "property", "kind", "verdict", "steps", "walk"),
        (
            (
                found.id,
                found.name,
                found.kind,
                found.verdict if found.verdict != "inconclusive" else "not seen",
                "" if found.steps is None else str(found.steps),
                "" if found.walk is None else str(found.walk),
            )
            for found in report.properties
        ),
        right=("steps", "walk"),
    )
    page.table(
        ("action", "taken", "enabled", "beyond the budgets"),
        (
            (action.name, page.count(action.taken), page.count(action.enabled), page.count(action.cut))
            for action in report.actions
        ),
        right=("taken", "enabled", "beyond the budgets"),
    )


def _states(search: WalksReport, page: Page) -> str:
    visited, distinct = page.count(search.states), page.count(round(search.distinct_estimate))
    if search.guided:
        return f"{visited} visited, {distinct} distinct in {page.count(search.cells or 0)} cells"
    return f"{visited} visited, about {distinct} distinct (standard error {page.count(round(search.distinct_error))})"


def _print_verdict(report: SimulationReport, page: Page) -> None:
    search = report.search
    violated = [found.id for found in report.properties if found.verdict == "violated"]
    outcome = "a violation" if violated else "no violation"
    walks = several(search.walks, "walk", shown=page.count(search.walks))
    steps = several(report.depth, "step", shown=page.count(report.depth))
    page.verdict_line(report.verdict, f"{report.variant}, {report.scope}: {outcome} in {walks} of up to {steps}")
    page.labelled("violated", ", ".join(violated))
    missed = [f.id for f in report.properties if f.kind == "sometimes" and f.verdict != "reached"]
    page.labelled("not seen", ", ".join(missed))
    idle = [action.name for action in report.actions if not action.taken]
    page.labelled("actions", f"never taken: {', '.join(idle)}" if idle else None)
    for leaf, count in (search.overflows or {}).items():
        page.labelled("overflow", f"{leaf} exceeded its bit width in {page.count(count)} steps")
    page.labelled("seed", str(report.seed))
    ends = f"{page.count(search.steps)} steps, deepest {page.count(search.deepest)}"
    if search.deadlocks:
        ends += f", {page.count(search.deadlocks)} walks ended in a deadlock"
    if search.blocked:
        ends += f", {page.count(search.blocked)} where every step leaves the budgets"
    page.labelled("walks", ends)
    page.labelled("states", _states(search, page))
    page.labelled("time", f"{search.seconds:.2f} s, {page.count(round(search.states_per_second))} states/s")
    page.labelled("stopped", f"by {search.stopped_by}" if search.stopped_by else None)
    workers = "1 worker" if report.workers == 1 else f"{report.workers} workers"
    page.labelled("engine", f"{workers}, {report.detail}" if report.detail else workers)
    page.labelled("run", report.run_dir)
