"""`--fail-on`: which words apply, what the report, the text and the other formats say, and the exit code.

The scope two-brokers-quiet has no crashes, so that the actions of a restarting broker cannot fire in it.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest
from msgspec import structs

from elrcheck.base.common_options import FAIL_ON
from elrcheck.base.requests import CHECK_FAIL_ON, GATE_FAIL_ON, CheckRequest
from elrcheck.checking.baseline import Expected, Fired
from elrcheck.checking.outcome_report import failures
from elrcheck.commands.gate.gate_diff import differences
from elrcheck.report.formats import render
from elrcheck.results.check_report import ActionReport, CheckReport, EngineReport, Failure, PropertyReport, SearchReport
from support.invoked import Invoke
from support.places import ROOT, SCHEMAS

QUIET = ("--scope", "two-brokers-quiet")
PROPERTIES = (
    PropertyReport("P-1", "One", "always", "holds"),
    PropertyReport("W-1", "Seen", "sometimes", "reached", 2),
    PropertyReport("W-2", "Unseen", "sometimes", "unreached"),
)
ACTIONS = (ActionReport("Fence", 3, 1), ActionReport("Crash", 0, 0), ActionReport("Late", 4, 0, cut=4))
REPORT = CheckReport(
    verdict="holds",
    variant="kip_full",
    scope="two-brokers",
    config={},
    engine=EngineReport("local"),
    search=SearchReport(True, 10, 5, 2, (1, 4), 0.1, 50.0, 8),
    properties=PROPERTIES,
    actions=ACTIONS,
)


# ------------------------------------------------------------------------------- which words


def test_words_apply_to_what_a_complete_search_did_not_reach() -> None:
    assert failures((), PROPERTIES, ACTIONS, True) == ()
    every = ("inconclusive", "unreached-witness", "unreached-action", "unreached-witness")
    assert failures(every, PROPERTIES, ACTIONS, True) == (
        Failure("unreached-witness", ("W-2",)),
        Failure("unreached-action", ("Crash", "Late")),
    )
    assert failures(every, PROPERTIES[:2], ACTIONS[:1], True) == ()


def test_what_a_search_that_was_stopped_did_not_reach_is_undecided() -> None:
    undecided = (structs.replace(PROPERTIES[0], verdict="inconclusive"), PROPERTIES[1])
    assert failures(("unreached-action", "inconclusive"), undecided, ACTIONS, False) == (
        Failure("inconclusive", ("P-1",)),
    )
    assert failures(("inconclusive",), PROPERTIES[1:2], ACTIONS, False) == (Failure("inconclusive", ()),)


# ------------------------------------------------------------------------------- the command


def test_check_fails_by_an_action_that_never_fires(invoke: Invoke) -> None:
    code, out, _ = invoke("check", *QUIET, "--fail-on", "unreached-action, unreached-witness", "-f", "json")
    data = json.loads(out)
    assert (code, data["verdict"]) == (1, "holds")
    subjects = {failure["word"]: failure["subjects"] for failure in data["failures"]}
    assert "Kill" in subjects["unreached-action"] and "Produce" not in subjects["unreached-action"]
    schema = json.loads((ROOT / "docs/schemas/elrcheck.report-1.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(data)


def test_check_fails_by_a_limit_or_is_inconclusive(invoke: Invoke) -> None:
    limited = ("check", *QUIET, "--max-depth", "3")
    assert invoke(*limited, "--fail-on", "unreached-action,unreached-witness")[0] == 3
    code, out, _ = invoke(*limited, "--fail-on", "inconclusive")
    assert code == 1 and "FAIL  --fail-on inconclusive: P-1, " in out
    assert "INCONCLUSIVE  kip_full, two-brokers-quiet: bounded by" in out


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("check", "--fail-on", "drift"), "'drift' is not one of unreached-action, unreached-witness"),
        (("check", "--fail-on", "inconclusive,"), "'' is not one of"),
        (("gate", "--fail-on", "unreached"), "unreached-action, unreached-witness"),
    ],
)
def test_a_word_that_the_command_does_not_know(invoke: Invoke, argv: tuple[str, ...], words: str) -> None:
    code, _, err = invoke(*argv)
    assert code == 2 and words in err


def test_it_can_stand_in_the_settings(invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    requests: list[CheckRequest] = []

    def stand_in(request: CheckRequest, *_: object) -> CheckReport:
        requests.append(request)
        return structs.replace(REPORT, failures=(Failure("unreached-witness", ("W-2",)),))

    monkeypatch.setattr("elrcheck.checking.check.run_check", stand_in)
    (tmp_path / "elrcheck.toml").write_text('[check]\nfail-on = "unreached-witness, unreached-action"\n')
    assert invoke("check")[0] == 1
    assert invoke("check", "--exit-zero")[0] == 0
    assert requests[0].fail_on == ("unreached-witness", "unreached-action")


# ------------------------------------------------------------------------------- the formats


def test_every_format_says_what_fails() -> None:
    report = structs.replace(
        REPORT, failures=failures(("unreached-action", "unreached-witness"), PROPERTIES, ACTIONS, True)
    )
    assert report.exit_code == 1 and REPORT.exit_code == 0
    text = render(report, "text")
    assert "FAIL  --fail-on unreached-action: Crash, Late" in text
    assert "FAIL  --fail-on unreached-witness: W-2" in text
    assert "HOLDS  kip_full, two-brokers" in text
    github = render(report, "github")
    assert [line.split("::")[-1] for line in github.splitlines() if line.startswith("::error")] == [
        "W-2 Unseen: no state of this search shows it",
        "Crash never fires (--fail-on unreached-action)",
        "Late never fires (--fail-on unreached-action)",
    ]
    junit = ElementTree.fromstring(render(report, "junit"))
    assert len(junit.findall(".//failure")) == 3 and len(junit.findall(".//testcase")) == 5
    results = json.loads(render(report, "sarif"))["runs"][0]["results"]
    assert [result["ruleId"] for result in results] == ["W-2", "Crash", "Late"]
    assert "fails by --fail-on unreached-action,unreached-witness" in render(report, "markdown")
    assert "--fail-on" in render(report, "html")


# ---------------------------------------------------------------------------------- the gate


def test_the_gate_has_the_same_words_whatever_the_baseline_expects() -> None:
    expected = Expected(
        verdict="holds",
        counts={"generated": 9, "distinct": 5, "diameter": 3, "cut": 1, "deadlocks": 0},
        properties={"P-1": "holds", "W-2": "unreached"},
        actions={"Fence": Fired(3, 0), "Crash": Fired(0, 0), "Late": Fired(4, 4)},
        guards={},
    )
    changes = differences(expected, expected, {}, ("drift", "unreached-action", "unreached-witness"))
    assert [(d.subject, d.found, d.fails) for d in changes] == [
        ("W-2", "unreached", True),
        ("Crash", "never fires", True),
        ("Late", "only beyond the budgets", True),
    ]
    assert differences(expected, expected, {}, ("drift", "inconclusive", "violated")) == ()
    reached = replace(expected, properties={"P-1": "holds", "W-2": "reached at depth 1"})
    assert [d.fails for d in differences(reached, expected, {}, ("unreached-witness",))] == [True]
    assert [d.fails for d in differences(expected, reached, {}, ("unreached-witness",))] == [False]


@pytest.mark.parametrize(("schema", "words"), [("gate", GATE_FAIL_ON), ("report", CHECK_FAIL_ON)])
def test_the_schemas_know_the_words(schema: str, words: tuple[str, ...]) -> None:
    document = json.loads((SCHEMAS / f"elrcheck.{schema}-1.schema.json").read_text(encoding="utf-8"))
    items = (
        document["properties"]["fail_on"]["items"]
        if schema == "gate"
        else (document["$defs"]["Failure"]["properties"]["word"])
    )
    assert tuple(items["enum"]) == words
    assert set(words) <= set(FAIL_ON)
