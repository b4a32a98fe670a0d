"""The reports of `explore` and `runs coverage` as text."""

from __future__ import annotations

from collections.abc import Iterator

from elrcheck.report.document import Block, Headline, Labelled, Number, ReportKind, ReportKinds, Sheet, Table, grouped
from elrcheck.report.documents.check_document import levels_blocks, projected
from elrcheck.report.documents.trace_document import source_blocks
from elrcheck.report.plain_words import settings_of, several
from elrcheck.results.coverage_report import CoverageReport
from elrcheck.results.exploration_report import ExploreReport, SpaceReport


def exploration_blocks(report: ExploreReport, detail: int = 0) -> Iterator[Block]:
    if detail >= 0:
        yield from _tables(report)
    if detail > 0:
        yield Table(("setting", "value"), settings_of(report.config))
    yield from _summary(report)


def _tables(report: ExploreReport) -> Iterator[Block]:
    yield from levels_blocks(report.space.levels)
    yield Table(("steps from a state", "states"), [(row.degree, row.states) for row in report.degrees])
    yield Table(
        ("action", "fired", "new states", "beyond the budgets"),
        [(action.name, action.fired, action.new_states, action.cut) for action in report.actions],
    )
    yield Table(("variable", "distinct values"), [(variable.name, variable.distinct) for variable in report.variables])


def _summary(report: ExploreReport) -> Iterator[Block]:
    space = report.space
    yield Headline(report.verdict, exploration_sheet(report).summary)
    yield from source_blocks(report)
    for leaf, count in (space.overflows or {}).items():
        yield Labelled("overflow", f"{leaf} exceeded its bit width in {grouped(count)} steps")
    yield Labelled("states", _states(space))
    yield Labelled("projected", projected(space.projection))
    yield Labelled(
        "steps",
        f"{grouped(space.steps)} within the budgets, {grouped(space.cut)} beyond, "
        f"{report.mean_degree:.2f} per state on average",
    )
    yield Labelled("parts", _components(report))
    if report.graph is not None:
        graph = report.graph
        size = f"{grouped(graph.nodes)} nodes, {grouped(graph.edges)} edges"
        yield Labelled("graph", f"{graph.path} ({graph.format}): {size}")
        if graph.violating or graph.violating_steps:
            yield Labelled(
                "violating",
                f"{grouped(graph.violating)} states, {grouped(graph.violating_steps)} steps; "
                "each carries the ids of its properties",
            )
    yield Labelled("engine", ", ".join(filter(None, (several(report.workers, "worker"), report.detail))))
    yield Labelled("time", f"{space.seconds:.2f} s")


def _states(space: SpaceReport) -> str:
    deadlocks = f", {grouped(space.deadlocks)} deadlocks" if space.deadlocks else ", no deadlock"
    return f"{grouped(space.distinct)} distinct, diameter {space.diameter}{deadlocks}"


def _components(report: ExploreReport) -> str:
    components = report.components
    if components is None:
        if not report.space.complete:
            return "strongly connected components need all states"
        limit = grouped(report.components_limit)
        return f"strongly connected components are only computed up to {limit} states"
    text = f"{grouped(components.count)} strongly connected components"
    if not components.cyclic:
        return f"{text}, each a single state"
    largest = grouped(components.largest)
    return f"{text}, {grouped(components.cyclic)} with more than one state, the largest with {largest}"


def exploration_sheet(report: ExploreReport) -> Sheet:
    """Return a summary without judgements."""
    reach = "all states within the budgets of the scope"
    if not report.space.complete:
        reach = f"bounded by {report.space.stopped_by or 'an unnamed limit'}"
    return Sheet(f"{report.variant}, {report.scope}: {reach}", judges=False)


def coverage_blocks(report: CoverageReport, detail: int = 0) -> Iterator[Block]:
    """Yield the blocks. detail: below 0 only what is not covered, above 0 also the runs and every guard."""
    if detail > 0:
        yield Table(
            ("run", "variant", "scope", ""),
            [(r.path, r.variant, r.scope, "" if r.complete else "bounded") for r in report.runs],
        )
    if detail >= 0:
        yield Table(("action", "fired", "in runs"), [(a.name, a.fired, a.runs) for a in report.actions if a.runs])
        yield Table(
            ("witness", "", "reached in runs"),
            [(w.id, w.name, Number(f"{w.reached} of {w.runs}")) for w in report.witnesses if w.reached],
        )
    if detail > 0:
        yield Table(
            ("action", "guard left out", "noticed by"),
            [(g.action, g.guard, g.noticed or "no property") for g in report.guards],
        )
    bounded = sum(not run.complete for run in report.runs)
    more = f", {bounded} of them bounded" if bounded else ""
    yield Headline(report.verdict, several(len(report.runs), "run") + more)
    yield Labelled("actions", _never("never fired", [a.name for a in report.actions if not a.runs]))
    yield Labelled("witnesses", _never("never reached", [w.id for w in report.witnesses if not w.reached]))
    for guard in report.guards:
        if guard.noticed is None:
            yield Labelled("guard", f"noticed by no property: {guard.action}, {guard.guard}")


def _never(what: str, names: list[str]) -> str | None:
    return f"{what}: {', '.join(names)}" if names else None


KINDS: ReportKinds = {
    ExploreReport: ReportKind("explore", exploration_blocks, exploration_sheet),
    CoverageReport: ReportKind("runs coverage", coverage_blocks),
}
