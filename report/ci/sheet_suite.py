"""The cases of `suite`: one for each configuration."""

from __future__ import annotations

from collections.abc import Mapping

from elrcheck.report.ci.sheet import Case, Outcome, Sheet, Suite
from elrcheck.report.plain_words import several
from elrcheck.results.suite_report import SuiteReport, SuiteRun


def suite_sheet(report: SuiteReport) -> Sheet:
    families: dict[str, list[SuiteRun]] = {}
    for run in report.runs:
        families.setdefault(run.name.partition("/")[0], []).append(run)
    suites = tuple(
        Suite(name, tuple(run_case(run) for run in runs), seconds=sum(run.seconds for run in runs))
        for name, runs in families.items()
    )
    odd = sum(not run.as_expected for run in report.runs)
    summary = f"{several(len(report.runs), 'configuration')}, {odd} not as expected, {report.seconds:.1f} s"
    notes = tuple(f"no run reaches {ident}" for ident in report.witnesses)
    return Sheet("suite", report.verdict, summary, report.exit_code, suites, notes)


def run_case(run: SuiteRun) -> Case:
    undecided: Mapping[str, Outcome] = {"inconclusive": "undecided", "failed": "undecided"}
    outcome: Outcome = "passed"
    if not run.as_expected:
        odd = any(not found.explained for found in run.violations)
        decided = run.dead or run.recorded is not None or odd
        outcome = "failed" if decided else undecided.get(run.verdict, "undecided")
    broken = ", ".join(found.id for found in run.violations if found.found)
    message = "; ".join(run.problems)
    text = "\n".join([*run.problems, run.command]) if message else ""
    verdict = run.verdict + (f": {broken}" if broken else "")
    return Case(run.name, run.name, outcome, verdict, message, text, seconds=run.seconds)
