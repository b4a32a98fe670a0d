"""A replayed scenario as text: the story of each run, then one line per variant.

Variants with the same story share one listing; where a later run begins like an earlier one, the common steps
are not repeated.
"""

from __future__ import annotations

import textwrap

from elrcheck.report.terminal import Page
from elrcheck.results.scenario_report import Mismatch, RunReport, ScenarioReport, StoryReport

WIDTH = 96
_WORD = {"as_expected": "ok", "unexpected": "fail", "pending": "pending"}


def print_scenario(report: ScenarioReport, page: Page, detail: int = 0) -> None:
    """detail: below 0 only the verdicts."""
    page.line(f"{report.id}  {report.title}", style="bold")
    page.line(f"source  {report.source}")
    if report.about and detail >= 0:
        page.line()
        for line in report.about.splitlines():
            page.line(line)
    page.line()
    if detail >= 0:
        _print_stories(report.runs, page, detail)
    page.table(
        ("run", "expected", "is", ""),
        ((run.label, run.expected, run.actual, _WORD[run.verdict]) for run in report.runs),
    )
    findings = {run.label: _findings(run, detail) for run in report.runs}
    for lines in dict.fromkeys(lines for lines in findings.values() if lines):
        page.line(", ".join(label for label, found in findings.items() if found == lines))
        for line in lines:
            page.line(f"      {line}")
    if report.pending:
        page.labelled("pending", report.pending)
    if report.run_dir:
        page.labelled("run", report.run_dir)
    page.verdict_line(_WORD[report.verdict], f"{report.id}: {_count(report.runs)}")


def _count(runs: tuple[RunReport, ...]) -> str:
    words = {"as_expected": "as expected", "unexpected": "not as expected", "pending": "pending"}
    counts = [(sum(run.verdict == verdict for run in runs), word) for verdict, word in words.items()]
    return ", ".join(f"{number} of {len(runs)} runs {word}" for number, word in counts if number)


def _print_stories(runs: tuple[RunReport, ...], page: Page, detail: int) -> None:
    shown: list[RunReport] = []
    for run in runs:
        if not run.steps or any(_same(run.steps, other.steps) == len(run.steps) for other in shown):
            continue
        alike = [other.label for other in runs if other.steps == run.steps]
        page.line("Story of " + ", ".join(alike), style="bold")
        skipped = max((_same(run.steps, other.steps) for other in shown), default=0) if detail == 0 else 0
        if skipped:
            page.line(f"  1 to {skipped}: as above" if skipped > 1 else "  1: as above")
        for step in run.steps[skipped:]:
            page.line(f"  {step.index:<3} {step.note}" if step.note else f"  {step.index}")
            for line in textwrap.wrap("  ".join(a.replace(" ", "\0") for a in step.actions), WIDTH):
                page.line("        " + line.replace("\0", " "))
            page.line(f"      = {step.state}")
        page.line()
        shown.append(run)


def _same(a: tuple[StoryReport, ...], b: tuple[StoryReport, ...]) -> int:
    """The number of initial steps that two stories have in common."""
    number = 0
    for one, other in zip(a, b, strict=False):
        if one != other:
            break
        number += 1
    return number


def _findings(run: RunReport, detail: int) -> tuple[str, ...]:
    """Lines about a run besides its verdict."""
    lines = [_wrong(one) for one in run.mismatches]
    unnamed = [f"{key}={value}" for key, value in run.knobs.items() if f"{key}=" not in run.label]
    lines += [f"with {' '.join(unnamed)}"] if unnamed else []
    if detail > 0:
        lines += [
            f"{one.id} is violated in step {one.step}: {one.conjunct or one.name}"
            + (f" ({one.witness})" if one.witness else "")
            for one in run.broken
        ]
    lines += [f"{prop} holds, contrary to the source: {why}" for prop, why in run.disputed.items()]
    lines += [f"trace {path}" for path in run.traces if detail > 0]
    if run.pending:
        lines.append(f"pending: {run.pending}")
    return tuple(lines)


def _wrong(one: Mismatch) -> str:
    where = "" if one.step is None else f"step {one.step}: "
    return f"{where}{one.what}: expected {one.expected}, got {one.actual}"
