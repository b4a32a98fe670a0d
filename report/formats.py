"""The formats of a report: names, file extensions and renderers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from elrcheck.base.printable import printable_report

if TYPE_CHECKING:
    from elrcheck.results.any_report import Report

PLAIN = ("text", "json", "jsonl")
"""Formats of every report."""
LISTS = ("junit", "github", "markdown", "html")
"""Formats for a report that is a list of cases."""
LOCATED = ("sarif",)
"""Formats that also need the source locations of the cases."""
EVERY = (*PLAIN, *LISTS, *LOCATED)
FORMATS: Mapping[str, str] = {
    "text": "Plain text for people; every command with a report.",
    "json": "One document (.json), schema in docs/schemas of the package; every command with a report.",
    "jsonl": "JSON Lines: head, one line per element, verdict (.jsonl); every command with a report.",
    "junit": "JUnit XML, a case a judgement (.xml); check, suite, gate, replay, prove, conform, audit,"
    " reproduce, mutate.",
    "github": "GitHub annotations, step summary; check, suite, gate, replay, prove, conform, audit, reproduce, mutate.",
    "markdown": "Tables, traces (.md); check, sweep, suite, gate, replay, prove, conform, audit, reproduce, mutate.",
    "html": "One page (.html); risk, check, simulate, explore, sweep (a matrix), suite, gate, replay,"
    " explain, prove, conform, audit, mutate.",
    "sarif": "SARIF 2.1.0, findings with their places (.sarif); check, prove, gate, audit.",
    "csv": "One row per configuration (.csv); sweep.",
    "parquet": "The same as a Parquet file (.parquet); sweep -o.",
    "trace": "A stored trace, as check writes it (.trace.json); trace --as.",
    "tla": "A TLA+ module that TLC confirms or rejects; export trace, trace --as.",
    "itf": "Informal Trace Format of Apalache and Quint; export trace, trace --as.",
    "mermaid": "A sequence diagram; export trace, trace --as.",
    "dot": "Graphviz: a trace or the state graph; export trace, trace --as, explore --graph.",
    "svg": "A picture of the state graph of a small scope; explore --graph.",
    "graphml": "The state graph for networkx, yEd and others; explore --graph.",
}
"""Every output format, and the commands that write it."""
SUFFIXES: Mapping[str, str] = {
    ".json": "json",
    ".jsonl": "jsonl",
    ".xml": "junit",
    ".md": "markdown",
    ".sarif": "sarif",
    ".html": "html",
}


def render(report: Report, form: str, detail: int = 0, workspace: Path = Path()) -> str:
    """Renders the report in one format, without colours. workspace: for `github`, the job's repository."""
    match form:
        case "json":
            from elrcheck.report.json_report import to_json

            return to_json(report)
        case "jsonl":
            from elrcheck.report.json_report import to_jsonl

            return to_jsonl(report)
        case "html":
            from elrcheck.report.html.html_report import to_html

            return to_html(printable_report(report))
        case "junit" | "github" | "markdown" | "sarif":
            return _render_sheet(report, form, workspace)
    from elrcheck.report.terminal import plain_text
    from elrcheck.report.text.text_report import print_report

    return plain_text(lambda page: print_report(report, page, detail))


def _render_sheet(report: Report, form: str, workspace: Path) -> str:
    from elrcheck.report.ci.sheets import sheet_of

    # SARIF makes its document printable itself: a URI needs the name of a file as it is.
    sheet = sheet_of(report if form == "sarif" else printable_report(report))
    match form:
        case "junit":
            from elrcheck.report.ci.junit import to_junit

            return to_junit(sheet)
        case "github":
            from elrcheck.report.ci.github import to_github

            return to_github(sheet, workspace)
        case "sarif":
            from elrcheck.report.ci.sarif import to_sarif

            return to_sarif(sheet)
    from elrcheck.report.ci.markdown import to_markdown

    return to_markdown(sheet)
