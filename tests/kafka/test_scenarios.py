"""The scenario catalogue: every packaged scenario replayed, and what a wrong one is told."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from elrcheck.base.progress import Silent
from elrcheck.base.requests import CheckRequest, Limits
from elrcheck.catalogue.scenario_file import Scenario, read_scenario, scenario_files
from elrcheck.checking.engines import SearchSubject, explore
from elrcheck.declared.select import select_properties
from elrcheck.invariants.modules import load_checked_model
from elrcheck.kafka.scenario import ReplayedRun, first_hits, replay
from elrcheck.model.variants import variant_names
from elrcheck.results.scenario_report import RunReport, ScenarioReport
from elrcheck.stored_traces.tracefile import load_trace
from support.edits import replaced
from support.following import refused_step
from support.places import SCHEMAS

FILES = {read_scenario(file).id: file for file in scenario_files()}
# Section E of the semantics notes; there is no E-12.
NUMBERS = [n for n in range(1, 30) if n != 12]
# What the model cannot express yet: nothing becomes pending unnoticed.
PENDING: set[str] = set()
# What the KIP and the releases are; other variants have runs where they matter.
VERSIONS = {"kip_full", "kip_phase1", "code_2024_10", "code_4_0", "code_4_1", "legacy_strict", "legacy"}
# About a rule that only one release has.
ONE_RELEASE = {"E-29": "code_4_0"}
# Follows from P-1 for a follower of the wrong leader, some steps later; no search is made for it alone.
FOLLOWS = {"P-26"}
# Properties that break only after more steps than a breadth-first search of a test can afford.
# (scenario, part of the label of a run, property)
TOO_DEEP = {
    *(("E-1", "legacy", prop) for prop in ("P-4", "P-27", "P-32")),
    *(("E-6", "AGGRESSIVE", prop) for prop in ("P-1", "P-2", "P-6")),
    *(("E-9", part, prop) for part in ("empty_isr", "a majority") for prop in ("P-1", "P-2", "P-6")),
    *(("E-18", part, "P-29") for part in ("legacy", "reassign_gate")),
    *(("E-19", "legacy", prop) for prop in ("P-1", "P-6")),
    *(("E-20", part, prop) for part in ("cancel_gate", "code_2024_10") for prop in ("P-29", "P-30")),
    *(("E-20", "nobody loses a disk", prop) for prop in ("P-1", "P-6", "P-8")),
    *(("E-24", "log_info_checks", prop) for prop in ("P-1", "P-2", "P-6", "P-31")),
}
SCHEMA = SCHEMAS / "elrcheck.scenario-1.schema.json"
Replayed = tuple[Scenario, ScenarioReport, dict[str, ReplayedRun]]


@pytest.fixture(scope="module")
def catalogue() -> dict[str, Replayed]:
    model = load_checked_model()
    scenarios = {}
    for ident, file in FILES.items():
        scenario = read_scenario(file)
        scenarios[ident] = (scenario, *replay(scenario, model))
    return scenarios


def test_the_catalogue_is_complete() -> None:
    assert list(FILES) == [f"E-{n}" for n in NUMBERS]


@pytest.mark.parametrize("ident", FILES)
def test_every_run_is_as_its_scenario_says(ident: str, catalogue: dict[str, Replayed]) -> None:
    report = catalogue[ident][1]
    assert [(run.label, run.mismatches) for run in report.runs if run.mismatches] == []
    assert report.verdict == ("pending" if ident in PENDING else "as_expected")
    assert {run.verdict for run in report.runs} == {report.verdict}


@pytest.mark.parametrize("ident", sorted(set(FILES) - PENDING))
def test_every_version_has_a_verdict(ident: str, catalogue: dict[str, Replayed]) -> None:
    assert set(variant_names()) >= VERSIONS
    variants = {run.variant for run in catalogue[ident][1].runs}
    assert variants == {ONE_RELEASE[ident]} if ident in ONE_RELEASE else variants >= VERSIONS


def test_a_safe_run_has_steps_and_nothing_broken(catalogue: dict[str, Replayed]) -> None:
    """The words in a report are those of the run itself."""
    for _, report, played in catalogue.values():
        for run in report.runs:
            if run.verdict == "pending":
                continue
            went = played[run.label]
            assert len(went.states) == len(went.labels) + 1 > 2
            if run.expected == "safe":
                assert (run.broken, run.actual) == ((), "safe")
            assert sum(len(step.actions) for step in run.steps) - len(went.labels) == (1 if went.refused else 0)


def test_budgets_follow_from_the_steps(catalogue: dict[str, Replayed]) -> None:
    config = catalogue["E-1"][2]["legacy"].config
    assert (config.records, config.acks_one, config.crashes, config.fences) == (4, 2, 1, 2)
    assert (config.shrinks, config.clean_stops, config.log_slots) == (0, 0, 3)


# ---------------------------------------------------------------------------- wrong scenarios


def changed(ident: str, tmp_path: Path, *replacements: tuple[str, str]) -> ScenarioReport:
    """The report on a packaged scenario with some text replaced."""
    text = FILES[ident].read_text(encoding="utf-8")
    for old, new in replacements:
        text = replaced(text, old, new, 1)
    path = tmp_path / "changed.toml"
    path.write_text(text)
    return replay(read_scenario(path), load_checked_model())[0]


def run_of(report: ScenarioReport, label: str) -> RunReport:
    return next(run for run in report.runs if run.label == label)


def test_a_wrong_expectation_names_step_leaf_and_values(tmp_path: Path) -> None:
    report = changed("E-1", tmp_path, ("partition.isr = [1, 2]", "partition.isr = [0, 1]"))
    assert report.verdict == "unexpected"
    (wrong,) = run_of(report, "kip_full").mismatches
    assert (wrong.step, wrong.what, wrong.expected, wrong.actual) == (2, "partition.isr", "{0,1}", "{1,2}")


def test_a_break_that_does_not_happen(tmp_path: Path) -> None:
    report = changed("E-14", tmp_path, ("safe = true", 'breaks = ["P-6"]'))
    (wrong,) = run_of(report, "kip_full").mismatches
    assert (wrong.step, wrong.what, wrong.expected, wrong.actual) == (None, "P-6", "violated", "holds")


def test_a_break_that_is_not_announced(tmp_path: Path) -> None:
    report = changed("E-16", tmp_path, ('breaks = ["P-1", "P-2"]', 'breaks = ["P-1"]'))
    (wrong,) = run_of(report, "kip_full maximal_isr=False").mismatches
    assert (wrong.step, wrong.what, wrong.expected) == (5, "P-2", "holds")
    assert wrong.actual == "violated: isr_holds_committed b=2"


def test_a_step_that_is_refused(tmp_path: Path) -> None:
    report = changed("E-14", tmp_path, ('"Fence(b=0)", "Apply', '"Unfence(b=0)", "Apply'))
    (wrong,) = run_of(report, "kip_full").mismatches
    assert (wrong.step, wrong.what) == (2, "Unfence(b=0)")
    assert (wrong.expected, wrong.actual) == ("possible", "refused: b is fenced")


def test_a_refusal_by_another_guard_or_by_none(tmp_path: Path) -> None:
    report = changed("E-15", tmp_path, ('refused = "f has caught up"', 'refused = "f is outside the ISR"'))
    (wrong,) = run_of(report, "kip_full").mismatches
    assert (wrong.expected, wrong.actual) == ("refused: f is outside the ISR", "refused: f has caught up")
    report = changed("E-14", tmp_path, ("safe = true", 'refused = "f has caught up"'))
    (wrong,) = run_of(report, "kip_full").mismatches
    assert (wrong.step, wrong.actual) == (3, "possible")


def test_a_witness_that_is_not_met(tmp_path: Path) -> None:
    report = changed("E-14", tmp_path, ("safe = true", 'safe = true\nreaches = ["W-1"]'))
    (wrong,) = run_of(report, "kip_full").mismatches
    assert (wrong.what, wrong.expected, wrong.actual) == ("W-1", "reached", "not reached")


def test_a_start_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "start.toml"
    path.write_text(
        'id = "X-2"\ntitle = "Half a cluster"\nsource = "here"\n'
        "[start]\npartition.isr = [1]\npartition.leader = 1\npartition.elr = [2]\n"
        "partition.leader_epoch = 2\npartition.partition_epoch = 2\n"
        'broker.2.log = "r1@1"\ncommitted = "r1@1"\n'
        '[[run]]\nvariants = ["kip_full"]\nbreaks = ["P-1", "P-2", "P-13"]\n'
        '[[run.step]]\ndo = "Fence(b=1)"\nexpect.partition.leader = 2\n'
    )
    report, played = replay(read_scenario(path), load_checked_model())
    first = played["kip_full"].states[0]
    assert (first.partition.leader, first.partition.isr, len(first.broker[2].log)) == (1, frozenset({1}), 1)
    assert report.verdict == "as_expected"
    assert {one.id: one.step for one in report.runs[0].broken} == {"P-1": 0, "P-2": 0, "P-13": 1}


# ---------------------------------------------------------------------------- the search finds it too


def searched(catalogue: dict[str, Replayed], ident: str, label: str, max_states: int) -> dict[str, Any]:
    """Property -> (depth of the search, length of the story) for what a run breaks."""
    model = load_checked_model()
    went = catalogue[ident][2][label]
    hits = first_hits(model, went)
    broken = [one.id for one in run_of(catalogue[ident][1], label).broken if one.id not in FOLLOWS]
    deep = {prop for where, part, prop in TOO_DEEP if where == ident and part in label}
    words = [one for one in broken if one not in deep]
    if not words:
        return {}
    limits = Limits(max_depth=max(hits[prop] for prop in words), max_states=max_states)
    request = CheckRequest(properties=tuple(words), workers=1, limits=limits)
    outcome = explore(SearchSubject(model, went.config, select_properties(model, words)), request, Silent())
    return {prop: (outcome.first.get(prop), hits[prop]) for prop in words}


BREAKING = sorted(set(FILES) - PENDING)
QUICK = ("E-4", "E-28")


@pytest.mark.parametrize(
    "ident", [pytest.param(ident, marks=() if ident in QUICK else pytest.mark.slow) for ident in BREAKING]
)
def test_check_finds_every_break(ident: str, catalogue: dict[str, Replayed]) -> None:
    """One run for each set of knobs and of broken properties.

    The search has the story's own budgets, so it meets the violation at most as deep.
    """
    scenario, report, _ = catalogue[ident]
    if scenario.start:
        pytest.skip("does not start in the initial state")
    seen = set()
    for run in report.runs:
        key = (tuple(one.id for one in run.broken if one.id not in FOLLOWS), str(dict(run.knobs)))
        if run.broken and key not in seen:
            seen.add(key)
            for prop, (depth, steps) in searched(catalogue, ident, run.label, 12_000_000).items():
                assert depth is not None and depth <= steps, (run.label, prop, depth, steps)


# ---------------------------------------------------------------------------- the command line


def elrcheck(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "elrcheck", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def test_list_and_show() -> None:
    listed = json.loads(elrcheck("list", "scenarios", "--format", "json").stdout)
    assert [entry["id"] for entry in listed] == list(FILES)
    assert listed[0]["name"] == "Last replica standing"
    assert listed[0]["summary"] == "breaks: legacy, legacy_strict"
    done = elrcheck("show", "E-1")
    assert done.returncode == 0, done.stderr
    assert "T0: 0 is fenced" in done.stdout and "OK  E-1: 7 of 7 runs as expected" in done.stdout
    assert done.stdout == elrcheck("show", "e-1", "--kind", "scenarios").stdout and "\\n" not in done.stdout


def test_show_as_json_follows_its_schema(tmp_path: Path) -> None:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    waiting = tmp_path / "E-99.toml"
    text = FILES["E-14"].read_text(encoding="utf-8")
    text = replaced(text, "title =", 'pending = "needs a model of time"\ntitle =', 1)
    waiting.write_text(text, encoding="utf-8")
    for named, verdict in (("E-3", "as_expected"), (str(waiting), "pending")):
        report = json.loads(elrcheck("show", named, "--format", "json").stdout)
        jsonschema.Draft202012Validator(schema).validate(report)
        assert report["verdict"] == verdict
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(schema).validate({**report, "verdict": "green"})


@pytest.mark.slow
def test_a_file_of_ones_own(tmp_path: Path) -> None:
    """As expected 0, not as expected 1, pending 3, unreadable 2."""
    text = FILES["E-14"].read_text(encoding="utf-8")
    path = tmp_path / "mine.toml"
    path.write_text(text)
    assert elrcheck("show", str(path)).returncode == 0
    path.write_text(replaced(text, "broker.1.high_watermark = 1", "broker.1.high_watermark = 2"))
    done = elrcheck("show", str(path))
    assert done.returncode == 1
    assert "step 3: broker[1].high_watermark: expected 2, got 1" in done.stdout
    path.write_text(replaced(text, 'title = "', 'pending = "needs tea"\ntitle = "'))
    done = elrcheck("show", str(path))
    assert done.returncode == 3 and "needs tea" in done.stdout
    path.write_text(replaced(text, "[config]", "[confg]"))
    done = elrcheck("show", str(path))
    assert done.returncode == 2 and "did you mean `config`" in done.stderr and done.stdout == ""
    assert elrcheck("show", str(tmp_path / "none.toml")).returncode == 2
    assert elrcheck("show", "strict_hwm", "--run-dir", str(tmp_path)).returncode == 2


def test_runs_are_stored_as_traces(tmp_path: Path) -> None:
    assert elrcheck("show", "E-4", "--run-dir", str(tmp_path)).returncode == 0
    whole = load_trace(tmp_path / "E-4-kip_full.trace.json")
    assert len(whole.behaviour.labels) == 10 and refused_step(whole) is None
    broken = load_trace(tmp_path / "E-4-kip_full-strict_hwm-False-P-6.trace.json")
    assert broken.property is not None and broken.property.ident == "P-6"
    assert len(broken.behaviour.labels) == 8 and refused_step(broken) is None
