"""The formats of a report: their names, the file endings that mean them, and which renderer makes them."""

from __future__ import annotations

from collections.abc import Mapping

from elrcheck.report.model import Report

PLAIN = ("text", "json", "jsonl")
"""Formats of every report."""
LISTS = ("junit", "github", "markdown", "html")
"""Formats of a report that is a list of cases."""
LOCATED = ("sarif",)
"""Formats that also need to know where the cases are written."""
EVERY = (*PLAIN, *LISTS, *LOCATED)
SUFFIXES: Mapping[str, str] = {
    ".json": "json",
    ".jsonl": "jsonl",
    ".xml": "junit",
    ".md": "markdown",
    ".sarif": "sarif",
    ".html": "html",
}


def render(report: Report, form: str, detail: int = 0) -> str:
    """The report as a text of its own, without colours."""
    match form:
        case "json":
            from elrcheck.report.json import to_json

            return to_json(report)
        case "jsonl":
            from elrcheck.report.jsonl import to_jsonl

            return to_jsonl(report)
        case "html":
            from elrcheck.report.html import to_html

            return to_html(report)
        case "junit" | "github" | "markdown" | "sarif":
            return _render_sheet(report, form)
    from elrcheck.report.terminal import plain_text
    from elrcheck.report.text import print_report

    return plain_text(lambda page: print_report(report, page, detail))


def _render_sheet(report: Report, form: str) -> str:
    from elrcheck.report.sheets import sheet_of

    sheet = sheet_of(report)
    match form:
        case "junit":
            from elrcheck.report.junit import to_junit

            return to_junit(sheet)
        case "github":
            from elrcheck.report.github import to_github

            return to_github(sheet)
        case "sarif":
            from elrcheck.report.sarif import to_sarif

            return to_sarif(sheet)
    from elrcheck.report.markdown import to_markdown

    return to_markdown(sheet)
