"""`import elrcheck`: what it loads and exports, what the functions refuse, how results show themselves."""

from __future__ import annotations

import builtins
import html
import inspect
import json
import runpy
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import click
import pytest
from msgspec.structs import replace

import elrcheck
from elrcheck.api.result_types import as_result, tables_of
from elrcheck.base.proof_requests import CertificateRequest, ControllerRequest, ProveRequest
from elrcheck.base.requests import CheckRequest, Limits, Selection, SweepRequest
from elrcheck.cli import cli
from elrcheck.results.proofs.certificate_report import CertificateReport
from elrcheck.results.proofs.controller_report import ControllerReport, RuleReport, StepReport, VariantReport
from elrcheck.results.prove_report import SolverReport
from elrcheck.results.risk.risk_report import RiskAnswer, RiskPart, RiskReport, RiskSettings
from elrcheck.results.suite_report import SweepAxis, SweepEngine, SweepReport, SweepRow
from support.places import ROOT
from support.report_samples import CHECK, PROVE

RESULTS = (
    "CheckResult",
    "SimulationResult",
    "SweepResult",
    "ProofResult",
    "CertificateResult",
    "RiskResult",
    "AuditResult",
    "ExplainResult",
    "ScenarioResult",
    "TraceResult",
)
SWEEP = SweepReport(
    "violated",
    (SweepAxis("min_isr", (1, 2)),),
    ("min_isr",),
    (SweepRow(1, {"min_isr": 1}, "legacy", "tiny", "violated", None, "P-1", 9, ("P-1",), distinct=70),),
    0,
    1.5,
    SweepEngine("local", 2, 1000),
)

CELL = StepReport("Fence", "CT-1", "proved", 1.0)
CONTROLLER = ControllerReport(
    "proved",
    3,
    SolverReport("z3", "4.13", 5.0),
    1.0,
    (RuleReport("CT-1", "Rule", "a rule", "KIP-966"),),
    (VariantReport("kip_full", "proved", 1, 0, 0, 1.0, {}, (), (), (CELL,)),),
)
FITS = CertificateReport("fits", "kip_full", "there", "0.1.0", True, None, (), (), 1.0)


def test_importing_the_package_loads_nothing_else() -> None:
    source = (
        "import sys; before = set(sys.modules); import elrcheck\n"
        "print(sorted(set(sys.modules) - before)); elrcheck.UsageFault\n"
        "print('elrcheck.api' in sys.modules, 'check' in dir(elrcheck)); elrcheck.check\n"
        "print(sorted({'click', 'z3', 'numpy', 'pandas', 'llvmlite', 'pyarrow'} & set(sys.modules)))"
    )
    command = [sys.executable, "-c", source]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.splitlines() == ["['elrcheck']", "False True", "[]"]


def test_every_exported_name_is_there_and_no_other() -> None:
    names: dict[str, Any] = {}
    exec("from elrcheck import *", names)
    assert set(elrcheck.__all__) <= set(names)
    assert list(elrcheck.__all__) == sorted(elrcheck.__all__)
    with pytest.raises(AttributeError, match="no attribute 'chek'"):
        elrcheck.chek  # type: ignore[attr-defined]  # noqa: B018


# What a function does without: it prints nothing, and what it returns is written by the caller.
PRINTED = {"form", "outputs", "html", "exit_zero", "every", "fail_on"}
LEFT_OUT = {
    "check": {"checkpoint_every", "reduce", "master", "conf", "partitions", "handover", "storage", "ship_packages"},
    "sweep": {"reduce", "large", "spark_conf", "storage"},
    # Of functions of their own.
    "prove": {"controller", "all_variants", "brokers", "check_certificate", "proofs", "ethos", "signatures"},
    "audit": {"master", "conf", "ship_packages"},
}
RENAMED = {"overrides": "settings", "sweeps": "axes"}
ADDED = {"check": {"spark", "drawn"}, "audit": {"spark"}}


@pytest.mark.parametrize("name", ["check", "simulate", "sweep", "prove", "risk", "audit"])
def test_a_function_has_the_options_of_its_command(name: str) -> None:
    command = cli.commands[name]
    common = {param.name for param in cli.params} | PRINTED | LEFT_OUT.get(name, set())
    own = {str(param.name) for param in command.params if isinstance(param, click.Parameter)} - common
    options = {RENAMED.get(option, option) for option in own}
    keywords = set(inspect.signature(getattr(elrcheck, name)).parameters)
    assert keywords == options | {"progress"} | ADDED.get(name, set())


@pytest.mark.parametrize(
    ("call", "code", "says"),
    [
        (lambda: elrcheck.check("kip_ful"), "unknown-variant", "kip_full"),
        (lambda: elrcheck.check(scope="two-broker"), "unknown-scope", "two-brokers"),
        (lambda: elrcheck.check(settings={"crashes": 1.5}), "override-bad-value", "crashes"),  # type: ignore[dict-item]
        (lambda: elrcheck.check(settings={"crashes": "many"}), "override-bad-value", "crashes"),
        (lambda: elrcheck.check(properties="P-999"), "unknown-property", "P-"),
        (lambda: elrcheck.check(engine="spart"), "usage-bad-value", "spark"),  # type: ignore[arg-type]
        (lambda: elrcheck.check(max_states=0), "usage-bad-value", "max_states"),
        (lambda: elrcheck.check(time_budget=0.0), "usage-bad-value", "time_budget"),
        (lambda: elrcheck.check(time_budget=float("nan")), "usage-bad-value", "time_budget"),
        (lambda: elrcheck.simulate(properties="V-1"), "simulate-liveness", "liveness"),
        (lambda: elrcheck.simulate(depth=0), "usage-bad-value", "depth"),
        (lambda: elrcheck.sweep({"crash": [1, 2]}), "unknown-knob", "crashes"),
        (lambda: elrcheck.sweep({"crashes": [1, 1]}), "sweep-bad-value", "twice"),
        (lambda: elrcheck.prove(assumed=["luck"]), "usage-bad-value", "complete-winners"),  # type: ignore[list-item]
        (lambda: elrcheck.prove_controller(rules="CT-99"), "unknown-rule", "CT-"),
        (lambda: elrcheck.prove_controller(brokers=0), "usage-bad-value", "brokers"),
        (lambda: elrcheck.check_certificate("nowhere"), "certificate-damaged", "nowhere"),
        (lambda: elrcheck.check_certificate("x", solver="z4"), "usage-bad-value", "z3"),  # type: ignore[arg-type]
        (lambda: elrcheck.check(fingerprint=32), "usage-bad-value", "64"),  # type: ignore[arg-type]
        (lambda: elrcheck.check(resume="nowhere"), "no-checkpoint", "nowhere"),
        (lambda: elrcheck.sweep(resume="nowhere"), "no-checkpoint", "nowhere"),
        (lambda: elrcheck.risk("4.1", most=9), "usage-bad-value", "most"),
        (lambda: elrcheck.risk("4.1", compare=[{"colour": "red"}]), "risk-compare", "colour"),
        (lambda: elrcheck.risk("4.1", describe="x", min_insync_replicas=2), "usage-option", "describe"),
        (lambda: elrcheck.audit(), "usage-missing", "bootstrap"),
        (lambda: elrcheck.audit("x", bootstrap="y:1"), "usage-option", "bootstrap"),
        (lambda: elrcheck.what_if({"brokers": {1: {}}}), "what-if-missing-key", "op"),
        (lambda: elrcheck.what_if({"op": object()}), "json-malformed", "JSON"),
        (lambda: as_result(elrcheck.CheckResult, CHECK).to_pandas("stars"), "usage-bad-value", "stars"),
        (lambda: as_result(elrcheck.CheckResult, CHECK).render("yaml"), "usage-bad-value", "yaml"),
    ],
)
def test_a_mistake_is_an_exception_with_the_code_of_the_command(
    call: Callable[[], object], code: str, says: str
) -> None:
    with pytest.raises(elrcheck.ElrError) as caught:
        call()
    assert caught.value.code == code
    assert says in caught.value.render()


def test_a_function_asks_what_its_command_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    requests: list[object] = []

    def answers(report: object) -> Callable[..., object]:
        def run(request: object, *_: object) -> object:
            requests.append(request)
            return report

        return run

    there = Path("there")
    chosen = Selection("legacy", "two-brokers", ("min_isr=1", "unclean_leader_election_enable=true"))
    settings = {"min_isr": 1, "unclean_leader_election_enable": True}
    monkeypatch.setattr("elrcheck.proving.prove.run_prove", answers(PROVE))
    proof = elrcheck.prove("legacy", "two-brokers", settings, properties="P-1", workers=1, solver="cvc5")
    assert isinstance(proof, elrcheck.ProofResult) and proof.cells is PROVE.cells
    monkeypatch.setattr("elrcheck.checking.check.run_check", answers(CHECK))
    elrcheck.check("legacy", "two-brokers", settings, properties=["P-1", "P-2"], max_depth=3, run_dir="there")
    elrcheck.check(resume="there", fingerprint=64, fresh=True)
    monkeypatch.setattr("elrcheck.commands.sweep.sweep.run_sweep", answers(SWEEP))
    elrcheck.sweep({"crashes": [0, 1], "fences": "0..2"}, "legacy", "two-brokers", settings, workers=2)
    elrcheck.sweep(resume="there")
    monkeypatch.setattr("elrcheck.kafka.controller_proof.run_controller", answers(CONTROLLER))
    result = elrcheck.prove_controller("legacy", rules="CT-1", all_variants=True, timeout=5)
    assert result.tables()[0] == "cells" and list(result.to_pandas()["variant"]) == ["kip_full"]
    assert list(result.to_pandas("rules")["id"]) == ["CT-1"]
    monkeypatch.setattr("elrcheck.proving.check_certificate.run_check_certificate", answers(FITS))
    assert elrcheck.check_certificate("there", solver="z3").verdict == "fits"
    assert requests == [
        ProveRequest(chosen, ("P-1",), 1, solver="cvc5"),
        CheckRequest(chosen, ("P-1", "P-2"), limits=Limits(max_depth=3), run_dir=there, selected=True, kept=True),
        CheckRequest(resume=there, fingerprint=64, kept=True, fresh=True),
        SweepRequest(("crashes=0,1", "fences=0..2"), selection=chosen, workers=2),
        SweepRequest(resume=there, named=False),
        ControllerRequest(Selection("legacy"), all_variants=True, rules=("CT-1",), timeout=5),
        CertificateRequest(there, "z3"),
    ]


def test_a_result_is_the_report_that_the_command_renders() -> None:
    result = as_result(elrcheck.CheckResult, CHECK)
    assert isinstance(result, type(CHECK))
    assert all(getattr(result, name) is getattr(CHECK, name) for name in CHECK.__struct_fields__)
    assert json.loads(result.render("json")) == result.to_dict()
    assert result.to_dict()["schema"] == "elrcheck.report/1"
    assert "P-1 LeaderCompleteness" in str(result) and repr(result) == "<CheckResult: violated>"
    assert "<testsuite" in result.render("junit")


@pytest.mark.parametrize("name", RESULTS)
def test_the_default_table_is_one_of_the_tables(name: str) -> None:
    kind = getattr(elrcheck, name)
    assert kind.TABLE in tables_of(kind)


def test_a_notebook_shows_the_page_in_a_frame_of_its_own() -> None:
    for result in (as_result(elrcheck.CheckResult, CHECK), as_result(elrcheck.SweepResult, SWEEP)):
        frame = result._repr_html_()
        assert frame.startswith('<iframe srcdoc="') and 'sandbox="allow-scripts"' in frame
        page = html.unescape(frame.split('srcdoc="', 1)[1].split('"', 1)[0])
        assert page == result.render("html") and page.lower().startswith("<!doctype html>")


def test_a_notebook_shows_every_kind_of_result() -> None:
    walk = elrcheck.start("legacy", "two-brokers")
    for each in (walk, walk.step("Fence(1)"), walk.explain("Fence(1)")):
        page = html.unescape(each._repr_html_())
        assert "<!doctype html>" in page.lower() and "legacy, two-brokers" in page
    assert "Fence(b=1)" in html.unescape(walk.step("Fence(1)").show()._repr_html_())
    text = elrcheck.scenario("E-6")._repr_html_()
    assert text.startswith("<pre>") and "E-6: " in text


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"max_depth": "3"}, "`max_depth`: expected int | None, not '3'"),
        ({"max_depth": float("nan")}, "`max_depth`: expected int | None, not nan"),
        ({"max_depth": True}, "`max_depth`: expected int | None, not True"),
        ({"time_budget": "5s"}, "`time_budget`: expected float | None, not '5s'"),
        ({"memory": 1.5}, "`memory`: expected int | None, not 1.5"),
        ({"properties": 3}, "`properties`: expected Words, not 3"),
        ({"properties": ["P-1", 3]}, "`properties`: expected Words, not ['P-1', 3]"),
        ({"settings": [("crashes", 1)]}, "`settings`: expected Settings | None, not [('crashes', 1)]"),
        ({"variant": None}, "`variant`: expected str, not None"),
        ({"scope": 3}, "`scope`: expected Place, not 3"),
        ({"run_dir": b"run"}, "`run_dir`: expected Place | None, not b'run'"),
    ],
)
def test_an_argument_of_another_type_is_refused_before_anything_runs(arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(elrcheck.UsageFault) as caught:
        elrcheck.check(**arguments)
    assert (caught.value.code, str(caught.value)) == ("usage-bad-value", says)


def test_threads_prove_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Z3 has one context in a process; two threads in it end with an exception, or worse."""
    inside: list[int] = []

    def run_prove(*_: object) -> Any:
        inside.append(len(inside) + 1)
        time.sleep(0.05)
        assert len(inside) == 1
        inside.pop()
        return PROVE

    monkeypatch.setattr("elrcheck.proving.prove.run_prove", run_prove)
    with ThreadPoolExecutor(4) as pool:
        assert {each.verdict for each in pool.map(lambda _: elrcheck.prove(), range(4))} == {PROVE.verdict}


def test_tables_as_data_frames() -> None:
    check = as_result(elrcheck.CheckResult, CHECK)
    properties = check.to_pandas()
    assert list(properties["id"]) == ["P-1", "P-2", "W-1", "W-2"] and "counterexample" not in properties
    assert list(check.to_pandas("actions")["guards"]) == [["b is unfenced"]]
    assert check.to_pandas("variables").empty and list(check.to_pandas("variables")) == ["name", "distinct"]
    proof = as_result(elrcheck.ProofResult, PROVE)
    assert len(proof.to_pandas("cells")) == len(PROVE.cells) and "failure" not in proof.to_pandas("cells")
    sweep = as_result(elrcheck.SweepResult, SWEEP)
    assert sweep.to_pandas().loc[0, ["min_isr", "verdict", "depth"]].tolist() == [1, "violated", 9]
    assert sweep.to_pandas("axes")["values"][0] == [1, 2] and sweep.render("csv").startswith("number,")


def test_the_answers_about_all_settings_are_one_table() -> None:
    settings = RiskSettings("4.1.2", "code_4_1", 3, 2, "all", True, False, False)
    answer = RiskAnswer({"crash": 1}, "a crash", "lost", True, ("one",), (), ("model",), "", "", "elrcheck")
    other = RiskPart(replace(settings, elr=False), (answer, answer), {}, ())
    report = RiskReport("lost", settings, (answer,), {}, (), (), (), (), {}, (), 1, 2, 0.5, others=(other,))
    frame = as_result(elrcheck.RiskResult, report).to_pandas()
    assert list(frame["elr"]) == [True, False, False] and list(frame["events"]) == [{"crash": 1}] * 3
    assert "others" not in as_result(elrcheck.RiskResult, report).tables()


def test_without_pandas_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refused(name: str, *rest: Any) -> Any:
        if name == "pandas":
            raise ModuleNotFoundError(name=name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refused)
    with pytest.raises(elrcheck.EnvironmentFault) as caught:
        as_result(elrcheck.CheckResult, CHECK).to_pandas()
    assert caught.value.code == "package-missing" and "pip install" in str(caught.value.help)


def test_a_walk_goes_forth_and_back_without_changing(tmp_path: Path) -> None:
    first = elrcheck.start("legacy", "two-brokers")
    second = first.step("Fence(1)")
    assert (first.steps, second.steps) == ((), ("Fence(b=1)",))
    assert "Fence(b=1)" in first.enabled and "Fence(b=1)" not in second.enabled
    assert second.leaves()["partition.isr"] == "{0}" and second.back().state == first.state
    second.save(tmp_path / "walk.trace.json")
    again = elrcheck.replay(tmp_path / "walk.trace.json")
    assert (again.states, again.steps) == (second.states, second.steps)
    assert [path.name for path in again.export(tmp_path, "mermaid")] != []
    assert again.show().steps == 1 and "Fence" in str(again)


def test_a_walk_names_the_choices_of_a_step() -> None:
    with pytest.raises(elrcheck.UsageFault, match="2 choices of its arguments are possible") as caught:
        elrcheck.start("legacy", "two-brokers").step("Fence")
    assert caught.value.help == "name one: Fence(b=0), Fence(b=1)"


def test_a_walk_says_why_a_step_is_refused() -> None:
    walk = elrcheck.start("legacy", "two-brokers").step("Fence(1)")
    with pytest.raises(elrcheck.UsageFault, match=r"step 2, `Fence\(1\)`: it is not enabled there: b is unfenced"):
        walk.step("Fence(1)")
    assert walk.explain("Fence(1)").verdict == "refused"
    with pytest.raises(elrcheck.UsageFault, match="expected 0 to 1, not 2"):
        walk.back(2)
    with pytest.raises(elrcheck.UsageFault, match="there is no initial state 1"):
        elrcheck.start(initial=1)


def test_a_counterexample_is_replayed_as_a_walk(tmp_path: Path) -> None:
    report = elrcheck.check("legacy", "two-brokers", properties="P-1", run_dir=tmp_path)
    (file,) = tmp_path.glob("*.trace.json")
    walk = elrcheck.replay(file)
    assert len(walk.steps) == report.properties[0].depth
    assert "P-1" in walk.violated and "P-1" not in walk.back().violated
    assert walk.explain().verdict == "violated"


def test_a_walk_of_a_model_of_the_user() -> None:
    walk = elrcheck.start(model=ROOT / "protocols" / "agreement" / "two_phase.py").step("Prepare(0)")
    assert walk.state.prepared == frozenset() and "ReceivePrepared(r=0)" in walk.enabled


def test_findings_of_a_release_and_a_scenario() -> None:
    assessed = elrcheck.assess(kafka="4.1", min_insync_replicas=2)
    assert set(assessed.to_pandas()["kafka"]) == {assessed.groups[0].settings.kafka}
    assert elrcheck.scenario("E-6").verdict == "as_expected"


def test_the_stub_has_the_signatures_of_the_functions() -> None:
    stub = runpy.run_path(str(ROOT / "docs" / "generate_stub.py"))
    assert stub["STUB"].read_text(encoding="utf-8") == stub["stub"](), "run python docs/generate_stub.py"
