"""A replayed scenario as text: the story of each run, then one line per variant.

Variants with the same story share one listing; where a later run begins like an earlier one, the common steps
are not repeated.
"""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Iterator

from elrcheck.report.document import Block, Headline, Labelled, Line, ReportKind, ReportKinds, Table
from elrcheck.results.scenario_report import Mismatch, RunReport, ScenarioReport, StoryReport

WIDTH = 96
_WORD = {"as_expected": "ok", "unexpected": "fail", "pending": "pending"}


def scenario_blocks(report: ScenarioReport, detail: int = 0) -> Iterator[Block]:
    """Yield the blocks of the report. detail: below 0 only the verdicts."""
    yield Line(f"{report.id}  {report.title}", style="bold")
    yield Line(f"source  {report.source}")
    if report.about and detail >= 0:
        yield Line()
        for line in textwrap.wrap(report.about, WIDTH):
            yield Line(line)
    yield Line()
    if detail >= 0:
        yield from _stories(report.runs, detail)
    yield Table(
        ("run", "expected", "is", ""),
        [(run.label, run.expected, run.actual, _WORD[run.verdict]) for run in report.runs],
    )
    findings = {run.label: _findings(run, detail) for run in report.runs}
    for lines in dict.fromkeys(lines for lines in findings.values() if lines):
        yield Line(", ".join(label for label, other in findings.items() if other == lines))
        for line in lines:
            yield Line(f"      {line}")
    if report.pending:
        yield Labelled("pending", report.pending)
    if report.run_dir:
        yield Labelled("run", report.run_dir)
    yield Headline(_WORD[report.verdict], f"{report.id}: {_count(report.runs)}")


def _count(runs: tuple[RunReport, ...]) -> str:
    words = {"as_expected": "as expected", "unexpected": "not as expected", "pending": "pending"}
    counts = [(sum(run.verdict == verdict for run in runs), word) for verdict, word in words.items()]
    return ", ".join(f"{number} of {len(runs)} runs {word}" for number, word in counts if number)


def _stories(runs: tuple[RunReport, ...], detail: int) -> Iterator[Block]:
    printed: list[RunReport] = []
    for run in runs:
        if not run.steps or any(_common(run.steps, other.steps) == len(run.steps) for other in printed):
            continue
        alike = [other.label for other in runs if other.steps == run.steps]
        yield Line("Story of " + ", ".join(alike), style="bold")
        skipped = max((_common(run.steps, other.steps) for other in printed), default=0) if detail == 0 else 0
        if skipped:
            yield Line(f"  1 to {skipped}: as above" if skipped > 1 else "  1: as above")
        for step in run.steps[skipped:]:
            yield Line(f"  {step.index:<3} {step.note}" if step.note else f"  {step.index}")
            for line in textwrap.wrap("  ".join(a.replace(" ", "\0") for a in step.actions), WIDTH):
                yield Line("        " + line.replace("\0", " "))
            yield Line(f"      = {step.state}")
        yield Line()
        printed.append(run)


def _common(a: tuple[StoryReport, ...], b: tuple[StoryReport, ...]) -> int:
    """Return the number of initial steps that two stories share."""
    return len(list(itertools.takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False))))


def _findings(run: RunReport, detail: int) -> tuple[str, ...]:
    """Return lines about a run besides its verdict."""
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


KINDS: ReportKinds = {ScenarioReport: ReportKind("show E-1", scenario_blocks)}
