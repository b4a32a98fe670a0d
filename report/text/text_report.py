"""Prints any report as text."""

from __future__ import annotations

from elrcheck.report.risk.text_risk import print_risk
from elrcheck.report.terminal import Page
from elrcheck.report.text import text_explain, text_trace_reports
from elrcheck.report.text.text_audit import print_audit
from elrcheck.report.text.text_check import print_check
from elrcheck.report.text.text_conform import print_conform
from elrcheck.report.text.text_controller import print_controller
from elrcheck.report.text.text_coverage import print_coverage
from elrcheck.report.text.text_exploration import print_exploration
from elrcheck.report.text.text_gate import print_gate
from elrcheck.report.text.text_mutation import print_mutate
from elrcheck.report.text.text_proof import print_certificate, print_prove, print_tlc
from elrcheck.report.text.text_reproduction import print_reproduction
from elrcheck.report.text.text_scenario import print_scenario
from elrcheck.report.text.text_simulation import print_simulation
from elrcheck.report.text.text_suite import print_suite
from elrcheck.report.text.text_sweep import print_sweep
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
from elrcheck.results.trace_reports import (
    ExplainReport,
    ReplayReport,
    TraceDiffReport,
    TraceReport,
    TracingReport,
)


def print_report(report: Report, page: Page, detail: int = 0) -> None:
    """Prints any report.  detail: below 0 only findings and verdict, above 0 all details."""
    match report:
        case CheckReport():
            print_check(report, page, detail)
        case ProveReport():
            print_prove(report, page, detail)
        case ControllerReport():
            print_controller(report, page, detail)
        case CertificateReport():
            print_certificate(report, page, detail)
        case ConformReport():
            print_conform(report, page, detail)
        case AuditReport():
            print_audit(report, page, detail)
        case ReproduceReport():
            print_reproduction(report, page, detail)
        case RiskReport():
            print_risk(report, page, detail)
        case TlcReport():
            print_tlc(report, page, detail)
        case ScenarioReport():
            print_scenario(report, page, detail)
        case MutateReport():
            print_mutate(report, page, detail)
        case SimulationReport():
            print_simulation(report, page, detail)
        case ExploreReport():
            print_exploration(report, page, detail)
        case SweepReport():
            print_sweep(report, page, detail)
        case SuiteReport():
            print_suite(report, page, detail)
        case GateReport():
            print_gate(report, page, detail)
        case CoverageReport():
            print_coverage(report, page, detail)
        case ReplayReport() | TraceReport() | TraceDiffReport() | ExplainReport():
            _print_tracing(report, page, detail)


def _print_tracing(report: TracingReport, page: Page, detail: int) -> None:
    match report:
        case ReplayReport():
            text_trace_reports.print_replay(report, page, detail)
        case TraceReport():
            text_trace_reports.print_trace_report(report, page, detail)
        case TraceDiffReport():
            text_trace_reports.print_trace_diff(report, page, detail)
        case ExplainReport():
            text_explain.print_explain(report, page, detail)
