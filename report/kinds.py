"""Every kind of report, in one table: its schema and the module that makes its document.

A module is imported only when a report of its kind is printed: importing all takes longer than a small search.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping

from elrcheck.base.errors import UsageFault
from elrcheck.report.document import Document, ReportKind, ReportKinds, Sheet
from elrcheck.results.any_report import Report

MODULES: Mapping[str, str] = {
    "elrcheck.report/1": "check_document",
    "elrcheck.prove/1": "proof_document",
    "elrcheck.controller/1": "controller_document",
    "elrcheck.certificate-check/1": "certificate_document",
    "elrcheck.conform/1": "conform_document",
    "elrcheck.audit/1": "audit_document",
    "elrcheck.reproduce/1": "reproduction_document",
    "elrcheck.upstream/1": "reproduction_document",
    "elrcheck.risk/1": "risk_document",
    "elrcheck.assess/1": "assess_document",
    "elrcheck.tlc/1": "tlc_document",
    "elrcheck.scenario/1": "scenario_document",
    "elrcheck.mutate/1": "mutation_document",
    "elrcheck.simulation/1": "simulation_document",
    "elrcheck.exploration/1": "exploration_document",
    "elrcheck.sweep/1": "sweep_document",
    "elrcheck.suite/1": "suite_document",
    "elrcheck.gate/1": "gate_document",
    "elrcheck.coverage/1": "exploration_document",
    "elrcheck.replay/1": "trace_document",
    "elrcheck.trace-view/1": "trace_document",
    "elrcheck.trace-diff/1": "trace_document",
    "elrcheck.model-diff/1": "trace_document",
    "elrcheck.explain/1": "explain_document",
}
"""Schema of a report -> module of `report/documents/`, whose `KINDS` has the class."""


def every_kind() -> ReportKinds:
    """Return class -> kind of every report, in the order of the table. Imports all modules."""
    return {cls: kind for module in dict.fromkeys(MODULES.values()) for cls, kind in _kinds(module).items()}


def kind_of(report: Report) -> ReportKind:
    """Return the kind of a report; a result of the Python API is a report, too."""
    kinds = _kinds(MODULES[report.schema])
    return next(kinds[base] for base in type(report).__mro__ if base in kinds)


def _kinds(module: str) -> ReportKinds:
    kinds: ReportKinds = importlib.import_module(f"elrcheck.report.documents.{module}").KINDS
    return kinds


def document_of(report: Report) -> Document:
    """Return the document of a report."""
    kind = kind_of(report)
    sheet = Sheet("", judges=False) if kind.sheet is None else kind.sheet(report)
    return Document(kind.command, report.verdict, report.exit_code, tuple(kind.blocks(report, 0)), sheet)


def judged(report: Report) -> Document:
    """Return the document of a report; raise UsageFault if it judges nothing."""
    document = document_of(report)
    if not document.sheet.judges:
        help = "use text, json or jsonl"
        raise UsageFault("usage-format", f"this format does not support {report.schema}", help=help)
    return document
