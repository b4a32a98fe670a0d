"""The HTML page of every kind of report: its parts and the card on top, in one table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from elrcheck.base.roundtrip import Record
from elrcheck.report.document import Document, document_of, judged, kind_of
from elrcheck.report.documents.suite_document import summary, value_text
from elrcheck.report.html.html_audit import audit_parts
from elrcheck.report.html.html_card import (
    SWEEP_TONES,
    Card,
    assess_card,
    audit_card,
    check_card,
    gate_card,
    mutate_card,
    no_card,
    prove_card,
    risk_card,
    suite_card,
    sweep_card,
)
from elrcheck.report.html.html_charts import PROOF_SIGNS
from elrcheck.report.html.html_page import (
    case_parts,
    check_parts,
    exploration_parts,
    gate_parts,
    html_page,
    prove_parts,
)
from elrcheck.report.html.html_part import HtmlPage, PagePart
from elrcheck.report.html.html_risk import assess_parts, risk_parts
from elrcheck.report.html.html_traces import explain_parts, replay_parts, simulation_parts, trace_parts
from elrcheck.report.html.page_template import whole_page
from elrcheck.report.sweep_matrix import MEANINGS, SIGNS, detail, matrices
from elrcheck.results.any_report import Report
from elrcheck.results.audit_report import AuditReport
from elrcheck.results.check_report import CheckReport
from elrcheck.results.exploration_report import ExploreReport, SimulationReport
from elrcheck.results.gate_report import GateReport
from elrcheck.results.mutation_report import MutateReport
from elrcheck.results.prove_report import ProveReport
from elrcheck.results.risk.assess_report import AssessReport
from elrcheck.results.risk.risk_report import RiskReport
from elrcheck.results.suite_report import ROW_VERDICTS, SuiteReport, SweepReport
from elrcheck.results.trace_reports import ExplainReport, ReplayReport, TraceReport


class PageKind(Record, frozen=True):
    """How the page of a report is made."""

    parts: Callable[[Any, Document], Iterable[PagePart]] = case_parts
    card: Callable[[Any], Card] = no_card
    """The card on top."""


PAGES: Mapping[type[Report], PageKind] = {
    CheckReport: PageKind(check_parts, check_card),
    ProveReport: PageKind(prove_parts, prove_card),
    AuditReport: PageKind(audit_parts, audit_card),
    RiskReport: PageKind(risk_parts, risk_card),
    AssessReport: PageKind(assess_parts, assess_card),
    MutateReport: PageKind(card=mutate_card),
    SimulationReport: PageKind(simulation_parts),
    ExploreReport: PageKind(exploration_parts),
    SuiteReport: PageKind(card=suite_card),
    GateReport: PageKind(gate_parts, gate_card),
    ReplayReport: PageKind(replay_parts),
    TraceReport: PageKind(trace_parts),
    ExplainReport: PageKind(explain_parts),
}
"""Report -> its page; every other report has a page of its cases."""


def page_kind(report: Report) -> PageKind:
    """Return how the page of a report is made; a result of the Python API is a report, too."""
    return next((PAGES[base] for base in type(report).__mro__ if base in PAGES), PageKind())


def page_of(report: Report) -> HtmlPage:
    """Return the page of a report; raise UsageFault for one that has none."""
    document = judged(report) if kind_of(report).sheet is None else document_of(report)
    kind = page_kind(report)
    return html_page(document, kind.parts(report, document), kind.card(report))


def to_html(report: Report) -> str:
    """Return the page of a report as one self-contained HTML file, with all texts escaped."""
    if isinstance(report, SweepReport):
        return _sweep_page(report)
    return whole_page("report.html.j2", page=page_of(report), signs=PROOF_SIGNS)


def _sweep_page(report: SweepReport) -> str:
    return whole_page(
        "sweep.html.j2",
        report=report,
        card=sweep_card(report),
        tone=SWEEP_TONES.get(report.verdict, "undecided"),
        matrices=matrices(report),
        legend=[(v, SIGNS[v], MEANINGS[v]) for v in ROW_VERDICTS if report.count(v)],
        in_words=summary(report),
        signs=SIGNS,
        detail=detail,
        shown=value_text,
    )
