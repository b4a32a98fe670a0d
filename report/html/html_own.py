"""HTML pages of reports that show more than a list of cases."""

from __future__ import annotations

from elrcheck.report.html.html_audit import audit_parts, audit_summary
from elrcheck.report.html.html_exploration import exploration_part, summary
from elrcheck.report.html.html_part import HtmlPage
from elrcheck.report.html.html_risk import risk_page
from elrcheck.report.html.html_traces import explain_part, replay_part, simulation_part
from elrcheck.results.any_report import Report
from elrcheck.results.audit_report import AuditReport
from elrcheck.results.exploration_report import ExploreReport
from elrcheck.results.risk.risk_report import RiskReport
from elrcheck.results.simulation_report import SimulationReport
from elrcheck.results.trace_reports import ExplainReport, ReplayReport

TONES = {0: "passed", 1: "failed"}


def own_page(report: Report) -> HtmlPage | None:
    """Builds the page; None for a report that is shown as a list of cases or has no page."""
    if isinstance(report, AuditReport):
        tone = TONES.get(int(report.exit_code), "undecided")
        notes = ("Interrupted: this is what was read until then.",) if report.interrupted else ()
        return HtmlPage("audit", report.verdict, tone, audit_summary(report), notes, audit_parts(report))
    if isinstance(report, RiskReport):
        return risk_page(report)
    match report:
        case ExploreReport():
            command, subtitle, part = "explore", summary(report), exploration_part("x1", report)
        case ReplayReport():
            accepted = f"the model accepts {report.accepted} of {report.states} states"
            subtitle = f"{report.origin.source}: {accepted}"
            command, part = "replay", replay_part("r1", report)
        case SimulationReport():
            subtitle = f"{report.variant}, {report.scope}: {report.search.walks:,} random walks"
            command, part = "simulate", simulation_part("s1", report)
        case ExplainReport():
            subtitle = f"{report.origin.variant}, {report.origin.scope}: state {report.at} of {report.steps}"
            command, part = "explain", explain_part("w1", report)
        case _:
            return None
    tone = TONES.get(int(report.exit_code), "undecided")
    return HtmlPage(command, report.verdict, tone, subtitle, (), (part,))
