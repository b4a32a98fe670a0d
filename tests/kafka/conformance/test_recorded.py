"""What was compared, kept: of which rules it is, what makes it stale, and what `--refresh` repeats."""

from __future__ import annotations

import ast
import json
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

from elrcheck.base.errors import UsageFault
from elrcheck.base.kafka_requests import ConformRequest
from elrcheck.base.progress import Progress, Silent
from elrcheck.base.roundtrip import from_text, to_data
from elrcheck.catalogue.evidence import conformance
from elrcheck.catalogue.evidence.conformance import Compared, Conformance, compared_with, packaged
from elrcheck.catalogue.model_entries import variant_entries
from elrcheck.cli import cli
from elrcheck.console.shell import run
from elrcheck.kafka.conformance.block import Team
from elrcheck.kafka.conformance.conform import run_conform
from elrcheck.kafka.conformance.conform_record import RefreshResult, record_comparison, refresh
from elrcheck.kafka.conformance.conform_record import compared_rules as rules_of
from elrcheck.laboratory.evidence.summary_pages import conformance_table
from elrcheck.lang.changed.altered import planted
from elrcheck.lang.source import function_tree, recompiled
from elrcheck.model.control_plane import controller
from elrcheck.model.variants import VARIANTS
from elrcheck.results.conform_report import ConformReport
from support.fake_kafka import config_of, open_faithful

VARIANT = "code_4_1_1"


def compare(request: ConformRequest, progress: Progress) -> ConformReport:
    """`run_conform` with an oracle that answers as the model does."""
    assert request.variant is not None
    team = Team(request.variant, config_of(request.variant), request.kafka)
    return run_conform(replace(request, workers=1), [team], open_faithful, progress)


def recorded(path: Path, *releases: str, comparisons: int = 300, seed: int = 1) -> ConformReport:
    request = ConformRequest(kafka=releases, variant=VARIANT, comparisons=comparisons, seed=seed)
    report = compare(request, Silent())
    record_comparison(report, request, rules_of("controller"), path)
    return report


def read(path: Path) -> Conformance:
    return from_text(path.read_bytes(), Conformance)


def made_stale(path: Path, rule: str, *releases: str) -> None:
    """As if a rule had said something else when these releases were compared."""
    data = to_data(read(path))
    (rules,) = data["rules"]
    assert rule in rules["functions"]
    other = {"digest": "other", "functions": {**rules["functions"], rule: "0" * 12}}
    data["rules"] = [*data["rules"], other]
    for entry in data["comparisons"]:
        if entry["kafka"] in releases:
            entry["rules"] = "other"
    path.write_text(json.dumps(data))


RULE = "model.control_plane.controller.alter_partition"


def test_a_record_keeps_the_latest_of_each_release(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    recorded(path, "1.0.0", "1.0.1", comparisons=300)
    report = recorded(path, "1.0.0", "1.0.1", comparisons=600)
    entries = read(path).comparisons
    assert [entry.kafka for entry in entries] == ["1.0.0", "1.0.1"]
    assert all(entry.compared == report.versions[0].compared and entry.asked == 600 for entry in entries)
    record_comparison(report, ConformRequest(level="broker"), rules_of("broker"), path)
    both = read(path)
    assert [one.name for one in both.comparisons] == ["1.0.0", "1.0.1", "1.0.0, broker", "1.0.1, broker"]
    assert {rules.digest for rules in both.rules} == {entry.rules for entry in both.comparisons}


def test_the_rules_of_a_comparison_are_read_from_the_calls() -> None:
    of_controller, of_broker = rules_of("controller").functions, rules_of("broker").functions
    assert {RULE, "model.control_plane.partition.change", "model.control_plane.operator_settings.with_min_isr"} <= {
        *of_controller
    }
    assert {"model.broker.isr_proposals.ShrinkIsr", "model.broker.metadata.with_metadata"} <= {*of_broker}
    assert RULE not in of_broker and "model.broker.isr_proposals.ShrinkIsr" not in of_controller
    assert all(name.startswith("model.") for name in (*of_controller, *of_broker))


def test_a_comparison_is_stale_once_a_rule_has_changed_and_only_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "record.json"
    recorded(path, "1.0.0")
    (entry,) = read(path).comparisons
    assert read(path).changes(entry) == () and "STALE" not in read(path).text(entry)

    def changes_with(statement: str) -> tuple[str, ...]:
        """What has changed if fenced_partition begins with this statement."""
        tree = function_tree(controller.fenced_partition)
        assert isinstance(tree, ast.FunctionDef)
        tree.body.insert(1, ast.parse(statement).body[0])
        changed = recompiled(controller.fenced_partition, tree)
        conformance._digest_now.cache_clear()
        with planted(controller.fenced_partition, changed):
            return read(path).changes(entry)

    try:
        assert changes_with("'another text'") == ()
        assert changes_with("b = b") == ("model.control_plane.controller.fenced_partition",)
    finally:
        conformance._digest_now.cache_clear()


def test_a_comparison_is_stale_once_its_variant_has_another_knob(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    recorded(path, "1.0.0")
    record = read(path)
    (entry,) = record.comparisons
    assert entry.knobs["last_known_leader"] == "ACTIVE" and "shrinks" not in entry.knobs
    other = entry_with(entry, knobs={**entry.knobs, "last_known_leader": "ANY"})
    assert record.changes(other) == ("last_known_leader",)
    assert record.text(other).endswith("; STALE, changed since: last_known_leader")


def entry_with(entry: Compared, **values: object) -> Compared:
    from elrcheck.base.roundtrip import from_data

    return from_data({**to_data(entry), **values}, Compared)


def test_what_is_stale_is_repeated_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    recorded(path, "1.0.0", comparisons=300, seed=5)
    recorded(path, "1.0.1", comparisons=400)
    recorded(path, "1.0.2", comparisons=300, seed=5)
    before = read(path).comparisons
    made_stale(path, RULE, "1.0.0", "1.0.2")
    requests: list[ConformRequest] = []

    def compare_noted(request: ConformRequest, progress: Progress) -> ConformReport:
        requests.append(request)
        return compare(request, progress)

    refreshed = refresh(ConformRequest(refresh=True, record=path), compare_noted, Silent())
    assert refreshed.left == () and refreshed.report is not None and refreshed.report.verdict == "holds"
    assert [(one.kafka, one.variant, one.comparisons, one.seed, one.level) for one in requests] == [
        (("1.0.0", "1.0.2"), VARIANT, 300, 5, None)
    ]
    assert read(path).comparisons == before and len(read(path).rules) == 1
    again = refresh(ConformRequest(refresh=True, record=path), compare_noted, Silent())
    assert again == RefreshResult(path, None, ()) and len(requests) == 1


def test_a_refresh_that_ends_early_is_taken_up_by_the_next(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    recorded(path, "1.0.0", seed=1)
    recorded(path, "1.0.1", seed=2)
    made_stale(path, RULE, "1.0.0", "1.0.1")
    calls = []

    def compare_once(request: ConformRequest, progress: Progress) -> ConformReport:
        calls.append(request.kafka)
        report = compare(request, progress)
        return report if len(calls) != 2 else structs.replace(report, stopped_by="interrupted")

    first = refresh(ConformRequest(refresh=True, record=path), compare_once, Silent())
    assert first.left == ("1.0.1",) and first.report is not None and first.report.exit_code == 130
    second = refresh(ConformRequest(refresh=True, record=path), compare_once, Silent())
    assert second.left == () and calls == [("1.0.0",), ("1.0.1",), ("1.0.1",)]


def test_a_difference_in_a_refresh_is_recorded_and_a_finding(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    recorded(path, "1.0.0")
    made_stale(path, RULE, "1.0.0")

    def differing(request: ConformRequest, progress: Progress) -> ConformReport:
        config = config_of(VARIANT, "cancel_gate=true", "last_known_leader=NEVER")
        team = Team(VARIANT, config, request.kafka)
        return run_conform(replace(request, workers=1), [team], open_faithful, progress)

    refreshed = refresh(ConformRequest(refresh=True, record=path), differing, Silent())
    assert refreshed.report is not None and refreshed.report.exit_code == 1
    assert read(path).comparisons[0].unexplained == refreshed.report.unexplained > 0


def test_options_that_are_recorded_are_not_given(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "record.json"
    recorded(path, "1.0.0")
    for option in (("--kafka", "4.1.2"), ("--seed", "3"), ("--comparisons", "9"), ("--level", "broker")):
        assert run(cli, ["conform", "--refresh", "--record", str(path), *option]) == 2
        assert f"{option[0]} requires" in capsys.readouterr().err
    assert run(cli, ["conform", "--refresh", "--record", str(path)]) == 0
    assert "nothing in" in capsys.readouterr().err
    with pytest.raises(UsageFault, match="not a record of comparisons"):
        refresh(ConformRequest(refresh=True, record=tmp_path / "none.json"), compare, Silent())


def test_a_refresh_says_what_it_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "record.json"
    recorded(path, "1.0.0")
    made_stale(path, RULE, "1.0.0")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert run(cli, ["conform", "--refresh", "--record", str(path)]) == 4
    assert "no Java found" in capsys.readouterr().err


# ---------------------------------------------------------------------------- what is packaged


def test_the_list_says_which_comparisons_are_stale(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = compared_with(VARIANT)[0]
    stale = entry_with(entry, knobs={**entry.knobs, "clean_check": "other"})
    others = [one for one in packaged().comparisons if one != entry]
    record = Conformance(packaged().schema, packaged().rules, (stale, *others))
    for place in ("model_entries", "evidence.conformance"):
        monkeypatch.setattr(f"elrcheck.catalogue.{place}.packaged", lambda: record)
    (listed,) = [one for one in variant_entries() if one["name"] == VARIANT]
    assert "(STALE" in listed["compared"]
    assert "STALE, changed since: " in listed["comparisons"][entry.name] and "clean_check" in record.changes(stale)
    assert "**stale**" in conformance_table(record)


def test_the_record_is_of_a_hundred_thousand_answers_each_and_nothing_is_unexplained() -> None:
    controllers = [entry for entry in packaged().comparisons if entry.side == "controller"]
    assert {release for variant in VARIANTS for release in variant.kafka} == {entry.kafka for entry in controllers}
    assert all(entry.compared >= 100_000 for entry in controllers)
    assert not any(entry.unexplained for entry in packaged().comparisons)
