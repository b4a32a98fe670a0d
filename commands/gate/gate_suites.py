"""Runs the suites of a baseline, as `elrcheck suite` does, and compares."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from elrcheck.base.errors import ElrError
from elrcheck.base.progress import Progress
from elrcheck.base.proof_requests import GateRequest
from elrcheck.checking.baseline.suite_entry import SuiteEntry
from elrcheck.checking.suite.suite import run_suite
from elrcheck.commands.gate.gate_diff import entry_verdict
from elrcheck.commands.gate.suite_diff import suite_differences
from elrcheck.results.gate_report import Difference, GatedSuite
from elrcheck.results.suite_report import SuiteReport


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
