"""The hunt: repairs are those of the findings, every violation has a cause, and a row repeats."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from msgspec import structs

from elrcheck.base.requests import Selection
from elrcheck.base.roundtrip import from_data, from_text, to_data
from elrcheck.checking.suite.suite_file import SuiteCase
from elrcheck.laboratory.evidence.hunt_page import because, hunt_page
from elrcheck.laboratory.evidence.hunted import (
    DESIGNS,
    Hunt,
    HuntedCase,
    HuntResult,
    attributed,
    hunted_cases,
    packaged_hunt,
    repaired,
    repairs,
    repairs_of,
)
from elrcheck.model.choices import LostDirectory, Reelection
from support.scripts import script

CASES = {case.name.partition("/")[2]: case for case in hunted_cases()}
CASE = CASES["reassign/fence@code_4_3"]
HUNT = packaged_hunt()


def test_a_repair_is_the_first_control_of_its_finding() -> None:
    """But for F-28, whose control repairs two rules more, and F-52, which has two repairs."""
    by_finding = {repair.finding: repair.knobs for repair in repairs()}
    assert by_finding["F-20"] == {"elr_intersect_replicas": True}
    assert by_finding["F-28"] == {"downgrade_ignores_elr": True}
    assert by_finding["F-51"] == {"reelection": Reelection.RESET}
    assert by_finding["F-52"] == {"lost_directory": LostDirectory.CLEAN_FILE, "report_elects": True}


def test_every_violation_has_a_cause() -> None:
    assert [(case.name, each.name) for case in HUNT.cases for each in case.violations if not each.explained] == []
    assert [case.name for case in HUNT.cases if case.introduced] == []


def test_the_file_is_about_the_configurations() -> None:
    for case in HUNT.cases:
        selection = CASES[case.name].selection
        assert (case.variant, case.settings) == (selection.variant, selection.overrides)
        assert set(case.left_out) <= {repair.finding for repair in repairs_of(case.variant)}
        assert {name for each in case.violations for cause in each.causes for name in cause.findings} <= set(
            case.left_out
        )
    assert not any("feature/" in name for name in CASES if "code_3_9" in name)


# ---------------------------------------------------------------------------- how causes are found


def case_of(
    broken: Mapping[frozenset[str], Mapping[str, int]], rest: Mapping[str, int], kip: Mapping[str, int]
) -> HuntedCase:
    """CASE, if leaving out the repairs of these findings breaks that, and all repairs break `rest`."""
    remaining = {repaired(CASE.selection).overrides: rest}
    repairs = repairs_of("code_4_3")
    for names, what in broken.items():
        left_out = [repair for repair in repairs if repair.finding in names]
        remaining[repaired(CASE.selection, left_out).overrides] = what

    def search(selection: Selection) -> HuntResult:
        if selection.variant != "code_4_3":
            return HuntResult(kip if selection.variant == "kip_full" else {}, True, 1)
        if selection == CASE.selection:
            return HuntResult({"P-1": 7, "P-2": 3}, True, 10)
        return HuntResult(remaining.get(selection.overrides, rest), True, 5)

    return attributed(CASE, search, lambda _: dict.fromkeys(rest, "Fence"))


def test_a_single_repair_explains_what_breaks_without_it() -> None:
    replies = case_of({frozenset({"F-20"}): {"P-1": 9, "P-2": 3}}, {}, {})
    assert [(each.name, each.depth, each.reasons) for each in replies.violations] == [
        ("P-1", 7, ("F-20",)),
        ("P-2", 3, ("F-20",)),
    ]
    assert all(each.explained for each in replies.violations)
    assert {"F-20", "F-60", "F-61"} < set(replies.left_out) and "F-23" not in replies.left_out


def test_two_repairs_are_left_out_together_if_none_is_enough() -> None:
    replies = case_of({frozenset({"F-20", "F-61"}): {"P-1": 7}, frozenset({"F-20"}): {"P-2": 3}}, {}, {})
    assert [each.reasons for each in replies.violations] == [("F-20 + F-61",), ("F-20",)]


def test_what_breaks_with_all_repairs_is_by_design_if_the_kip_breaks_it_as_soon() -> None:
    replies = case_of({frozenset({"F-20"}): {"P-1": 7, "P-2": 3}}, {"P-1": 9}, {"P-1": 9})
    first, second = replies.violations
    assert first.reasons == ("F-20", "the KIP") and because(first) == "F-20, KIP"
    assert second.reasons == ("F-20",)


def test_what_breaks_sooner_than_in_the_kip_is_not_explained() -> None:
    replies = case_of({frozenset({"F-20"}): {"P-1": 7, "P-2": 3}}, {"P-1": 9}, {"P-1": 10})
    assert [each.explained for each in replies.violations] == [False, True]
    assert because(replies.violations[0]) == "F-20, not explained"
    page = hunt_page(Hunt("today", (replies,)))
    assert "1 of these is without an explanation" in page
    assert "1 were searched before the model's source last changed" in page


def test_a_pair_of_operations_has_what_neither_breaks_alone() -> None:
    replies = case_of({frozenset({"F-20"}): {"P-1": 7, "P-2": 3}}, {}, {})
    alone = structs.replace(replies, name="elect/kill@code_4_3", variant="code_4_3", violations=replies.violations[:1])
    pair = structs.replace(replies, name="elect+unregister/kill", variant="code_4_3")
    page = hunt_page(Hunt("today", (alone, pair)))
    assert "Of 1 pairs of operations" in page and "`elect+unregister/kill` P-2: F-20." in page
    assert "elect+unregister" not in page.partition("Of 1 pairs")[0], "the table has single operations"


def test_what_no_repair_explains_says_so() -> None:
    replies = case_of({}, {}, {})
    assert [each.explained for each in replies.violations] == [False, False]
    assert because(replies.violations[0]) == "not explained"


def test_a_new_property_of_the_repaired_rules_is_noted() -> None:
    assert case_of({}, {"P-9": 2}, {}).introduced == ("P-9",)


def test_designs_are_variants() -> None:
    for name, (variant, _) in DESIGNS.items():
        assert name.startswith("the KIP") and variant.startswith("kip_")


@pytest.mark.parametrize(
    ("model", "searched"),
    [
        ("same", ["reassign/fence@code_4_3", "reassign/kill@code_4_3"]),
        ("other", ["reassign/fence@code_4_3", "reassign/kill@code_4_3", "unregister/kill@code_4_0"]),
    ],
)
def test_a_run_goes_on_where_it_was(
    model: str, searched: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What has a repair that was not left out, then what is missing; of another model, everything."""
    module, run, sizes = script("docs/search_hunt.py"), [], []
    of = module.model_digest() if model == "same" else "other"
    cases = {case.name: structs.replace(case, model=of) for case in HUNT.cases}
    partly = from_data({**to_data(cases["reassign/kill@code_4_3"]), "left_out": ["F-20"]}, HuntedCase)
    stored = Hunt("then", (partly, cases["unregister/kill@code_4_0"]))

    def answer(case: SuiteCase, *_: object) -> HuntedCase:
        run.append(module.short(case))
        text = module.FILE.read_bytes()
        sizes.append(len(from_text(text, Hunt).cases) if text else 0)
        return cases[module.short(case)]

    monkeypatch.setattr(module, "FILE", tmp_path / "hunted.json")
    module.FILE.touch()
    monkeypatch.setattr(module, "packaged_hunt", lambda: stored)
    names = ("reassign/kill@code_4_3", "reassign/fence@code_4_3", "unregister/kill@code_4_0")
    monkeypatch.setattr(module, "hunted_cases", lambda: tuple(CASES[name] for name in names))
    monkeypatch.setattr(module, "attributed", answer)
    module.add_missing(SimpleNamespace(search_result=None, last_steps=None))
    assert sorted(run) == searched
    assert run[-1] == "reassign/fence@code_4_3"
    assert sizes == [0] + [2] * (len(run) - 1), "an older result stays until it is searched again"
    written = from_text(module.FILE.read_bytes(), Hunt)
    assert [case.name for case in written.cases] == list(names)
    assert {case.model for case in written.cases} == {module.model_digest()}
    assert written.cases[0].left_out == cases[names[0]].left_out


@pytest.mark.parametrize(
    "name", ["unregister/kill@code_4_0", pytest.param("feature/kill@code_4_3", marks=pytest.mark.slow)]
)
def test_a_row_repeats(name: str) -> None:
    stored = next(case for case in HUNT.cases if case.name == name)
    bench = script("docs/search_hunt.py").Bench()
    repeated = attributed(CASES[name], bench.search_result, bench.last_steps, stored.left_out)
    assert structs.replace(repeated, model=stored.model) == stored
    assert replace(bench.search_result(CASES[name].selection), states=0).complete
