"""Converts a replayed trace to a case: accepted, or refused at a step."""

from __future__ import annotations

from elrcheck.report.ci.sheet import Case, Sheet, Suite
from elrcheck.report.terminal import plain_text
from elrcheck.report.text.text_trace_reports import print_replay
from elrcheck.results.trace_reports import ReplayReport


def replay_sheet(report: ReplayReport) -> Sheet:
    """One suite for the model, one case for the file."""
    origin, found = report.origin, report.rejection
    followed = f"the model accepts {report.accepted} of {report.states} states"
    message = "" if found is None else f"step {found.step}: {found.reason}"
    case = Case(
        id=origin.source,
        name=origin.source,
        outcome="passed" if found is None else "failed",
        verdict=report.verdict,
        message=message,
        text="" if found is None else plain_text(lambda page: print_replay(report, page)),
        place=origin.source,
        trace=report.trace,
        rule="replay",
    )
    brokers = origin.config.get("broker_count")
    suite = Suite(
        f"{origin.variant}, {origin.scope}",
        (case,),
        brokers if isinstance(brokers, int) else 0,
        facts=(("format", origin.format or ""),),
    )
    summary = f"{origin.variant}, {origin.scope}: {followed}"
    return Sheet("replay", report.verdict, summary, report.exit_code, (suite,))
