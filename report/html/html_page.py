"""Contents of the HTML report for each kind of report; the template only lays them out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from elrcheck.report.ci.sheet import Case, Suite
from elrcheck.report.ci.sheet_cases import broker_count
from elrcheck.report.ci.sheets import sheet_of
from elrcheck.report.html.html_card import card_of
from elrcheck.report.html.html_charts import growth, variables, yields
from elrcheck.report.html.html_exploration import not_drawn
from elrcheck.report.html.html_matrix import matrix
from elrcheck.report.html.html_own import TONES, own_page
from elrcheck.report.html.html_part import Charts, HtmlPage, Part
from elrcheck.report.html.html_states import picture
from elrcheck.report.html.html_trace import TraceBlock, trace_block
from elrcheck.report.plain_sentence import sentence
from elrcheck.report.plain_words import from_store, several
from elrcheck.results.any_report import Report
from elrcheck.results.check_report import CheckReport
from elrcheck.results.gate_report import EntryReport, GatedSuite, GateReport
from elrcheck.results.prove_report import ProveReport

SHOWN = 200
"""Maximum number of cases in a table, and of counterexamples on a page: a proof has thousands."""


def page_of(report: Report) -> HtmlPage:
    """Builds the page of a report; UsageFault for a report that has none."""
    if (own := own_page(report)) is not None:
        return replace(own, card=card_of(report))
    sheet = sheet_of(report)
    match report:
        case CheckReport():
            parts: Iterable[Part] = [_check_part("c1", sheet.suites[0], report)]
        case ProveReport():
            parts = [_plain(f"p{n}", suite) for n, suite in enumerate(sheet.suites, 1)]
            parts = _with_matrix(list(parts), report)
        case GateReport():
            both = zip(report.parts, sheet.suites, strict=True)
            parts = [_gate_part(f"e{n}", entry, suite) for n, (entry, suite) in enumerate(both, 1)]
        case _:
            parts = [_plain(f"s{n}", suite) for n, suite in enumerate(sheet.suites, 1)]
    tone = TONES.get(int(sheet.exit_code), "undecided")
    ordered = _worst_first(tuple(parts))
    return HtmlPage(sheet.command, sheet.verdict, tone, sheet.summary, sheet.notes, ordered, card_of(report))


def _worst_first(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """Failures first, a proof's matrix before all; the parts that passed are folded where another failed."""
    fails = any(part.worst == 0 for part in parts)
    ordered = sorted(parts, key=lambda part: -1 if part.matrix and not part.cases else part.worst)
    return tuple(replace(part, folded=True) if fails and part.worst == 2 and part.cases else part for part in ordered)


def _check_part(key: str, suite: Suite, report: CheckReport) -> Part:
    return Part(
        key=key,
        name=suite.name,
        facts=_facts(report),
        cases=suite.cases,
        charts=_charts(report),
        settings=tuple((name, str(value)) for name, value in report.config.items()),
        traces=_counterexamples(key, report, suite.cases),
        states=None if report.small_graph is None else picture(report.small_graph),
        no_states=not_drawn(
            report.small_graph, report.search.complete, report.search.distinct, report.search.stopped_by
        ),
    )


def _facts(report: CheckReport) -> tuple[tuple[str, str], ...]:
    search, engine = report.search, report.engine
    reach = "complete within the budgets of the scope"
    if not search.complete:
        reach = f"bounded by {search.stopped_by or 'an unnamed limit'}"
    exact = "exact states"
    if search.fingerprint_bits is not None:
        exact = f"{search.fingerprint_bits}-bit fingerprints, "
        exact += f"collision probability at most {search.collision_probability:.1e}"
    facts = [
        ("search", reach),
        ("distinct states", f"{search.distinct:,}"),
        ("generated states", f"{search.generated:,}"),
        ("diameter", str(search.diameter)),
        ("steps beyond the budgets", f"{search.cut:,}"),
        ("deadlocks", f"{search.deadlocks:,}"),
        ("states compared", exact),
        ("time", f"{search.seconds:.2f} s, {round(search.states_per_second):,} states/s"),
        ("engine", ", ".join(filter(None, (engine.name, several(engine.workers, "worker"), engine.detail)))),
    ]
    if (age := from_store(report.kept)) is not None:
        facts.append(("kept", age))
    if report.run_dir:
        facts.append(("run", report.run_dir))
    return tuple(facts)


def _charts(report: CheckReport) -> Charts:
    return Charts(
        growth(report.search.levels),
        yields(report.actions),
        variables(report.variables),
        tuple(action.name for action in report.actions if action.idle),
    )


def _counterexamples(key: str, report: CheckReport, cases: Sequence[Case]) -> tuple[TraceBlock, ...]:
    messages = {case.id: case.message for case in cases}
    failed = {case.id for case in cases if case.outcome == "failed"}
    blocks = []
    for found in report.properties:
        if found.verdict != "violated" or found.counterexample is None:
            continue
        block = trace_block(
            f"{key}-{_word(found.id)}",
            f"{found.id} {found.name}",
            _broken(messages.get(found.id, ""), report, found.id),
            found.counterexample,
            broker_count(report),
            found.source or "",
            "" if found.trace is None else "/".join(filter(None, (report.run_dir, found.trace))),
            plain=sentence(found),
        )
        blocks.append(replace(block, expected=found.id not in failed))
    return tuple(blocks)


def _word(text: str) -> str:
    """Encodes text for use in an id, injectively."""
    return "".join(c if c.isascii() and (c.isalnum() or c == "-") else f"_{ord(c):x}" for c in text)


def _broken(message: str, report: CheckReport, ident: str) -> str:
    """The message of a case; built here for an expected violation, for which the gate has no message."""
    if message:
        return message
    found = next(one for one in report.properties if one.id == ident)
    named = [found.conjunct or "", f"for {found.witness}" if found.witness else ""]
    return " ".join(filter(None, [f"{found.id} {found.name} violated, as expected:", *named])).rstrip(":")


def _gate_part(key: str, entry: EntryReport | GatedSuite, suite: Suite) -> Part:
    if isinstance(entry, GatedSuite):
        facts = (("baseline", entry.place), ("comparison", entry.verdict))
        return replace(_plain(key, suite), facts=facts, differences=entry.differences)
    check = _check_part(key, suite, entry.check)
    cases, hidden = _shown(suite.cases)
    return Part(
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


def _plain(key: str, suite: Suite) -> Part:
    cases, hidden = _shown(suite.cases)
    with_trace = [case for case in suite.cases if case.trace is not None and case.outcome != "passed"]
    traces = tuple(
        trace_block(f"{key}-t{n}", case.title, case.message, case.trace, suite.brokers, case.source or "")
        for n, case in enumerate(with_trace[:SHOWN], 1)
        if case.trace is not None
    )
    return Part(key, suite.name, suite.facts, cases, hidden, traces=traces, unshown=len(with_trace) - len(traces))


def _with_matrix(parts: list[Part], report: ProveReport) -> list[Part]:
    """Puts the matrix first: it is the main result of a proof."""
    settings = tuple((name, str(value)) for name, value in report.config.items())
    solver = report.solver
    limit = "" if solver.timeout_seconds is None else f", {solver.timeout_seconds:g} s per obligation"
    facts = (("solver", f"{solver.name} {solver.version}{limit}"), ("time", f"{report.seconds:.1f} s"))
    phases = tuple(
        (phase.name, f"{phase.proved} proved, {phase.refuted} refuted, {phase.unknown} unknown, {phase.seconds:.1f} s")
        for phase in report.phases
    )
    first = Part("m1", f"{report.variant}, the proof", (*facts, *phases), matrix=matrix(report), settings=settings)
    return [first, *parts]


def _shown(cases: tuple[Case, ...]) -> tuple[tuple[Case, ...], int]:
    """Returns the cases to show in a table, and the number of passed ones left out."""
    if len(cases) <= SHOWN:
        return cases, 0
    kept = tuple(case for case in cases if case.outcome != "passed")
    return kept, len(cases) - len(kept)
