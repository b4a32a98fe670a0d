"""`conform --answers`: the model compared with answers that Kafka gave earlier, without Java."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest

from elrcheck.invariants.modules import load_whole_model
from elrcheck.kafka.mutation.rule_proof import partition_mutants
from elrcheck.laboratory.rule_trials import AnswerBench, packaged_releases
from support.invoked import Invoke

FOLDER = Path(str(files("elrcheck.catalogue") / "answers"))
ONE = str(FOLDER / "kafka-4.1.2-controller.answers.xz")
BROKER = str(FOLDER / "kafka-4.3.1-broker.answers.xz")


@pytest.mark.slow
def test_the_model_answers_as_the_releases_did(invoke: Invoke) -> None:
    code, out, _ = invoke("conform", "--answers", ONE, "--answers", BROKER, "--format", "json")
    report = json.loads(out)
    assert code == 0 and report["verdict"] == "holds" and report["unexplained"] == 0
    assert [version["kafka"] for version in report["versions"]] == ["4.1.2", "4.3.1"]
    assert report["versions"][0]["compared"] > 10_000 and report["versions"][1]["compared"] > 4_000
    assert {each["class"] for each in report["disagreements"]} == {
        "watermark-before",
        "cut-by-another-name",
        "record-of-an-answer",
        "nothing-to-lag-behind",
    }


def test_a_changed_knob_is_a_difference(invoke: Invoke) -> None:
    code, out, _ = invoke("conform", "--answers", ONE, "--set", "cancel_gate=true", "--stop-at-first")
    assert code == 1 and "UNEXPLAINED" in out and f"--answers {ONE}" in out


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--answers", "packaged", "--kafka", "4.1.2"), "--answers takes no --kafka"),
        (("--answers", "packaged", "--record", "x.json"), "--answers takes no --kafka"),
        (("--answers", "nowhere.xz"), "--> nowhere.xz"),
        (("--answers", __file__), "not compressed by xz"),
        (("--kafka", "4.1.2", "--record", "x.json", "--keep-answers", "y.xz"), "compares nothing"),
    ],
)
def test_options_that_do_not_go_together(invoke: Invoke, options: tuple[str, ...], problem: str) -> None:
    code, out, err = invoke("conform", *options)
    assert code in (2, 4) and problem in err and out == ""


@pytest.mark.slow
def test_a_change_of_a_rule_is_another_answer() -> None:
    """Every change of one rule of the controller, by the packaged answers alone."""
    mutants = partition_mutants(load_whole_model())
    few = [
        replace(one, answers=replace(one.answers, builder=(), walks=one.answers.walks[:1500]))
        for one in packaged_releases()
        if one.answers.kafka == "3.9.1" and one.answers.level == "controller"
    ]
    bench = AnswerBench({"fence_target": mutants.fns["fence_target"].source}, few)
    assert bench.cases_of("fence_target") > 100
    judged = {
        variation.name: bench.judge(changed)
        for variation in mutants.of("fence_target")
        if (changed := mutants.make(variation)) is not None
    }
    caught = [verdict for verdict in judged.values() if verdict is not None]
    assert len(caught) >= 6  # the others change what a knob decides that no release has
    assert {verdict.by for verdict in caught} == {"Kafka 3.9.1"}
