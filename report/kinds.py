"""Every kind of report, in one table: the command that makes it, its blocks, its judgements, and its page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from elrcheck.base.errors import UsageFault
from elrcheck.base.roundtrip import Record
from elrcheck.report.document import Block, Document, Sheet
from elrcheck.report.documents.audit_document import audit_blocks, audit_sheet
from elrcheck.report.documents.certificate_document import certificate_blocks, certificate_sheet
from elrcheck.report.documents.check_document import check_blocks, check_sheet
from elrcheck.report.documents.conform_document import conform_blocks, conform_sheet
from elrcheck.report.documents.controller_document import controller_blocks, controller_sheet
from elrcheck.report.documents.coverage_document import coverage_blocks
from elrcheck.report.documents.explain_document import explain_blocks, explain_sheet
from elrcheck.report.documents.exploration_document import exploration_blocks, exploration_sheet
from elrcheck.report.documents.gate_document import gate_blocks, gate_sheet
from elrcheck.report.documents.mutation_document import mutate_blocks, mutate_sheet
from elrcheck.report.documents.proof_document import prove_blocks, prove_sheet
from elrcheck.report.documents.reproduction_document import reproduction_blocks, reproduction_sheet
from elrcheck.report.documents.risk_document import risk_blocks, risk_sheet
from elrcheck.report.documents.scenario_document import scenario_blocks
from elrcheck.report.documents.simulation_document import simulation_blocks, simulation_sheet
from elrcheck.report.documents.suite_document import suite_blocks, suite_sheet
from elrcheck.report.documents.sweep_document import sweep_blocks
from elrcheck.report.documents.tlc_document import tlc_blocks
from elrcheck.report.documents.trace_document import replay_blocks, replay_sheet, trace_diff_blocks, trace_report_blocks
from elrcheck.report.html.html_audit import audit_parts
from elrcheck.report.html.html_card import (
    Card,
    audit_card,
    check_card,
    gate_card,
    mutate_card,
    no_card,
    prove_card,
    risk_card,
    suite_card,
)
from elrcheck.report.html.html_exploration import exploration_parts
from elrcheck.report.html.html_page import case_parts, check_parts, gate_parts, html_page, prove_parts
from elrcheck.report.html.html_part import HtmlPage, PagePart
from elrcheck.report.html.html_risk import risk_parts
from elrcheck.report.html.html_traces import explain_parts, replay_parts, simulation_parts
from elrcheck.results.any_report import Report
from elrcheck.results.audit_report import AuditReport
from elrcheck.results.check_report import CheckReport
from elrcheck.results.conform_report import ConformReport
from elrcheck.results.controller_report import ControllerReport
from elrcheck.results.coverage_report import CoverageReport
from elrcheck.results.exploration_report import ExploreReport
from elrcheck.results.gate_report import GateReport
from elrcheck.results.mutation_report import MutateReport
from elrcheck.results.prove_report import CertificateReport, ProveReport
from elrcheck.results.reproduce_report import ReproduceReport
from elrcheck.results.risk.risk_report import RiskReport
from elrcheck.results.scenario_report import ScenarioReport
from elrcheck.results.simulation_report import SimulationReport
from elrcheck.results.suite_report import SuiteReport
from elrcheck.results.sweep_report import SweepReport
from elrcheck.results.tlc_report import TlcReport
from elrcheck.results.trace_reports import ExplainReport, ReplayReport, TraceDiffReport, TraceReport


class ReportKind(Record, frozen=True):
    """How a kind of report becomes a document, and a page."""

    command: str
    """A command that reports it."""
    blocks: Callable[[Any, int], Iterable[Block]]
    """Blocks of a report by its detail: below 0 only findings and the verdict, above 0 all details."""
    sheet: Callable[[Any], Sheet] | None = None
    """Null for a report that has text and JSON only."""
    parts: Callable[[Any, Document], Iterable[PagePart]] = case_parts
    """The parts of its page."""
    card: Callable[[Any], Card] = no_card
    """The card on top of its page."""


KINDS: Mapping[type[Report], ReportKind] = {
    CheckReport: ReportKind("check", check_blocks, check_sheet, check_parts, check_card),
    ProveReport: ReportKind("prove", prove_blocks, prove_sheet, prove_parts, prove_card),
    ControllerReport: ReportKind("prove --controller", controller_blocks, controller_sheet),
    CertificateReport: ReportKind("prove --check-certificate", certificate_blocks, certificate_sheet),
    ConformReport: ReportKind("conform", conform_blocks, conform_sheet),
    AuditReport: ReportKind("audit", audit_blocks, audit_sheet, audit_parts, audit_card),
    ReproduceReport: ReportKind("reproduce", reproduction_blocks, reproduction_sheet),
    RiskReport: ReportKind("risk", risk_blocks, risk_sheet, risk_parts, risk_card),
    TlcReport: ReportKind("tlc", tlc_blocks),
    ScenarioReport: ReportKind("show E-1", scenario_blocks),
    MutateReport: ReportKind("mutate", mutate_blocks, mutate_sheet, card=mutate_card),
    SimulationReport: ReportKind("simulate", simulation_blocks, simulation_sheet, simulation_parts),
    ExploreReport: ReportKind("explore", exploration_blocks, exploration_sheet, exploration_parts),
    SweepReport: ReportKind("sweep", sweep_blocks),
    SuiteReport: ReportKind("suite", suite_blocks, suite_sheet, card=suite_card),
    GateReport: ReportKind("gate", gate_blocks, gate_sheet, gate_parts, gate_card),
    CoverageReport: ReportKind("runs coverage", coverage_blocks),
    ReplayReport: ReportKind("replay", replay_blocks, replay_sheet, replay_parts),
    TraceReport: ReportKind("trace show", trace_report_blocks),
    TraceDiffReport: ReportKind("trace diff", trace_diff_blocks),
    ExplainReport: ReportKind("explain", explain_blocks, explain_sheet, explain_parts),
}


def kind_of(report: Report) -> ReportKind:
    """Return the kind of a report; a result of the Python API is a report, too."""
    return next(KINDS[base] for base in type(report).__mro__ if base in KINDS)


def document_of(report: Report, detail: int = 0) -> Document:
    """Return the document of a report. detail: below 0 only findings and the verdict, above 0 all details."""
    kind = kind_of(report)
    sheet = Sheet("", judges=False) if kind.sheet is None else kind.sheet(report)
    return Document(kind.command, report.verdict, report.exit_code, tuple(kind.blocks(report, detail)), sheet)


def judged(report: Report) -> Document:
    """Return the document of a report; raise UsageFault for one that is not a list of judgements."""
    document = document_of(report)
    if not document.sheet.judges:
        help = "use text, json or jsonl"
        raise UsageFault("usage-format", f"this format does not support {report.schema}", help=help)
    return document


def page_of(report: Report) -> HtmlPage:
    """Return the page of a report; raise UsageFault for one that has none."""
    kind = kind_of(report)
    document = judged(report) if kind.sheet is None else document_of(report)
    return html_page(document, kind.parts(report, document), kind.card(report))
