"""Contents of the HTML report for each kind of report; the template only lays them out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from elrcheck.report.document import Case, Document, Labelled, Suite
from elrcheck.report.documents.check_document import number_blocks
from elrcheck.report.html.html_card import Card
from elrcheck.report.html.html_charts import growth, matrix, variables, yields
from elrcheck.report.html.html_part import Charts, HtmlPage, PagePart, facts_of, labelled
from elrcheck.report.html.html_states import picture
from elrcheck.report.html.html_trace import TraceBlock, trace_block
from elrcheck.report.log_notes import sentence
from elrcheck.report.plain_words import broker_count, settings_of, stored_at, with_reason
from elrcheck.report.terminal import STYLES
from elrcheck.results.any_report import Report
from elrcheck.results.check_report import ActionReport, CheckReport, SearchReport, VariableReport
from elrcheck.results.exploration_report import ExploreReport, SpaceReport
from elrcheck.results.gate_report import EntryReport, GatedSuite, GateReport
from elrcheck.results.prove_report import ProveReport
from elrcheck.results.trace_view import MOST_STATES, SmallGraph

TONES = {0: "passed", 1: "failed"}
MOST_CASES = 200
"""Maximum number of cases in a table, and of counterexamples on a page: a proof has thousands."""


def html_page(document: Document, parts: Iterable[PagePart], card: Card) -> HtmlPage:
    """Return the page of a document."""
    sheet, tone = document.sheet, TONES.get(int(document.exit_code), "undecided")
    ordered = _worst_first(tuple(parts))
    if tone == "passed" and STYLES.get(sheet.word or document.verdict, "").endswith(("red", "yellow")):
        tone = "undecided"  # such as a partition without a leader, for which risk does not exit with 1
    return HtmlPage(document.command, document.word, tone, sheet.summary, sheet.remarks, ordered, card)


def case_parts(report: Report, document: Document) -> Iterable[PagePart]:
    """Return a part for each suite: its cases, and the traces of those that failed."""
    return (_plain(f"s{number}", suite) for number, suite in enumerate(document.sheet.suites, 1))


def check_parts(report: CheckReport, document: Document) -> Iterable[PagePart]:
    """Return the part of a search."""
    return [_check_part("c1", document.sheet.suites[0], report)]


def gate_parts(report: GateReport, document: Document) -> Iterable[PagePart]:
    """Return a part for each entry of the baseline."""
    pairs = zip(report.parts, document.sheet.suites, strict=True)
    return (_gate_part(f"e{number}", entry, suite) for number, (entry, suite) in enumerate(pairs, 1))


def _worst_first(parts: tuple[PagePart, ...]) -> tuple[PagePart, ...]:
    """Return a proof's matrix first, then failures; parts that passed are folded if another failed."""
    fails = any(part.worst == 0 for part in parts)
    ordered = sorted(parts, key=lambda part: -1 if part.matrix and not part.cases else part.worst)
    return tuple(replace(part, folded=True) if fails and part.worst == 2 and part.cases else part for part in ordered)


def _check_part(key: str, suite: Suite, report: CheckReport) -> PagePart:
    return PagePart(
        key=key,
        name=suite.name,
        facts=labelled((*number_blocks(report), Labelled("run", report.run_dir))),
        cases=suite.cases,
        charts=charts(report.search.levels, report.actions, report.variables),
        settings=settings_of(report.config),
        traces=_counterexamples(key, report, suite.cases),
        states=None if report.small_graph is None else picture(report.small_graph),
        no_states=not_drawn(report.small_graph, report.search),
    )


def _counterexamples(key: str, report: CheckReport, cases: Sequence[Case]) -> tuple[TraceBlock, ...]:
    messages = {case.id: case.message for case in cases}
    failed = {case.id for case in cases if case.outcome == "failed"}
    blocks = []
    for result in report.properties:
        if result.verdict != "violated" or result.counterexample is None:
            continue
        title = f"{result.id} {result.name}"
        expected = with_reason(f"{title} violated, as expected", result.conjunct, result.witness)
        block = trace_block(
            f"{key}-{_word(result.id)}",
            title,
            messages.get(result.id) or expected,
            result.counterexample,
            broker_count(report.config),
            result.source or "",
            stored_at(report.run_dir, result.trace) or "",
            plain=sentence(result),
        )
        blocks.append(replace(block, expected=result.id not in failed))
    return tuple(blocks)


def _word(text: str) -> str:
    """Encode text for use in an id, injectively."""
    return "".join(c if c.isascii() and (c.isalnum() or c == "-") else f"_{ord(c):x}" for c in text)


def _gate_part(key: str, entry: EntryReport | GatedSuite, suite: Suite) -> PagePart:
    if isinstance(entry, GatedSuite):
        facts = (("baseline", entry.place), ("comparison", entry.verdict))
        return replace(_plain(key, suite), facts=facts, differences=entry.differences)
    check = _check_part(key, suite, entry.check)
    cases, hidden = _listed(suite.cases)
    return PagePart(
        key=key,
        name=suite.name,
        facts=(("baseline", entry.place), ("comparison", entry.verdict), *check.facts),
        cases=cases,
        hidden=hidden,
        differences=entry.differences,
        charts=check.charts,
        matrix=None if entry.proof is None else matrix(entry.proof),
        settings=check.settings,
        traces=check.traces,
    )


def _plain(key: str, suite: Suite) -> PagePart:
    cases, hidden = _listed(suite.cases)
    with_trace = [case for case in suite.cases if case.trace is not None and case.outcome != "passed"]
    traces = tuple(
        trace_block(f"{key}-t{n}", case.title, case.message, case.trace, suite.brokers, case.source or "")
        for n, case in enumerate(with_trace[:MOST_CASES], 1)
        if case.trace is not None
    )
    return PagePart(key, suite.name, suite.facts, cases, hidden, traces=traces, unshown=len(with_trace) - len(traces))


def prove_parts(report: ProveReport, document: Document) -> Iterable[PagePart]:
    """Return the matrix of a proof and a part for each of its phases."""
    settings = settings_of(report.config)
    solver = report.solver
    limit = "" if solver.timeout_seconds is None else f", {solver.timeout_seconds:g} s per obligation"
    facts = (("solver", f"{solver.name} {solver.version}{limit}"), ("time", f"{report.seconds:.1f} s"))
    phases = tuple(
        (phase.name, f"{phase.proved} proved, {phase.refuted} refuted, {phase.unknown} unknown, {phase.seconds:.1f} s")
        for phase in report.phases
    )
    first = PagePart("m1", f"{report.variant}, the proof", (*facts, *phases), matrix=matrix(report), settings=settings)
    return [first, *(_plain(f"p{number}", suite) for number, suite in enumerate(document.sheet.suites, 1))]


def _listed(cases: tuple[Case, ...]) -> tuple[tuple[Case, ...], int]:
    """Return the cases to show in a table, and the number of passed ones left out."""
    if len(cases) <= MOST_CASES:
        return cases, 0
    listed = tuple(case for case in cases if case.outcome != "passed")
    return listed, len(cases) - len(listed)


def exploration_parts(report: ExploreReport, document: Document) -> Iterable[PagePart]:
    """Return the part of an explored scope."""
    space = report.space
    actions = [ActionReport(a.name, a.fired, a.new_states, a.cut) for a in report.actions]
    yield PagePart(
        key="x1",
        name=f"{report.variant}, {report.scope}",
        facts=facts_of(document),
        charts=replace(
            charts(space.levels, actions, report.variables),
            degrees=tuple((row.degree, row.states) for row in report.degrees),
        ),
        settings=settings_of(report.config),
        states=None if report.small_graph is None else picture(report.small_graph),
        no_states=not_drawn(report.small_graph, space),
    )


def charts(levels: Sequence[int], actions: Sequence[ActionReport], values: Sequence[VariableReport]) -> Charts:
    """Return the charts of a search."""
    return Charts(growth(levels), yields(actions), variables(values), tuple(a.name for a in actions if a.idle))


def not_drawn(graph: SmallGraph | None, search: SearchReport | SpaceReport) -> str:
    """Return why there is no picture and what to do about it; empty if there is one or none was requested."""
    if graph is not None:
        return ""
    if search.distinct > MOST_STATES:
        return (
            f"The graph is only drawn for up to {MOST_STATES} states, and there are {search.distinct:,}. Smaller "
            "budgets (--set) give fewer; elrcheck explore --graph states.graphml writes larger graphs for "
            "other tools."
        )
    if not search.complete:
        why = f"{search.stopped_by or 'a limit'} stopped the search"
        return f"A graph needs all states, but {why}. Leave out the limit."
    return ""
