"""Prints any report as text."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from elrcheck.base.printable import printable_report
from elrcheck.report.terminal import Page

if TYPE_CHECKING:
    from elrcheck.results.any_report import Report

PRINTERS: Mapping[str, tuple[str, str]] = {
    "CheckReport": ("text.text_check", "print_check"),
    "ProveReport": ("text.text_proof", "print_prove"),
    "ControllerReport": ("text.text_controller", "print_controller"),
    "CertificateReport": ("text.text_proof", "print_certificate"),
    "ConformReport": ("text.text_conform", "print_conform"),
    "AuditReport": ("text.text_audit", "print_audit"),
    "ReproduceReport": ("text.text_reproduction", "print_reproduction"),
    "RiskReport": ("risk.text_risk", "print_risk"),
    "TlcReport": ("text.text_proof", "print_tlc"),
    "ScenarioReport": ("text.text_scenario", "print_scenario"),
    "MutateReport": ("text.text_mutation", "print_mutate"),
    "SimulationReport": ("text.text_simulation", "print_simulation"),
    "ExploreReport": ("text.text_exploration", "print_exploration"),
    "SweepReport": ("text.text_sweep", "print_sweep"),
    "SuiteReport": ("text.text_suite", "print_suite"),
    "GateReport": ("text.text_gate", "print_gate"),
    "CoverageReport": ("text.text_coverage", "print_coverage"),
    "ReplayReport": ("text.text_trace_reports", "print_replay"),
    "TraceReport": ("text.text_trace_reports", "print_trace_report"),
    "TraceDiffReport": ("text.text_trace_reports", "print_trace_diff"),
    "ExplainReport": ("text.text_explain", "print_explain"),
}
"""Class of a report -> module below `elrcheck.report` and function. Only the one that is needed is imported:
all classes of reports together take as long to define as a short command takes."""


def print_report(report: Report, page: Page, detail: int = 0) -> None:
    """Prints any report.  detail: below 0 only findings and verdict, above 0 all details."""
    names = (kind.__name__ for kind in type(report).__mro__)  # a result of the Python API is a report
    module, function = next(PRINTERS[name] for name in names if name in PRINTERS)
    getattr(import_module(f"elrcheck.report.{module}"), function)(printable_report(report), page, detail)
