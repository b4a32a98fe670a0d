"""Converts reports to sheets, for the formats that only know a `Sheet`."""

from __future__ import annotations

from elrcheck.base.errors import UsageFault
from elrcheck.report.ci.sheet import Sheet
from elrcheck.report.ci.sheet_audit import audit_sheet
from elrcheck.report.ci.sheet_cases import check_sheet, controller_sheet, mutate_sheet, prove_sheet
from elrcheck.report.ci.sheet_certificate import certificate_sheet
from elrcheck.report.ci.sheet_conform import conform_sheet
from elrcheck.report.ci.sheet_gate import gate_sheet
from elrcheck.report.ci.sheet_replay import replay_sheet
from elrcheck.report.ci.sheet_reproduction import reproduction_sheet
from elrcheck.report.ci.sheet_suite import suite_sheet
from elrcheck.results.any_report import Report
from elrcheck.results.audit_report import AuditReport
from elrcheck.results.check_report import CheckReport
from elrcheck.results.conform_report import ConformReport
from elrcheck.results.controller_report import ControllerReport
from elrcheck.results.gate_report import GateReport
from elrcheck.results.mutation_report import MutateReport
from elrcheck.results.prove_report import CertificateReport, ProveReport
from elrcheck.results.reproduce_report import ReproduceReport
from elrcheck.results.suite_report import SuiteReport
from elrcheck.results.trace_reports import ReplayReport


def sheet_of(report: Report) -> Sheet:
    """Converts a report to a sheet; UsageFault for a report that is not a list of cases."""
    match report:
        case CheckReport():
            return check_sheet(report)
        case GateReport():
            return gate_sheet(report)
        case ReplayReport():
            return replay_sheet(report)
        case ProveReport():
            return prove_sheet(report)
        case ControllerReport():
            return controller_sheet(report)
        case CertificateReport():
            return certificate_sheet(report)
        case ConformReport():
            return conform_sheet(report)
        case AuditReport():
            return audit_sheet(report)
        case MutateReport():
            return mutate_sheet(report)
        case SuiteReport():
            return suite_sheet(report)
        case ReproduceReport():
            return reproduction_sheet(report)
    help = "use text, json or jsonl"
    raise UsageFault("usage-format", f"this format does not support {report.schema}", help=help)
