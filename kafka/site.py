"""`elrcheck site`: write the gallery, and the documents around it, as files that need no server.

The gallery has a page of every finding and every scenario, and one that lists them. A page is one file, whose traces
are stepped through; `E-6.html#step=5` opens it at a step of its first trace. The plain model follows every trace while
the gallery is built. A recorded counterexample that it no longer follows is omitted, and named.

mkdocs builds the pages of the documents and their search, if it is installed and the documents exist.
"""

from __future__ import annotations

import functools
import importlib.util
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from elrcheck.base.atomic import write_files
from elrcheck.base.errors import EnvironmentFault
from elrcheck.base.progress import Progress
from elrcheck.catalogue.evidence.counterexamples import (
    FindingCounterexample,
    Outdated,
    followed,
    packaged_counterexamples,
)
from elrcheck.catalogue.evidence.evidence_text import RUN_COLUMNS, evidence_of, runs_of, searches
from elrcheck.catalogue.finding_file import Finding
from elrcheck.catalogue.packaged_findings import worst_first
from elrcheck.catalogue.recipe_notation.recipe_file import recipes_of
from elrcheck.catalogue.scenario_file import Scenario, packaged_scenarios
from elrcheck.invariants.modules import load_checked_model
from elrcheck.kafka.captured_warnings import captured_warnings
from elrcheck.kafka.scenario import ReplayedRun
from elrcheck.kafka.scenario import replay as play
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


FOLDER = "gallery"
BACK = (("index.html", "All findings and scenarios"),)
SEVERITIES = {"loss": "Records are lost", "unavailable": "A partition or a broker is unavailable"}


@dataclass(frozen=True)
class GalleryEntry:
    """An entry of the list. file: of its page; trace: whether it has one to step through."""

    id: str
    title: str
    about: str
    trace: bool = True

    @property
    def file(self) -> str:
        return f"{self.id}.html"


@dataclass(frozen=True)
class Gallery:
    """pages: the text of each by its file. groups: the entries, under headings. outdated: omitted traces, and why."""

    pages: dict[str, str]
    groups: tuple[tuple[str, tuple[GalleryEntry, ...]], ...]
    outdated: tuple[str, ...]
    traces: int
    """Counterexamples of findings that are steppable."""


@functools.cache
def gallery(documents: bool = False) -> Gallery:
    """Return the whole gallery. documents: the pages of the findings are beside it, so that it links to them."""
    pages: dict[str, str] = {}
    listed: dict[str, list[GalleryEntry]] = {words: [] for words in SEVERITIES.values()}
    outdated: list[str] = []
    recorded, traces = packaged_counterexamples(), 0
    for finding in worst_first():
        steppable = list(_followable(finding, recorded.get(finding.id, ()), outdated))
        beside = ((f"../findings/{finding.id}.html", f"The page of {finding.id}"),) if documents else ()
        pages[f"{finding.id}.html"] = finding_page(finding, steppable, (*BACK, *beside))
        listed[SEVERITIES[finding.severity]].append(
            GalleryEntry(finding.id, finding.title, finding.happens, bool(steppable))
        )
        traces += len(steppable)
    model, stories = load_checked_model(), []
    for scenario in packaged_scenarios():
        pages[f"{scenario.id}.html"] = scenario_page(scenario, model, BACK)
        stories.append(GalleryEntry(scenario.id, scenario.title, _first(scenario.about)))
    groups = (*((words, tuple(cards)) for words, cards in listed.items()), ("Scenarios", tuple(stories)))
    home = (("../index.html", "The documents"),) if documents else ()
    pages["index.html"] = whole_page("gallery.html.j2", page={"groups": groups, "links": home})
    return Gallery(pages, groups, tuple(outdated), traces)


def _followable(
    finding: Finding, recorded: Sequence[FindingCounterexample], outdated: list[str]
) -> Iterator[tuple[FindingCounterexample, Replayed]]:
    for one in recorded:
        try:
            yield one, followed(one)
        except Outdated as fault:
            outdated.append(f"{finding.id}, {one.breaks}: {fault}")


def _first(about: str) -> str:
    return re.split(r"(?<=\.)\s", " ".join(about.split()), maxsplit=1)[0]


PACKAGE = Path(__file__).resolve().parents[2]
SETTINGS = PACKAGE / "mkdocs.yml"
NEEDED = ("mkdocs", "material")


def obstacle() -> str | None:
    """Return why the documentation cannot be built here, and a remedy; None if it can."""
    if not SETTINGS.is_file() or not (PACKAGE / "docs" / "findings").is_dir():
        return "this installation does not contain them"
    if any(importlib.util.find_spec(name) is None for name in NEEDED):
        return "mkdocs-material is missing: `pip install mkdocs-material`"
    return None


def build_documents(out: Path) -> None:
    """Write the pages of the documents and their search into a folder, which is emptied first."""
    load: Any = importlib.import_module("mkdocs.config").load_config
    build: Any = importlib.import_module("mkdocs.commands.build").build
    abort: Any = importlib.import_module("mkdocs.exceptions").MkDocsException
    with captured_warnings("mkdocs") as warnings:
        try:
            build(load(str(SETTINGS), site_dir=str(out)))
        except abort as fault:
            why = "; ".join((*warnings, str(fault)))
            raise EnvironmentFault("site-documents", f"mkdocs cannot build the documentation: {why}") from fault


HOME = "index.html"
MOVED = '<!DOCTYPE html>\n<html lang="en">\n<meta charset="utf-8">\n<title>elrcheck</title>\n'
TO_GALLERY = f'<meta http-equiv="refresh" content="0; url={FOLDER}/{HOME}">\n'
LINK = f'<a href="{FOLDER}/{HOME}">Findings and scenarios</a>\n'


@dataclass(frozen=True)
class WrittenSite:
    """home: the page to open. left_out: what is not in the site and why; outdated: omitted recorded traces."""

    home: Path
    findings: int
    scenarios: int
    traces: int
    documents: bool
    left_out: tuple[str, ...]
    outdated: tuple[str, ...]


def write_site(out: Path, progress: Progress) -> WrittenSite:
    """Write the site into a folder; files of the same name are replaced, others stay."""
    missing = obstacle()
    progress.stage("following the traces of findings and scenarios")
    whole = gallery(documents=missing is None)
    if missing is None:
        progress.stage("building the documentation")
        with tempfile.TemporaryDirectory(prefix="elrcheck-site-") as folder:
            build_documents(Path(folder))
            shutil.copytree(folder, out, dirs_exist_ok=True)
    else:
        write_files(out, {HOME: MOVED + TO_GALLERY + LINK})
        write_files(out / FOLDER, whole.pages)
    *findings, (_, scenarios) = whole.groups
    without = [card.id for _, cards in findings for card in cards if not card.trace]
    left = [f"the documents: {missing}"] if missing is not None else []
    left += [f"a trace of {', '.join(without)}: no trace is recorded"] if without else []
    return WrittenSite(
        out / HOME,
        sum(len(cards) for _, cards in findings),
        len(scenarios),
        whole.traces,
        missing is None,
        tuple(left),
        whole.outdated,
    )
