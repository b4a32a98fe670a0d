"""Renders judgements as GitHub-flavoured Markdown: verdict, one table per suite, one diagram per trace."""

from __future__ import annotations

import re
from collections.abc import Iterator

from elrcheck.report.document import OUTCOMES, Case, Document, Suite
from elrcheck.report.mermaid import mermaid
from elrcheck.report.terminal import full_text

_MARKS = {"passed": "✅", "failed": "❌", "undecided": "⚠️"}
_MOST_CASES = 200
"""Maximum number of cases in a table: a proof has thousands, and usually all pass."""


def to_markdown(document: Document) -> str:
    """Render the document, with a final newline."""
    lines = [f"# elrcheck {document.command}: {document.verdict}", "", escape(document.sheet.summary), ""]
    lines += [f"> {escape(note)}" for note in document.sheet.remarks]
    for suite in document.sheet.suites:
        lines += ["", *_suite(suite)]
    text = "\n".join(lines)
    return re.sub(r"\n{3,}", "\n\n", text).rstrip("\n") + "\n"


def _suite(suite: Suite) -> Iterator[str]:
    yield f"## {escape(suite.name)}"
    yield ""
    if suite.facts:
        yield from _table(("", ""), suite.facts)
    judged = ", ".join(f"{number} {word}" for word in OUTCOMES if (number := suite.count(word)))
    yield f"{judged or 'nothing judged'}."
    yield ""
    listed = suite.cases
    if len(listed) > _MOST_CASES:
        listed = tuple(case for case in listed if case.outcome != "passed")
    if listed:
        rows = tuple(
            (f"{_mark(case)} {case.title}", case.verdict, case.source or case.place or "")
            for case in listed[:_MOST_CASES]
        )
        yield from _table(("", "verdict", "source"), rows)
    for case in suite.cases:
        if case.outcome == "failed":
            yield from _failure(case, suite.brokers)


def _mark(case: Case) -> str:
    return _MARKS["undecided" if case.advisory else case.outcome]


def _failure(case: Case, brokers: int) -> Iterator[str]:
    yield f"### {escape(case.title)}: {escape(case.verdict)}"
    yield ""
    yield escape(case.message)
    yield ""
    if case.text:
        yield from _fenced("text", full_text(case))
    if case.trace is not None and case.trace.steps:
        yield from _fenced("mermaid", mermaid(case.trace, brokers))


def _fenced(language: str, text: str) -> Iterator[str]:
    """Yield a code block whose fence is longer than any fence inside it."""
    longest = max((len(marks) for marks in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * max(3, longest + 1)
    yield f"{fence}{language}"
    yield text.rstrip("\n")
    yield fence
    yield ""


def _table(head: tuple[str, ...], rows: tuple[tuple[str, ...], ...]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'|'.join('---' for _ in head)}|"
    for row in rows:
        yield f"| {' | '.join(escape(cell) for cell in row)} |"
    yield ""


def escape(text: str) -> str:
    """Escape text as one line without Markdown syntax."""
    return re.sub(r"([\\`*_\[\]<>|&~])", r"\\\1", " ".join(text.splitlines()))
