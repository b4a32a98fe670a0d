"""The formats of a report: names, file extensions and renderers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from elrcheck.base.printable import printable_report

if TYPE_CHECKING:  # help and completion read the names of the formats only
    from elrcheck.report.document import Block
    from elrcheck.results.any_report import Report

PLAIN = ("text", "json", "jsonl")
"""Formats of every report."""
LISTS = ("junit", "github", "markdown", "html")
"""Formats for a report that is a list of cases."""
LOCATED = ("sarif",)
"""Formats that also need the source locations of the cases."""
MEASURED = ("prometheus",)
"""Formats for a report with numbers for a monitor."""
EVERY = (*PLAIN, *LISTS, *LOCATED, *MEASURED)
FORMATS: Mapping[str, str] = {
    "text": "Plain text for people; every command with a report.",
    "json": "One document (.json), schema in docs/schemas of the package; every command with a report.",
    "jsonl": "JSON Lines: head, one line per element, verdict (.jsonl); every command with a report, except sweep.",
    "junit": "JUnit XML, a suite per configuration, a case per judgement (.xml); check, suite, gate, replay,"
    " model diff, prove, conform, assess, audit, reproduce, mutate.",
    "github": "GitHub annotations, step summary; check, suite, gate, replay, model diff, prove, conform, assess, audit,"
    " reproduce, mutate.",
    "markdown": "Tables, traces, sequence diagrams (.md); check, sweep, suite, gate, replay, model diff,"
    " prove, conform, assess, audit, reproduce, mutate.",
    "html": "One page (.html); risk, check, simulate, explore, sweep, suite, gate, replay,"
    " explain, prove, conform, assess, audit, mutate.",
    "sarif": "SARIF 2.1.0, findings with their places (.sarif); check, prove, gate, assess, audit.",
    "prometheus": "Gauges for the text file collector of Prometheus (.prom); assess, audit.",
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
    ".prom": "prometheus",
}
ENDINGS: Mapping[str, str] = {**SUFFIXES, ".csv": "csv", ".parquet": "parquet"}
"""The same, with the formats of a sweep."""


def blocks(report: Report, detail: int = 0) -> Sequence[Block]:
    """Return the text of a report. detail: below 0 only findings and the verdict, above 0 all details."""
    from elrcheck.report.document import kind_of

    return tuple(kind_of(report).blocks(printable_report(report), detail))


def render(report: Report, form: str, detail: int = 0, workspace: Path = Path(), exit_zero: bool = False) -> str:
    """Render the report in one format, without colours.

    workspace: where `github` and `sarif` look for files. exit_zero: the command exits with 0 for a finding.
    """
    from elrcheck.results.suite_report import SweepReport

    match form:
        case "json" | "jsonl":
            from elrcheck.report.json_report import to_json, to_jsonl

            return to_json(report) if form == "json" else to_jsonl(report)
        case "markdown" if isinstance(report, SweepReport):
            from elrcheck.report.sweep_matrix import sweep_markdown

            return sweep_markdown(printable_report(report))
        case "html":
            from elrcheck.report.report_pages import to_html

            return to_html(printable_report(report))
        case "junit" | "github" | "markdown" | "sarif" | "prometheus":
            return _render_judgements(report, form, workspace, exit_zero)
    from elrcheck.report.terminal import plain_text

    return plain_text(blocks(report, detail))


def _render_judgements(report: Report, form: str, workspace: Path, exit_zero: bool) -> str:
    from msgspec.structs import replace

    from elrcheck.report.document import judged

    # SARIF makes its document printable itself: a URI needs the name of a file as it is.
    document = replace(judged(report if form == "sarif" else printable_report(report)), exit_zero=exit_zero)
    match form:
        case "junit":
            from elrcheck.report.ci.junit import to_junit

            return to_junit(document)
        case "github":
            from elrcheck.report.ci.github import to_github

            return to_github(document, workspace)
        case "sarif":
            from elrcheck.report.ci.sarif import to_sarif

            return to_sarif(document, workspace)
        case "prometheus":
            from elrcheck.report.ci.prometheus import to_prometheus

            return to_prometheus(document)
    from elrcheck.report.ci.markdown import to_markdown

    return to_markdown(document)
