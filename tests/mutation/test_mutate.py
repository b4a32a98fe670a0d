"""`mutate`: verdicts of a run, the survey of guards, and the command from its options to its exit code."""

from __future__ import annotations

import dataclasses
import io
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from msgspec import structs

from elrcheck.base.errors import ExitCode
from elrcheck.base.progress import Silent
from elrcheck.base.proof_requests import MutateRequest
from elrcheck.base.requests import Selection
from elrcheck.catalogue.hazard import Hazard
from elrcheck.checking.trace_notation import write_trace_module
from elrcheck.kafka.mutation import hazard_run
from elrcheck.kafka.mutation.hazard_run import run_hazard
from elrcheck.lang.load import Model
from elrcheck.mutation.guard_survey import FRUITLESS, IDLE, REDUNDANT, guard_verdict, run_guards, survey
from elrcheck.mutation.mutation_run import Searches
from elrcheck.report.formats import blocks
from elrcheck.report.terminal import Page, open_console
from elrcheck.results.mutation_report import GuardReport, HazardReport, MutateReport
from elrcheck.stored_traces.tracefile import load_trace
from elrcheck.tla_export.tlc_process import TlcOptions, check_witness, find_tools
from support.following import refused_step
from support.invoked import Invoke
from support.places import SCHEMAS

SCHEMA = SCHEMAS / "elrcheck.mutate-1.schema.json"
# The follower joins although the leader has not heard of it: the proof of KIP-903 is missing.
JOINS = Hazard("F-1", "none", "A guard", ("P-27",), settings={"fences": 1}, guard=("ExpandIsr", "f has caught up"))
NOTHING = Hazard("F-1", "none", "Changes nothing", ("P-1",), settings={"fences": 1}, knobs={"elect_leaders_v3": False})
QUIET = Selection(scope="two-brokers-quiet", overrides=("fences=1",))


def ran(model: Model, hazard: Hazard, **limits: int) -> HazardReport:
    searches = Searches(MutateRequest(**limits), Silent())  # type: ignore[arg-type]
    return run_hazard(model, hazard, frozenset(hazard.expected), searches)


# ---------------------------------------------------------------------------- one hazard


def test_a_guard_can_be_the_change(checked_model: Model) -> None:
    report = ran(checked_model, JOINS)
    assert (report.verdict, report.property, report.conjunct) == ("found", "P-27", "same_incarnation")
    assert report.mutation == "ExpandIsr without: f has caught up"
    assert report.counterexample is not None
    assert [step.action for step in report.counterexample.steps][-2:] == ["ExpandIsr", "ControllerAlters"]
    assert "f has caught up" not in report.counterexample.steps[-2].because
    assert report.depth == 5


def test_a_change_that_breaks_nothing_is_not_found(checked_model: Model) -> None:
    report = ran(checked_model, NOTHING)
    assert (report.verdict, report.reason) == ("not_found", "no expected property breaks")
    assert report.unmutated is not None and report.distinct == report.unmutated.distinct


def test_what_breaks_anyway_is_no_finding(checked_model: Model) -> None:
    """A single broker that loses its only copy: P-8 breaks in two steps, whatever the change."""
    alone = {"broker_count": 1, "min_isr": 1, "crashes": 1}
    report = ran(checked_model, dataclasses.replace(NOTHING, expected=("P-8",), settings=alone))
    assert (report.verdict, report.property) == ("not_found", None)
    assert report.reason == "also violated without the change: P-8"


def test_a_limit_is_inconclusive_on_either_side(checked_model: Model) -> None:
    report = ran(checked_model, NOTHING, max_states=20)
    assert report.verdict == "inconclusive"
    assert report.reason == "without the change: --max-states 20"
    # 13334 states without the change, more with it.
    settings = {"crashes": 1, "fences": 1}
    wide = Hazard("F-4", "none", "Wide", ("P-8",), settings, {"alter_checks_fenced": False})
    report = ran(checked_model, wide, max_states=14_000)
    assert (report.verdict, report.reason) == ("inconclusive", "--max-states 14000")


@pytest.mark.parametrize(
    ("verdicts", "total", "code"),
    [
        (("found", "skipped"), "found", ExitCode.HOLDS),
        (("found", "inconclusive"), "inconclusive", ExitCode.INCONCLUSIVE),
        (("inconclusive", "not_found", "found"), "not_found", ExitCode.FINDING),
        (("skipped",), "nothing_run", ExitCode.NOTHING_CHECKED),
        (("noticed", "unnoticed"), "surveyed", ExitCode.HOLDS),
        (("noticed", "found"), "found", ExitCode.HOLDS),
    ],
)
def test_the_verdict_of_the_whole_run(verdicts: tuple[Any, ...], total: str, code: ExitCode) -> None:
    hazards = [HazardReport("F-1", "", "", "", v, ()) for v in verdicts if "notice" not in v]
    guards = [GuardReport("Fence", "g", v) for v in verdicts if "notice" in v]
    verdict = hazard_run._verdict(hazards, guard_verdict(None, guards) if guards else None)
    assert verdict == total
    assert MutateReport(verdict, 0.0, 1).exit_code == code


def test_a_hazard_that_the_proof_does_not_see_is_a_hole() -> None:
    """It was found by a search, and still the run is not a pass."""
    hole = HazardReport("F-1", "", "", "", "found", ("P-1",), "P-1", 4, proof="proved", hole=True)
    seen = structs.replace(hole, proof="refuted", open="Fence x P-1, 2 brokers", beyond=("metadata",), hole=False)
    assert hazard_run._verdict([hole], None) == "not_found"
    assert hazard_run._verdict([seen], None) == "found"
    text = io.StringIO()
    Page(open_console(text)).show(blocks(MutateReport("not_found", 0.0, 1, (hole, seen))))
    rows = [" ".join(line.split()) for line in text.getvalue().splitlines()]
    assert "F-1 a hole yes" in rows and "F-1 refuted Fence x P-1, 2 brokers without metadata" in rows


# ---------------------------------------------------------------------------- guards


def surveyed(
    model: Model, selection: Selection, *actions: str, properties: tuple[str, ...] = ()
) -> dict[str, GuardReport]:
    request = MutateRequest(None, guards=True, actions=actions, selection=selection, properties=properties)
    return {f"{g.action}: {g.guard}": g for g in survey(model, request, Searches(request, Silent()))[1]}


def test_a_guard_is_noticed_redundant_or_idle(checked_model: Model) -> None:
    verdicts = surveyed(checked_model, QUIET, "expandisr", "Unfence", "Unregister")
    joins = verdicts["ExpandIsr: f has caught up"]
    assert (joins.verdict, joins.property, joins.depth) == ("noticed", "P-27", 5)
    # Nobody stops in this scope, so nobody is down or shutting down.
    for guard in ("b is running", "b is not shutting down"):
        assert (verdicts[f"Unfence: {guard}"].verdict, verdicts[f"Unfence: {guard}"].reason) == ("unnoticed", REDUNDANT)
    # Unfencing an unfenced broker changes nothing.
    assert verdicts["Unfence: b is fenced"].reason == FRUITLESS
    assert {(g.verdict, g.reason) for name, g in verdicts.items() if name.startswith("Unregister")} == {
        ("skipped", IDLE)
    }


def test_an_action_beyond_the_budgets_counts_as_idle(checked_model: Model) -> None:
    """CleanStop is possible in every state, but no step of it is within the budget."""
    assert {g.verdict for g in surveyed(checked_model, QUIET, "CleanStop").values()} == {"skipped"}


def test_no_guard_is_dropped_when_the_scope_is_too_large(checked_model: Model) -> None:
    request = MutateRequest(None, guards=True, selection=QUIET, max_states=20)
    report = run_guards(request, Silent())
    assert (report.verdict, report.guards) == ("inconclusive", ())
    assert report.survey is not None and report.survey.reason == "--max-states 20"


def test_a_step_that_is_not_defined_without_its_guard_is_no_finding(checked_model: Model) -> None:
    """Without "the record is unread" a broker applies a record that does not exist yet."""
    lagging = Selection(scope="two-brokers-quiet", overrides=("metadata=LOG", "fences=1"))
    verdict = surveyed(checked_model, lagging, "ApplyOlderRecord", properties=("P-1",))[
        "ApplyOlderRecord: the record is unread"
    ]
    assert (verdict.verdict, verdict.property) == ("inconclusive", None)
    assert verdict.reason == "a step is undefined without it: tuple index out of range"


# ---------------------------------------------------------------------------- the command


def test_a_sample_of_the_matrix(invoke: Invoke, tmp_path: Path) -> None:
    code, out, err = invoke("mutate", "--hazard", "F-20", "--hazard", "f-31", "--hazard", "F-39", "--format", "json")
    assert (code, err) == (0, "")
    report = json.loads(out)
    jsonschema.validate(report, json.loads(SCHEMA.read_text()))
    assert report["verdict"] == "found"
    rows = {h["id"]: h for h in report["hazards"]}
    assert [(i, h["verdict"], h["property"], h["depth"]) for i, h in rows.items()] == [
        ("F-20", "found", "P-12", 1),
        ("F-31", "skipped", None, None),
        ("F-39", "found", "P-2", 3),
    ]
    assert rows["F-31"]["reason"].startswith("no knob yet")
    assert rows["F-39"]["knobs"] == {"strict_hwm": False} and rows["F-39"]["settings"] == {"fences": 2}
    assert rows["F-20"]["unmutated"]["complete"] is True
    assert list(tmp_path.iterdir()) == [], "nothing is stored unless asked for"


def test_a_property_narrows_what_counts(invoke: Invoke) -> None:
    code, out, _ = invoke("mutate", "--hazard", "F-20", "--hazard", "F-19", "-p", "P-1", "-f", "json")
    lost, other = json.loads(out)["hazards"]
    assert code == 0
    assert (lost["property"], lost["expected"], lost["verdict"]) == ("P-1", ["P-1"], "found")
    assert (other["verdict"], other["reason"]) == ("skipped", "not expected to break any of these properties")


def test_a_run_says_the_same_twice(invoke: Invoke) -> None:
    def once(workers: str) -> Any:
        report = json.loads(invoke("mutate", "--hazard", "F-4", "--workers", workers, "--fresh", "-f", "json")[1])
        (hazard,) = report["hazards"]
        hazard["unmutated"]["seconds"] = hazard["seconds"] = 0
        return hazard

    assert once("1") == once("2")


def test_text_shows_the_matrix_and_a_single_finding_with_its_trace(invoke: Invoke) -> None:
    code, out, _ = invoke("mutate", "--hazard", "F-1", "--hazard", "F-48")
    assert code == 0
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert "F-48 KAFKA-18940, KAFKA-19212 a metric, not the protocol" in lines
    assert any(line.startswith("F-1 last_known_leader=ANY found P-19 4 ") for line in lines)
    assert not any(line.startswith("step") for line in lines)
    assert lines[-1].startswith("FOUND hazards: 1 found, 1 skipped")
    code, out, _ = invoke("mutate", "--hazard", "F-1")
    assert "step 4    Register(b=0)" in out and "P-19" in out


def test_a_stored_trace_can_be_replayed(invoke: Invoke, tmp_path: Path) -> None:
    code, out, _ = invoke("mutate", "--hazard", "F-28", "--run-dir", "kept", "-f", "json")
    assert code == 0
    report = json.loads(out)
    (hazard,) = report["hazards"]
    path = tmp_path / report["run_dir"] / hazard["trace"]
    loaded = load_trace(path)
    assert refused_step(loaded) is None
    assert loaded.behaviour.origin.property == hazard["property"] == "P-1"
    assert len(loaded.behaviour.labels) == hazard["depth"]


@pytest.mark.slow
@pytest.mark.tlc
@pytest.mark.parametrize("ident", ["F-1", "F-14", "F-24", "F-43", "F-45"])
def test_tlc_confirms_a_hazard(invoke: Invoke, tmp_path: Path, ident: str) -> None:
    invoke("mutate", "--hazard", ident, "--run-dir", "kept")
    (path,) = (tmp_path / "kept").iterdir()
    witness = write_trace_module(load_trace(path), tmp_path / "tla")
    assert check_witness(find_tools(), witness, TlcOptions()).verdict == "confirmed"


def test_guards_of_one_action_as_a_report(invoke: Invoke) -> None:
    small = ("--action", "Unfence", "--scope", "two-brokers-quiet", "--set", "fences=1", "-p", "P-1")
    code, out, _ = invoke("mutate", *small, "-f", "json", "-o", "text:survey.txt")
    report = json.loads(out)
    jsonschema.validate(report, json.loads(SCHEMA.read_text()))
    assert (code, report["verdict"], report["hazards"]) == (0, "surveyed", [])
    assert report["survey"]["unmutated"]["violated"] == []
    assert report["survey"]["config"]["fences"] == 1
    assert {g["action"] for g in report["guards"]} == {"Unfence"}
    lines = Path("survey.txt").read_text().splitlines()
    assert lines[-3].startswith("SURVEYED  guards: 6 unnoticed")
    same = sum(guard["same"] for guard in report["guards"])
    assert lines[-1].split() == f"same {same} guards make no difference to the program".split()


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--hazard", "F-44x"), 2, "did you mean `F-44`"),
        (("--hazard", "KAFKA-1"), 2, "unknown hazard `KAFKA-1`"),
        (("--action", "Fense"), 2, "did you mean `Fence`"),
        (("--scope", "two-brokers"), 2, "--scope requires --guards"),
        (("--set", "fences=1", "--hazard", "F-1"), 2, "--set requires --guards"),
        (("--guards", "--scope", "two-broker"), 2, "did you mean `two-brokers`"),
        (("--hazard", "F-1", "-p", "P-99"), 2, "unknown property `P-99`"),
        (("--hazard", "F-1", "-p", "X-*"), 5, "no property matches"),
        (("--hazard", "F-1", "--timeout", "soon"), 2, "not a duration"),
        (("--hazard", "F-1", "--max-states", "0"), 2, "--max-states"),
    ],
)
def test_bad_input_is_one_message(
    invoke: Invoke, tmp_path: Path, arguments: tuple[str, ...], code: int, words: str
) -> None:
    exit_code, out, err = invoke("mutate", *arguments)
    assert (exit_code, out) == (code, "")
    assert words in err and "Traceback" not in err


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--hazard", "F-31"), 5),
        (("--hazard", "F-5", "--max-states", "20"), 3),
        (("--action", "Unregister", "--scope", "two-brokers-quiet", "-p", "P-1"), 5),
    ],
)
def test_exit_codes_of_runs_that_show_nothing(invoke: Invoke, arguments: tuple[str, ...], code: int) -> None:
    assert invoke("mutate", *arguments)[0] == code


def test_exit_code_1_when_a_hazard_is_not_found(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hazard_run, "packaged_hazards", lambda: (NOTHING,))
    code, out, _ = invoke("mutate", "--output", "text:kept.txt")
    assert code == 1
    assert out.splitlines()[-1].startswith("NOT FOUND  hazards: 1 not found")
    assert Path("kept.txt").read_text().splitlines()[-1].startswith("NOT FOUND")
