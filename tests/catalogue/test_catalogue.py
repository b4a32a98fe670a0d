"""The catalogue: nothing of the model is missing from it, and a name leads to everything about it."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from elrcheck.base.errors import ExitCode, UsageFault
from elrcheck.base.typed.configuration import KAFKA_NAMES
from elrcheck.catalogue import lookup as catalogue
from elrcheck.catalogue.lookup import KINDS, entries, find, full_entries
from elrcheck.cli import cli
from elrcheck.console.shell import run
from elrcheck.console.verbs.reference_verbs import KINDS as OFFERED
from elrcheck.declared.select import select_properties
from elrcheck.invariants import modules
from elrcheck.invariants.modules import load_whole_model
from elrcheck.model.config import Config
from elrcheck.model.control_plane import broker_events
from elrcheck.model.variants import VARIANTS
from support.places import ROOT


@pytest.fixture(autouse=True, scope="module")
def loaded() -> Iterator[None]:
    """The models are compiled once for all tests: each question to the catalogue compiles what it needs."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("load_whole_model", "load_controller_model"):
            patch.setattr(modules, name, functools.cache(getattr(modules, name)))
        yield


@pytest.mark.parametrize("kind", KINDS)
def test_every_entry_has_a_name_and_one_line_about_it(kind: str) -> None:
    listed = entries(kind)
    assert listed, "an empty list says nothing"
    for entry in listed:
        assert set(entry) - {"id", "compared"} == {"name", "summary"}
        assert entry["summary"].strip(), entry["name"]
        assert "\n" not in entry["summary"]
    assert len({entry["name"] for entry in listed}) == len(listed)
    json.dumps(full_entries(kind))


@pytest.mark.parametrize("kind", KINDS)
def test_names_and_ids_are_found_in_any_case(kind: str) -> None:
    listed = entries(kind)
    for entry in (listed[0], listed[-1]):
        for word in {entry["name"], entry.get("id", entry["name"])}:
            assert find(word, kind)["name"] == entry["name"]
            assert find(word.lower())["list"] in (kind, "findings" if kind == "hazards" else kind)


def test_the_command_line_lists_the_same_kinds() -> None:
    assert OFFERED == KINDS


def test_a_variant_shows_what_differs() -> None:
    assert find("kip_full") == {
        "list": "variants",
        "name": "kip_full",
        "summary": VARIANTS[0].summary,
        "aliases": [],
        "kafka": [],
        "knobs": {},
        "compared": "no release",
        "comparisons": {},
    }
    assert find("code_4_1")["name"] == "code_4_1_1" and "4.1.2" in find("code_4_1")["kafka"]
    assert find("legacy")["knobs"]["strict_hwm"] is False
    assert find("code_4_0")["knobs"]["last_known_leader"] == "ANY"


def test_a_scope_shows_its_numbers() -> None:
    tiny = find("two-brokers")
    assert tiny["values"]["broker_count"] == 2
    assert (ROOT / tiny["source"]).is_file()
    names = {entry["name"] for entry in entries("scopes")}
    assert names >= {"three-brokers", "three-brokers-small", "min-isr-1"}


def test_knobs_and_budgets_are_all_fields_of_the_configuration() -> None:
    names = [entry["name"] for kind in ("knobs", "budgets") for entry in entries(kind)]
    assert names == [part.name for part in dataclasses.fields(Config)]
    assert [entry["name"] for entry in entries("budgets")] == [
        "records",
        "acks_one",
        "acks_zero",
        "crashes",
        "kills",
        "clean_stops",
        "fences",
        "shrinks",
        "shutdowns",
        "shutdown_timeouts",
        "unregistrations",
        "live_unregistrations",
        "elections",
        "unclean_elections",
        "reassignments",
        "min_isr_changes",
        "unclean_changes",
        "feature_changes",
        "directory_changes",
        "directory_failures",
        "directory_losses",
        "directory_returns",
        "failovers",
        "late_answers",
        "late_fetches",
        "early_starts",
        "early_writes",
        "late_flushes",
        "old_checkpoints",
    ]


def test_a_knob_takes_its_text_from_the_string_below_it() -> None:
    knob = find("elr_intersect_replicas")
    assert knob["doc"] == "The ELR contains replicas only (C-9, F-20)."
    assert f'"""{knob["doc"]}"""' in inspect.getsource(Config)
    assert (knob["type"], knob["default"], knob["section"]) == ("bool", True, "the controller")
    released = ("code_3_9", "code_4_0", "code_4_1_0", "code_4_1_1", "code_4_3")
    assert knob["variants"] == dict.fromkeys(("code_2024_10", *released), False)
    choice = find("alter_reject")
    assert choice["doc"].startswith("The reaction of a leader to an AlterPartition that the controller rejects")
    assert choice["allowed"]["ROLLBACK"] == "drop the proposal at once"
    assert find("min_isr")["allowed"] == "a whole number, 0 or more"


def test_a_property_names_its_parts_and_its_place() -> None:
    entry = find("P-14")
    assert (entry["name"], entry["kind"], entry["of"]) == ("UncleanBrokerExcluded", "always", "steps")
    assert entry["conjuncts"] == ["removed_at_registration", "not_leading", "back_by_alter_partition_only"]
    assert entry["bounded_only"] is None
    assert "tracks_acks" in find("P-33")["bounded_only"]
    assert find("LeaderInIsr")["id"] == "P-17"
    assert (find("W-1")["list"], find("W-1")["kind"]) == ("witnesses", "sometimes")


@pytest.mark.parametrize("kind", ["properties", "witnesses", "actions"])
def test_the_source_line_is_where_the_function_starts(kind: str) -> None:
    for entry in full_entries(kind):
        file, line = entry["source"].split(":")
        assert f"def {entry['name']}(" in (ROOT / file).read_text().splitlines()[int(line) - 1]


def test_a_guard_names_the_setting_with_which_it_applies() -> None:
    assert find("ShrinkIsr")["conditional"] == {"min ISR members remain": "only if keep_min_isr"}
    assert find("Produce")["conditional"] == {"the scope has writes with acks=0": "unless acks_zero > 0"}
    assert find("Fence")["conditional"] == {}


def test_an_action_shows_its_choices_and_its_guards_in_order() -> None:
    unfence = find("Unfence")
    assert unfence["parameters"] == {"b": "Replica"}
    assert unfence["guards"] == [
        "b is registered",
        "b is fenced",
        "b is running",
        "b has applied its own registration",
        "b is not shutting down",
        "the controller does not fault",
    ]
    source = inspect.getsource(broker_events.Unfence)
    assert [source.index(f'"{guard}"') for guard in unfence["guards"]] == sorted(
        source.index(f'"{guard}"') for guard in unfence["guards"]
    )
    assert find("Crash")["parameters"] == {"b": "Replica", "keep": "Offset"}


def test_unknown_names_get_a_suggestion() -> None:
    with pytest.raises(UsageFault) as caught:
        find("LeaderCompletenes")
    assert (caught.value.code, caught.value.help) == ("unknown-name", "did you mean `LeaderCompleteness`?")


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("KAFKA-19522", ("F-1 (findings)", "code_4_0 (variants)", "last_known_leader (knobs)")),
        ("4.3.0", ("code_4_3 (variants)", "F-20 (findings)", "more")),
        ("zzz", ("`elrcheck list KIND`", "variants")),
    ],
)
def test_a_word_that_is_no_name(word: str, parts: tuple[str, ...]) -> None:
    """The entries that mention it, if they are few enough to read; never a page of names."""
    with pytest.raises(UsageFault) as caught:
        find(word)
    help = str(caught.value.help)
    assert all(part in help for part in parts) and len(help) < 600


def test_a_safety_property_is_no_liveness_property() -> None:
    with pytest.raises(UsageFault, match="P-1 is not a liveness property") as caught:
        select_properties(load_whole_model(), ("P-1",), liveness=True)
    assert caught.value.help == "leave out --liveness"
    with pytest.raises(UsageFault):
        find("legacy", "scopes")
    with pytest.raises(UsageFault, match="kind `knob`"):
        entries("knob")


def test_a_name_with_two_meanings_needs_the_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    double: list[dict[str, Any]] = [{"name": "legacy", "summary": "a scope of that name"}]
    monkeypatch.setattr(catalogue, "scope_entries", lambda: double)
    with pytest.raises(UsageFault) as caught:
        find("legacy")
    assert (caught.value.code, caught.value.help) == ("ambiguous-name", "--kind, one of: variants, scopes")
    assert find("legacy", "scopes")["summary"] == "a scope of that name"


def test_a_setting_has_the_name_that_kafka_gives_it() -> None:
    for kafka, knob in KAFKA_NAMES.items():
        assert find(kafka) == find(knob)


def test_list_and_show_on_the_command_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    for kind in KINDS:
        assert run(cli, ["list", kind, "--format", "json"]) == ExitCode.HOLDS
        assert json.loads(capsys.readouterr().out) == entries(kind)
        assert run(cli, ["list", kind]) == ExitCode.HOLDS
        assert entries(kind)[0]["name"] in capsys.readouterr().out
    assert run(cli, ["show", "clean_check", "-f", "json"]) == ExitCode.HOLDS
    assert json.loads(capsys.readouterr().out) == find("clean_check")
    assert run(cli, ["show", "legacy"]) == ExitCode.HOLDS
    assert "    strict_hwm: false\n" in capsys.readouterr().out
    assert run(cli, ["show", "P-99"]) == ExitCode.DID_NOT_RUN
    assert "error[unknown-name]" in capsys.readouterr().err


def test_words_of_the_glossary_are_shown_where_nothing_else_has_the_name() -> None:
    for word in ("ELR", "hwm", "high watermark", "undecided"):
        assert find(word)["list"] == "terms", word
    assert find("ELR")["name"] == "ELR, eligible leader replicas"
    assert find("trace")["list"] == "formats" and find("trace", "terms")["list"] == "terms"
    assert find("kept")["summary"].count("; or: ") == 1, "a word with two rows"
    for word, hint in (("HMW", "did you mean `HW`?"), ("KAFKA-19522", "the word is in code_2024_10 (var")):
        with pytest.raises(UsageFault) as caught:
            find(word)
        assert caught.value.help is not None and caught.value.help.startswith(hint)


@pytest.mark.parametrize(("name", "file"), [("F-20", "F-20.toml"), ("E-6", "E-06.toml")])
def test_the_source_is_a_name_and_no_path(name: str, file: str) -> None:
    assert find(name)["source"] == file
