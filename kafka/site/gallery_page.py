"""A page of the gallery: a finding or a scenario, whose traces are stepped through without a server.

A page is one file, and `E-6.html#step=5` opens it at a step of its first trace.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from elrcheck.catalogue.evidence.counterexamples import FindingCounterexample
from elrcheck.catalogue.evidence.evidence_text import RUN_COLUMNS, evidence_of, runs_of
from elrcheck.catalogue.finding_file import Finding
from elrcheck.catalogue.finding_text import searches
from elrcheck.catalogue.recipe_notation.recipe_file import recipes_of
from elrcheck.catalogue.scenario_file import Scenario
from elrcheck.kafka.scenarios.scenario import ReplayedRun
from elrcheck.kafka.scenarios.scenario import replay as play
from elrcheck.lang.load import Model
from elrcheck.report.html.html_part import Grid, HtmlPage, PagePart
from elrcheck.report.html.html_trace import TraceBlock, trace_block
from elrcheck.report.html.page_template import whole_page
from elrcheck.results.scenario_report import RunReport
from elrcheck.traces.describe import first_sentence
from elrcheck.traces.replay import Replayed
from elrcheck.traces.scenes import drawn_view
from elrcheck.traces.truth import truths

Links = Sequence[tuple[str, str]]
"""Addresses and their words, above a page."""
EVIDENCE = ("where", "Kafka", "what was seen")


def scenario_page(scenario: Scenario, model: Model, links: Links = ()) -> str:
    """Return the page of a scenario: the first run with each outcome, those after the first one folded."""
    report, played = play(scenario, model)
    first = {run.actual: run for run in reversed(report.runs) if run.label in played}
    runs = [(run, played[run.label]) for run in report.runs if first.get(run.actual) is run]
    parts = tuple(_run_part(f"r{number}", model, run, replayed) for number, (run, replayed) in enumerate(runs, 1))
    tone = "passed" if report.verdict == "as_expected" else "undecided"
    return _page(f"show {scenario.id}", scenario.title, tone, scenario.about, parts, links)


def finding_page(
    finding: Finding, followed: Sequence[tuple[FindingCounterexample, Replayed]], links: Links = ()
) -> str:
    """Return the page of a finding: what is lost and why, its counterexamples, the evidence and what helps."""
    blocks = tuple(_block(f"c{number}", *one) for number, one in enumerate(followed, 1))
    facts = (
        ("lost", finding.lost),
        ("Kafka", finding.versions),
        ("cause", finding.cause),
        ("public issue", finding.issue),
        ("what operators can do", finding.meanwhile or "no workaround is known"),
    )
    recipes = [recipe for recipe in recipes_of(finding.id) if recipe.seen]
    runs = tuple((recipe.id, *each) for recipe in recipes for each in runs_of(recipe))
    controls = "; ".join(f"{recipe.id}: {recipe.control.title}" for recipe in recipes if recipe.control is not None)
    note = f"Of the records acknowledged with acks=all. The controls: {controls}."
    repeat = tuple(tuple(line.split("   # ")) for line in searches(finding))
    grids = [Grid("Evidence", EVIDENCE, tuple(evidence_of(finding)))]
    grids += [Grid("Runs of elrcheck reproduce on brokers", RUN_COLUMNS, runs, note)] if runs else []
    grids += [Grid("To repeat it in the model", ("search", "what breaks"), repeat)] if repeat else []
    parts = (
        PagePart("trace", "Step through it", traces=blocks),
        PagePart("about", "What is known", facts=tuple((label, " ".join(text.split())) for label, text in facts)),
        PagePart("evidence", "How it was shown", grids=tuple(grids)),
    )
    return _page(f"show {finding.id}", finding.title, "failed", finding.about, parts[not blocks :], links)


def _page(command: str, title: str, tone: str, about: str, parts: tuple[PagePart, ...], links: Links) -> str:
    summary = " ".join(about.split()).rstrip(".")
    return whole_page("report.html.j2", page=HtmlPage(command, title, tone, summary, (), parts, links=tuple(links)))


def _run_part(key: str, model: Model, run: RunReport, replayed: ReplayedRun) -> PagePart:
    view = drawn_view(model, replayed.config, replayed.states, replayed.labels)
    whole = replace(view, truths=truths(model, replayed.config, replayed.states))
    message = f"Expected: {run.expected}. Found: {run.actual}."
    brokers = replayed.config.broker_count
    block = trace_block(f"{key}-t", run.label, message, whole, brokers, word="Run", shows_violation=False)
    return PagePart(key, run.label, traces=(block,), folded=key != "r1")


def _block(key: str, recorded: FindingCounterexample, trace: Replayed) -> TraceBlock:
    fn = trace.model.properties_by_id[recorded.breaks]
    title = f"{fn.ident} {fn.name}, {recorded.variant}"
    kind = "never comes true" if recorded.loop is not None else "is false at the end"
    broken: Any = trace.broken
    part = " for ".join(filter(None, (broken.conjunct, broken.witness)))
    message = f"“{first_sentence(fn.doc).rstrip('.')}” {kind}{f': {part}' if part else ''}"
    return trace_block(key, title, message, trace.view, trace.config.broker_count, fn.place)
