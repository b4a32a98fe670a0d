"""Renders judgements as GitHub-flavoured Markdown: verdict, one table per suite, one diagram per trace.

A suite with failures comes first. Many advisory cases, such as the findings of a release, are folded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from elrcheck.report.document import Case, Document, Suite, path_below
from elrcheck.report.terminal import full_text
from elrcheck.report.trace_diagrams import mermaid

_MARKS = {"passed": "✅", "failed": "❌", "undecided": "⚠️"}
_MOST_OPEN = 3
"""Advisory cases of a suite that are not folded."""
_MOST_CASES = 200
"""Maximum number of cases in a table: a proof has thousands, and usually all pass."""


def to_markdown(document: Document) -> str:
    """Render the document, with a final newline."""
    lines = [f"# elrcheck {document.command}: {document.word}", "", escape(document.sheet.summary), ""]
    lines += [f"The command {escape(document.outcome)}.", ""] if document.sheet.judges else []
    lines += [f"> {escape(note)}" for note in document.sheet.remarks]
    for suite in sorted(document.sheet.suites, key=lambda suite: not any(case.fails for case in suite.cases)):
        lines += ["", *_suite(suite)]
    text = "\n".join(lines)
    return re.sub(r"\n{3,}", "\n\n", text).rstrip("\n") + "\n"


def _suite(suite: Suite) -> Iterator[str]:
    yield f"## {escape(suite.name)}"
    yield ""
    if suite.facts:
        yield from _table(("", ""), suite.facts)
    advisory = [case for case in suite.cases if case.advisory]
    failed = suite.count("failed") - len(advisory)
    numbers = {"passed": suite.count("passed"), "failed": failed, "undecided": suite.count("undecided")}
    judged = [f"{number} {word}" for word, number in numbers.items() if number]
    folded = advisory if len(advisory) > _MOST_OPEN else []
    tolerated = f"{len(advisory)} that the command does not fail for"
    judged += [tolerated] if advisory and not folded else []
    if judged or not folded:
        yield f"{', '.join(judged) or 'nothing judged'}."
        yield ""
    listed = [case for case in suite.cases if case not in folded]
    if len(listed) > _MOST_CASES:
        listed = [case for case in listed if case.outcome != "passed"]
    if listed:
        yield from _cases(listed)
    if folded:
        yield f"<details><summary>{tolerated}</summary>"
        yield ""
        advice = tuple((f"{_mark(case)} {case.title}", case.verdict, case.help) for case in folded[:_MOST_CASES])
        yield from _table(("", "verdict", "what to do"), advice)
        yield "</details>"
    for case in suite.cases:
        if case.fails:
            yield from _failure(case, suite.brokers)


def _cases(cases: Sequence[Case]) -> Iterator[str]:
    rows = tuple((f"{_mark(case)} {case.title}", case.verdict, _where(case)) for case in cases[:_MOST_CASES])
    yield from _table(("", "verdict", "source"), rows)


def _where(case: Case) -> str:
    """Return the place of a case, from the working directory if it is below."""
    place = case.source or case.place or ""
    return path_below(Path(), place) or place


def _mark(case: Case) -> str:
    return _MARKS["undecided" if case.advisory else case.outcome]


def _failure(case: Case, brokers: int) -> Iterator[str]:
    yield f"### {escape(case.title)}: {escape(case.verdict)}"
    yield ""
    if not isinstance(case.text, str) or case.text.partition("\n")[0] not in case.message:
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
