"""Gate reports and proofs of single controller steps in the formats that are made from a list of cases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
from junitparser import JUnitXml

from elrcheck.report.formats import render
from elrcheck.results.any_report import Report
from elrcheck.results.check_report import CheckReport, EngineReport, PropertyReport, SearchReport
from elrcheck.results.gate_report import Difference, EntryReport, GateReport
from elrcheck.results.proofs.controller_report import (
    ControllerReport,
    RuleReport,
    StepFailure,
    StepReport,
    VariantReport,
)
from elrcheck.results.prove_report import CellReport, InductionFailure, ProveReport, SolverReport
from elrcheck.results.trace_view import Argument, Change, Step, TraceView
from support.places import TESTS

SCHEMA = TESTS / "data" / "sarif-2.1.0.json"
RULE = "model/control_plane/broker_events.py:40"
TRACE = TraceView(steps=(Step(1, "Fence", (Argument("b", "1"),), "", (), RULE),))
CHECK = CheckReport(
    verdict="violated",
    variant="kip_full",
    scope="two-brokers",
    config={"broker_count": 2},
    engine=EngineReport("local"),
    search=SearchReport(True, 10, 5, 2, (1, 4), 0.5, 20.0, 8),
    properties=(
        PropertyReport("P-1", "New", "always", "violated", 1, "kept", "b=1", None, TRACE, source="a.py:10"),
        PropertyReport("P-2", "Known", "always", "violated", 1, "kept", "b=0", None, TRACE, source="a.py:20"),
        PropertyReport("P-3", "Fine", "always", "holds", source="a.py:30"),
    ),
)
PROOF = ProveReport(
    verdict="refuted",
    variant="kip_full",
    config={"broker_count": 2},
    solver=SolverReport("z3", "4.13"),
    seconds=0.25,
    phases=(),
    initiation=(),
    cells=(
        CellReport("Fence", "A", "proved", 0.1, source="l.py:1"),
        CellReport(
            "Kill",
            "A",
            "refuted",
            0.1,
            failure=InductionFailure(
                {"partition.isr": "{1}"},
                (Argument("b", "0"),),
                (Change("partition.isr", "{1}", "{}"),),
                "c: b=0",
                True,
                "model/broker/lifecycle.py:70",
            ),
            source="l.py:1",
        ),
    ),
    implication=(),
)
DIFFERENCES = (
    Difference("P-1", "P-1 New", "holds", "violated at depth 1", "violated", True, True),
    Difference("Kill x A", "Kill x A", "proved", "refuted", "proof", True, True),
    Difference("P-9", "P-9", "holds", "absent", "verdict", True, True),
    Difference("Kill", "Kill, guard: b is running or starting", "present", "absent", "guard", True, True),
    Difference("distinct", "distinct states", "4", "5", "count", False, False),
)
GATE = GateReport(
    verdict="drift",
    baseline="b.toml",
    fail_on=("regression",),
    seconds=1.0,
    entries=(
        EntryReport("two", "b.toml:7", "drift", DIFFERENCES, CHECK, PROOF),
        EntryReport("same", "b.toml:90", "same", (), CHECK),
    ),
)
CONTROLLER = ControllerReport(
    verdict="refuted",
    brokers=2,
    solver=SolverReport("z3", "4.13", None),
    seconds=1.0,
    rules=(RuleReport("CT-1", "IsrNotEmpty", "t", "B.2", "invariants/controller_rules.py:40"),),
    variants=(
        VariantReport(
            "kip_full",
            "refuted",
            1,
            1,
            0,
            0.5,
            {},
            (),
            (),
            (
                StepReport("FENCE", "CT-1", "proved", 0.1),
                StepReport(
                    "UNFENCE",
                    "CT-1",
                    "refuted",
                    0.1,
                    None,
                    StepFailure(
                        {},
                        {},
                        {"partition.isr": "{}"},
                        (Argument("broker", "1"),),
                        (Change("partition.isr", "{}", "{0}"),),
                        None,
                        True,
                    ),
                ),
            ),
        ),
    ),
)


def sarif(report: Report) -> list[dict[str, Any]]:
    document = json.loads(render(report, "sarif"))
    jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text())).validate(document)
    results: list[dict[str, Any]] = document["runs"][0]["results"]
    return results


def place(location: dict[str, Any]) -> str:
    physical = location["physicalLocation"]
    return f"{physical['artifactLocation']['uri']}:{physical['region']['startLine']}"


def test_the_gate_fails_what_differs_and_passes_what_was_expected() -> None:
    two, same = JUnitXml.fromstring(render(GATE, "junit").encode())
    failed = [case.name for case in two if not case.is_passed]
    assert failed == ["P-1 New", "P-9", "guards", "Kill x A"]
    assert (two.name, same.failures, same.tests) == ("two: kip_full, two-brokers", 0, 6)


def test_results_of_the_gate_are_at_the_model_and_related_to_the_baseline() -> None:
    results = {result["ruleId"]: result for result in sarif(GATE)}
    assert set(results) == {"P-1", "gate-verdict", "gate-guards", "A"}
    violated = results["P-1"]
    assert violated["message"]["text"] == (
        "P-1 New violated at depth 1: kept for b=1; expected: holds (two: kip_full, two-brokers)."
    )
    assert place(violated["locations"][0]) == "a.py:10"
    assert place(violated["relatedLocations"][0]) == "b.toml:7"
    (step,) = violated["codeFlows"][0]["threadFlows"][0]["locations"]
    assert place(step["location"]) == "model/control_plane/broker_events.py:40"
    assert place(results["gate-guards"]["locations"][0]) == "b.toml:7"
    (step,) = results["A"]["codeFlows"][0]["threadFlows"][0]["locations"]
    assert place(step["location"]) == "model/broker/lifecycle.py:70"


def test_annotations_of_the_gate_are_in_the_file_of_the_user(tmp_path: Path) -> None:
    def annotations() -> list[str]:
        text = render(GATE, "github", workspace=tmp_path)
        return [line for line in text.splitlines() if line.startswith("::")]

    missing = annotations()
    assert not any("file=" in line for line in missing) and "%0Ab.toml:7 of elrcheck" in missing[0]
    (tmp_path / "b.toml").touch()
    lines = annotations()
    assert len(lines) == 4
    assert all(line.startswith("::error file=b.toml,line=7,title=") for line in lines)
    assert "conjunct  kept%0A      witness   b=1" in lines[0]


def test_text_of_the_gate_shows_only_new_findings() -> None:
    text = render(GATE, "text")
    assert text.count("FAIL  P-1 New") == 1 and "FAIL  P-2" not in text
    assert "REFUTED  Kill does not preserve A" in text
    assert "DRIFT  1 of 2 entries differ from b.toml, 1.0 s" in text
    assert "SAME  same: 5 states" in text
    assert "--update-baseline --only two\n" in text


def test_single_controller_steps_as_cases() -> None:
    (suite,) = JUnitXml.fromstring(render(CONTROLLER, "junit").encode())
    assert (suite.name, suite.tests, suite.failures) == ("kip_full", 2, 1)
    (result,) = sarif(CONTROLLER)
    assert result["ruleId"] == "CT-1"
    assert result["message"]["text"] == "UNFENCE does not preserve CT-1 IsrNotEmpty: refuted (kip_full)."
    assert "Note over Controller: isr: {} → {0}" in render(CONTROLLER, "markdown")


def test_a_broken_rule_of_the_controller_is_where_it_is_written() -> None:
    (result,) = sarif(CONTROLLER)
    assert result["ruleId"] == "CT-1"
    assert place(result["locations"][0]) == "invariants/controller_rules.py:40"
    assert "UNFENCE does not preserve CT-1 IsrNotEmpty" in render(CONTROLLER, "html")
