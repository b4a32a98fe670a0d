"""The union of all reports that a renderer accepts."""

from __future__ import annotations

from typing import TypeAlias

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
from elrcheck.results.trace_reports import TracingReport
from elrcheck.results.trace_view import Argument as Argument
from elrcheck.results.trace_view import Change as Change
from elrcheck.results.trace_view import Scalar as Scalar
from elrcheck.results.trace_view import Step as Step
from elrcheck.results.trace_view import TraceView as TraceView
from elrcheck.results.trace_view import Truth as Truth

Report: TypeAlias = (
    CheckReport
    | ProveReport
    | ControllerReport
    | CertificateReport
    | ConformReport
    | AuditReport
    | ReproduceReport
    | RiskReport
    | TlcReport
    | ScenarioReport
    | MutateReport
    | SimulationReport
    | ExploreReport
    | SweepReport
    | SuiteReport
    | GateReport
    | CoverageReport
    | TracingReport
)
