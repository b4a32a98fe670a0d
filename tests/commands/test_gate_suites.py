"""Suites in a baseline: read, run, compared, and what an update does not accept."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

from elrcheck.base.errors import UsageFault
from elrcheck.base.progress import Silent
from elrcheck.base.proof_requests import GateRequest, NewEntry
from elrcheck.checking.baseline import ExpectedRun, SuiteEntry, baseline_text, read_baseline, recorded_runs
from elrcheck.checking.suite import suite as suite_module
from elrcheck.commands.gate.gate import run_gate
from elrcheck.commands.gate.gate_suites import suite_differences
from elrcheck.kafka.controller_proof import run_controller
from elrcheck.report.formats import render
from elrcheck.results.suite_report import SuiteReport, SuiteRun, SuiteViolation
from support.edits import replaced
from support.invoked import Invoke
from support.sweeps import check_here

BASELINE = """\
schema = "elrcheck.baseline/1"
[suite.ours]
files = ["ours.toml"]
"""
LOSSY = """\
description = "small"
scope = "two-brokers-quiet"
reaches = ["W-11"]
[[configuration]]
name = "fence"
set = { fences = 1 }
"""
EXPLAINED = """\
[[violates]]
properties = ["P-8"]
in = ["fence"]
because = "it does not"
"""


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers are kept in the folder of the test; no process is started."""

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(suite_module, "check_all", check_here)


# -------------------------------------------------------------------------------- the file

ENTRY = SuiteEntry(
    "ours",
    ("pairs", "a/b*"),
    ("ours.toml",),
    True,
    8,
    {
        "ours/x": ExpectedRun("violated", {"generated": 5, "distinct": 4, "diameter": 3}, {"P-2": 2, "P-10": 1}),
        "ours/y": ExpectedRun("holds", {"generated": 1, "distinct": 1, "diameter": 0}),
    },
)


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "b.toml"
    path.write_text(baseline_text((), (SuiteEntry("bare"), ENTRY)), encoding="utf-8")
    read = read_baseline(path)
    assert tuple(replace(suite, place="") for suite in read.suites) == (SuiteEntry("bare"), ENTRY)
    assert read.entries == () and read.names == ("bare", "ours")
    assert baseline_text(read.entries, read.suites) == path.read_text(encoding="utf-8")
    assert ENTRY.request(path, 2).files == (tmp_path / "ours.toml",)


FULL = baseline_text((), (ENTRY,))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (replaced(FULL, "sample = 8", "sample = 0"), "`sample`: expected a whole number, 1 or more"),
        (replaced(FULL, "deep = true", "deep = 1"), "`deep`: expected true or false"),
        (replaced(FULL, "only =", "onyl ="), "unknown key `onyl`"),
        (replaced(FULL, '"holds"', '"hold"'), "`verdict`"),
        (replaced(FULL, "distinct = 4", "distinct = -4"), "`distinct`: expected a whole number, 0 or more"),
        (replaced(FULL, ", diameter = 3", ""), "`diameter` is missing"),
        (replaced(FULL, "P-2 = 2", 'P-2 = "2"'), "`P-2`: expected a whole number"),
        (replaced(FULL, "suite.ours", 'suite."a b"'), "`a b` is not a valid entry name"),
        (FULL + '[entry.ours]\nvariant = "legacy"\nscope = "two-brokers"\n', "an entry `ours` too"),
    ],
)
def test_a_mistake_is_named_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "b.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageFault) as caught:
        read_baseline(path)
    assert message in caught.value.message and str(caught.value.where).startswith(f"{path}:")


# ------------------------------------------------------------------------------ differences


def run_named(name: str, *violations: SuiteViolation, **more: object) -> SuiteRun:
    plain = SuiteRun(name, "violated" if violations else "holds", True, "kip_full", "s", {}, 4, 5, 3, 0.1, True)
    return structs.replace(plain, violations=violations, **more)  # type: ignore[arg-type]


def differences_of(
    expected: dict[str, ExpectedRun], *runs: SuiteRun, fail_on: str = "drift"
) -> list[tuple[object, ...]]:
    report = SuiteReport("expected", runs, (), 1.0, 1)
    changes = suite_differences(expected, report, (fail_on,))
    return [(d.what, d.expected, d.found, d.kind, d.worse, d.fails) for d in changes]


BY_DESIGN = SuiteViolation("P-2", "Two", True, True, 2, because="one copy")
HOLDS = ExpectedRun("holds", {"generated": 5, "distinct": 4, "diameter": 3})
BREAKS = replace(HOLDS, verdict="violated", violated={"P-2": 2})


def test_nothing_differs_from_itself() -> None:
    report = SuiteReport("expected", (run_named("a", BY_DESIGN), run_named("b")), (), 1.0, 1)
    assert recorded_runs(report) == {"a": BREAKS, "b": HOLDS}
    assert suite_differences(recorded_runs(report), report, ("drift",)) == ()
    assert differences_of({"a": BREAKS}, run_named("a", BY_DESIGN), fail_on="violated") == [
        ("a: P-2", "violated at depth 2", "violated at depth 2", "violated", False, True)
    ]


def test_each_kind_of_difference() -> None:
    assert differences_of({"a": HOLDS}, run_named("a", BY_DESIGN), fail_on="regression") == [
        ("a: P-2", "holds", "violated at depth 2", "violated", True, True)
    ]
    assert differences_of({"a": BREAKS}, run_named("a"), fail_on="regression") == [
        ("a: P-2", "violated at depth 2", "holds", "verdict", False, False)
    ]
    assert differences_of({"a": HOLDS, "b": HOLDS}, run_named("b", distinct=9), run_named("c")) == [
        ("c", "absent", "holds", "new", False, True),
        ("a", "holds", "absent", "verdict", True, True),
        ("b, distinct states", "4", "9", "count", False, True),
    ]
    assert differences_of({"a": HOLDS}, run_named("a", verdict="inconclusive"), fail_on="regression") == [
        ("a", "holds", "inconclusive", "inconclusive", True, True)
    ]


def test_what_the_suite_does_not_explain_differs_from_any_baseline() -> None:
    unexplained = structs.replace(BY_DESIGN, expected=False, because=None)
    assert differences_of({"a": BREAKS}, run_named("a", unexplained)) == [
        ("a: P-2", "explained", "violated at depth 2", "violated", True, True)
    ]
    gone = structs.replace(BY_DESIGN, found=False, depth=None)
    assert differences_of({"a": replace(HOLDS, verdict="violated")}, run_named("a", gone, dead=("W-11",))) == [
        ("a: W-11", "reached", "unreached", "witness", True, True),
        ("a: P-2", "violated, as the suite explains", "holds", "verdict", True, True),
    ]


# --------------------------------------------------------------------------------- the gate


@pytest.mark.slow
def test_a_suite_is_gated(tmp_path: Path) -> None:
    baseline, family = tmp_path / "b.toml", tmp_path / "ours.toml"
    baseline.write_text(BASELINE)
    family.write_text(LOSSY)
    request = GateRequest(baseline, workers=1)
    new = run_gate(request, run_controller, Silent())
    assert (new.verdict, [d.kind for d in new.suites[0].differences]) == ("drift", ["new"])
    updated = run_gate(replace(request, update=True), run_controller, Silent())
    assert (updated.verdict, updated.written) == ("updated", True)
    (read,) = read_baseline(baseline).suites
    assert read.files == ("ours.toml",) and read.expected is not None and set(read.expected) == {"ours/fence"}
    assert run_gate(request, run_controller, Silent()).verdict == "same"
    baseline.write_text(replaced(baseline.read_text(), "distinct = ", "distinct = 1"))
    drift = run_gate(request, run_controller, Silent())
    assert (drift.verdict, int(drift.exit_code)) == ("drift", 1)
    assert [d.what for d in drift.suites[0].differences] == ["ours/fence, distinct states"]
    for form in ("text", "junit", "sarif", "markdown", "github", "html", "json"):
        assert "ours/fence" in render(drift, form), form
    family.write_text(LOSSY + EXPLAINED)
    report = run_gate(replace(request, update=True), run_controller, Silent())
    assert (report.verdict, int(report.exit_code)) == ("drift", 1), "an update explains nothing"
    assert "violated, as the suite explains" in render(report, "text")


@pytest.mark.slow
def test_a_suite_is_added(tmp_path: Path, invoke: Invoke) -> None:
    one = "pairs/elect+unregister/fence"
    assert invoke("gate", "--suite", one)[0] == 2, "--suite requires --add"
    assert invoke("gate", "--add", "small", "--suite", one, "--proof")[0] == 2
    assert invoke("gate", "--add", "small", "--suite", "pears/*")[0] == 5
    code, out, _ = invoke("gate", "--add", "small", "--suite", one, "-f", "json")
    document = json.loads(out)
    assert code == 0 and document["verdict"] == "updated" and document["entries"] == []
    assert [run["name"] for run in document["suites"][0]["suite"]["runs"]] == [one]
    (read,) = read_baseline(tmp_path / "elrcheck-baseline.toml").suites
    assert (read.name, read.only) == ("small", (one,))
    assert invoke("gate", "--only", "small")[0] == 0
    assert invoke("gate", "--only", "smal")[0] == 2


def test_a_new_entry_for_a_name_that_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "b.toml"
    path.write_text(BASELINE)
    with pytest.raises(UsageFault, match="`ours` exists already"):
        run_gate(GateRequest(path, add=NewEntry("ours", suite=("pairs",))), run_controller, Silent())
