"""The reports of `explore`, `runs coverage` and `simulate` as text."""

from __future__ import annotations

from collections.abc import Iterator

from elrcheck.report.document import (
    Block,
    Headline,
    Labelled,
    Line,
    Number,
    ReportKind,
    ReportKinds,
    Sheet,
    Table,
    grouped,
)
from elrcheck.report.documents.check_document import levels_blocks, projected
from elrcheck.report.documents.trace_document import source_blocks, trace_blocks
from elrcheck.report.plain_words import of_model, settings_of, several, source_of, stored_at
from elrcheck.results.exploration_report import (
    CoverageReport,
    ExploreReport,
    SeenProperty,
    SimulationReport,
    SpaceReport,
    WalksReport,
)


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


def simulation_blocks(report: SimulationReport, detail: int = 0) -> Iterator[Block]:
    for result in report.properties:
        if result.verdict == "violated":
            yield from _violation(result, report, detail)
    if detail >= 0:
        yield from _walk_tables(report)
    if detail > 0:
        yield Table(("setting", "value"), settings_of(report.config))
    yield from _walk_verdict(report)


def _violation(violation: SeenProperty, report: SimulationReport, detail: int) -> Iterator[Block]:
    steps = several(violation.steps or 0, "step")
    yield Headline(
        "fail",
        f"{violation.id} {violation.name}  violated after {steps} of walk {violation.walk}"
        f"  ({report.variant}, {report.scope})",
    )
    yield Labelled("conjunct", violation.conjunct)
    yield Labelled("witness", violation.witness)
    if violation.counterexample is not None:
        yield from trace_blocks(violation.counterexample, initial=detail > 0)
        yield Labelled("repro", violation.counterexample.repro)
    yield Labelled("length", f"{steps}, the walk itself; not a shortest trace")
    yield Labelled("after", f"{grouped(violation.states)} states" if violation.states is not None else None)
    if (place := stored_at(report.run_dir, violation.trace)) is not None:
        yield Labelled("trace", place)
        yield Labelled("next", of_model(f"elrcheck trace minimise {place}", *source_of(report)))
    yield Line()


def _walk_tables(report: SimulationReport) -> Iterator[Block]:
    yield Table(
        ("id", "property", "kind", "verdict", "steps", "walk"),
        [
            (
                result.id,
                result.name,
                result.kind,
                result.verdict if result.verdict != "inconclusive" else "not seen",
                result.steps,
                None if result.walk is None else Number(result.walk),
            )
            for result in report.properties
        ],
    )
    yield Table(
        ("action", "taken", "enabled", "beyond the budgets"),
        [(action.name, action.taken, action.enabled, action.cut) for action in report.actions],
    )


def _walked_states(search: WalksReport) -> str:
    visited, distinct = grouped(search.states), grouped(round(search.distinct_estimate))
    if search.guided:
        return f"{visited} visited, {distinct} distinct in {grouped(search.cells or 0)} cells"
    return f"{visited} visited, about {distinct} distinct (standard error {grouped(round(search.distinct_error))})"


def _walk_verdict(report: SimulationReport) -> Iterator[Block]:
    search = report.search
    violated = [result.id for result in report.properties if result.verdict == "violated"]
    outcome = "a violation" if violated else "no violation"
    walks = several(search.walks, "walk", written=grouped(search.walks))
    steps = several(report.depth, "step", written=grouped(report.depth))
    yield Headline(report.verdict, f"{report.variant}, {report.scope}: {outcome} in {walks} of up to {steps}")
    yield from source_blocks(report)
    yield Labelled("violated", ", ".join(violated))
    missed = [f.id for f in report.properties if f.kind == "sometimes" and f.verdict != "reached"]
    yield Labelled("not seen", ", ".join(missed))
    idle = [action.name for action in report.actions if not action.taken]
    yield Labelled("actions", f"never taken: {', '.join(idle)}" if idle else None)
    for leaf, count in (search.overflows or {}).items():
        yield Labelled("overflow", f"{leaf} exceeded its bit width in {grouped(count)} steps")
    yield Labelled("seed", str(report.seed))
    ends = f"{grouped(search.steps)} steps, deepest {grouped(search.deepest)}"
    if search.deadlocks:
        ends += f", {grouped(search.deadlocks)} walks ended in a deadlock"
    if search.blocked:
        ends += f", {grouped(search.blocked)} where every step leaves the budgets"
    yield Labelled("walks", ends)
    yield Labelled("states", _walked_states(search))
    yield Labelled("time", f"{search.seconds:.2f} s, {grouped(round(search.states_per_second))} states/s")
    yield Labelled("stopped", f"by {search.stopped_by}" if search.stopped_by else None)
    yield Labelled("engine", ", ".join(filter(None, (several(report.workers, "worker"), report.detail))))
    yield Labelled("run", report.run_dir)


def simulation_sheet(report: SimulationReport) -> Sheet:
    """Return a summary without judgements: no walk decides a property."""
    return Sheet(f"{report.variant}, {report.scope}: {report.search.walks:,} random walks", judges=False)


KINDS: ReportKinds = {
    ExploreReport: ReportKind("explore", exploration_blocks, exploration_sheet),
    CoverageReport: ReportKind("runs coverage", coverage_blocks),
    SimulationReport: ReportKind("simulate", simulation_blocks, simulation_sheet),
}
