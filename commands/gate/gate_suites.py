"""Runs the suites of a baseline, as `elrcheck suite` does, and compares with it and with the explanations of the suite.

A violation without an explanation, and an explanation without its violation, are differences even if the baseline
records them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from elrcheck.base.errors import ElrError
from elrcheck.base.progress import Progress
from elrcheck.base.proof_requests import GateRequest
from elrcheck.base.typed.records import natural
from elrcheck.checking.baseline import RUN_COUNTS, ExpectedRun, SuiteEntry, recorded_runs
from elrcheck.checking.suite.suite import run_suite
from elrcheck.commands.gate.gate_diff import ABSENT, COUNT_WORDS, entry_verdict, in_order
from elrcheck.results.gate_report import Difference, GatedSuite
from elrcheck.results.suite_report import SuiteReport, SuiteRun


def run_gated(entry: SuiteEntry, patch: Path | None, request: GateRequest, progress: Progress) -> SuiteReport:
    """Return the report of the suite's configurations; raise KeyboardInterrupt if it is partial.

    patch: a diff of its model.
    """
    try:
        suite_request = entry.request(request.baseline, request.workers, patch)
        report = run_suite(suite_request, progress)
    except ElrError as fault:
        fault.where = fault.where or f"{entry.place} ({entry.name})"
        raise
    if report.interrupted:
        raise KeyboardInterrupt
    return report


def gated(entry: SuiteEntry, report: SuiteReport, fail_on: Sequence[str], update: bool) -> GatedSuite:
    """Return the comparison of a suite with its entry. An unexplained violation fails even an update."""
    every = suite_differences(entry.expected or {}, report, fail_on)
    if entry.expected is None:
        held = sum(run.as_expected for run in report.runs)
        summary = f"{len(report.runs)} configurations, {held} as expected"
        new = Difference("suite", entry.name, "nothing recorded", summary, "new", False, not update)
        every = (new, *(one for one in every if one.kind != "new"))
    verdict = entry_verdict(every)
    if update:
        verdict = "drift" if report.verdict == "unexpected" else "same"
    return GatedSuite(entry.name, entry.place, verdict, every, report)


UNDECIDED = ("inconclusive", "failed")


def suite_differences(
    expected: Mapping[str, ExpectedRun], report: SuiteReport, fail_on: Sequence[str]
) -> tuple[Difference, ...]:
    """Return all differences, the most informative first; the subject of each is a configuration."""
    current = recorded_runs(report)
    every = [one for run in report.runs for one in _unexplained(run)]
    for name in sorted({*expected, *current}, key=natural):
        was, now = expected.get(name), current.get(name)
        if was is None and now is not None:
            every.append(Difference(name, name, ABSENT, now.verdict, "new", bool(now.violated)))
        elif now is None and was is not None:
            every.append(Difference(name, name, was.verdict, ABSENT, "verdict", True))
        elif was is not None and now is not None:
            every += _run(name, was, now, fail_on)
    return in_order(every, fail_on)


def _unexplained(run: SuiteRun) -> Iterator[Difference]:
    """Yield every mismatch between a run and the explanations in the suite."""
    for one in run.violations:
        if one.found and not one.expected:
            text = f"violated at depth {one.depth}"
            yield Difference(run.name, f"{run.name}: {one.id}", "explained", text, "violated", True)
        elif not one.found:
            text = f"{run.name}: {one.id}"
            yield Difference(run.name, text, "violated, as the suite explains", "holds", "verdict", True)
    for ident in run.dead:
        yield Difference(run.name, f"{run.name}: {ident}", "reached", "unreached", "witness", True)


def _run(name: str, was: ExpectedRun, now: ExpectedRun, fail_on: Sequence[str]) -> Iterator[Difference]:
    undecided = now.verdict in UNDECIDED
    if undecided and (was.verdict != now.verdict or "inconclusive" in fail_on):
        worse = was.verdict != now.verdict
        yield Difference(name, name, was.verdict, now.verdict, "inconclusive", worse)
    for ident in sorted({*was.violated, *now.violated}, key=natural):
        before, after = was.violated.get(ident), now.violated.get(ident)
        if after is not None and (before != after or "violated" in fail_on):
            worse = before is None
            yield Difference(name, f"{name}: {ident}", _format_depth(before), _format_depth(after), "violated", worse)
        elif after is None and not undecided:
            yield Difference(name, f"{name}: {ident}", _format_depth(before), _format_depth(after), "verdict", False)
    for count in RUN_COUNTS:
        if was.counts[count] != now.counts[count]:
            before, after = was.counts[count], now.counts[count]
            what = f"{name}, {COUNT_WORDS[count]}"
            yield Difference(name, what, str(before), str(after), "count", False)


def _format_depth(depth: int | None) -> str:
    return "holds" if depth is None else f"violated at depth {depth}"
