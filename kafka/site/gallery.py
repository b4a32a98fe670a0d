"""The gallery: a page of every finding and every scenario, and the page that lists them.

The plain model follows every trace while the gallery is built. A recorded counterexample that it no longer follows is
omitted, and named.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from elrcheck.catalogue.evidence.counterexamples import (
    FindingCounterexample,
    Outdated,
    followed,
    packaged_counterexamples,
)
from elrcheck.catalogue.finding_file import Finding
from elrcheck.catalogue.packaged_findings import worst_first
from elrcheck.catalogue.scenario_file import packaged_scenarios
from elrcheck.invariants.modules import load_checked_model
from elrcheck.kafka.site.gallery_page import finding_page, scenario_page
from elrcheck.report.html.page_template import whole_page
from elrcheck.traces.replay import Replayed

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
