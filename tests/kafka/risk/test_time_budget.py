"""The time of `risk`: what is left for searches, and what ends when nothing is."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from elrcheck.base.kafka_requests import RiskRequest
from elrcheck.base.progress import Silent
from elrcheck.invariants.modules import load_outcome_model
from elrcheck.kafka.risk import risk_search
from elrcheck.kafka.risk.risk import run_risk
from elrcheck.kafka.risk.risk_answer import NO_TIME
from elrcheck.kafka.risk.risk_search import OutOfTime, Stopwatch, TimeBudget
from elrcheck.kafka.risk.settings_group import group_of
from elrcheck.lang.lowering.lower import lower
from elrcheck.report.documents.risk_document import difference_table
from elrcheck.report.formats import render

REQUEST = RiskRequest("4.1", 2, 2, events=("kill", "crash"), most=1, seconds=300)


def test_the_report_has_its_share_of_the_time() -> None:
    now = time.monotonic()
    assert TimeBudget(10, now, 1.0).left() == pytest.approx(9.5, abs=0.1)
    assert TimeBudget(10, now, 2.0).left() == pytest.approx(9.0, abs=0.1), "on a machine that others use"
    assert TimeBudget(10, now, 100.0).left() == pytest.approx(7.0, abs=0.1), "but no more than that"
    assert TimeBudget(10, now, 1.0).left(share=0.7) == pytest.approx(7.0, abs=0.1), "which the causes have anyway"
    several = TimeBudget(10, now, 1.0)
    several.answers = 10
    assert several.left() == pytest.approx(8.5, abs=0.1)
    over = TimeBudget(10, now - 11, 1.0)
    assert over.left() < 0 and over.passed() == pytest.approx(11, abs=0.1)
    with pytest.raises(OutOfTime):
        over.demand()


def test_waiting_counts_as_slowness_and_short_work_says_nothing() -> None:
    assert Stopwatch().slowness() == 1.0
    watch = Stopwatch()
    while time.thread_time() - watch._worked < 0.06:
        pass
    time.sleep(0.5)
    assert watch.slowness() > 5


def test_compiling_a_model_ends_when_the_time_is_over() -> None:
    calls, limit = [], 5

    def between() -> None:
        calls.append(1)
        if len(calls) > limit:
            raise OutOfTime

    with pytest.raises(OutOfTime):
        lower(load_outcome_model(), group_of(REQUEST).config, (), between=between)
    assert len(calls) == limit + 1


def test_a_cause_that_no_time_was_left_for_is_not_unknown(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ELRCHECK_CACHE_DIR", str(tmp_path))
    monkeypatch.chdir(str(tmp_path))
    searched = risk_search.RiskSearch.run

    def slow(search: risk_search.RiskSearch) -> None:
        searched(search)
        search.clock = TimeBudget(0, 0, 1.0)

    monkeypatch.setattr(risk_search.RiskSearch, "run", slow)
    report = run_risk([RiskRequest("3.9", 2, 2, events=("crash",), most=1, seconds=300)], Silent())
    causes = {cause.text for answer in report.answers for cause in answer.causes}
    assert report.answers and causes == {NO_TIME} and report.verdict == "lost"


def test_time_that_compiling_took_is_named_with_a_longer_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What is known of the releases is compared all the same, and named once if it does not differ."""
    monkeypatch.setenv("ELRCHECK_CACHE_DIR", str(tmp_path))
    first = RiskRequest("4.1", 3, 2, seconds=0.001)
    report = run_risk([first, replace(first, kafka="4.3")], Silent())
    assert [part.compiled for part in report.parts] == [False, False] and report.exit_code == 3
    text = render(report, "text")
    assert "did not end, so none of it was stored: repeat the command with `--time-budget 5m`" in text
    head, rows = difference_table(report)
    assert head[2:] == ("Kafka 4.1.2", "Kafka 4.3.1") and not report.differences
    assert {row[1].partition(":")[0]: row[2:] for row in rows}["F-60"] == ("no", "yes")
    again = render(run_risk([first, replace(first, acks="1")], Silent(), (), 977), "text")
    assert again.count("F-51: ") == 1 and "not searched 977 topics with further settings: one run searches 2" in again
