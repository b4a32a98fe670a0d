"""Answers of earlier searches in `check` and `mutate`: what is searched again, and what is not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from elrcheck.base.kept.store import StoredAnswer
from elrcheck.base.progress import Silent
from elrcheck.base.proof_requests import GateRequest, MutateRequest, NewEntry
from elrcheck.base.requests import CheckRequest, Limits, Selection
from elrcheck.checking import engines
from elrcheck.checking.check import run_check
from elrcheck.commands.gate.gate import run_gate
from elrcheck.explorer.search import kept_searches
from elrcheck.explorer.search.kept_searches import KeptSearch
from elrcheck.kafka.controller_proof import run_controller
from elrcheck.mutation.guard_survey import run_guards
from elrcheck.results.check_report import CheckReport
from support.invoked import Invoke

HOLDS = Selection("kip_full", "two-brokers-quiet", ("fences=1",))
BREAKS = Selection("kip_full", "two-brokers-quiet", ("crashes=2", "acks_one=1"))


@pytest.fixture(autouse=True)
def searched(own_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Every search that was really made; answers are kept in the folder of the test."""
    programs: list[str] = []
    plain = engines.run_search

    def counted(*args: Any, **more: Any) -> Any:
        programs.append("search")
        return plain(*args, **more)

    monkeypatch.setattr(engines, "run_search", counted)
    monkeypatch.chdir(tmp_path)
    yield programs


def check(selection: Selection, **more: Any) -> CheckReport:
    return run_check(CheckRequest(selection, **{"kept": True, "workers": 1, **more}), Silent())


@pytest.mark.slow
def test_a_kept_report_differs_in_saying_so(searched: list[str]) -> None:
    for selection in (HOLDS, BREAKS):
        first, again = check(selection), check(selection)
        assert searched == ["search"] and not first.kept and again.kept
        assert again.engine.detail is not None and "kept from an earlier search" in again.engine.detail
        same = replace(again, engine=first.engine, kept=None)
        seconds = {"seconds": first.search.seconds, "states_per_second": first.search.states_per_second}
        assert replace(same, search=replace(same.search, **seconds)) == first
        searched.clear()
        fresh = check(selection, fresh=True)
        assert searched == ["search"] and not fresh.kept
        searched.clear()


def test_nothing_is_kept_unless_asked(searched: list[str], tmp_path: Path) -> None:
    for _ in range(2):
        check(HOLDS, kept=False)
    assert len(searched) == 2 and not list((tmp_path / "cache").rglob("searches/*"))


def test_a_limit_that_a_search_would_reach_is_reached(searched: list[str]) -> None:
    """A kept answer is none where the limit would end the search, and a search that it ended is not kept."""
    whole = check(HOLDS)
    states = whole.search.distinct
    for limits in (Limits(max_states=states), Limits(max_depth=3)):
        searched.clear()
        for _ in range(2):
            report = check(HOLDS, limits=limits)
            assert report.verdict == "inconclusive" and not report.kept
        assert len(searched) == 2
    assert check(HOLDS, limits=Limits(max_states=states + 1, time_budget=100.0)).kept


@pytest.mark.slow
def test_other_engines_and_resumed_runs_ask_nothing(searched: list[str]) -> None:
    check(HOLDS)
    assert not check(HOLDS, engine="numpy").kept
    assert not check(HOLDS, fingerprint=64).kept


@pytest.mark.slow
def test_fewer_properties_are_answered_and_more_are_not(searched: list[str]) -> None:
    one = check(BREAKS, properties=("P-1",))
    whole = check(BREAKS)
    assert len(searched) == 2 and not whole.kept
    again = check(BREAKS, properties=("P-1",))
    assert again.kept and again.properties == one.properties


@pytest.mark.slow
def test_stopping_at_the_first_violation_is_another_search(searched: list[str]) -> None:
    check(BREAKS)
    first, again = (check(BREAKS, stop_at_first=True) for _ in range(2))
    assert len(searched) == 2 and again.kept
    assert (first.search.levels, first.search.stopped_by) == (again.search.levels, "--stop-at-first")
    check(HOLDS)
    assert check(HOLDS, stop_at_first=True).kept, "where nothing breaks it is the same one"


def test_a_run_folder_gets_the_traces_of_witnesses_too(searched: list[str], tmp_path: Path) -> None:
    check(HOLDS)
    _, again = (check(HOLDS, run_dir=tmp_path / name) for name in ("one", "two"))
    assert len(searched) == 2 and again.kept, "the first search had no reason to rebuild them"
    names = [sorted(path.name for path in (tmp_path / name).glob("*.trace.json")) for name in ("one", "two")]
    assert names[0] == names[1] and len(names[0]) > 3
    for name in names[0]:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


@pytest.mark.slow
def test_a_trace_that_the_plain_model_refuses_is_searched_again(
    searched: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    check(BREAKS)
    plain = kept_searches.SearchLookup.find

    def forged(self: kept_searches.SearchLookup) -> StoredAnswer[KeptSearch] | None:
        entry = plain(self)
        assert entry is not None
        answer = entry.value
        for check_, answer_ in answer.checks.items():
            if answer_.trace is not None:
                answer.checks[check_] = kept_searches.CheckAnswer(answer_.depth, answer_.trace[::-1])
        return entry

    monkeypatch.setattr(kept_searches.SearchLookup, "find", forged)
    searched.clear()
    report = check(BREAKS)
    assert searched == ["search"] and not report.kept and report.verdict == "violated"


def test_an_option_of_the_command_line_searches_again(invoke: Invoke) -> None:
    words = ("check", "--scope", "two-brokers-quiet")
    notice = "answer of less than a minute ago, from the store; --fresh searches again"
    assert notice not in invoke(*words)[1]
    assert notice in invoke(*words)[1]
    assert notice not in invoke(*words, "--fresh")[1]


@pytest.mark.slow
def test_a_gate_believes_what_is_kept_only_if_asked(searched: list[str], tmp_path: Path) -> None:
    baseline = tmp_path / "baseline.toml"
    run_gate(GateRequest(baseline, add=NewEntry("quiet", HOLDS), workers=1, kept=True), run_controller, Silent())
    assert searched == ["search"]
    for uses_store in (True, False):
        report = run_gate(GateRequest(baseline, workers=1, kept=uses_store), run_controller, Silent())
        assert report.verdict == "same"
        assert (report.kept is not None) == (report.entries[0].check.kept is not None) == uses_store
    assert len(searched) == 2


@pytest.mark.slow
def test_a_survey_searches_nothing_twice(searched: list[str]) -> None:
    """The scope itself and each guard, unless the program is the same without it."""
    request = MutateRequest(
        hazards=None, guards=True, actions=("Fence", "Fetch"), selection=HOLDS, workers=1, kept=True
    )
    first = run_guards(request, Silent())
    tried = [guard for guard in first.guards if guard.verdict != "skipped"]
    assert tried and len(searched) == 1 + sum(not guard.same for guard in tried)
    searched.clear()
    again = run_guards(request, Silent())
    assert not searched and again.survey is not None and again.survey.unmutated.kept
    bare = [replace(guard, seconds=0.0, kept=None) for guard in again.guards]
    assert bare == [replace(guard, seconds=0.0) for guard in first.guards]
    assert all(guard.kept for guard in again.guards if guard.verdict != "skipped" and not guard.same)
