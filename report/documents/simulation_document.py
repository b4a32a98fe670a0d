"""The report of random walks as text: violations with their walks, tables, and the verdict."""

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
from elrcheck.report.documents.trace_document import source_blocks, trace_blocks
from elrcheck.report.plain_words import of_model, settings_of, several, source_of, stored_at
from elrcheck.results.simulation_report import SeenProperty, SimulationReport, WalksReport


def simulation_blocks(report: SimulationReport, detail: int = 0) -> Iterator[Block]:
    for result in report.properties:
        if result.verdict == "violated":
            yield from _violation(result, report, detail)
    if detail >= 0:
        yield from _tables(report)
    if detail > 0:
        yield Table(("setting", "value"), settings_of(report.config))
    yield from _verdict(report)


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


def _tables(report: SimulationReport) -> Iterator[Block]:
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


def _states(search: WalksReport) -> str:
    visited, distinct = grouped(search.states), grouped(round(search.distinct_estimate))
    if search.guided:
        return f"{visited} visited, {distinct} distinct in {grouped(search.cells or 0)} cells"
    return f"{visited} visited, about {distinct} distinct (standard error {grouped(round(search.distinct_error))})"


def _verdict(report: SimulationReport) -> Iterator[Block]:
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
    yield Labelled("states", _states(search))
    yield Labelled("time", f"{search.seconds:.2f} s, {grouped(round(search.states_per_second))} states/s")
    yield Labelled("stopped", f"by {search.stopped_by}" if search.stopped_by else None)
    yield Labelled("engine", ", ".join(filter(None, (several(report.workers, "worker"), report.detail))))
    yield Labelled("run", report.run_dir)


def simulation_sheet(report: SimulationReport) -> Sheet:
    """Return a summary without judgements: no walk decides a property."""
    return Sheet(f"{report.variant}, {report.scope}: {report.search.walks:,} random walks", judges=False)


KINDS: ReportKinds = {SimulationReport: ReportKind("simulate", simulation_blocks, simulation_sheet)}
