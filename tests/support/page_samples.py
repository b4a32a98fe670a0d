"""One report of each kind that has a page, made by hand."""

from __future__ import annotations

from msgspec.structs import replace

from elrcheck.results.any_report import Report
from elrcheck.results.audit_report import AuditedLog, AuditFlag, AuditReport, AuditStep, AuditTimeline
from elrcheck.results.check_report import Extent, PropertyReport
from elrcheck.results.gate_report import EntryReport
from elrcheck.results.risk.risk_report import RiskAnswer, RiskCause, RiskReach, RiskReport, RiskSettings
from elrcheck.results.suite_report import (
    SuiteReport,
    SuiteRun,
    SuiteViolation,
    SweepAxis,
    SweepEngine,
    SweepReport,
    SweepRow,
)
from elrcheck.results.trace_view import Change, DrawnPath, DrawnState, DrawnStep, SmallGraph, Step
from support.report_samples import FULL, GATE, LOST, MUTATE, PROVE

LOSES = PropertyReport(
    "P-8",
    "Kept",
    "always",
    "violated",
    3,
    "kept_somewhere",
    "k=0",
    "P-8.trace.json",
    LOST,
    source="invariants/properties.py:198",
    statement="Every committed record is in some log.",
)
"""Its trace is longer than that of P-1 in FULL."""
LONGER = replace(LOST, steps=(*LOST.steps, Step(4, "Wait"), Step(5, "Wait")))
SEVERAL = replace(
    FULL,
    properties=(replace(LOSES, depth=5, counterexample=LONGER), *FULL.properties),
    extent=Extent(("a crash",), ("a reassignment", "a fencing")),
)
LOSS = replace(FULL, properties=(LOSES, *FULL.properties[1:]))
EXPECTED = EntryReport("known", "b.toml:9", "same", (), LOSS)
"""An entry of a baseline that passes although P-8 breaks."""
FAILING = replace(GATE.entries[0], name="worse")
DRIFT = replace(GATE, entries=(EXPECTED, FAILING))
AUDIT = AuditReport(
    "violated",
    40,
    3,
    (
        AuditFlag("no-leader", None, "low", "log", "0.log", 5, 7, "12:00", "t", 0, "no leader", "wait"),
        AuditFlag("P-12", "F-20", "critical", "log", "0.log", 9, 8, "12:01", "t", 0, "ELR has 2", "move"),
    ),
    (),
    (AuditedLog("log", ("0.log",), 40, 0, 39, 3, 30, 10, 0, 0, False, 0),),
    (),
    0.5,
    (
        AuditTimeline(
            "log",
            "t",
            0,
            (
                AuditStep(3, "11:59", "PartitionRecord", True, 1, 0, 0, (1, 2), (), (), (1, 2), (), ()),
                AuditStep(8, "12:01", "PartitionChangeRecord", True, 1, 1, 1, (1,), (), (), (1,), (2,), ()),
            ),
        ),
    ),
)
RISK = RiskReport(
    "lost",
    RiskSettings("4.1.2", "code_4_1", 3, 2, "all", True, False, False),
    (
        RiskAnswer(
            {"crash": 1},
            "a crash",
            "lost",
            False,
            ("Broker 0 leads.", "Its record is lost."),
            (RiskCause("finding", "why", "F-20", "docs/findings/F-20.md"),),
            ("model",),
            "the model",
            "move to 4.3",
            "elrcheck check",
            view=LOST,
        ),
    ),
    {"lost": RiskReach(0, 3, 14, 0), "unavailable": RiskReach(3, 3, 14, 0)},
    ("kill",),
    (),
    (),
    (),
    {"crash": "a broker loses records"},
    ("tiered storage",),
    9,
    1200,
    2.0,
)
SUITE = SuiteReport(
    "unexpected",
    (
        SuiteRun("a", "holds", True, "v", "s", {}, 9, 20, 3, 0.1, True),
        SuiteRun(
            "b",
            "violated",
            False,
            "v",
            "s",
            {},
            9,
            20,
            3,
            0.1,
            True,
            (SuiteViolation("P-2", "Two", True, False, 2),),
            problems=("P-2 breaks",),
        ),
    ),
    (),
    1.0,
    2,
)
SWEEP = SweepReport(
    "violated",
    (SweepAxis("min_isr", (1, 2)),),
    ("min_isr",),
    (
        SweepRow(2, {"min_isr": 2}, "v", "s", "violated", property="P-8", depth=4, distinct=7),
        SweepRow(1, {"min_isr": 1}, "v", "s", "holds", distinct=9),
    ),
    0,
    1.5,
    SweepEngine("local", 2, 1000),
)
GRAPH = SmallGraph(
    {"partition.isr": "{0}"},
    (DrawnState(0, None, "", ()), DrawnState(1, 0, "A()", (Change("partition.isr", "{0}", "{1}"),), ("P-1",))),
    (DrawnStep(0, 1, "A()", "A", "replica"), DrawnStep(1, 1, "B()", "B", "replica", ("P-2",))),
    (DrawnPath("P-1", (0, 1)),),
)
DRAWN = replace(FULL, small_graph=GRAPH)
PAGES: dict[str, Report] = {
    "check": SEVERAL,
    "loss": LOSS,
    "gate": DRIFT,
    "suite": SUITE,
    "audit": AUDIT,
    "risk": RISK,
    "prove": PROVE,
    "mutate": MUTATE,
}
"""A page each; the sweep has its own renderer."""
