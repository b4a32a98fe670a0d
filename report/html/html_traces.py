"""Contents of the pages of `replay`, `simulate`, `explain` and of traces."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from elrcheck.report.document import Case, Document, Outcome
from elrcheck.report.documents.trace_document import hit_in_words
from elrcheck.report.html.html_part import Grid, PagePart, facts_of
from elrcheck.report.html.html_trace import TraceBlock, trace_block
from elrcheck.report.plain_words import broker_count, settings_of, several, stored_at, with_reason
from elrcheck.results.exploration_report import SeenProperty, SimulationReport
from elrcheck.results.trace_reports import Cycle, ExplainReport, Origin, Rejection, ReplayReport, TraceReport

CLOSEST = 3
_OUTCOMES: Mapping[str, Outcome] = {"violated": "failed", "reached": "passed", "inconclusive": "undecided"}


def replay_parts(report: ReplayReport, document: Document) -> Iterable[PagePart]:
    """Return the part of a replay: the refusal, then the accepted prefix."""
    facts = [*_origin(report.origin), ("accepted", f"{report.accepted} of {report.states} states")]
    if report.beyond is not None:
        facts.append(("budgets", f"step {report.beyond} exceeds the budgets of the scope"))
    facts += [("violates", hit_in_words(hit)) for hit in report.violated]
    summary = f"The model accepts {report.accepted} of {report.states} states."
    source, brokers = report.origin.source, broker_count(report.origin.config)
    trace = trace_block("r1-t", source, summary, report.trace, brokers, word="Accepted prefix", shows_violation=False)
    yield PagePart(
        key="r1",
        name=f"{report.origin.variant}, {report.origin.scope}",
        facts=tuple(facts),
        settings=settings_of(report.origin.config),
        traces=(trace,) if report.accepted else (),
        grids=() if report.rejection is None else _refusal(report.rejection),
    )


def trace_parts(report: TraceReport, document: Document) -> Iterable[PagePart]:
    """Return the part of a trace."""
    origin, brokers = report.origin, broker_count(report.origin.config)
    violated = ", ".join(map(hit_in_words, report.violated))
    summary = f"It violates {violated}." if violated else "It violates no safety property."
    yield PagePart(
        key="t1",
        name=f"{origin.variant}, {origin.scope}",
        facts=_origin(origin),
        settings=settings_of(origin.config),
        traces=(trace_block("t1-t", "The trace", summary, report.trace, brokers, word="Trace", shows_violation=False),),
    )


def _refusal(rejection: Rejection) -> tuple[Grid, ...]:
    """Return why no action leads to the recorded state, action by action."""
    name = f"Step {rejection.step}" if rejection.step else "The first state"
    recorded = f", recorded as {rejection.recorded}" if rejection.recorded else ""
    changed = tuple((change.path, change.old, change.new) for change in rejection.changed)
    possible = [one for one in rejection.candidates if one.guard is None]
    nearest = tuple(
        (one.label, change.path, change.old, change.new) for one in possible[:CLOSEST] for change in one.differs
    )
    more = len(possible) - CLOSEST
    refused = tuple((one.label, one.guard or "") for one in rejection.candidates if one.guard is not None)
    grids = (
        Grid(f"{name} is refused{recorded}", ("leaf", "before", "recorded"), changed, rejection.reason),
        Grid(
            "Enabled actions that lead to another state",
            ("action", "leaf", "model", "recorded"),
            nearest,
            "First the action that the trace names, then the nearest ones."
            + (f" {more} more are enabled." if more > 0 else ""),
        ),
        Grid("Refused actions", ("action", "failing guard"), refused),
    )
    return tuple(grid for number, grid in enumerate(grids) if grid.rows or number == 0)


def simulation_parts(report: SimulationReport, document: Document) -> Iterable[PagePart]:
    """Return the part of a simulation: the actions by how often they were taken, and the violating walks."""
    taken = sorted(report.actions, key=lambda action: (-action.taken, action.name))
    rows = tuple((a.name, f"{a.taken:,}", f"{a.enabled:,}", f"{a.cut:,}") for a in taken)
    head = ("action", "taken", "enabled", "beyond the budgets")
    violated = [result for result in report.properties if result.verdict == "violated" and result.counterexample]
    yield PagePart(
        key="s1",
        name=f"{report.variant}, {report.scope}",
        facts=facts_of(document),
        cases=tuple(_case(result) for result in report.properties),
        settings=settings_of(report.config),
        traces=tuple(_walk(f"s1-t{n}", result, report) for n, result in enumerate(violated, 1)),
        grids=(Grid("Actions", head, rows),) if rows else (),
    )


def _case(result: SeenProperty) -> Case:
    return Case(
        id=result.id,
        name=result.name,
        outcome=_OUTCOMES[result.verdict],
        verdict=result.verdict if result.verdict != "inconclusive" else "not seen",
        message=_summary(result) if result.steps is not None else "",
        text="",
    )


def _summary(result: SeenProperty) -> str:
    after = several(result.steps or 0, "step")
    summary = f"{result.id} {result.name} {result.verdict} after {after} of walk {result.walk}"
    return with_reason(summary, result.conjunct, result.witness)


def _walk(key: str, violation: SeenProperty, report: SimulationReport) -> TraceBlock:
    assert violation.counterexample is not None
    place = stored_at(report.run_dir, violation.trace) or ""
    summary = f"{_summary(violation)}. This is the walk itself, rarely a shortest trace."
    title = f"{violation.id} {violation.name}"
    return trace_block(key, title, summary, violation.counterexample, broker_count(report.config), place=place)


def explain_parts(report: ExplainReport, document: Document) -> Iterable[PagePart]:
    """Return the part of the explained state."""
    led = f", after {report.led}" if report.led else ""
    state = (Grid("The state", ("leaf", "value"), tuple(report.state.items())),) if report.state else ()
    yield PagePart(
        key="w1",
        name=f"State {report.at} of {report.steps}{led}",
        facts=_origin(report.origin),
        settings=settings_of(report.origin.config),
        explained=report.explained,
        grids=(*_fairness(report.cycle), *state),
    )


def _fairness(cycle: Cycle | None) -> tuple[Grid, ...]:
    """Return how the cycle of a lasso satisfies each fairness assumption."""
    if cycle is None:
        return ()
    what = f"states {cycle.loop} to {cycle.last} repeat"
    title = f"Forever: {f'nothing happens in state {cycle.loop}' if cycle.stops else what}"
    title += "" if cycle.fair else "; a fair behaviour would leave this cycle, so it violates nothing"
    rows = tuple((step.label, step.how) for step in cycle.steps)
    return (Grid(title, ("fair step", "in the cycle"), rows),)


def _origin(origin: Origin) -> tuple[tuple[str, str], ...]:
    facts = [("source", origin.source), ("variant", origin.variant), ("scope", origin.scope)]
    facts += [("format", origin.format)] if origin.format else []
    facts += [("recorded for", origin.property)] if origin.property else []
    return tuple(facts)
