"""A hook of mkdocs: a gallery of the scenarios, each a page on which its runs are stepped through without a server.

The plain model replays the runs while the site is built. A page is one file, and `gallery/E-6.html#step=5` opens it
at a step of its first run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from elrcheck.catalogue.scenario_file import Scenario, packaged_scenarios
from elrcheck.invariants.modules import load_checked_model
from elrcheck.kafka.scenarios.scenario import Played
from elrcheck.kafka.scenarios.scenario import replay as play
from elrcheck.lang.load import Model
from elrcheck.report.html.html_part import HtmlPage, PagePart
from elrcheck.report.html.html_trace import trace_block
from elrcheck.report.html.page_template import whole_page
from elrcheck.results.scenario_report import RunReport
from elrcheck.traces.describe import trace_view
from elrcheck.traces.scenes import FollowedScenes
from elrcheck.traces.truth import truths

PAGE = "gallery.md"
HEAD = """# Scenarios to step through

Each page is one file that works without a server: pass on a link that ends in `#step=5`, and it opens at that step.

"""


def scenario_page(scenario: Scenario, model: Model) -> str:
    """Return the page of a scenario: the first run with each outcome, those after the first one folded."""
    report, played = play(scenario, model)
    first = {run.actual: run for run in reversed(report.runs) if run.label in played}
    runs = [(run, played[run.label]) for run in report.runs if first.get(run.actual) is run]
    parts = tuple(_part(f"r{number}", model, run, went) for number, (run, went) in enumerate(runs, 1))
    title = f"{scenario.id} {scenario.title}"
    summary = " ".join(scenario.about.split()).rstrip(".")
    tone = "passed" if report.verdict == "as_expected" else "undecided"
    page = HtmlPage("scenario", title, tone, summary, (), parts)
    return whole_page("report.html.j2", page=page)


def _part(key: str, model: Model, run: RunReport, went: Played) -> PagePart:
    view = trace_view(model, went.states, went.labels, "")
    scenes = FollowedScenes(model, went.config, went.states, went.labels)
    whole = replace(view, truths=truths(model, went.config, went.states), drawn=scenes)
    message = f"Expected: {run.expected}. Found: {run.actual}."
    brokers = went.config.broker_count
    block = trace_block(f"{key}-t", run.label, message, whole, brokers, word="Run", shows_violation=False)
    return PagePart(key, run.label, traces=(block,), folded=key != "r1")


def index_page(scenarios: tuple[Scenario, ...]) -> str:
    """Return the page that lists the scenarios."""
    lines = (f"* [{one.id}: {one.title}](gallery/{one.id}.html): {_first(one.about)}" for one in scenarios)
    return HEAD + "\n".join(lines) + "\n"


def _first(about: str) -> str:
    return re.split(r"(?<=\.)\s", " ".join(about.split()), maxsplit=1)[0]


def pages() -> Iterator[tuple[str, str]]:
    """Yield the address of each page of the gallery with its text."""
    model, scenarios = load_checked_model(), packaged_scenarios()
    yield PAGE, index_page(scenarios)
    for scenario in scenarios:
        yield f"gallery/{scenario.id}.html", scenario_page(scenario, model)


def on_config(config: Any) -> Any:
    for section in config.nav:
        if "Findings" in section:
            section["Findings"].insert(2, PAGE)
    return config


def on_files(files: Any, config: Any) -> Any:
    from mkdocs.structure.files import File

    for address, text in pages():
        files.append(File.generated(config, address, content=text))
    return files
