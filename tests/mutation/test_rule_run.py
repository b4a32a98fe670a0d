"""`mutate --rules` of any model: how many changes of three protocols their properties notice; what is refused."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from support.invoked import Invoke
from support.places import PROTOCOLS, SCHEMAS

PETERSON = PROTOCOLS / "mutual_exclusion" / "peterson.py"
COUNTER = """
from typing import Annotated

from elrcheck.lang.load import ProtocolModel
from elrcheck.lang.runtime import action, always, config, init, op, require, state
from elrcheck.lang.types import nat


@config
class Config:
    most: int = 3


@state
class State:
    count: Annotated[int, nat("Count", hi=9)]


@op
def first(c: Config) -> int:
    return 1


@init
def Init(c: Config) -> State:
    return State(count=first(c))


@action
def Add(c: Config, s: State) -> State:
    \"\"\"One more, as long as there are few.\"\"\"
    require(s.count < c.most, "few")
    return State(count=s.count + first(c))


@always("P-1")
def Few(c: Config, s: State) -> bool:
    \"\"\"There are never too many.\"\"\"
    return s.count <= c.most


MODEL = ProtocolModel(State, Config)
"""


def mutated(invoke: Invoke, model: Path, *options: str) -> dict[str, Any]:
    code, out, err = invoke("mutate", "--rules", "--model", str(model), "--run-dir", "run", "-f", "json", *options)
    report: dict[str, Any] = json.loads(out)
    jsonschema.validate(report, json.loads((SCHEMAS / "elrcheck.mutate-1.schema.json").read_text()))
    assert (code, report["verdict"], err) == (0, "surveyed", "")
    return report


def test_a_change_is_noticed_unnoticed_or_makes_no_difference(invoke: Invoke) -> None:
    report = mutated(invoke, PETERSON, "--function", "Yield", "--function", "Leave", "--workers", "1")
    rules = {rule["name"]: rule for rule in report["rules"]}
    assert report["rule_survey"]["possible"] == 51 and report["rule_survey"]["unmutated"]["distinct"] == 42
    idle = rules["Yield: q if c.yields else s.turn -> q"]
    assert (idle["verdict"], idle["reason"]) == ("unaffected", "the same program")
    selfish = rules["Yield: q if c.yields else s.turn -> s.turn"]
    assert (selfish["verdict"], selfish["by"]) == ("found", "P-1") and selfish["depth"] > 0
    again = rules["Leave: At.OUTSIDE -> At.CLAIM"]
    assert again["verdict"] == "unnoticed"
    assert again["reason"].startswith("71 generated, 39 distinct, diameter 10; without the change: 77 generated")
    # The same command takes every answer from the journal; another question does not.
    assert mutated(invoke, PETERSON, "--function", "Yield")["rule_survey"]["resumed"] > 0
    code, _, err = invoke("mutate", "--rules", "--model", str(PETERSON), "--run-dir", "run", "-p", "P-1")
    assert code == 2 and "resume-mismatch" in err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("protocol", "ill_typed", "verdicts"),
    [
        ("agreement/two_phase", 10, {"found": 28, "unnoticed": 8, "unaffected": 1}),
        ("mutual_exclusion/peterson", 14, {"found": 34, "unnoticed": 2, "unaffected": 1}),
        ("networks/ewd840", 5, {"found": 40, "undefined": 7, "unnoticed": 17, "unaffected": 2}),
    ],
)
def test_every_change_of_three_protocols(
    invoke: Invoke, protocol: str, ill_typed: int, verdicts: dict[str, int]
) -> None:
    report = mutated(invoke, PROTOCOLS / f"{protocol}.py")
    assert report["rule_survey"]["ill_typed"] == ill_typed
    assert Counter(rule["verdict"] for rule in report["rules"]) == verdicts


def test_liveness_notices_what_safety_does_not(invoke: Invoke) -> None:
    """A process that never enters breaks no safety property."""
    report = mutated(invoke, PETERSON, "--function", "Enter", "--workers", "1")
    by = {rule["by"] for rule in report["rules"] if rule["verdict"] == "found"}
    assert any(ident.startswith("V-") for ident in by if ident), by


def test_a_change_of_the_initial_state_counts(invoke: Invoke, tmp_path: Path) -> None:
    model = tmp_path / "counter.py"
    model.write_text(COUNTER)
    report = mutated(invoke, model, "--function", "first", "--workers", "1")
    assert {rule["name"]: rule["verdict"] for rule in report["rules"]} == {
        "first: 1 -> 0": "unnoticed",
        "first: 1 -> 2": "found",
    }
    assert {rule["place"] for rule in report["rules"]} == {"counter.py:21"}


def test_several_scopes_judge_until_one_notices(invoke: Invoke, tmp_path: Path) -> None:
    """A step of two goes beyond an odd limit only."""
    model = tmp_path / "counter.py"
    scopes = 'scopes={"one": {"most": 1}, "two": {"most": 2}, "ten": {"most": 9}}'
    model.write_text(COUNTER.replace("State, Config)", f"State, Config, {scopes})"))
    only = ("--function", "first", "--workers", "1")
    (_, two) = mutated(invoke, model, "--scope", "two", *only, "--run-dir", "one-scope")["rules"]
    assert (two["after"], two["verdict"], two["compared"], two["configuration"]) == ("2", "unnoticed", 1, None)
    report = mutated(invoke, model, "--configuration", "t*", "--configuration", "default", *only)
    survey = report["rule_survey"]
    assert survey["configurations"] == ["counter, default", "counter, two", "counter, ten"] and not survey["unmutated"]
    zero, two = report["rules"]
    assert (zero["after"], zero["verdict"], zero["compared"], zero["differs"]) == ("0", "unnoticed", 3, 3)
    assert (two["verdict"], two["by"], two["configuration"], two["compared"]) == ("found", "P-1", "counter, default", 1)
    of_even = mutated(invoke, model, "--configuration", "two", "--configuration", "one", *only, "--run-dir", "even")
    assert [rule["compared"] for rule in of_even["rules"]] == [2, 1]
    text = invoke("mutate", "--model", str(model), "--configuration", "t*", *only)[1]
    assert "over      counter, two; counter, ten" in text
    short = ("--configuration", "t*", "--max-states", "5", *only, "--run-dir", "short", "-f", "json")
    code, out, _ = invoke("mutate", "--rules", "--model", str(model), *short)
    assert code == 3 and json.loads(out)["rule_survey"]["reason"] == "counter, ten: --max-states 5"
    for options, says in (
        (("--configuration", "three"), "the model has no scope `three`"),
        (("--configuration", "two", "--scope", "two"), "--scope requires --rules without --configuration"),
    ):
        code, _, err = invoke("mutate", "--rules", "--model", str(model), *options)
        assert code == 2 and says in err


def test_a_diff_of_a_model_names_places_as_the_diff_does(invoke: Invoke, tmp_path: Path) -> None:
    model, diff = tmp_path / "counter.py", tmp_path / "four.diff"
    model.write_text(COUNTER)
    number = COUNTER.splitlines().index("    most: int = 3") + 1
    diff.write_text(
        f"--- counter.py\n+++ counter.py\n@@ -{number} +{number} @@\n-    most: int = 3\n+    most: int = 4\n"
    )
    report = mutated(invoke, model, "--patch", str(diff), "--function", "first", "--workers", "1")
    assert report["patch"]["file"] == str(diff) and report["rule_survey"]["unmutated"]["distinct"] == 4
    assert {rule["place"] for rule in report["rules"]} == {"counter.py:21"}


def test_a_step_that_nobody_changed_leads_out_of_range(invoke: Invoke, tmp_path: Path) -> None:
    """Only its state is new; the steps beyond were dropped, so that no property could notice them."""
    text = COUNTER.replace("count: Annotated", "on: bool\n    count: Annotated").replace(
        "State(count=first(c))", "State(on=False, count=0)"
    )
    guarded = """require(s.count < c.most, "few")
    return State(count=s.count + first(c))"""
    text = text.replace(
        guarded,
        """require(s.on, "it is on")
    return replace(s, count=s.count + 1)""",
    )
    switch = '''@action
def Switch(c: Config, s: State) -> State:
    """Never."""
    require(s.count > c.most, "there are too many")
    return replace(s, on=True)


@always("P-1")'''
    text = text.replace('@always("P-1")', switch).replace("s.count <= c.most", "s.count >= 0")
    model = tmp_path / "counter.py"
    model.write_text("from dataclasses import replace\n" + text)
    report = mutated(invoke, model, "--function", "Switch", "--workers", "1")
    rules = {rule["name"].removeprefix("Switch: "): (rule["verdict"], rule["reason"]) for rule in report["rules"]}
    assert rules["s.count > c.most -> s.count <= c.most"] == ("undefined", "values out of range: count")


def test_a_change_whose_search_has_no_end_is_not_unnoticed(invoke: Invoke, tmp_path: Path) -> None:
    """A search stops at twice as many states as before, and at ten thousand if that is more."""
    text = COUNTER.replace("hi=9)]", 'hi=200)]\n    other: Annotated[int, nat("Other", hi=200)]')
    text = text.replace("State(count=first(c))", "State(count=0, other=0)").replace("s.count < c.most", "s.other < 3")
    text = text.replace("State(count=s.count + first(c))", "replace(s, count=(s.count + 1) % 200)")
    other = """@action
def More(c: Config, s: State) -> State:
    require(s.other < c.most and s.count == 0, "few")
    return replace(s, other=s.other + 1)


@always("P-1")"""
    text = (
        text.replace('@always("P-1")', other)
        .replace("s.count <= c.most", "s.count >= 0")
        .replace("most: int = 3", "most: int = 150")
    )
    text = text.replace("s.other < 3", "s.other < 3 and s.other < 150")
    model = tmp_path / "counter.py"
    model.write_text("from dataclasses import replace\n" + text)
    command = ("mutate", "--rules", "--model", str(model), "--function", "Add", "--workers", "1", "-f", "json")
    code, out, _ = invoke(*command)
    rules = {rule["after"]: (rule["verdict"], rule["reason"]) for rule in json.loads(out)["rules"]}
    assert code == 3 and rules["s.other < 150"] == ("inconclusive", "more distinct states than the 748 before")


def test_a_search_without_an_end_changes_nothing(invoke: Invoke) -> None:
    code, out, _ = invoke("mutate", "--rules", "--model", str(PETERSON), "--max-states", "20", "-f", "json")
    report = json.loads(out)
    assert (code, report["verdict"], report["rules"]) == (3, "inconclusive", [])
    assert report["rule_survey"]["reason"] == "--max-states 20"


def test_what_is_refused(invoke: Invoke) -> None:
    model = ("mutate", "--rules", "--model", str(PETERSON))
    code, _, err = invoke(*model, "--function", "Yeild")
    assert code == 2 and "did you mean `Yield`?" in err
    code, _, err = invoke(*model, "--proof")
    assert code == 2 and "--proof requires Kafka's partition, without --model" in err
    assert invoke("mutate", "--rules", "--scope", "two-brokers")[0] == 2
