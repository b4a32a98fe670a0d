"""Reports made by hand, one of each kind, for the tests of what is made of a report."""

from __future__ import annotations

from msgspec.structs import replace

from elrcheck.base.requests import Selection
from elrcheck.results.check_report import (
    ActionReport,
    CheckReport,
    EngineReport,
    PropertyReport,
    SearchReport,
    VariableReport,
)
from elrcheck.results.gate_report import Difference, EntryReport, GateReport
from elrcheck.results.mutation_report import GuardReport, HazardReport, MutateReport
from elrcheck.results.prove_report import (
    CellReport,
    InductionFailure,
    ObligationReport,
    PhaseReport,
    ProveReport,
    Skipped,
    SolverReport,
)
from elrcheck.results.trace_reports import Counts, TlcReport
from elrcheck.results.trace_view import CONTROLLER, Argument, Change, Step, Talk, TraceView, Truth

TRACE = TraceView(
    initial={"partition.isr": "{0,1}", "broker[0].log": "[]"},
    steps=(
        Step(
            1,
            "Fetch",
            (Argument("f", "1"), Argument("leader", "0"), Argument("lost", "true")),
            "f runs",
            (Change("broker[1].log", "[]", "[r1@1(all)]"),),
            "model/broker/replica.py:30",
            Talk("1", "0", True),
        ),
        Step(
            2,
            "Fence",
            (Argument("b", "1"),),
            "b is unfenced; 50% <sure>",
            (Change("partition.isr", "{0,1}", "{0}"), Change("partition.elr", "{}", "{1}")),
            "model/control_plane/broker_events.py:12",
        ),
        Step(
            3,
            "ShrinkIsr",
            (Argument("leader", "0"), Argument("out", "{1}")),
            "",
            (),
            "model/isr.py:5",
            Talk("0", CONTROLLER),
        ),
        Step(4, "ElectPreferred", (), "", (), "model/control_plane/elections.py:8"),
    ),
    repro="0/4/1/2",
)
LOST = TraceView(
    initial={
        "partition.isr": "{0,1}",
        "partition.leader": "0",
        "broker[0].log": "[]",
        "broker[1].log": "[]",
        "broker[0].high_watermark": "0",
        "committed": "[]",
        "acked": "[]",
    },
    steps=(
        Step(
            1,
            "Produce",
            (Argument("leader", "0"),),
            "",
            (
                Change("partition.isr", "{0,1}", "{0}"),
                Change("broker[0].log", "[]", "[r1@1(all)]"),
                Change("broker[0].high_watermark", "0", "1"),
                Change("committed", "[]", "[r1@1(all)]"),
                Change("acked", "[]", "[r1@1(all)]"),
            ),
        ),
        Step(2, "Crash", (Argument("b", "0"),), "", (Change("broker[0].log", "[r1@1(all)]", "[]"),)),
        Step(3, "Elect", (Argument("b", "1"),), "", (Change("partition.leader", "0", "1"),)),
    ),
    truths=(Truth("P-8", "Kept", "always", False, (2, 3)), Truth("P-1", "Held", "always")),
)
"""A record is committed, acknowledged, and lost by a crash."""
CHECK = CheckReport(
    verdict="violated",
    variant="kip_full",
    scope="two-brokers",
    config={"broker_count": 2},
    engine=EngineReport("local"),
    search=SearchReport(True, 10, 5, 2, (1, 4), 0.25, 20.0, 8),
    properties=(
        PropertyReport(
            "P-1",
            "LeaderCompleteness",
            "always",
            "violated",
            2,
            "leader_holds_committed",
            "b=1",
            "P-1.trace.json",
            TRACE,
            source="invariants/properties.py:68",
        ),
        PropertyReport("P-2", "Other", "always", "holds", source="invariants/properties.py:80"),
        PropertyReport("W-1", "Seen", "sometimes", "reached", 3, source="invariants/witnesses.py:18"),
        PropertyReport("W-2", "Unseen", "sometimes", "unreached", source="invariants/witnesses.py:24"),
    ),
    actions=(ActionReport("Fence", 3, 1, 0, ("b is unfenced",)),),
    run_dir="runs/a",
)
PROVE = ProveReport(
    verdict="refuted",
    variant="kip_full",
    config={"broker_count": 3},
    solver=SolverReport("z3", "4.13", 30.0),
    seconds=1.5,
    phases=(PhaseReport("initiation", 1, 0, 0, 0.1), PhaseReport("consecution", 0, 1, 1, 1.0)),
    initiation=(ObligationReport("TypeOk", "proved", 0.05, source="invariants/lemmas/lemmas_views.py:10"),),
    cells=(
        CellReport(
            "Unfence",
            "TypeOk",
            "refuted",
            0.5,
            failure=InductionFailure(
                {"partition.elr": "{1}"},
                (Argument("b", "1"),),
                (Change("partition.isr", "{0}", "{0,1}"),),
                "disjoint: b=1",
                True,
                "model/control_plane/broker_events.py:40",
                differs=("partition.elr",),
            ),
            source="invariants/lemmas/lemmas_views.py:10",
        ),
        CellReport("Start", "TypeOk", "unknown", 30.0, reason="timeout", source="invariants/lemmas/lemmas_views.py:10"),
    ),
    implication=(ObligationReport("LeaderInIsr", "proved", 0.1, "P-17", source="invariants/properties.py:299"),),
    skipped=(Skipped("P-8", "NoLoss", "needs budgets"),),
)
MUTATE = MutateReport(
    verdict="not_found",
    seconds=2.0,
    workers=2,
    hazards=(
        HazardReport("F-1", "KAFKA-1", "Old bug", "knob=false", "found", ("P-1",), "P-1", 4, 0.5),
        HazardReport("F-2", "KAFKA-2", "No bug", "knob=true", "not_found", ("P-2",), reason="nothing breaks"),
        HazardReport("F-3", "KAFKA-3", "Left out", "", "skipped", (), reason="not modelled"),
    ),
    guards=(GuardReport("Fence", "b is unfenced", "unnoticed"),),
)
TLC = TlcReport(
    verdict="same",
    module="Elr",
    jar="/lib/tla2tools.jar",
    version="2.15",
    command=("java", "-jar", "tla2tools.jar", "Elr"),
    tlc_exit_code=0,
    seconds=3.0,
    ours=Counts(93000, 18204, 3),
    theirs=Counts(93000, 18204),
    output_tail=("Model checking completed.",),
)
TRUTHS = (
    Truth("P-1", "LeaderCompleteness", "always", False, (2, 4)),
    Truth("P-2", "Steps", "always", True, (1,)),
    Truth("P-3", "Never broken", "always"),
    Truth("W-1", "Seen", "sometimes", False, (4,)),
    Truth("W-2", "Unseen", "sometimes"),
)
FULL = replace(
    CHECK,
    properties=(replace(CHECK.properties[0], counterexample=replace(TRACE, truths=TRUTHS)), *CHECK.properties[1:]),
    variables=(VariableReport("partition.isr", 2), VariableReport("broker[0].log", 5)),
)
GATE = GateReport(
    "drift",
    "b.toml",
    ("drift",),
    1.0,
    (
        EntryReport(
            "two",
            "b.toml:3",
            "drift",
            (Difference("distinct", "distinct", "6", "5", "count", True, True),),
            FULL,
            PROVE,
        ),
    ),
)
# A reassignment breaks P-11 and P-12 in code_4_1 (docs/findings.md).
BROKEN = Selection("code_4_1", "two-brokers-quiet", ("reassignments=2", "records=0"))
